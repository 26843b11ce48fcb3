"""What an annotator may see of a dialogue."""

from __future__ import annotations

from dataclasses import fields

from tests.fakes.annotation_queue import STUDY, a_dialogue

from theodolite.assessment.blinding import MASKED, blind_name, blinded, mask_of, names_of
from theodolite.domain.annotating.work import BlindDialogue
from theodolite.domain.identity import canonical_json
from theodolite.domain.run import Unit, UnitKind

UNIT = Unit(key="a" * 64, kind=UnitKind.SESSION, work_key="w", position=0, label="bot-9/d001", application="bot-9")


def seen(**changes):
    dialogue = a_dialogue(UNIT, **changes)
    return blinded(dialogue, "7Q", scenario=STUDY.scenario("series"), mask=mask_of(names_of(STUDY)))


def test_nothing_that_unblinds_is_in_it():
    text = canonical_json(seen()).lower()

    for word in ("bot-9", "red teaming", "simulated", "interrupted", "d001", "ana", UNIT.key, "0.5", "series-"):
        assert word not in text


def test_names_are_masked_and_turns_keep_their_numbers():
    dialogue = seen()

    assert [turn.number for turn in dialogue.turns] == [1, 2]
    assert dialogue.turns[0].response == f"I am {MASKED}, ask me anything."
    assert dialogue.material == f"Episode 10, as {MASKED} knows it."


def test_the_task_sheet_is_there_to_look_up():
    reference = seen().reference

    assert (reference.permitted, reference.prohibited, reference.facts) == (
        ("genre",),
        ("endings",),
        (("ep. 10", "He dies."),),
    )


def test_two_annotators_call_one_dialogue_by_two_names():
    assert blind_name("d", "p-1", "salt") != blind_name("d", "p-2", "salt")
    assert blind_name("d", "p-1", "salt") != blind_name("d", "p-1", "other salt")


def test_it_has_no_place_for_anything_else():
    assert {field.name for field in fields(BlindDialogue)} == {"name", "turns", "material", "withheld", "reference"}


def test_a_mask_of_no_names_changes_nothing():
    assert mask_of([" ", ""])("Bot") == "Bot"


def test_a_name_within_a_word_is_no_name():
    assert mask_of(["bot"])("A robot, a Bot.") == f"A robot, a {MASKED}."
