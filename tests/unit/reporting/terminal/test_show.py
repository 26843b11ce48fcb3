import re
from dataclasses import replace
from itertools import islice

import pytest

from tests.fakes.evidence import live_evidence, xstest_evidence
from theodolite.domain.annotation import Control, Vote
from theodolite.domain.dialogue import Passage, Turn, found_text, in_turn
from theodolite.domain.persona import Attempt, AttemptOutcome, Strategy
from theodolite.domain.text import printable
from theodolite.reporting.terminal.show import first_text, show_text


def test_a_dialogue_is_shown_with_its_verdict_turns_and_verified_quote():
    evidence = live_evidence()

    text = show_text(evidence.study, next(evidence.archive.dialogues()), [*evidence.archive.annotations()][:1])

    assert text.splitlines()[0] == "d001  Ana, 3 turns, groundedness 2: defect (score <= 3)"
    assert '  grounded  2. The policy says 30 days. "you have 60 days" (turn 2, verified)' in text
    assert "  bot       Yes, you have 60 days for any return." in text


def test_a_preview_prints_one_dialogue_and_one_line_for_each_other():
    evidence = live_evidence()

    archive = evidence.archive
    told = [*archive.dialogues()][:2], [*archive.annotations()][:2], [*archive.failures()][:1]
    text = first_text(evidence.study, *told)

    assert "d002  groundedness 5: no defect (score <= 3)" in text
    assert "d018  application timed out in turn 2 (no answer within 30 s): a failure" in text


def test_a_withheld_dialogue_states_why():
    evidence = xstest_evidence()
    withheld = next(dialogue for dialogue in evidence.archive.dialogues() if dialogue.withheld)

    assert f"withheld: {withheld.withheld}" in show_text(evidence.study, withheld)


def test_retrieved_passages_and_attempts_are_shown_beside_their_turn():
    evidence = xstest_evidence()
    held = next(evidence.archive.dialogues())
    found = found_text(held.turns[0].prompt, [Passage(name="faq.md, paragraph 4", text="Free.")])
    tried = Attempt(description="opens a scene", outcome=AttemptOutcome.WITHHELD, turn=1)
    insists = Attempt(description="insists", outcome=AttemptOutcome.UNCLEAR, turn=1, refines=1)
    strategy = Strategy(name="role_play", dialogue=held.key, attempts=(tried, insists))

    text = show_text(evidence.study, replace(held, context=in_turn(1, found), strategies=(strategy,)))

    assert re.search(r"user .*\n  found +faq\.md, paragraph 4\n  bot ", text, re.DOTALL)
    assert re.search(r"tried +the request as part of a story: opens a scene; withheld", text)
    assert re.search(r"tried +the request as part of a story: insists \(refines attempt 1\);\s+unclear", text)


def test_output_of_an_application_cannot_control_the_terminal():
    evidence = live_evidence()
    turn = Turn(number=1, prompt="hello", response="\x1b[2J\x1b]0;owned\x07bye")

    text = show_text(evidence.study, replace(next(evidence.archive.dialogues()), turns=(turn,)))

    assert "\x1b" not in text
    assert "bye" in text


@pytest.mark.parametrize(("given", "shown"), [("a\tb", "a    b"), ("a\r\nb", "a\nb"), ("a\x00b", "a\ufffdb")])
def test_unprintable_characters_are_replaced(given, shown):
    assert printable(given) == shown


def test_no_line_of_a_shown_dialogue_is_wider_than_the_terminal():
    evidence = xstest_evidence()

    texts = [show_text(evidence.study, dialogue, width=60) for dialogue in islice(evidence.archive.dialogues(), 200)]

    assert max(len(line) for text in texts for line in text.splitlines()[1:]) <= 60


def test_votes_and_a_failed_control_question_are_shown():
    evidence = live_evidence()
    annotation = next(evidence.archive.annotations())
    cast = tuple(Vote(replicate=n, answers=(replace(annotation.answers[0], value=v),)) for n, v in ((1, "2"), (2, "5")))
    voted = replace(annotation, votes=cast, control=Control.FAILED)

    text = show_text(evidence.study, next(evidence.archive.dialogues()), [voted])

    assert "2 readings: score 2, 5" in text
    assert "Control question answered wrongly" in text


def test_reasons_shared_by_answers_are_shown_once():
    evidence = live_evidence()
    annotation = next(evidence.archive.annotations())
    twice = replace(annotation, answers=(annotation.answers[0], annotation.answers[0]))

    text = show_text(evidence.study, next(evidence.archive.dialogues()), [twice])

    assert text.count("The policy says 30 days.") == 1
