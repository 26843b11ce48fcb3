"""What every store does with labels by hand and with filed records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from theodolite.domain.annotation import Annotation
from theodolite.domain.errors import Conflict, NotFound
from theodolite.domain.identity import digest, version_of
from theodolite.domain.persona import Script
from theodolite.domain.run import Run, UnitKind
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Study
from theodolite.ports.store import Store

from .given import ANSWERS, a_dialogue, a_plan, a_session, a_study, an_annotation, an_annotation_unit

SUBJECT = digest("judge")


def by_hand(dialogue: str, **changes: object) -> Annotation:
    known: dict[str, object] = {
        "unit": "",
        "dialogue": dialogue,
        "annotator": "anna",
        "annotator_version": digest("anna"),
        "guideline": "useful",
        "instrument_version": digest("guideline"),
        "answers": ANSWERS,
    }
    return Annotation(**(known | changes))  # type: ignore[arg-type]


async def held(store: Store, run: Run, *numbers: int) -> list[str]:
    units = [a_session(run, number) for number in numbers]
    store.add_units(run, units)
    for unit in units:
        await store.keep_dialogue(unit, a_dialogue(unit), journalled=False)
    return [unit.key for unit in units]


async def test_human_labels_are_returned_in_plan_order(store: Store, run: Run) -> None:
    first, second = await held(store, run, 0, 1)
    store.keep_labels([by_hand(second), by_hand(first), by_hand(first, annotator="ben", annotator_version="b" * 64)])

    assert [(label.dialogue, label.annotator) for label in store.labels(run)] == [
        (first, "anna"),
        (first, "ben"),
        (second, "anna"),
    ]
    assert next(store.labels(run)) == by_hand(first)


async def test_human_labels_are_no_annotations_of_the_run(store: Store, run: Run) -> None:
    (key,) = await held(store, run, 0)
    unit = an_annotation_unit(run, a_session(run))
    store.add_units(run, [unit])
    await store.keep_annotation(unit, an_annotation(unit, key))
    store.keep_labels([by_hand(key)])

    assert [annotation.unit for annotation in store.annotations(run)] == [unit.key]
    assert sum(store.count_units(run, UnitKind.ANNOTATION).values()) == 1


async def test_the_latest_revision_of_a_label_counts_and_none_is_overwritten(store: Store, run: Run) -> None:
    (key,) = await held(store, run, 0)
    revised = by_hand(key, revision=2, answers=ANSWERS[:1])
    store.keep_labels([by_hand(key)])
    store.keep_labels([revised])

    with pytest.raises(Conflict):
        store.keep_labels([revised])

    assert list(store.labels(run)) == [revised]


async def test_labels_under_two_versions_of_a_guideline_are_stored_separately(store: Store, run: Run) -> None:
    (key,) = await held(store, run, 0)
    labels = [by_hand(key), by_hand(key, instrument_version=digest("revised guideline"))]
    store.keep_labels(labels)

    assert list(store.labels(run)) == labels


async def test_labels_of_several_dialogues_are_stored_together_or_not_at_all(store: Store, run: Run) -> None:
    (key,) = await held(store, run, 0)

    with pytest.raises(NotFound):
        store.keep_labels([by_hand(key), by_hand(digest("nowhere"))])

    assert list(store.labels(run)) == []


async def test_a_later_run_that_reuses_a_dialogue_has_its_labels_too(store: Store, run: Run) -> None:
    (key,) = await held(store, run, 0)
    store.keep_labels([by_hand(key)])
    later = store.open_run(a_study(), a_plan(seed=2))
    store.add_units(later, [replace(a_session(later), work_key=a_session(run).work_key)])

    assert list(store.labels(later)) == [by_hand(key)]


def test_records_of_a_subject_are_in_the_order_of_storage(store: Store) -> None:
    script, scenario = Script(key="b", prompts=("Hi.",)), Script(key="a", prompts=())
    versions = [store.file(SUBJECT, script), store.file(SUBJECT, scenario), store.file(SUBJECT, script)]

    assert versions == [version_of(script), version_of(scenario), version_of(script)]
    assert store.filed(Script, SUBJECT) == [script, scenario]
    assert store.filed(Script, digest("another judge")) == []


def test_one_subject_may_have_records_of_several_kinds(store: Store) -> None:
    scenario, study = Scenario(name="returns"), a_study()
    store.file(SUBJECT, scenario)
    store.file(SUBJECT, study)

    assert (store.filed(Scenario, SUBJECT), store.filed(Study, SUBJECT)) == ([scenario], [study])
