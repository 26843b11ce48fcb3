"""Queries and storage per dialogue."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.db import connection

from tests.contract.given import a_dialogue, a_plan, a_reply, a_session, a_study, an_annotation, an_annotation_unit
from tests.contract.given import an_entry as entry
from tests.databases import Database
from theodolite.bootstrap.database import DATABASE_NAME
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.dialogue import Turn
from theodolite.domain.run import Run
from theodolite.store import statements as statements_module
from theodolite.store.django_store import DjangoStore
from theodolite.store.models import TurnRow
from theodolite.store.statements import START, execute

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

REPLY = "Goods go back within thirty days as long as they are whole and you have kept the receipt. Shall I..."


async def hold(store: DjangoStore, run: Run, numbers: range) -> None:
    """Store dialogues of three turns with six replies each, and one label of a judge."""
    await store.start()
    sessions = [a_session(run, number) for number in numbers]
    store.add_units(run, sessions)
    store.add_units(run, [an_annotation_unit(run, session) for session in sessions])
    for session in sessions:
        await asyncio.gather(*(store.append(session.key, entry(n, a_reply(REPLY))) for n in range(6)))
        turns = tuple(
            Turn(number=n, prompt=REPLY, response=REPLY, prompt_at=2 * n - 2, response_at=2 * n - 1) for n in (1, 2, 3)
        )
        await store.keep_dialogue(session, a_dialogue(session, turns=turns))
        judging = an_annotation_unit(run, session)
        await store.append(judging.key, entry(0, a_reply(REPLY)))
        answers = (Answer(question="score", outcome=Outcome.ANSWERED, value="4", reasoning=REPLY[:50]),)
        await store.keep_annotation(judging, an_annotation(judging, session.key, answers=answers))
    await store.stop()


def n_queries(store: DjangoStore, work: Any, monkeypatch: pytest.MonkeyPatch) -> int:
    """Count the queries of a read, with and without Django."""
    asked: list[str] = []

    def past_django(words: str, values: Any) -> Any:
        asked.append(words)
        return execute(words, values)

    monkeypatch.setattr(statements_module, "execute", past_django)

    def note(execute: Any, sql: str, *rest: Any) -> Any:
        asked.append(sql)
        return execute(sql, *rest)

    def observed() -> None:
        with connection.execute_wrapper(note):
            work()

    store._executor.read(observed)
    return len(asked)


async def test_the_number_of_queries_of_a_chunk_is_constant(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = database.open()
    small = store.open_run(a_study(), a_plan(seed=1))
    large = store.open_run(a_study(), a_plan(seed=2))
    await hold(store, small, range(2))
    await hold(store, large, range(2, 50))

    for reading in (store._readings.dialogues, store._readings.annotations, store._readings.adjudications):
        counts = [
            n_queries(store, lambda run=run, reading=reading: reading(run, None, START), monkeypatch)
            for run in (small, large)
        ]
        assert counts[0] == counts[1] <= 12


async def test_a_dialogue_of_three_turns_takes_at_most_4_kib(sqlite: Database) -> None:
    store = sqlite.open()
    run = store.open_run(a_study(), a_plan())
    file = sqlite.workspace / DATABASE_NAME
    store.disconnect()
    before = file.stat().st_size

    await hold(store, run, range(300))
    store.disconnect()

    assert (file.stat().st_size - before) / 300 <= 4096


async def test_texts_of_live_turns_are_only_in_the_journal(sqlite: Database) -> None:
    store = sqlite.open()
    run = store.open_run(a_study(), a_plan())
    await hold(store, run, range(2))

    inline = store._executor.read(lambda: TurnRow.objects.exclude(prompt=None, response=None).count())
    assert inline == 0
    assert {turn.response for dialogue in store.dialogues(run) for turn in dialogue.turns} == {REPLY}
