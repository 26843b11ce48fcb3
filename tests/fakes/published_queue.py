"""Published labels in the queue of the event, as if they had been annotated here: DICES-350 and ConvAbuse."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from django.conf import settings

from tests.fakes.annotation_queue import a_dialogue
from tests.golden.test_human_labels import rows
from theodolite.annotation.queues import add_dialogues, open_queue
from theodolite.bootstrap.database import open_store
from theodolite.domain.annotating.work import QueueCategory, QueueDesign
from theodolite.domain.annotation import Annotation, Answer, Outcome
from theodolite.domain.application import Application, AriaClass
from theodolite.domain.dialogue import Turn
from theodolite.domain.event import AnnotationProcess
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.identity import digest, version_of
from theodolite.domain.instrument import Instrument, Label, Operator, Question, Scale, ScaleKind
from theodolite.domain.plan import Plan
from theodolite.domain.run import Unit, UnitKind
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Study
from theodolite.store.results import keep_labels
from theodolite.web.annotator.home import records
from theodolite.web.models import HostedStudy

Said = Mapping[tuple[str, str], list[str]]
"""Dialogue and annotator to the labels that were given, in order."""


def dices() -> Said:
    """Return who said what in DICES-350: Y is unsafe, N is safe, U is unsure."""
    found = [row["labels"] for row in rows("dices_labels") if row["set"] == "350"]
    return {
        (str(number), f"r{place}"): [letter]
        for number, letters in enumerate(found)
        for place, letter in enumerate(letters)
    }


def convabuse() -> Said:
    """Return who said what in ConvAbuse of the exchanges that somebody met twice or more."""
    said: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows("convabuse_labels"):
        if row["severity"]:
            said[row["item"], f"a{row['annotator']}"].append(row["severity"])
    again = {item for (item, _), labels in said.items() if len(labels) > 1}
    return {(item, who): labels for (item, who), labels in said.items() if item in again}


def guideline(name: str, labels: Iterable[str], *, ordered: bool = False) -> Guideline:
    """Return what was asked: one question with these labels."""
    scale = Scale(kind=ScaleKind.CATEGORIES, labels=tuple(Label(value=one) for one in labels), ordered=ordered)
    return Guideline(
        name=name,
        instrument=Instrument(name=name, questions=(Question(name=name, text="What is it?", scale=scale),)),
        defect_rules=(DefectRule(name=name, question=name, operator=Operator.EQUAL, values=(scale.categories[0],)),),
    )


def published_queue(hosted: HostedStudy, asked: Guideline, said: Said) -> str:
    """Put dialogues without words and what was said of them into the queue of a study; return its token."""
    study = Study(
        name=asked.name,
        applications=(Application(name="them", connection=AriaClass(target="a:B")),),
        scenarios=(Scenario(name="any"),),
        guidelines=(asked,),
    )
    keys = asyncio.run(_hold(study, list(dict.fromkeys(item for item, _ in said))))
    version = version_of(asked)
    keep_labels([_annotation(asked.name, version, keys[item], who, labels) for (item, who), labels in said.items()])
    design = QueueDesign(
        study=study.name,
        categories=(QueueCategory(name=asked.name, version=version),),
        process=AnnotationProcess(passes=2, pass_mark=0.0),
    )
    queue = open_queue(records(), hosted.token, study, design)
    add_dialogues(records(), queue, list(keys.values()))
    return queue


def _annotation(name: str, version: str, key: str, who: str, labels: list[str]) -> Annotation:
    return Annotation(
        unit="",
        dialogue=key,
        annotator=who,
        annotator_version=digest(who, version),
        guideline=name,
        instrument_version=version,
        answers=tuple(
            Answer(question=name, outcome=Outcome.ANSWERED, value=label, replicate=number)
            for number, label in enumerate(labels, 1)
        ),
    )


async def _hold(study: Study, items: list[str]) -> dict[str, str]:
    """Keep a dialogue for each item; return item to key."""
    store = open_store(Path(str(settings.WORKSPACE)), settings.DATABASE_URL)
    await store.start()
    try:
        plan = Plan(run_fingerprint=digest(study.name), seed=1, flow_version=1, n_sessions=len(items))
        run = store.open_run(study, plan)
        units = [
            Unit(
                key=digest(run.key, item),
                kind=UnitKind.SESSION,
                work_key=digest(item),
                position=place,
                label=f"them/{item}",
                application="them",
            )
            for place, item in enumerate(items)
        ]
        store.add_units(run, units)
        left_out = (Turn(number=1, prompt="(left out)", response="(left out)"),)
        for unit in units:
            held = a_dialogue(unit, application="them", scenario="any", context="", turns=left_out)
            await store.keep_dialogue(unit, held, journalled=False)
        return {item: unit.key for item, unit in zip(items, units, strict=True)}
    finally:
        await store.stop()
        store.disconnect()
