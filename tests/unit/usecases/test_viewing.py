"""Runs as a person follows them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.fakes.evidence import facts, live_evidence, xstest_evidence
from tests.fakes.report import evidence_named, findings_named, words
from theodolite.domain.annotator import REFERENCE
from theodolite.domain.run import Run, RunState, UnitKind, UnitState
from theodolite.domain.status import CallsSoFar, RunPace, Status
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.page.review import chips_of
from theodolite.reporting.page.subject import subject_of
from theodolite.reporting.queries.rates import rates_of
from theodolite.usecases.viewing import (
    DialogueView,
    RunActivity,
    RunDialogueFilter,
    RunProgress,
    UnitProgress,
    listed_dialogues,
)

NOW = datetime(2026, 5, 12, 14, 0, tzinfo=UTC)


def progress(*, state=RunState.UNFINISHED, leased=0, calls=0, done=0, waiting=0, failed=0) -> RunProgress:
    run = Run(key="r", number=4, study="s", study_version="v", plan_version="p", state=state, started=NOW)
    sessions = {
        UnitState.DONE: done,
        UnitState.FAILED: failed,
        UnitState.LEASED: leased,
        UnitState.WAITING: waiting,
    }
    so_far = {UnitKind.SESSION: CallsSoFar(over=10 * done, n_over=done)}
    status = Status(run=run, sessions=sessions, annotations={}, pace=RunPace(calls=calls), calls=so_far)
    return RunProgress(status=status, at=NOW)


@pytest.mark.parametrize(
    ("facts", "activity"),
    [
        ({"leased": 2, "calls": 5}, RunActivity.RUNNING),
        ({"leased": 2}, RunActivity.SILENT),
        ({"waiting": 2, "calls": 5}, RunActivity.STOPPED),
        ({"done": 3}, RunActivity.PARTIAL),
        ({"state": RunState.FINISHED, "done": 2}, RunActivity.FINISHED),
    ],
    ids=["at work", "no reply", "nobody at work", "only the first ones", "over"],
)
def test_a_run_is_active_while_a_process_leases_its_units(facts, activity):
    assert progress(**facts).activity is activity
    assert progress(**facts).is_active == (activity in {RunActivity.RUNNING, RunActivity.SILENT})


def test_failed_units_are_finished_and_counted_in_the_total():
    run = progress(done=2, failed=1, leased=1, waiting=2)

    assert run.sessions == UnitProgress(done=2, failed=1, total=6)
    assert (run.sessions.over, run.sessions.percent) == (3, 50)


def test_an_empty_plan_has_no_progress():
    assert progress().annotations.percent == 0


def test_the_end_follows_from_the_remaining_calls_and_the_rate():
    """Four units are open, ten calls each, at one call a second: forty seconds."""
    run = progress(done=2, leased=2, waiting=2, calls=60)

    assert run.ends == NOW + timedelta(seconds=40)


@pytest.mark.parametrize("facts", [{"leased": 2}, {"waiting": 2, "done": 1, "calls": 5}], ids=["silent", "stopped"])
def test_without_a_rate_the_end_is_unknown(facts):
    assert progress(**facts).ends is None


@pytest.fixture(scope="module")
def evidence():
    return xstest_evidence()


def test_defects_of_the_list_equal_those_of_the_rates(evidence):
    """The rates of final labels, rule by rule, count each defect once."""
    listed = listed_dialogues(evidence)
    found = [item for item in listed if any(x.is_defect and x.annotator == REFERENCE for x in item.labels)]

    rates = [
        rate
        for rate in rates_of(measure_study(evidence), evidence.study)
        if rate.annotator == REFERENCE and rate.group is None
    ]
    assert len(found) == sum(rate.defects for rate in rates) > 0


def test_views_are_subsets_of_all_dialogues(evidence):
    listed = listed_dialogues(evidence)
    counts = {view: len(RunDialogueFilter(view=view).matching(listed)) for view in DialogueView}

    assert counts[DialogueView.ALL] == len(listed) == len(evidence.sessions)
    disputed = RunDialogueFilter(view=DialogueView.DISAGREEMENTS).matching(listed)
    assert 0 < len(disputed) < len(listed)
    assert all(len({x.value for x in item.labels if x.annotator != REFERENCE}) > 1 for item in disputed)


CHIPS = {
    DialogueView.DEFECTS: "defect",
    DialogueView.DISAGREEMENTS: "disagreement",
    DialogueView.CHANGED: "flipped",
    DialogueView.FAILED: "failed",
    DialogueView.UNPARSEABLE: "unparseable",
}


@pytest.mark.parametrize("name", ["xstest", "live"])
def test_views_count_the_dialogues_of_the_report(name):
    subject = subject_of(evidence_named(name), findings_named(name), facts(), words())
    chips = {chip.name: chip.n for chip in chips_of(subject)}

    listed = listed_dialogues(subject.evidence)

    assert {view: sum(map(view.admits, listed)) for view in CHIPS} == {
        view: chips[chip] for view, chip in CHIPS.items()
    }


def test_a_cell_of_a_confusion_matrix_selects_the_dialogues_with_both_labels(evidence):
    listed = listed_dialogues(evidence)
    pair = (("gpt-4", "full refusal"), (REFERENCE, "full compliance"))

    selected = RunDialogueFilter(given=pair).matching(listed)

    assert 0 < len(selected) < len(RunDialogueFilter(given=pair[:1]).matching(listed))
    assert all({(x.annotator, x.value) for x in item.labels} >= set(pair) for item in selected)


def test_a_number_selects_its_own_dialogues(evidence):
    listed = listed_dialogues(evidence)
    among = frozenset(item.label for item in listed[:3])

    assert RunDialogueFilter(among=among).matching(listed) == list(listed[:3])


def test_failed_sessions_are_listed_without_labels():
    listed = listed_dialogues(live_evidence())
    failed = RunDialogueFilter(view=DialogueView.FAILED).matching(listed)

    assert failed
    assert all((item.turns, item.labels) == (0, ()) for item in failed if item.failed)
    assert {item.position for item in failed} <= {
        item.position for item in RunDialogueFilter(view=DialogueView.UNLABELLED).matching(listed)
    }


def test_a_filter_selects_by_application_and_by_part_of_label_or_tester(evidence):
    listed = listed_dialogues(evidence)
    application = listed[0].application

    by_application = RunDialogueFilter(application=application).matching(listed)
    by_text = RunDialogueFilter(text=listed[-1].label.upper()).matching(listed)

    assert {item.application for item in by_application} == {application}
    assert listed[-1] in by_text
    assert RunDialogueFilter(text="no such label").matching(listed) == []
