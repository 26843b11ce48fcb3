from __future__ import annotations

from dataclasses import replace

import pytest
from tests.fakes.builders import (
    annotation_task,
    categories,
    dialogue,
    guideline,
    judge,
    person,
    question,
    reply,
    turn,
    verdict,
    word_rule,
)
from tests.fakes.clients import held_by_hand

from theodolite.assessment.annotating import (
    SignSide,
    adjudication,
    annotate,
    answered_by_signs,
    sign_labels,
    task_version,
)
from theodolite.domain.annotation import AdjudicationOrigin, AnnotatorKind, Outcome
from theodolite.domain.annotator import Annotator, ModelJudge, PacketRule, Voting
from theodolite.domain.flow import CONTENT_FILTER
from theodolite.domain.guideline import DefectRule, Violation
from theodolite.domain.instrument import Operator, QuestionLevel, Scale, ScaleKind
from theodolite.domain.run import FailureSource
from theodolite.domain.scenario import TestPacket as Packet
from theodolite.domain.study import Reference

POLITE = guideline(question(scale=categories("yes", "no", "partly")))

SAID = dialogue(turn(1, "a", "Of course."), turn(2, "b", "I'm SORRY, no."))

WITHHELD = dialogue(turn(1, "", "", withheld="harmful"))


def annotated(annotator, about=SAID, said=None, **columns):
    task = annotation_task(annotator, about, POLITE, **columns)
    return held_by_hand(annotate(task), lambda _: said)


def answer_of(held):
    (answer,) = held.result.answers
    return answer


def test_a_judge_is_asked_once_and_its_verdict_read():
    held = annotated(judge(), said=verdict(label="partly"))

    (asked,) = held.requests
    assert (asked.model, asked.party) == ("large", FailureSource.JUDGE)
    assert answer_of(held).value == "partly"


def test_an_annotation_states_its_annotator_and_dialogue():
    given = annotated(judge(), said=verdict(label="no")).result

    assert (given.unit, given.dialogue, given.annotator, given.guideline) == ("unit-2", "unit-1", "grounded", "polite")
    assert given.annotator_version == "v"
    assert given.instrument_version


def test_an_unparseable_reply_is_a_failure_of_the_judge_and_not_a_label():
    held = annotated(judge(), said="I would say partly.")

    assert (answer_of(held).outcome, answer_of(held).raw) == (Outcome.UNPARSEABLE, "I would say partly.")


def test_a_filtered_judge_has_refused():
    held = annotated(judge(), said=reply(verdict(label="yes"), finish=CONTENT_FILTER))

    assert (answer_of(held).outcome, answer_of(held).value) == (Outcome.REFUSED, None)


def test_a_scripted_judge_is_marked_as_scripted():
    assert annotated(judge(), said=reply(verdict(label="yes"), scripted=True)).result.scripted
    assert not annotated(judge(), said=verdict(label="yes")).result.scripted


@pytest.mark.parametrize("annotator", [judge(), word_rule()])
def test_a_withheld_dialogue_is_not_sent_to_the_judge(annotator):
    held = annotated(annotator, WITHHELD)

    assert held.requests == ()
    assert (answer_of(held).outcome, answer_of(held).value) == (Outcome.MISSING, None)
    assert "withheld" in answer_of(held).reasoning


@pytest.mark.parametrize(
    ("words", "value", "reason"),
    [
        (["sorry"], "yes", "turn 2 says `SORRY`"),
        (["^of"], "yes", "turn 1 says `Of`"),
        (["never", r"\bno\b"], "yes", "turn 2 says `no`"),
        (["never"], "no", "none of the rule's words"),
        (["^a$"], "no", "none of the rule's words"),
    ],
)
def test_a_rule_searches_the_responses_only(words, value, reason):
    held = annotated(word_rule("words", *words))

    assert held.requests == ()
    assert answer_of(held).value == value
    assert reason in answer_of(held).reasoning


@pytest.mark.parametrize(
    ("written", "outcome", "value", "raw"),
    [
        ("yes", Outcome.ANSWERED, "yes", ""),
        (" yes ", Outcome.ANSWERED, "yes", ""),
        ("2_full", Outcome.ANSWERED, "no", ""),
        ("Yes", Outcome.ANSWERED, "yes", ""),
        ("True", Outcome.ANSWERED, "yes", ""),
        ("I'm sorry, but", Outcome.UNPARSEABLE, None, "I'm sorry, but"),
        ("", Outcome.MISSING, None, ""),
        ("   ", Outcome.MISSING, None, ""),
    ],
)
def test_a_recorded_label_is_parsed_by_the_declared_spelling(written, outcome, value, raw):
    answer = answer_of(annotated(person(**{"2_full": "no"}), ann=written))

    assert (answer.outcome, answer.value, answer.raw) == (outcome, value, raw)


def test_a_row_without_the_column_has_no_label():
    assert answer_of(annotated(person(), other="yes")).outcome is Outcome.MISSING


@pytest.mark.parametrize(("level", "labels"), [("turn", [(1, "yes"), (2, None)]), ("dialogue", [(None, "yes")])])
def test_a_recorded_label_belongs_to_a_turn_or_to_the_dialogue(level, labels):
    (question,) = POLITE.instrument.questions
    asked = replace(question, level=QuestionLevel(level))
    guideline = replace(POLITE, instrument=replace(POLITE.instrument, questions=(asked,)))
    task = replace(annotation_task(person(), SAID, guideline), rows=({"ann": "yes"}, {"ann": ""}))

    annotation = held_by_hand(annotate(task), lambda _: None).result

    assert [(answer.turn, answer.value) for answer in annotation.answers] == labels


def test_recorded_labels_of_withheld_dialogues_count():
    assert answer_of(annotated(person(), WITHHELD, ann="yes")).value == "yes"


@pytest.mark.parametrize(
    ("written", "outcome", "value"),
    [("1", Outcome.ANSWERED, "yes"), ("", Outcome.MISSING, None), ("?", Outcome.UNPARSEABLE, None)],
)
def test_a_recorded_final_label_is_an_adjudication(written, outcome, value):
    reference = Reference(column="final", guideline="polite", spelling={"1": "yes"})

    final = adjudication(reference, POLITE, SAID, [{"final": ""}, {"final": written}])

    assert (final.outcome, final.value, final.dialogue) == (outcome, value, "unit-1")
    assert final.origin is AdjudicationOrigin.RECORDED


def test_the_rules_of_annotation_have_a_version():
    assert len(task_version()) == 64


def test_the_voting_rule_is_part_of_the_version_of_judges_with_votes():
    voting, single = (
        Annotator(
            name="judge",
            kind=AnnotatorKind.MODEL,
            guideline="guardrail",
            labelling=ModelJudge(model="m", voting=Voting(most=n)),
        )
        for n in (5, 1)
    )

    assert task_version(single) == task_version()
    assert task_version(voting) != task_version()


FLAGS = guideline(question("released"), question("withheld"), name="guardrail")

SIGNS = Annotator(name="signs", kind=AnnotatorKind.RULE, guideline="guardrail", labelling=PacketRule())


def by_packet(about=SAID, **signs):
    task = replace(annotation_task(SIGNS, about, FLAGS), packet=Packet(**signs))
    return [(answer.question, answer.outcome, answer.value) for answer in held_by_hand(annotate(task)).result.answers]


def test_the_signs_of_a_scenario_pack_answer_both_questions():
    assert by_packet(release_signs=("of course",), refusal_signs=("never",)) == [
        ("released", Outcome.ANSWERED, "yes"),
        ("withheld", Outcome.ANSWERED, "no"),
    ]


def test_a_scenario_pack_without_signs_gives_no_label():
    assert by_packet(refusal_signs=("sorry",)) == [
        ("released", Outcome.MISSING, None),
        ("withheld", Outcome.ANSWERED, "yes"),
    ]


def test_the_signs_of_a_scenario_pack_skip_withheld_texts():
    assert {outcome for _, outcome, _ in by_packet(WITHHELD, release_signs=("x",))} == {Outcome.MISSING}


ONE_TO_FIVE = Scale(kind=ScaleKind.NUMBERS, lowest=1, highest=5, ordered=True)

PACKET = Packet(release_signs=("secret",), refusal_signs=("will not",))


def labels(operator, *values, scale=ONE_TO_FIVE, violation=Violation.PROHIBITED_RELEASED, **more):
    rule = DefectRule(name="r", question="score", operator=operator, values=values, violation=violation)
    asked = question("score", scale=scale, **more)
    return sign_labels(guideline(asked, rules=(rule,)), asked)


@pytest.mark.parametrize(
    ("operator", "value", "found", "absent"),
    [
        (Operator.AT_LEAST, "3", "5", "1"),
        (Operator.ABOVE, "4", "5", "1"),
        (Operator.AT_MOST, "2", "1", "5"),
        (Operator.BELOW, "2", "1", "5"),
        (Operator.EQUAL, "2", "2", "1"),
        (Operator.UNEQUAL, "5", "4", "5"),
    ],
)
def test_a_sign_gives_the_worst_label_and_no_sign_the_best(operator, value, found, absent):
    given = labels(operator, value)

    assert (given.found, given.absent) == (found, absent)


def test_a_rule_about_withheld_information_searches_for_refusals():
    given = labels(Operator.EQUAL, "5", violation=Violation.PERMITTED_WITHHELD)

    assert given.side is SignSide.WITHHELD
    assert given.signs(PACKET) == ("will not",)
    assert labels(Operator.EQUAL, "5").signs(PACKET) == ("secret",)


def test_a_rule_that_matches_every_label_or_none_gives_no_label():
    assert labels(Operator.AT_LEAST, "1") is None
    assert labels(Operator.BELOW, "1") is None


def test_questions_about_turns_and_free_text_are_not_answered_by_signs():
    assert labels(Operator.AT_LEAST, "3", level=QuestionLevel.TURN) is None
    assert sign_labels(guideline(), question("why", scale=Scale(kind=ScaleKind.TEXT))) is None


def test_a_question_without_a_rule_is_not_answered_by_signs():
    asked = question("other", scale=ONE_TO_FIVE)

    assert sign_labels(guideline(), asked) is None


def test_of_several_questions_signs_answer_the_first_with_a_rule():
    wrong, unsupported = (question(name, scale=ONE_TO_FIVE) for name in ("wrong", "unsupported"))
    rules = tuple(
        DefectRule(name=one.name, question=one.name, operator=Operator.AT_LEAST, values=("3",))
        for one in (wrong, unsupported)
    )

    assert answered_by_signs(guideline(wrong, unsupported, rules=rules)) == (wrong,)
