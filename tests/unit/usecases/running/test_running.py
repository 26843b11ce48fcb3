from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.fakes.builders import (
    group,
    guideline,
    judge,
    latest_evidence,
    live,
    person,
    recorded,
    recording,
    study,
    word_rule,
)
from tests.fakes.clients import Switchboard, Watcher, clients_for, to_model, usual_answer
from tests.fakes.store import FakeStore
from theodolite.domain.errors import ContentRefused, PlanError, StorageUnavailable, TimedOut
from theodolite.domain.flow import FILTERED_TEXT, SayToApplication
from theodolite.domain.run import FailureKind, FailureSource, RunState, UnitKind
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Budget, Reference
from theodolite.testing.planning import draw_plan
from theodolite.usecases.running import Runner, RunOptions

SESSIONS, ANNOTATIONS = (frozenset({kind}) for kind in (UnitKind.SESSION, UnitKind.ANNOTATION))
DISK_FULL = StorageUnavailable("disk full")


class Lab:
    """A workspace in which studies are run again and again."""

    def __init__(self, store=None):
        self.store = store or FakeStore()
        self.store.started = True
        self.board = Switchboard()
        self.watcher = Watcher()

    async def run(self, study, *rows, answer=usual_answer, **options):
        self.board = Switchboard(answer=answer)
        self.watcher = Watcher()
        applications = [application.name for application in study.applications]
        plan, sessions = draw_plan(study, rows)
        runner = Runner(
            study=study,
            plan=plan,
            sessions=sessions,
            recordings=rows,
            store=self.store,
            clients=clients_for(self.board, applications=applications, budget=study.budget),
            progress=self.watcher,
            owner="me",
        )
        async with asyncio.timeout(20):
            return await runner.run(RunOptions(**{"concurrency": 3, **options}))

    def evidence(self, study, *rows):
        return latest_evidence(self.store, study, rows)

    def dialogues(self, study, *rows):
        return [*self.evidence(study, *rows).archive.dialogues()]

    def failures(self, study, *rows):
        return [*self.evidence(study, *rows).archive.failures()]


@pytest.fixture
def lab():
    return Lab()


def people(*names, **more):
    return study(personas=(group(*(names or ("Ana", "Ben", "Chi"))),), **more)


def one_turn(number):
    scene = Scenario(name="shop", goal="Buy", turns=1)
    return people(*(f"P{n}" for n in range(number)), scenarios=(scene,))


async def test_a_run_tests_and_assesses_until_the_plan_is_done(lab):
    standing = await lab.run(people())

    assert standing.is_complete
    assert (standing.dialogues, standing.annotated, standing.stopped) == (3, 3, "")
    assert standing.run.state is lab.store.latest_run("small").state is RunState.FINISHED
    assert lab.watcher.begun == {"sessions": 3, "annotations": 3, "done": 0, "annotated": 0}
    assert (lab.watcher.ended, lab.watcher.total.calls) == (1, 15)


async def test_running_again_sends_no_request(lab):
    limit = await lab.run(people())

    again = await lab.run(people())

    assert lab.board.asked == []
    assert again.run.key == limit.run.key
    assert again.is_complete
    assert lab.watcher.begun == {"sessions": 3, "annotations": 3, "done": 3, "annotated": 3}


async def test_dialogues_of_a_limited_run_count_later(lab):
    limit = await lab.run(people(), limit=1)
    assert (limit.dialogues, limit.annotated, limit.planned, limit.is_complete) == (1, 1, 3, False)
    assert limit.run.state is RunState.UNFINISHED

    rest = await lab.run(people())

    assert len(lab.board.asked) == 2 * 5
    assert rest.run.key == limit.run.key
    assert rest.is_complete


async def test_testing_and_assessment_can_run_separately(lab):
    tested = await lab.run(people(), kinds=SESSIONS)
    assert (tested.dialogues, tested.annotated, tested.is_complete) == (3, 0, False)

    assessed = await lab.run(people(), kinds=ANNOTATIONS)

    assert len(lab.board.asked) == 3
    assert assessed.is_complete


async def test_a_new_run_can_be_started(lab):
    limit = await lab.run(people())

    second = await lab.run(people(), new_run=True)

    assert len(lab.board.asked) == 15
    assert (limit.run.number, second.run.number) == (1, 2)


async def test_a_changed_study_repeats_changed_requests_only(lab):
    await lab.run(people("Ana", "Ben"))

    grown = await lab.run(people("New", "Ana", "Ben", title="Grown"))

    assert len(lab.board.asked) == 5
    assert grown.is_complete
    assert grown.run.number == 2


async def test_reused_dialogues_have_the_labels_of_the_current_plan(lab):
    await lab.run(people("Ana", "Ben"))
    grown = people("New", "Ana", "Ben")

    await lab.run(grown)

    evidence = lab.evidence(grown)
    said = {dialogue.label: dialogue.persona.name for dialogue in evidence.archive.dialogues()}
    assert said == {"d001": "New", "d002": "Ana", "d003": "Ben"}
    assert [dialogue.cluster for dialogue in evidence.archive.dialogues()] == ["people-1", "people-2", "people-3"]
    about = [annotation.dialogue for annotation in evidence.archive.annotations()]
    assert about == [dialogue.key for dialogue in evidence.archive.dialogues()]


async def test_another_judge_calls_no_application_again(lab):
    await lab.run(people())

    await lab.run(people(annotators=(judge(), judge("second"))))

    assert len(lab.board.asked) == 3
    assert all(request.model == "large" for request in lab.board.asked)


async def test_one_failing_call_in_ten_gives_nine_dialogues_and_one_failure(lab):
    def answer(request):
        if isinstance(request, SayToApplication) and request.item == "people-4":
            return TimedOut("no answer in 30 s")
        return usual_answer(request)

    standing = await lab.run(one_turn(10), answer=answer)

    assert (standing.dialogues, standing.annotated, standing.is_complete) == (9, 9, True)
    (failure,) = lab.failures(one_turn(10))
    assert (failure.label, failure.party, failure.kind) == ("d004", FailureSource.APPLICATION, FailureKind.TIMED_OUT)
    assert (failure.turn, failure.endpoint) == (1, "bot")


async def test_a_failing_judge_fails_its_annotation_only(lab):
    def answer(request):
        return TimedOut("late") if to_model(request) and request.model == "large" else usual_answer(request)

    standing = await lab.run(people(), answer=answer)

    assert (standing.dialogues, standing.annotations["failed"], standing.is_complete) == (3, 3, True)
    assert {failure.party for failure in lab.failures(people())} == {FailureSource.JUDGE}


async def test_a_failure_is_final_unless_retried(lab):
    await lab.run(one_turn(1), answer=lambda r: usual_answer(r) if to_model(r) else TimedOut("late"))
    await lab.run(one_turn(1))
    assert lab.board.asked == []

    standing = await lab.run(one_turn(1), retry_failed=True)

    assert [type(request) for request in lab.board.asked][:1] == [SayToApplication]
    assert (standing.dialogues, standing.annotated) == (1, 1)
    assert lab.failures(one_turn(1)) == []


async def test_a_finished_run_with_retried_units_is_temporarily_unfinished(lab):
    await lab.run(one_turn(1), answer=lambda r: usual_answer(r) if to_model(r) else TimedOut("late"))
    seen = [lab.store.latest_run("small").state]

    def answer(request):
        seen.append(lab.store.latest_run("small").state)
        return usual_answer(request)

    standing = await lab.run(one_turn(1), answer=answer, retry_failed=True)

    assert (seen[0], {*seen[1:]}) == (RunState.FINISHED, {RunState.UNFINISHED})
    assert standing.run.state is lab.store.latest_run("small").state is RunState.FINISHED


async def test_a_run_finished_by_other_processes_in_the_meantime_is_finished(lab):
    def answer(request):
        lab.store.close_run(lab.store.latest_run("small"), RunState.FINISHED)
        return usual_answer(request)

    standing = await lab.run(one_turn(2), answer=answer, limit=1)

    assert not standing.is_complete
    assert lab.store.latest_run("small").state is RunState.FINISHED


async def test_a_reply_withheld_by_the_filter_is_a_refusal_and_not_a_failure(lab):
    standing = await lab.run(one_turn(1), answer=lambda r: usual_answer(r) if to_model(r) else ContentRefused("f"))

    evidence = lab.evidence(one_turn(1))
    assert (standing.dialogues, [*evidence.archive.failures()]) == (1, [])
    assert next(evidence.archive.dialogues()).turns[0].response == FILTERED_TEXT


@pytest.mark.parametrize("concurrency", [1, 4, 32])
async def test_twenty_refusals_in_a_row_stop_a_run_without_failing_its_units(lab, concurrency):
    stopped = await lab.run(
        one_turn(50), answer=lambda r: usual_answer(r) if to_model(r) else TimedOut("gone"), concurrency=concurrency
    )

    assert "consecutive calls to `bot` failed" in stopped.stopped
    assert (stopped.sessions["waiting"], stopped.is_complete) == (50, False)
    assert lab.failures(one_turn(50)) == []

    healed = await lab.run(one_turn(50))
    assert (healed.dialogues, healed.is_complete) == (50, True)
    assert sum(to_model(request) and request.model == "user" for request in lab.board.asked) <= 50 - 20


async def test_an_exhausted_budget_stops_a_run_and_the_next_one_makes_no_call(lab):
    poor = people(budget=Budget(calls=6))
    stopped = await lab.run(poor, concurrency=1)
    assert (stopped.stopped, stopped.is_complete) == ("the budget of 6 calls is spent", False)
    assert 6 <= len(lab.board.asked) <= 7

    again = await lab.run(poor, concurrency=32)

    assert lab.board.asked == []
    assert again.stopped == stopped.stopped


async def test_a_budget_exhausted_by_the_last_call_has_stopped_nothing(lab):
    standing = await lab.run(people(budget=Budget(calls=15)), concurrency=1)

    assert (standing.is_complete, standing.stopped) == (True, "")


async def test_if_everything_fails_there_are_no_dialogues(lab):
    standing = await lab.run(one_turn(3), answer=lambda _: TimedOut("gone"))

    assert (standing.dialogues, standing.annotated, standing.sessions["failed"]) == (0, 0, 3)


class FullStore(FakeStore):
    async def append(self, unit, entry):
        raise DISK_FULL


async def test_a_database_error_is_the_reported_error():
    lab = Lab(FullStore())

    with pytest.raises(StorageUnavailable, match="disk full"):
        await lab.run(people())

    assert lab.watcher.ended == 1
    run = lab.store.latest_run("small")
    assert lab.store.count_units(run, UnitKind.SESSION)["leased"] == 0


async def test_an_internal_error_is_not_wrapped_in_a_group(lab):
    def answer(request):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await lab.run(people(), answer=answer)


async def test_a_study_without_testers_is_refused_before_a_run_is_opened(lab):
    with pytest.raises(PlanError):
        await lab.run(study(personas=()))

    assert lab.store.runs("small") == []


ROWS = tuple(recording(key, label=label, final="yes") for key, label in [("a", "yes"), ("b", ""), ("c", "?")])
OLD = study(
    applications=(recorded(),),
    scenarios=(),
    personas=(),
    annotators=(person(column="label"), word_rule("words", "response b")),
    reference=Reference(column="final", guideline="polite"),
)


async def test_recorded_labels_and_final_ones_come_from_their_own_rows(lab):
    standing = await lab.run(OLD, *ROWS, answer=lambda request: f"response {request.item}")

    evidence = lab.evidence(OLD, *ROWS)
    by_label = {dialogue.key: dialogue.label for dialogue in evidence.archive.dialogues()}
    said = {
        (by_label[a.dialogue], a.annotator): a.answers[0].value or a.answers[0].outcome
        for a in evidence.archive.annotations()
    }
    assert standing.is_complete
    assert [said[f"old/{key}", "ann"] for key in "abc"] == ["yes", "missing", "unparseable"]
    assert [said[f"old/{key}", "words"] for key in "abc"] == ["no", "yes", "no"]
    assert [(by_label[final.dialogue], final.value) for final in evidence.archive.adjudications()] == [
        ("old/a", "yes"),
        ("old/b", "yes"),
        ("old/c", "yes"),
    ]


async def test_final_labels_of_an_earlier_run_follow_their_rows(lab):
    await lab.run(OLD, *ROWS)
    grown = replace(OLD, title="Grown")
    more = (recording("z", label="no", final="no"), *ROWS)

    await lab.run(grown, *more)

    evidence = lab.evidence(grown, *more)
    by_label = {dialogue.key: dialogue.label for dialogue in evidence.archive.dialogues()}
    finals = {by_label[final.dialogue]: final.value for final in evidence.archive.adjudications()}
    assert finals == {"old/z": "no", "old/a": "yes", "old/b": "yes", "old/c": "yes"}


async def test_two_applications_have_the_same_testers(lab):
    both = people("Ana", applications=(live("blue"), live("green")), guidelines=(guideline(),))

    standing = await lab.run(both)

    assert standing.dialogues == 2
    assert [dialogue.label for dialogue in lab.dialogues(both)] == ["blue/d001", "green/d001"]
    assert len({dialogue.pair_key for dialogue in lab.dialogues(both)}) == 1
