from dataclasses import replace

import pytest

from tests.fakes.evidence import live_evidence
from tests.fakes.evidence_variants import PLAIN, VOTES
from theodolite.domain.annotator import ModelJudge
from theodolite.domain.findings.agreement import VoteAdvice
from theodolite.reporting.terminal.judges import diagnostics_lines

STUDY = live_evidence().study


def lines(**parts):
    return list(diagnostics_lines(STUDY, [replace(PLAIN, **parts)]))


def test_a_judge_without_findings_takes_no_line():
    assert lines() == []


def test_votes_state_their_cost_and_the_alternative_of_more_dialogues():
    ((label, text),) = lines(votes=VOTES)

    assert label == "Votes"
    assert "grounded took 2.3 of 5 calls a dialogue; its readings differ on 3 of 60 (5.0%)" in text
    assert "without a majority on 1." in text
    assert "138 calls on as many dialogues would do better: a standard error of 2.0 points, not 3.4." in text


def test_worthwhile_votes_are_not_advised_against():
    advice = VoteAdvice(error=0.02, error_as_samples=0.03, samples_do_better=False)

    assert "would do better" not in lines(votes=replace(VOTES, advice=advice))[0][1]


@pytest.mark.parametrize(
    ("parts", "label", "words"),
    [
        (
            {"quoting": 40, "ungrounded": ("d001", "d009")},
            "Quotes",
            "do not stand there in 2 of 60 (3.3%) verdicts (d001, d009)",
        ),
        ({"control_failed": ("d004",), "control_passed": 59}, "Control", "answered wrongly in 1 of 60 (1.7%) (d004)"),
        ({"control_unanswered": 60}, "Control", "left out in 60 of 60 (100.0%)"),
        ({"answered_as": ("a", "b")}, "Changed", "answered under 2 names, a, b: it is not one instrument"),
    ],
)
def test_causes_of_doubtful_verdicts_are_stated_with_counts(parts, label, words):
    ((found, text),) = lines(**parts)

    assert found == label
    assert words in text


@pytest.mark.parametrize(
    ("answered", "is_said"), [("else-7b", True), ("judge-1-2026-01-02", False), ("judge-1", False)]
)
def test_a_different_model_than_requested_is_reported(answered, is_said):
    (model, *_) = (one for one in STUDY.models if not one.is_scripted)
    asked = replace(model, model="org/judge-1")
    judge = replace(STUDY.annotator(PLAIN.annotator), labelling=ModelJudge(model=asked.name))
    study = replace(STUDY, models=(asked,), annotators=(judge,))

    said = list(diagnostics_lines(study, [replace(PLAIN, answered_as=(answered,))]))

    assert (said == [("Model", "grounded was asked for org/judge-1 and answered as else-7b")]) is is_said


def test_many_dialogues_are_counted_and_not_listed():
    ((_, text),) = lines(ungrounded=tuple(f"d{n}" for n in range(9)))

    assert text.endswith("(d0, d1, d2, d3, d4 and 4 more)")


def test_unanswered_control_questions_of_a_script_are_not_reported():
    assert lines(control_unanswered=60, scripted=True) == []
