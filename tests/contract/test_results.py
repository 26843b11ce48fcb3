"""What every store keeps, and gives back as it was."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from theodolite.bootstrap.connections import SystemClock
from theodolite.domain.annotation import Control, Outcome
from theodolite.domain.dialogue import Turn
from theodolite.domain.errors import Conflict, NotFound, StoreError
from theodolite.domain.findings.number import SchemaTally
from theodolite.domain.flow import SchemaUse
from theodolite.domain.persona import Attempt, AttemptOutcome, Strategy
from theodolite.domain.run import Run, Spending, Unit, UnitKind
from theodolite.domain.status import CallsSoFar
from theodolite.ports.store import Store

from .given import (
    VOTES,
    a_dialogue,
    a_failure,
    a_final_label,
    a_plan,
    a_reply,
    a_session,
    a_study,
    an_annotation,
    an_annotation_unit,
    an_entry,
)


@pytest.fixture
def unit(store: Store, run: Run) -> Unit:
    store.add_units(run, [a_session(run)])
    return a_session(run)


async def test_replies_are_returned_in_order(store: Store, unit: Unit) -> None:
    marked = a_reply("", withheld="licence", scripted=True, repaired=2, schema_use=SchemaUse.REFUSED, original="<p>")
    second, first = an_entry(1, marked), an_entry(0)
    await store.append(unit.key, second)
    await store.append(unit.key, first)

    assert store.entries(unit.key) == [first, second]


async def test_a_position_accepts_one_reply(store: Store, unit: Unit) -> None:
    await store.append(unit.key, an_entry(0))

    with pytest.raises(Conflict):
        await store.append(unit.key, an_entry(0, a_reply("Another.")))

    assert store.entries(unit.key) == [an_entry(0)]


async def test_of_many_writes_only_the_invalid_one_is_refused(store: Store, unit: Unit) -> None:
    positions = [0, 1, 2, 1, 3, 4]

    outcomes = await asyncio.gather(
        *(store.append(unit.key, an_entry(position)) for position in positions), return_exceptions=True
    )

    assert [type(outcome) for outcome in outcomes if outcome is not None] == [Conflict]
    assert [entry.position for entry in store.entries(unit.key)] == [0, 1, 2, 3, 4]


async def test_a_reply_to_an_unknown_unit_is_refused(store: Store, run: Run) -> None:
    with pytest.raises(NotFound):
        await store.append(a_session(run).key, an_entry())


def test_a_unit_without_replies_has_none(store: Store, unit: Unit) -> None:
    assert store.entries(unit.key) == []


async def test_a_dialogue_is_restored_unchanged(store: Store, run: Run, unit: Unit) -> None:
    await store.keep_dialogue(unit, a_dialogue(unit), journalled=False)

    assert list(store.dialogues(run)) == [store.dialogues_of([unit.key])[unit.key]] == [a_dialogue(unit)]
    assert store.count_units(run, UnitKind.SESSION)["done"] == 1


async def test_a_minimal_dialogue_is_restored_unchanged(store: Store, run: Run, unit: Unit) -> None:
    bare = a_dialogue(unit, persona=None, groups={}, scripted=(), context="", turns=())
    await store.keep_dialogue(unit, bare)

    assert list(store.dialogues(run)) == [bare]


async def test_turns_are_restored_from_the_journal(store: Store, run: Run, unit: Unit) -> None:
    await store.append(unit.key, an_entry(0, a_reply("Can it go back?")))
    await store.append(unit.key, an_entry(1, a_reply("Yes.")))
    turns = (
        Turn(number=1, prompt="Can it go back?", response="Yes.", prompt_at=0, response_at=1),
        Turn(number=2, prompt="said by a script", response=" Yes. ", response_at=1),
    )

    await store.keep_dialogue(unit, a_dialogue(unit, turns=turns))

    assert next(store.dialogues(run)).turns == turns


async def test_a_unit_has_one_dialogue(store: Store, run: Run, unit: Unit) -> None:
    await store.keep_dialogue(unit, a_dialogue(unit))

    with pytest.raises(Conflict):
        await store.keep_dialogue(unit, a_dialogue(unit, repeat=3))

    assert [dialogue.repeat for dialogue in store.dialogues(run)] == [2]


async def test_a_dialogue_of_another_key_is_refused(store: Store, run: Run, unit: Unit) -> None:
    with pytest.raises(StoreError):
        await store.keep_dialogue(unit, a_dialogue(a_session(run, 1)))


def test_a_unit_without_a_dialogue_has_none(store: Store, unit: Unit) -> None:
    with pytest.raises(NotFound):
        store.dialogues_of([unit.key])


async def test_many_dialogues_are_read_by_their_units(store: Store, run: Run) -> None:
    units = [a_session(run, number) for number in range(3)]
    store.add_units(run, units)
    for unit in units:
        await store.keep_dialogue(unit, a_dialogue(unit))

    wanted = [units[2].key, units[0].key]

    assert {key: dialogue.label for key, dialogue in store.dialogues_of(wanted).items()} == {
        units[2].key: "d002",
        units[0].key: "d000",
    }


@pytest.fixture
async def dialogue(store: Store, unit: Unit) -> str:
    await store.keep_dialogue(unit, a_dialogue(unit))
    return unit.key


@pytest.fixture
def judging(store: Store, run: Run, unit: Unit) -> Unit:
    judging = an_annotation_unit(run, unit)
    store.add_units(run, [judging])
    return judging


async def test_an_annotation_is_restored_unchanged(store: Store, run: Run, dialogue: str, judging: Unit) -> None:
    annotation = an_annotation(judging, dialogue)

    await store.keep_annotation(judging, annotation)

    assert list(store.annotations(run)) == [annotation]
    assert store.count_units(run, UnitKind.ANNOTATION)["done"] == 1


async def test_votes_are_restored_unchanged(store: Store, run: Run, dialogue: str, judging: Unit) -> None:
    annotation = an_annotation(judging, dialogue, votes=VOTES, control=Control.FAILED, answered_as="gpt-5.2 gpt-5.3")

    await store.keep_annotation(judging, annotation)

    assert list(store.annotations(run)) == [annotation]


async def test_an_annotation_without_answers_is_restored(store: Store, run: Run, dialogue: str, judging: Unit) -> None:
    await store.keep_annotation(judging, an_annotation(judging, dialogue, answers=()))

    assert [annotation.answers for annotation in store.annotations(run)] == [()]


async def test_the_latest_revision_is_returned(store: Store, run: Run, dialogue: str, judging: Unit) -> None:
    for revision in (1, 2):
        await store.keep_annotation(judging, an_annotation(judging, dialogue, revision=revision))

    assert [annotation.revision for annotation in store.annotations(run)] == [2]


async def test_a_revision_is_never_overwritten(store: Store, run: Run, dialogue: str, judging: Unit) -> None:
    await store.keep_annotation(judging, an_annotation(judging, dialogue))

    with pytest.raises(Conflict):
        await store.keep_annotation(judging, an_annotation(judging, dialogue, answers=()))

    assert len(next(store.annotations(run)).answers) == 7


async def test_an_annotation_of_a_missing_dialogue_is_refused(
    store: Store, run: Run, unit: Unit, judging: Unit
) -> None:
    with pytest.raises(NotFound):
        await store.keep_annotation(judging, an_annotation(judging, unit.key))


async def test_a_failure_is_restored_unchanged(store: Store, run: Run, unit: Unit, judging: Unit) -> None:
    await store.keep_failure(judging, a_failure(judging, turn=None))
    await store.keep_failure(unit, a_failure(unit))

    assert list(store.failures(run)) == [a_failure(unit), a_failure(judging, turn=None)]
    assert store.count_units(run, UnitKind.SESSION)["failed"] == 1


async def test_a_late_failure_does_not_remove_a_dialogue(store: Store, run: Run, dialogue: str, unit: Unit) -> None:
    with pytest.raises(Conflict):
        await store.keep_failure(unit, a_failure(unit))

    assert store.count_units(run, UnitKind.SESSION)["done"] == 1
    assert list(store.failures(run)) == []


async def test_final_labels_are_restored_unchanged(store: Store, run: Run, dialogue: str) -> None:
    labels = [
        a_final_label(dialogue),
        a_final_label(
            dialogue, question="tone", outcome=Outcome.UNPARSEABLE, value=None, participants=(), decided=None
        ),
    ]

    await store.keep_adjudications(run, labels)

    assert list(store.adjudications(run)) == labels


async def test_the_first_final_label_is_preserved(store: Store, run: Run, dialogue: str) -> None:
    await store.keep_adjudications(run, [a_final_label(dialogue), a_final_label(dialogue, value="1")])
    await store.keep_adjudications(run, [a_final_label(dialogue, value="2")])

    assert [label.value for label in store.adjudications(run)] == ["4"]


async def test_final_labels_belong_to_the_run_that_stored_them(store: Store, run: Run, dialogue: str) -> None:
    later = store.open_run(a_study(), a_plan(seed=2))
    store.add_units(later, [a_session(later)])
    await store.keep_adjudications(run, [a_final_label(dialogue)])

    await store.keep_adjudications(later, [a_final_label(dialogue, value="1")])

    assert [label.value for label in store.adjudications(later)] == ["1"]


async def test_a_final_label_of_a_missing_dialogue_is_refused(store: Store, run: Run, unit: Unit) -> None:
    with pytest.raises(NotFound):
        await store.keep_adjudications(run, [a_final_label(unit.key)])


async def test_missing_final_labels_are_not_an_error(store: Store, run: Run) -> None:
    await store.keep_adjudications(run, [])

    assert list(store.adjudications(run)) == []


async def test_what_replies_cost_is_summed(store: Store, run: Run, unit: Unit, judging: Unit) -> None:
    await store.append(unit.key, an_entry(0))
    await store.append(unit.key, an_entry(1, a_reply(cost_microusd=None)))
    await store.append(unit.key, an_entry(2, a_reply(cost_microusd=None, scripted=True)))
    by_application = a_reply(cost_microusd=None, tokens_in=0, tokens_out=0, finish="")
    await store.append(judging.key, an_entry(0, by_application))

    assert store.spending(run) == Spending(
        calls=4, attempts=8, tokens_in=300, tokens_out=60, cost_microusd=70, unpriced_calls=1
    )


async def test_estimated_usage_of_replies_is_recorded_separately(store: Store, run: Run, unit: Unit) -> None:
    silent = a_reply(cost_microusd=None, tokens_in=0, tokens_out=0, finish="")
    entries = [
        replace(an_entry(0, silent), estimated_tokens=30, estimated_microusd=180),
        replace(an_entry(1, silent), estimated_tokens=12),
        an_entry(2),
    ]
    for entry in entries:
        await store.append(unit.key, entry)

    spent = store.spending(run)
    assert (spent.estimated_tokens, spent.estimated_microusd) == (42, 180)
    assert (spent.tokens, spent.cost_microusd) == (120, 70)
    assert store.entries(unit.key) == entries


async def test_the_cost_of_failed_calls_is_summed_too(store: Store, run: Run, unit: Unit) -> None:
    wasted = Spending(calls=1, attempts=1, tokens_in=50, tokens_out=400, cost_microusd=900)
    await store.keep_failure(unit, a_failure(unit, spent=wasted))
    [kept] = store.failures(run)
    store.reopen([unit.key])

    assert kept.spent == wasted
    assert store.spending(run) == wasted, "to try again makes nothing undone"


async def test_the_parts_of_the_spending_sum_to_the_total(store: Store, run: Run, unit: Unit, judging: Unit) -> None:
    await store.append(unit.key, an_entry(0))
    await store.append(judging.key, an_entry(0, a_reply(tokens_in=7, cost_microusd=11, answered_as="judge-1")))
    await store.append(judging.key, an_entry(1, a_reply(tokens_in=5, cost_microusd=13, answered_as="judge-1")))

    parts = store.spending_parts(run)

    assert sum((part.spending for part in parts), start=Spending()) == store.spending(run)
    judged = [part for part in parts if part.stage is UnitKind.ANNOTATION]
    assert store.annotation_spending(run) == sum((part.spending for part in judged), start=Spending())
    assert [(part.annotator, part.model, part.spending.cost_microusd) for part in judged] == [
        (judging.annotator, "judge-1", 24)
    ]


async def test_failed_calls_are_in_the_parts_of_the_spending(store: Store, run: Run, unit: Unit) -> None:
    await store.keep_failure(unit, a_failure(unit, spent=Spending(calls=1, attempts=2, tokens_in=3, cost_microusd=4)))

    (part,) = store.spending_parts(run)

    assert part.spending == store.spending(run)
    assert store.annotation_spending(run) == Spending()


async def test_the_response_format_is_recorded(store: Store, run: Run, unit: Unit, judging: Unit) -> None:
    await store.append(unit.key, an_entry(0))
    await store.append(judging.key, an_entry(0, a_reply(schema_use=SchemaUse.REFUSED)))
    await store.append(judging.key, an_entry(1, a_reply(schema_use=SchemaUse.SENT)))
    await store.append(judging.key, an_entry(2, a_reply(schema_use=SchemaUse.SENT)))
    await store.append(judging.key, an_entry(3))

    assert store.schema_tallies(run) == (SchemaTally(annotator=judging.annotator, sent=2, refused=1),)


async def test_the_response_format_of_reused_answers_is_recorded_too(
    store: Store, run: Run, dialogue: str, judging: Unit
) -> None:
    await store.append(judging.key, an_entry(0, a_reply(schema_use=SchemaUse.OFF)))
    await store.keep_annotation(judging, an_annotation(judging, dialogue))
    later = store.open_run(a_study(), a_plan(seed=2))
    store.add_units(later, [a_session(later), an_annotation_unit(later, a_session(later))])

    assert store.schema_tallies(later) == (SchemaTally(annotator=judging.annotator, off=1),)


def test_without_schemas_no_answer_counts_as_formatted(store: Store, run: Run) -> None:
    assert store.schema_tallies(run) == ()


def test_a_run_without_replies_costs_nothing(store: Store, run: Run) -> None:
    assert store.spending(run) == Spending()


async def test_many_results_are_returned_in_plan_order(store: Store, run: Run) -> None:
    sessions = [a_session(run, number) for number in range(450)]
    judgings = [an_annotation_unit(run, session) for session in sessions]
    store.add_units(run, [*sessions, *judgings])
    one_turn = (Turn(number=1, prompt="Can it?", response="Yes."),)

    await asyncio.gather(*(store.keep_dialogue(u, a_dialogue(u, turns=one_turn)) for u in reversed(sessions)))
    await asyncio.gather(*(store.keep_annotation(u, an_annotation(u, u.subject, answers=())) for u in judgings))
    await store.keep_adjudications(run, [a_final_label(u.key) for u in reversed(sessions)])

    keys = [unit.key for unit in sessions]
    assert [dialogue.key for dialogue in store.dialogues(run)] == keys
    assert [annotation.dialogue for annotation in store.annotations(run)] == keys
    assert [label.dialogue for label in store.adjudications(run)] == keys


async def test_many_failures_are_returned_in_plan_order(store: Store, run: Run) -> None:
    sessions = [a_session(run, number) for number in range(250)]
    store.add_units(run, sessions)

    await asyncio.gather(*(store.keep_failure(unit, a_failure(unit)) for unit in reversed(sessions)))

    assert [failure.unit for failure in store.failures(run)] == [unit.key for unit in sessions]


def test_a_study_is_returned_by_its_version(store: Store, run: Run) -> None:
    assert store.study(run.study_version) == a_study()


def test_an_unknown_study_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        store.study("0" * 64)


def test_a_record_is_stored_once_under_its_version(store: Store) -> None:
    large = replace(a_study(), about="long " * 40_000)

    assert store.keep(large) == store.keep(large)
    assert store.study(store.keep(large)) == large


async def test_nothing_is_written_before_the_start(store: Store, unit: Unit) -> None:
    await store.stop()

    with pytest.raises(StoreError):
        await store.append(unit.key, an_entry())


async def test_a_stopped_store_can_be_started_again(store: Store, unit: Unit) -> None:
    await store.stop()
    await store.start()

    await store.append(unit.key, an_entry())

    assert store.entries(unit.key) == [an_entry()]


async def test_the_rate_counts_replies_in_a_period(store: Store, run: Run, unit: Unit) -> None:
    before = SystemClock().now() - timedelta(seconds=30)
    await store.append(unit.key, an_entry(0))
    await store.append(unit.key, an_entry(1))
    await store.keep_dialogue(unit, a_dialogue(unit))
    after = SystemClock().now() + timedelta(seconds=30)

    lately = store.pace(run, since=before, until=after)
    earlier = store.pace(run, since=before - timedelta(hours=1), until=before)

    assert (lately.calls, lately.units) == (2, 1)
    assert (earlier.calls, earlier.units) == (0, 0)


async def test_the_call_count_separates_finished_units_from_running_ones(store: Store, run: Run, unit: Unit) -> None:
    judging = an_annotation_unit(run, unit)
    store.add_units(run, [judging, under_way := a_session(run, 1), a_session(run, 2)])
    for position in range(3):
        await store.append(unit.key, an_entry(position))
    await store.keep_dialogue(unit, a_dialogue(unit))
    await store.append(under_way.key, an_entry())
    await store.keep_failure(judging, a_failure(judging))
    new_run = store.open_run(a_study(), a_plan(), new_run=True)
    store.add_units(new_run, [a_session(new_run)])

    assert store.calls_so_far(run) == {
        UnitKind.SESSION: CallsSoFar(over=3, n_over=1, under_way=1),
        UnitKind.ANNOTATION: CallsSoFar(n_over=1),
    }
    assert set(store.calls_so_far(new_run).values()) == {CallsSoFar()}, "what is taken over asks for nothing"


async def test_strategies_are_restored_with_their_attempts(store: Store, run: Run, unit: Unit) -> None:
    attempts = (
        Attempt(description="asks plainly", outcome=AttemptOutcome.WITHHELD, turn=1),
        Attempt(description="plants a note", outcome=AttemptOutcome.RELEASED, turn=2, refines=1, planted="Note: tell"),
    )
    strategies = tuple(
        Strategy(name=name, dialogue=unit.key, attempts=tried)
        for name, tried in (("injection", attempts), ("none", ()))
    )
    dialogue = replace(a_dialogue(unit), strategies=strategies)

    await store.keep_dialogue(unit, dialogue, journalled=False)

    assert next(iter(store.dialogues(run))).strategies == strategies
