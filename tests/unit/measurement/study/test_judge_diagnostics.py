from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.measurement.study.small_study import SmallStudy, polite
from theodolite.assessment.judge.judging import majority
from theodolite.domain.annotation import AnnotatorKind, Answer, Control, Outcome, Quote, Vote
from theodolite.domain.annotator import ModelJudge, StopRule, Voting
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.instrument import QuestionLevel
from theodolite.measurement.study.judge_diagnostics import judge_diagnostics

LEAD = ModelJudge(model="large", voting=Voting(rule=StopRule.LEAD, most=5))


def judged(labels=("d1", "d2", "d3"), labelling=LEAD, **parts):
    """Return a study in which a judge said `yes` of every dialogue."""
    study = SmallStudy(**parts)
    study.annotator("judge", AnnotatorKind.MODEL)
    study.annotators[0] = replace(study.annotators[0], labelling=labelling)
    for label in labels:
        study.session(label)
        study.answer("judge", label, "yes")
    return study


def mark(study, place, **more):
    """Change an annotation; its answers are those that its votes come to."""
    if "votes" in more:
        more = {"answers": majority(more["votes"], study.guideline), **more}
    study.annotations[place] = replace(study.annotations[place], **more)


def cast(*values):
    """Return votes; a value of None is a reply that nobody could read."""
    return tuple(
        Vote(replicate=n, answers=(Answer(question="label", replicate=n, value=value, outcome=_outcome(value)),))
        for n, value in enumerate(values, start=1)
    )


def _outcome(value):
    return Outcome.ANSWERED if value else Outcome.UNPARSEABLE


def only(study):
    (conduct,) = judge_diagnostics(study.evidence())
    return conduct


def quoting(*verified):
    quotes = tuple(Quote(turn=1, text="Hi", verified=each) for each in verified)
    return (Answer(question="label", outcome=Outcome.ANSWERED, value="yes", evidence=quotes),)


def test_unverified_quotes_are_counted_with_their_dialogues():
    study = judged()
    mark(study, 0, answers=quoting(True))
    mark(study, 1, answers=quoting(True, False))

    assert (only(study).verdicts, only(study).quoting, only(study).ungrounded) == (3, 2, ("d2",))


def test_control_questions_are_counted_by_result():
    study = judged(("d1", "d2", "d3", "d4"))
    for place, state in enumerate([Control.PASSED, Control.FAILED, Control.UNANSWERED, Control.NOT_ASKED]):
        mark(study, place, control=state)

    assert (only(study).control_passed, only(study).control_failed, only(study).control_unanswered) == (1, ("d2",), 1)


def test_model_names_of_the_endpoint_are_listed_once_each():
    study = judged()
    mark(study, 0, answered_as="gpt-a")
    mark(study, 1, answered_as="gpt-a\ngpt-b")

    assert only(study).answered_as == ("gpt-a", "gpt-b")


def test_a_judge_with_one_reading_has_no_votes():
    assert only(judged()).votes is None


def test_votes_are_summed_and_distinguished():
    study = judged()
    for place, values in enumerate([("yes", "yes"), ("yes", "no", "no", "no"), ("no", "yes", None, None)]):
        mark(study, place, votes=cast(*values))
    votes = only(study).votes

    assert (votes.dialogues, votes.cast, votes.split, votes.tied) == (3, 10, ("d2", "d3"), ("d3",))
    assert votes.voting == LEAD.voting
    assert votes.flip_rate.value == pytest.approx((0 + 1 / 2 + 1) / 3)


def test_without_a_majority_the_dialogue_is_tied():
    study = judged(("d1", "d2"))
    mark(study, 0, votes=cast("yes", "no"))
    mark(study, 1, votes=cast("yes", "yes", "no"))

    assert only(study).votes.tied == ("d1",)


def test_single_readings_and_majorities_give_two_rates():
    study = judged(("d1", "d2"))
    mark(study, 0, votes=cast("yes", "yes", "no"))
    mark(study, 1, votes=cast("no", "no", "no"))
    votes = only(study).votes

    assert votes.by_single_votes.value == pytest.approx((1 / 3 + 1) / 2)
    assert votes.by_majorities.value == pytest.approx(1 / 2)


def test_more_dialogues_are_recommended_with_numbers_where_they_are_better():
    study = judged(tuple(f"d{n}" for n in range(20)))
    for place in range(20):
        mark(study, place, votes=cast(*(["no"] * 5 if place % 4 == 0 else ["yes"] * 5)))
    advice = only(study).votes.advice

    assert advice.samples_do_better
    assert advice.error_as_samples < advice.error


def test_a_judge_that_always_refuses_has_no_rate():
    study = judged(("d1", "d2"))
    refused = tuple(
        Vote(replicate=n, answers=(Answer(question="label", outcome=Outcome.REFUSED, replicate=n),)) for n in (1, 2)
    )
    for place in range(2):
        mark(study, place, votes=refused)
    votes = only(study).votes

    numbers = [votes.by_single_votes, votes.by_majorities, votes.flip_rate, votes.retest_alpha]
    assert all(isinstance(number, Undefined) for number in numbers)


def test_at_turns_a_reading_counts_by_its_defective_turn():
    study = judged(("d1",), guideline=polite(level=QuestionLevel.TURN))
    votes = tuple(
        Vote(
            replicate=n,
            answers=tuple(
                Answer(question="label", outcome=Outcome.ANSWERED, value=value, turn=turn, replicate=n)
                for turn, value in enumerate(values, start=1)
            ),
        )
        for n, values in enumerate([("yes", "no"), ("yes", "yes")], start=1)
    )
    mark(study, 0, votes=votes)

    assert isinstance(only(study).votes.by_single_votes, Estimate)
    assert only(study).votes.by_single_votes.value == 0.5
    assert only(study).votes.split == ("d1",)


def test_people_and_rules_have_no_diagnostics():
    study = SmallStudy()
    study.annotator("ann")
    study.session("d1")
    study.answer("ann", "d1", "yes")

    assert list(judge_diagnostics(study.evidence())) == []
