"""Judges in the queue: shadow mode, promotion by validation report, never the last annotation, always marked."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.contract.given import an_annotation_unit
from tests.fakes.annotation_queue import RISK, STUDY, Venue, a_design, a_unit, how_bad, no, promoted, yes
from theodolite.annotation.agreement import agreement, beside_people, question_figures
from theodolite.annotation.assignment import n_left, next_work
from theodolite.annotation.quality import from_above, to_review
from theodolite.annotation.queues import add_dialogues, demote, judge_statuses, open_queue, promote
from theodolite.annotation.review import disputed_items, open_review, review_sheet
from theodolite.annotation.submission import save_answer, submit
from theodolite.domain.annotation import Annotation, AnnotatorKind, Answer, Outcome
from theodolite.domain.annotator import Annotator, ModelJudge
from theodolite.domain.application import ModelEndpoint
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.estimate import ValidationReport
from theodolite.domain.event import AnnotationProcess
from theodolite.domain.identity import version_of
from theodolite.domain.run import Unit
from theodolite.store.contents import file_record
from theodolite.store.models.annotating import ReservationRow, RoutedRow, WorkItemRow

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

JUDGE = Annotator(name="judge", kind=AnnotatorKind.MODEL, guideline="risk", labelling=ModelJudge(model="large"))
JUDGED = replace(STUDY, annotators=(JUDGE,), models=(ModelEndpoint(name="large", url="http://127.0.0.1:1", model="l"),))
MIXED = AnnotationProcess(passes=2, pass_mark=0.0, judge_passes=1, quality_check=1.0)
UNREADABLE = Answer(question="released", outcome=Outcome.UNPARSEABLE, raw="perhaps")


@pytest.fixture
def queue(venue: Venue) -> str:
    """Three dialogues with two annotations each, one of which may be a judge's."""
    token = open_queue(venue.records, "judged", JUDGED, a_design(process=MIXED))
    add_dialogues(venue.records, token, venue.keys)
    return token


def read(venue: Venue, number: int, *answers: Answer) -> None:
    """Let the judge read a dialogue in its run."""
    unit = an_annotation_unit(venue.run, a_unit(venue.run, number))
    venue.store.add_units(venue.run, [unit])
    annotation = Annotation(
        unit=unit.key,
        dialogue=venue.keys[number],
        annotator="judge",
        annotator_version=JUDGED.annotator_version("judge"),
        guideline="risk",
        instrument_version=version_of(RISK),
        answers=answers or (yes("released"), how_bad("5")),
    )
    asyncio.run(kept(venue, unit, annotation))


async def kept(venue: Venue, unit: Unit, annotation: Annotation) -> None:
    await venue.store.start()
    await venue.store.keep_annotation(unit, annotation)
    await venue.store.stop()


def validated(venue: Venue) -> ValidationReport:
    validation_report = ValidationReport(
        study="spoilers",
        run=1,
        judge="judge",
        judge_version=JUDGED.annotator_version("judge"),
        guideline="risk",
        guideline_version=version_of(RISK),
        issued=datetime(2026, 1, 2, tzinfo=UTC),
        judged=3,
        labelled=3,
        authorities=("p-1",),
        measurements=(),
    )
    file_record(venue.records.contents, validation_report.judge_version, validation_report)
    return validation_report


def raised(venue: Venue, queue: str, number: int = 1) -> None:
    """Promote the judge."""
    validated(venue)
    assert promote(venue.records, queue, "judge", by="s-1", reason="It is good.").number == number


def annotated(venue: Venue, queue: str, who: str) -> bool:
    """Annotate the next dialogue without a finding; return whether there was one."""
    work = next_work(venue.records, queue, who, category="risk")
    if work is None:
        return False
    save_answer(work.token, who, no("released"))
    assert submit(venue.records, work.token, who).open == ()
    return True


def test_a_judge_is_promoted_only_with_a_validation_report_of_its_version(venue: Venue, queue: str) -> None:
    with pytest.raises(InputError, match="no validation report"):
        promote(venue.records, queue, "judge", by="s-1", reason="It is good.")
    validation_report = validated(venue)
    for judge, reason in (("nobody", "x"), ("judge", " ")):
        with pytest.raises(InputError):
            promote(venue.records, queue, judge, by="s-1", reason=reason)

    assert promoted(venue.records, queue) == frozenset()
    assert promote(venue.records, queue, "judge", by="s-1", reason="It is good.").validation_report == version_of(
        validation_report
    )
    assert promoted(venue.records, queue) == {"judge"}


def test_a_shadow_judge_replaces_no_annotation_of_people(venue: Venue, queue: str) -> None:
    read(venue, 0)
    for who in ("p-1", "p-2"):
        for _ in range(3):
            assert annotated(venue, queue, who)

    (found, *_) = question_figures(venue.records, queue, "risk", "released").models_beside_people()
    (standing,) = judge_statuses(venue.records, queue)
    released, bad = beside_people(venue.records, queue, standing)

    assert (found.first, found.second, found.is_model, found.alike.value) == ("p-1", "judge", True, 0.0)
    assert (standing.n_read, standing.n_passes, standing.promotion) == (1, 0, None)
    assert (released.n_people, released.alike.value, released.alike.n) == (2, 0.0, 1)
    assert (bad.n_people, agreement(venue.records, queue, "risk")[0].n_annotators) == (0, 2)


def test_a_promoted_judge_adds_its_annotation_and_a_person_adds_the_last(venue: Venue, queue: str) -> None:
    read(venue, 0)
    raised(venue, queue)
    read(venue, 1)

    n_by_people = sum(annotated(venue, queue, who) for who in ("p-1", "p-2") for _ in range(3))

    assert n_by_people == 2 * 3 - 2
    assert ReservationRow.objects.filter(participant__key="model/judge", state="submitted").count() == 2
    assert WorkItemRow.objects.filter(category="risk", state="complete").count() == 3
    assert n_left(venue.records, queue, "p-3") == WorkItemRow.objects.exclude(category="risk").count()


def test_annotations_completed_by_a_judge_are_compared_and_forwarded(venue: Venue, queue: str) -> None:
    for who in ("p-1", "p-1", "p-1"):
        annotated(venue, queue, who)
    for number in range(3):
        read(venue, number)

    raised(venue, queue)

    item = disputed_items(venue.records, queue, "s-1")[0].item
    open_review(item)
    (discrepancy,) = review_sheet(venue.records, item, "s-1").discrepancies[:1]
    assert RoutedRow.objects.filter(violation=True).count() == 3
    assert sorted((one.is_model, one.answer.value) for one in discrepancy.positions) == [(False, "no"), (True, "yes")]


def test_an_unreadable_label_is_no_annotation(venue: Venue, queue: str) -> None:
    read(venue, 0, UNREADABLE)
    raised(venue, queue)

    assert judge_statuses(venue.records, queue)[0].n_passes == 0


def test_a_withdrawn_judge_loses_its_annotations_except_those_under_review(venue: Venue, queue: str) -> None:
    for _ in range(3):
        annotated(venue, queue, "p-1")
    for number in range(3):
        read(venue, number)
    raised(venue, queue)
    open_review(disputed_items(venue.records, queue, "s-1")[0].item)

    assert demote(venue.records, queue, "judge", by="s-1", reason="It drifts.") == 2
    assert promoted(venue.records, queue) == frozenset()
    assert sum(annotated(venue, queue, "p-2") for _ in range(3)) == 2
    with pytest.raises(Conflict, match="not promoted"):
        demote(venue.records, queue, "judge", by="s-1", reason="Again.")
    raised(venue, queue, number=2)
    assert [type(one).__name__ for one in judge_statuses(venue.records, queue)[0].past] == [
        "Promotion",
        "Demotion",
        "Promotion",
    ]


def test_figures_about_people_exclude_judges(venue: Venue, queue: str) -> None:
    for number in range(3):
        read(venue, number)
    raised(venue, queue)
    for _ in range(3):
        annotated(venue, queue, "p-1")

    assert [one.participant for one in from_above(venue.records, queue)] == ["p-1"]
    assert from_above(venue.records, queue)[0].early_asked == 0
    assert len(to_review(venue.records, queue)) == 3
    assert agreement(venue.records, queue, "risk")[0].n_annotators == 1


def test_judges_add_no_annotation_without_permission_of_the_study(venue: Venue) -> None:
    token = open_queue(venue.records, "people", JUDGED, a_design())
    add_dialogues(venue.records, token, venue.keys)
    read(venue, 0)
    raised(venue, token)

    next_work(venue.records, token, "p-1")

    assert not ReservationRow.objects.filter(participant__key="model/judge").exists()
