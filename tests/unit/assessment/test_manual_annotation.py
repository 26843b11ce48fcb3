"""From saved answers to a whole annotation."""

from __future__ import annotations

from dataclasses import replace

from tests.fakes.annotation_queue import RISK, STUDY, STYLE, a_dialogue, how_bad, no, yes
from tests.fakes.builders import categories, dialogue, guideline, question, turn

from theodolite.assessment.manual_annotation import allowed_text, annotation_by, person_of, slips_of, whole_answers
from theodolite.domain.annotating.label_sample import item_of
from theodolite.domain.annotation import Outcome, Quote
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Label, QuestionLevel, Scale, ScaleKind
from theodolite.domain.run import Unit, UnitKind

DIALOGUE = a_dialogue(Unit(key="a" * 64, kind=UnitKind.SESSION, work_key="w", position=0, label="d", application="b"))


def test_a_follow_up_that_was_closed_again_does_not_apply():
    answers = whole_answers(RISK, DIALOGUE, (no("released"), how_bad("7")))

    assert [(answer.value, answer.outcome) for answer in answers] == [
        ("no", Outcome.ANSWERED),
        (None, Outcome.NOT_APPLICABLE),
    ]


def test_each_turn_has_its_answer_in_order():
    answers = whole_answers(STYLE, DIALOGUE, (no("friendly", 2), yes("friendly", 1)))

    assert [(answer.turn, answer.value) for answer in answers] == [(1, "yes"), (2, "no")]


def test_quotes_state_whether_they_were_found():
    quotes = (Quote(turn=2, text="In the tower"), Quote(turn=1, text="In the tower"))
    (answer, _) = whole_answers(RISK, DIALOGUE, (replace(no("released"), evidence=quotes),))

    assert [quote.verified for quote in answer.evidence] == [True, False]


def test_a_person_is_an_annotator_named_by_their_key():
    annotation = annotation_by(person_of(STUDY, "p-1", "risk"), RISK, DIALOGUE.key, ())

    assert (annotation.annotator, annotation.guideline, annotation.unit) == ("p-1-risk", "risk", "")
    assert (
        annotation.annotator_version
        != annotation_by(person_of(STUDY, "p-2", "risk"), RISK, DIALOGUE.key, ()).annotator_version
    )


NUMBERS = Scale(kind=ScaleKind.NUMBERS, lowest=1, highest=5)

WORDED = Scale(kind=ScaleKind.CATEGORIES, labels=(Label(value="yes", meaning="It is so."), Label(value="no")))


def slips(asked: Guideline, **changes):
    return list(slips_of(asked, dialogue(turn(), turn(2, "And now?", "No."), **changes)))


def test_each_question_is_one_form_row_with_everything_needed():
    label, score = slips(
        guideline(question(scale=WORDED), question("score", NUMBERS, "How good?"), definition="Whether it is polite."),
        context="Be polite.",
    )

    assert label.ask == "Is it so?\nWhether it is polite.\nyes: It is so."
    assert (label.allowed, label.turn, label.material) == ("yes | no", None, "Be polite.")
    assert label.dialogue == "[1] User: May I?\n[1] Reply: You may.\n[2] User: And now?\n[2] Reply: No."
    assert (score.question, score.allowed) == ("score", "1 to 5")


def test_a_question_about_turns_has_one_form_row_per_turn():
    assert [slip.turn for slip in slips(guideline(question(level=QuestionLevel.TURN)))] == [1, 2]


def test_a_form_row_reveals_neither_application_nor_dialogue_label():
    (slip,) = slips(guideline(), key="unit-7", label="gpt4/v2-31", application="gpt4")

    assert slip.item == item_of("unit-7")
    assert "gpt4" not in repr(slip)
    assert "v2-31" not in repr(slip)


def test_non_response_options_are_listed_only_where_allowed():
    plain, open_one = question(scale=categories("a", "b")), question(may_be_unable=True, may_not_apply=True)

    assert allowed_text(plain) == "a | b"
    assert allowed_text(open_one) == "yes | no | unable to determine | does not apply"
    assert allowed_text(question(scale=Scale(kind=ScaleKind.TEXT))) == "own words"
