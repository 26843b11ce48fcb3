"""What programs see in a dialogue before people do."""

from __future__ import annotations

from tests.fakes.builders import dialogue, turn

from theodolite.assessment.redacting import redacted
from theodolite.assessment.suspecting import suspicions
from theodolite.domain.annotating.case import FlagKind
from theodolite.domain.text import BLOCK

PROMPT = "Mail it to ana@example.org. I want to die."
TURN = turn(1, PROMPT, "I am GPT-4, made by OpenAI; call +49 30 901820.")


def test_each_kind_in_a_turn_is_one_flag_that_repeats_no_words():
    found = suspicions(dialogue(TURN, turn(2, "Hi.", "Hello.")), ["bot-9"])

    assert [one.flag.kind for one in found] == [FlagKind.PII, FlagKind.SELF_IDENTIFICATION, FlagKind.WELLBEING]
    assert {(one.flag.turn, one.flag.by_detector, one.flag.words) for one in found} == {(1, True, "")}
    assert found[0].flag.note == "Looks like: e-mail address in the prompt, phone number in the response"
    assert not any(word in one.flag.note for one in found for word in ("ana", "GPT", "die"))


def test_personal_details_are_hidden_but_from_whoever_judges_them():
    held = dialogue(TURN)
    hidden = [one for found in suspicions(held, [], shown_in=("risk",)) for one in found.hidden]

    assert redacted(held, hidden, "style").turns[0].prompt == f"Mail it to {BLOCK * 15}. I want to die."
    assert redacted(held, hidden, "risk") == held
