"""Something to measure in the seeded event: scripts that were run, and what two invented people labelled."""

from __future__ import annotations

import asyncio
import csv
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from django.conf import settings

from theodolite.bootstrap.api import Silent
from theodolite.bootstrap.database import open_store
from theodolite.bootstrap.event_results import event_bench
from theodolite.bootstrap.exchange import import_labels
from theodolite.bootstrap.running import run_study
from theodolite.bootstrap.study_context import StudyContext
from theodolite.config.brought.label_imports import ImportColumns
from theodolite.config.workspace import WORKSPACE_NAME
from theodolite.domain.dialogue import Dialogue, HeldBy
from theodolite.execution.clients import Clients
from theodolite.usecases.running import RunOptions
from theodolite.web.analyst.seeding import Told, told_of_testers
from theodolite.web.models import HostedStudy

_GUIDELINE = "risk-assessment"

_FLAGS = ("released", "withheld")

_COLUMNS = ImportColumns(dialogue="dialogue", annotator="annotator")


def seed_labels(hosted: HostedStudy) -> None:
    """Run the scripts of the event's study and take the labels in; what is there already is not asked again."""
    workspace = Path(settings.WORKSPACE or WORKSPACE_NAME)
    store = open_store(workspace, settings.DATABASE_URL)
    try:
        context = event_bench(hosted.folder, workspace, store)
        if not context.is_finished():
            asyncio.run(_held(context))
            _labelled(context)
    finally:
        store.disconnect()


async def _held(context: StudyContext) -> None:
    await run_study(context, RunOptions(), progress=Silent(), before_asking=_ask_nobody)


async def _ask_nobody(context: StudyContext, clients: Clients, options: RunOptions) -> None:
    """Let the run begin: its applications are functions of this package, so that no endpoint can be asleep."""


def _labelled(context: StudyContext) -> None:
    told = told_of_testers()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["dialogue", "annotator", "guideline", "question", "answer"])
            writer.writerows(
                row for dialogue in context.evidence().archive.dialogues() for row in _rows(told, dialogue)
            )
        import_labels(context, path, _COLUMNS)


def _rows(told: Told, dialogue: Dialogue) -> Iterator[tuple[str, ...]]:
    """Yield what both said of a dialogue that people held."""
    if dialogue.held_by is not HeldBy.PERSON:
        return
    heard = {name for turn in dialogue.turns for name, (_, text) in told["replies"].items() if text == turn.response}
    for annotator, seen in told["labels"].items():
        answers: dict[str, str] = dict.fromkeys(_FLAGS, "no")
        for reply in sorted(heard & set(seen)):
            answers |= _said(seen[reply])
        yield from ((dialogue.label, annotator, _GUIDELINE, question, answer) for question, answer in answers.items())


def _said(answers: Mapping[str, object]) -> dict[str, str]:
    return {question: str(answer) for question, answer in answers.items()}
