"""From saved answers to a whole annotation."""

from __future__ import annotations

from dataclasses import replace

from tests.fakes.annotation_queue import RISK, STUDY, STYLE, a_dialogue, how_bad, no, yes

from theodolite.assessment.manual_annotation import annotation_by, person_of, whole_answers
from theodolite.domain.annotation import Outcome, Quote
from theodolite.domain.run import Unit, UnitKind

DIALOGUE = a_dialogue(Unit(key="a" * 64, kind=UnitKind.SESSION, work_key="w", position=0, label="d", application="b"))


def test_a_follow_up_that_is_closed_again_does_not_apply():
    answers = whole_answers(RISK, DIALOGUE, (no("released"), how_bad("7")))

    assert [(answer.value, answer.outcome) for answer in answers] == [
        ("no", Outcome.ANSWERED),
        (None, Outcome.NOT_APPLICABLE),
    ]


def test_each_turn_has_its_answer_in_order():
    answers = whole_answers(STYLE, DIALOGUE, (no("friendly", 2), yes("friendly", 1)))

    assert [(answer.turn, answer.value) for answer in answers] == [(1, "yes"), (2, "no")]


def test_quotes_say_whether_they_stand_there():
    quotes = (Quote(turn=2, text="In the tower"), Quote(turn=1, text="In the tower"))
    (answer, _) = whole_answers(RISK, DIALOGUE, (replace(no("released"), evidence=quotes),))

    assert [quote.verified for quote in answer.evidence] == [True, False]


def test_a_person_is_an_annotator_of_their_key():
    annotation = annotation_by(person_of(STUDY, "p-1", "risk"), RISK, DIALOGUE.key, ())

    assert (annotation.annotator, annotation.guideline, annotation.unit) == ("p-1-risk", "risk", "")
    assert (
        annotation.annotator_version
        != annotation_by(person_of(STUDY, "p-2", "risk"), RISK, DIALOGUE.key, ()).annotator_version
    )
