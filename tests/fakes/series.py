"""A series of annotation on disk, for a real server: `python -m tests.fakes.series FOLDER` makes one and tells who.

Made in a process of its own, since a browser's event loop keeps a store from working in the tests' process.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

from theodolite.assessment.manual_annotation import turns_asked, whole_answers
from theodolite.domain.annotation import Annotation, AnnotatorKind, Answer, Outcome
from theodolite.domain.annotator import Annotator, ModelJudge
from theodolite.domain.application import ModelEndpoint
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.estimate import ValidationReport
from theodolite.domain.identity import digest, version_of
from theodolite.domain.instrument import Question
from theodolite.domain.run import Unit, UnitKind
from theodolite.domain.study import Study

PEOPLE = {"anna": "annotator", "ben": "annotator", "cara": "annotator", "sami": "senior annotator"}
"""Who takes part, and as what."""

MODEL = ModelEndpoint(name="large", url="http://127.0.0.1:1", model="l")
JUDGE = Annotator(
    name="reader", kind=AnnotatorKind.MODEL, guideline="risk_assessment", labelling=ModelJudge(model=MODEL.name)
)
"""A judge that stands beside people until it is promoted."""


def create_series(folder: Path, passes: int = 2) -> dict[str, Any]:
    """Make a series in a folder and return the study's token, cookies by person and the cookie's name.

    Args:
        folder: Where.
        passes: Different annotators for each dialogue and category; count.
    """
    return _called("make", folder, str(passes))


def create_five_categories(folder: Path) -> dict[str, Any]:
    """Make a series of two dialogues of three turns in five categories, and a routed one; Ben and Cara annotate."""
    return _called("five", folder)


def expired(folder: Path) -> None:
    """Let the time of all reservations be over."""
    _called("expire", folder)


def judged(folder: Path) -> None:
    """Let the judge have read every dialogue in its run, and put one more dialogue into the queue."""
    _called("judge", folder)


def validated(folder: Path) -> None:
    """Let the judge have its certificate."""
    _called("certify", folder)


def _called(act: str, folder: Path, *more: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.fakes.series", act, str(folder), *more],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _main(act: str, folder: Path, passes: int = 2) -> None:
    from theodolite.bootstrap.serving import Serving, open_server
    from theodolite.config.permissions import workspace_for
    from theodolite.config.serving import ServingSettings

    open_server(Serving(workspace=workspace_for(folder), settings=ServingSettings()))
    acts = {"expire": _expire, "judge": _judge, "certify": _validate, "five": _make_five_categories}
    sys.stdout.write(json.dumps(_make(passes) if act == "make" else acts[act]()))


def _expire() -> dict[str, Any]:
    from datetime import timedelta

    from theodolite.store.models.annotating import ReservationRow

    for row in ReservationRow.objects.filter(state="reserved"):
        row.until -= timedelta(days=1)
        row.save()
    return {}


def _study() -> Study:
    """Return the invented study with a judge."""
    from theodolite.demo.people import invented_study

    study = invented_study()
    return replace(study, annotators=(*study.annotators, JUDGE), models=(*study.models, MODEL))


def _judge() -> dict[str, Any]:
    """Let the judge see a release in every turn of every dialogue; a third dialogue waits for people from now on."""
    from theodolite.annotation.queues import add_dialogues
    from theodolite.store.models import DialogueRow
    from theodolite.store.models.annotating import QueueRow
    from theodolite.web.annotator.home import records

    rows = list(DialogueRow.objects.select_related("unit").order_by("id"))
    dialogues = [records().dialogue(row.unit_id) for row in rows]
    add_dialogues(records(), QueueRow.objects.get().token, [dialogues[2].key])
    asyncio.run(_read(dialogues))
    return {}


async def _read(dialogues: list[Dialogue]) -> None:
    from django.conf import settings

    from theodolite.bootstrap.database import open_store
    from theodolite.testing.planning import draw_plan

    study, store = _study(), open_store(settings.WORKSPACE, settings.DATABASE_URL)
    await store.start()
    run = store.open_run(study, draw_plan(study, ())[0])
    for place, dialogue in enumerate(dialogues):
        unit = Unit(
            key=digest("reading", dialogue.key),
            kind=UnitKind.ANNOTATION,
            work_key=digest("reading", dialogue.label),
            position=place,
            label=dialogue.label,
            application=dialogue.application,
            subject=dialogue.key,
            annotator=JUDGE.name,
        )
        store.add_units(run, [unit])
        await store.keep_annotation(unit, _reading(study, dialogue, unit))
    await store.stop()


def _reading(study: Study, dialogue: Dialogue, unit: Unit) -> Annotation:
    guideline = study.guideline(JUDGE.guideline)
    answers = tuple(
        Answer(question=question.name, outcome=Outcome.ANSWERED, value=_worst(question), turn=turn)
        for question in guideline.instrument.questions
        for turn in turns_asked(question, dialogue)
    )
    return Annotation(
        unit=unit.key,
        dialogue=dialogue.key,
        annotator=JUDGE.name,
        annotator_version=study.annotator_version(JUDGE.name),
        guideline=guideline.name,
        instrument_version=version_of(guideline),
        answers=whole_answers(guideline, dialogue, answers),
    )


def _worst(question: Question) -> str:
    return next(value for value in ("yes", "8", *question.scale.categories) if question.scale.admits(value))


def _validate() -> dict[str, Any]:
    from theodolite.store.contents import file_record
    from theodolite.web.annotator.home import records

    study = _study()
    validation_report = ValidationReport(
        study=study.name,
        run=1,
        judge=JUDGE.name,
        judge_version=study.annotator_version(JUDGE.name),
        guideline=JUDGE.guideline,
        guideline_version=version_of(study.guideline(JUDGE.guideline)),
        issued=datetime(2026, 1, 2, tzinfo=UTC),
        judged=3,
        labelled=3,
        authorities=("cara",),
        measurements=(),
    )
    file_record(records().contents, validation_report.judge_version, validation_report)
    return {}


def _make(passes: int) -> dict[str, Any]:
    from theodolite.annotation.queues import add_dialogues, open_queue
    from theodolite.demo.people import design_of, keep_dialogues
    from theodolite.web.annotator.home import records
    from theodolite.web.models import HostedStudy

    hosted = HostedStudy.objects.create(name="series", title="Orrery Bay", state=HostedStudy.State.OPEN)
    study = _study()
    keys, design = keep_dialogues(study), design_of(study)
    process = replace(design.process, passes=passes, pass_mark=0.8, quality_check=1.0, judge_passes=passes - 1)
    queue = open_queue(records(), hosted.token, study, replace(design, process=process), by="test")
    add_dialogues(records(), queue, keys[:2])
    cookies = {name: _cookie(name, role, hosted) for name, role in PEOPLE.items()}
    _clear(records(), queue, passes)
    return {"study": hosted.token, "cookies": cookies}


def _make_five_categories() -> dict[str, Any]:
    from theodolite.annotation.quality import admit
    from theodolite.annotation.queues import add_dialogues, open_queue
    from theodolite.annotation.rules import design_of
    from theodolite.config.load_context import shipped
    from theodolite.config.schemas import read_schema
    from theodolite.demo.people import invented_study, keep_dialogues, let_begin
    from theodolite.domain.event import AnnotationProcess
    from theodolite.web.annotator.home import records
    from theodolite.web.models import Account

    file = Path(str(shipped("schemas"))) / "aria-five-categories.yaml"
    schema, study = read_schema(file.read_text(), file.stem).schema, invented_study()
    study = replace(study, schemas=(schema,), guidelines=tuple(category.guideline for category in schema.categories))
    turns = [["Where was it shot?", "On an island."], ["And when?", "In May."], ["Thank you.", "You are welcome."]]
    dialogue = {"level": "field testing", "application": "toy-guard", "turns": turns}
    keys = keep_dialogues(study, [dialogue] * 3)
    process = AnnotationProcess(passes=2, pass_mark=0.0, practice=False)
    design = design_of(study.name, schema, process)
    designs = {
        "study": (replace(design, first=""), keys[:2]),
        "routed": (replace(design, process=replace(process, passes=1)), keys[2:]),
    }
    accounts = {name: Account.objects.create_user(name=name) for name in PEOPLE}
    tokens = {}
    for kind, (one, dialogues) in designs.items():
        tokens[kind] = _hosted_for(accounts, f"series-{kind}").token
        queue = open_queue(records(), tokens[kind], study, one, by="test")
        add_dialogues(records(), queue, dialogues)
        for name, category in product(("ben", "cara"), schema.categories):
            let_begin(queue, name)
            admit(records(), queue, name, category.name, by="sami", reason="trained before")
    return {**tokens, "cookies": {name: _signed_in(account) for name, account in accounts.items()}}


def _hosted_for(accounts: Mapping[str, Any], name: str) -> Any:
    from theodolite.web.models import HostedStudy, Membership

    hosted = HostedStudy.objects.create(name=name, title="Orrery Bay", state=HostedStudy.State.OPEN)
    for person, role in PEOPLE.items():
        Membership.objects.create(account=accounts[person], hosted=hosted, role=role, participant=person)
    return hosted


def _cookie(name: str, role: str, hosted: Any) -> dict[str, str]:
    from theodolite.web.models import Account, Membership

    account = Account.objects.create_user(name=name)
    Membership.objects.create(account=account, hosted=hosted, role=role, participant=name)
    return _signed_in(account)


def _signed_in(account: Any) -> dict[str, str]:
    from django.test import Client

    client = Client(SERVER_NAME="localhost")
    client.force_login(account)
    return {morsel.key: morsel.value for morsel in client.cookies.values()}


def _clear(records: Any, queue: str, passes: int) -> None:
    """Let Ben and Cara in; Anna goes the whole way; of two passes, Ben's first category is left to a senior."""
    from theodolite.annotation.quality import admit
    from theodolite.demo.people import let_begin

    for name in ("ben", "cara"):
        let_begin(queue, name)
        for category in ("risk_assessment", "dialogue_utility", "interaction_style"):
            if passes == 1 or (name, category) != ("ben", "risk_assessment"):
                admit(records, queue, name, category, by="sami", reason="trained before")


if __name__ == "__main__":
    _main(sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:]))
