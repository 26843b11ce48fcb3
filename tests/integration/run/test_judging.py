"""Judges with votes, invalid replies, refusals or interruptions, behind a real connection."""

from __future__ import annotations

from pathlib import Path

import pytest

import theodolite
from tests.fakes.loopback import Loopback
from theodolite.domain.annotation import Outcome
from theodolite.domain.estimate import Undefined

pytestmark = pytest.mark.integration

N = 12
STUDY = """study: judged
models:
  large: {{url: {url}, name: judge, attempts: 1}}
applications:
  old: {{kind: recorded, file: rows.csv, id: id, prompt: prompt, response: response}}
judges:
  useful: {{ask: How useful is the reply?, scale: 1-5, defect: "<= 2", model: large{more}}}
"""
ROWS = "id,prompt,response\n" + "".join(f"r{n},Question {n}?,Answer {n}.\n" for n in range(1, N + 1))


@pytest.fixture
def judged(tmp_path: Path):
    """Return a function that runs a study with one judge behind a server that misbehaves."""

    def run(more: str = "", **knobs):
        with Loopback(**knobs) as server:
            (tmp_path / "study.yaml").write_text(STUDY.format(url=server.url, more=more))
            (tmp_path / "rows.csv").write_text(ROWS)
            return theodolite.run(str(tmp_path)), server.stats["by_role"].get("judge", 0)

    return run


def rate(ran):
    return next(one for one in ran.findings.measurements if one.measure == "defect_rate")


def said(text, **knobs):
    return {"replies": {"judge": [text]}, **knobs}


@pytest.mark.parametrize(
    ("knobs", "outcome", "calls"),
    [
        (said("It is useful, I would say."), "unparseable", 2 * N),
        (said('{"reason": "It is', finish="length"), "unparseable", 2 * N),
        (said('{"reason": "x", "score": 9}'), "unparseable", 2 * N),
        (said('{"no_verdict": "I do not judge."}'), "refused", 2 * N),
        ({"every": 1, "fault": "filter"}, "refused", N),
        ({"every": 1, "fault": "refusal"}, "refused", N),
        ({"every": 1, "fault": "empty"}, "failed", N),
        ({"faults": ("ok",), "every": 1, "fault": "truncated"}, "failed", N),
    ],
    ids=["wrong JSON", "cut off", "off the scale", "refuses in words", "filtered", "refused", "empty", "broken off"],
)
def test_a_judge_without_labels_has_explicit_values_and_no_rate(judged, knobs, outcome, calls):
    ran, made = judged(**knobs)
    counted = rate(ran)

    assert isinstance(counted.result, Undefined)
    assert (counted.outcomes.planned, counted.outcomes.used) == (N, 0)
    assert getattr(counted.outcomes, outcome) == N
    assert made <= calls


@pytest.mark.parametrize("votes", [", votes: {rule: fixed, most: 5}", ", votes: 5"])
def test_a_judge_that_always_refuses_never_has_a_rate_of_zero(judged, votes):
    ran, _ = judged(votes, every=1, fault="filter")

    assert isinstance(rate(ran).result, Undefined)
    assert rate(ran).outcomes.refused == N


def test_another_model_version_behind_the_name_is_reported(judged):
    ran, _ = judged(answers_as="somebody-else")

    assert [conduct.answered_as for conduct in ran.findings.judge_diagnostics] == [("somebody-else",)]


def test_all_votes_are_stored_paid_and_counted_once(judged):
    ran, made = judged(", votes: {rule: fixed, most: 5}")
    (conduct,) = ran.findings.judge_diagnostics
    annotations = list(ran.evidence.archive.annotations())

    assert made == conduct.votes.cast == 5 * N == ran.evidence.spending.calls
    assert all([vote.replicate for vote in one.votes] == [1, 2, 3, 4, 5] for one in annotations)
    assert rate(ran).outcomes.planned == N


def test_votes_stop_early_and_ties_are_missing_labels(judged):
    ran, made = judged(", votes: {rule: lead, most: 2}")
    (conduct,) = ran.findings.judge_diagnostics

    assert N <= made <= 2 * N
    assert len(conduct.votes.tied) == rate(ran).outcomes.missing
    assert set(conduct.votes.tied) <= set(conduct.votes.split)


def test_a_resumed_run_repeats_no_call(judged, tmp_path: Path):
    ran, made = judged(", votes: 3")
    again = theodolite.run(str(tmp_path))

    assert again.findings.judge_diagnostics == ran.findings.judge_diagnostics
    assert again.evidence.spending.calls == made


def test_a_second_attempt_can_replace_an_unreadable_reply(judged):
    replies = {"judge": ["Let me think.", '{"reason": "Second thought.", "score": 4}']}
    ran, made = judged(replies=replies)
    outcomes = {answer.outcome for one in ran.evidence.archive.annotations() for answer in one.answers}

    assert (made, outcomes) == (2 * N, {Outcome.ANSWERED})
