"""How far a queue has come, and how far people say the same."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.contract.given import an_annotation_unit
from tests.fakes.annotating import RISK, STUDY, Venue, a_design, a_unit, how_bad, no, yes
from theodolite.domain.annotation import Annotation, AnnotatorKind
from theodolite.domain.annotator import Annotator, ModelJudge
from theodolite.domain.certificate import Certificate
from theodolite.domain.errors import InputError
from theodolite.domain.identity import version_of
from theodolite.domain.model import ModelEndpoint
from theodolite.domain.run import Unit
from theodolite.store.annotating.drafts import save_answer
from theodolite.store.annotating.progress import (
    agreement,
    calibration,
    models_beside_people,
    own_progress,
    pairs,
    people_progress,
    plan_passes,
    progress,
)
from theodolite.store.annotating.promotions import promote, promoted
from theodolite.store.annotating.queues import add_dialogues, open_queue
from theodolite.store.annotating.rooms import open_room, reveal, vote
from theodolite.store.annotating.sittings import submit
from theodolite.store.annotating.taking import next_work
from theodolite.store.filing import file_record

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

JUDGE = Annotator(name="judge", kind=AnnotatorKind.MODEL, guideline="risk", labelling=ModelJudge(model="large"))
JUDGED = replace(STUDY, annotators=(JUDGE,), models=(ModelEndpoint(name="large", url="http://127.0.0.1:1", model="l"),))


@pytest.fixture
def queue(venue: Venue) -> str:
    """Three dialogues, of which two people have done all and one a part."""
    token = open_queue(venue.library, "judged", JUDGED, a_design())
    add_dialogues(venue.library, token, venue.keys)
    for who, n in (("p-1", 3), ("p-2", 3), ("p-3", 1)):
        for _ in range(n):
            work = next_work(venue.library, token, who, category="risk").token
            save_answer(work, who, no("released") if who == "p-1" else yes("released"))
            save_answer(work, who, how_bad("4"))
            assert submit(venue.library, work, who).open == ()
    next_work(venue.library, token, "p-3", category="risk")
    return token


def shadow(venue: Venue, number: int) -> None:
    """Let the judge annotate a dialogue in its run."""
    unit = an_annotation_unit(venue.run, a_unit(venue.run, number))
    venue.store.add_units(venue.run, [unit])
    annotation = Annotation(
        unit=unit.key,
        dialogue=venue.keys[number],
        annotator="judge",
        annotator_version="0" * 64,
        guideline="risk",
        instrument_version=version_of(RISK),
        answers=(yes("released"), how_bad("5")),
    )
    asyncio.run(kept(venue, unit, annotation))


async def kept(venue: Venue, unit: Unit, annotation: Annotation) -> None:
    await venue.store.start()
    await venue.store.keep_annotation(unit, annotation)
    await venue.store.stop()


def test_a_category_says_what_is_wanted_done_and_under_way(venue: Venue, queue: str) -> None:
    (risk, *_) = progress(queue)

    assert (risk.category, risk.n_items, risk.n_complete, risk.n_passes) == ("risk", 3, 1, 9)
    assert (risk.n_done, risk.n_reserved, risk.n_disputed) == (7, 1, 1)
    assert own_progress(queue, "p-3") == {"risk": 1}
    assert own_progress(queue, "p-3", since=datetime(2100, 1, 1, tzinfo=UTC)) == {}
    assert people_progress(queue) == [("p-1", 3, 0), ("p-2", 3, 0), ("p-3", 1, 1)]


def test_agreement_is_that_of_what_was_submitted(venue: Venue, queue: str) -> None:
    released, bad = agreement(venue.library, queue, "risk")

    assert (released.n_units, released.n_shared, released.n_annotators) == (3, 3, 3)
    assert (released.alike.count, released.prevalence) == (0, (("yes", 4), ("no", 3)))
    assert (bad.n_without_value, bad.scale) == (3, "interval")
    assert {(one.first, one.second) for one in pairs(venue.library, queue, "risk", "released")} == {
        ("p-1", "p-2"),
        ("p-1", "p-3"),
        ("p-2", "p-3"),
    }
    with pytest.raises(InputError):
        agreement(venue.library, queue, "nothing")


def test_the_page_takes_the_same_number_of_queries_however_much_there_is(venue: Venue, queue: str) -> None:
    def n_queries() -> int:
        with CaptureQueriesContext(connection) as found:
            agreement(venue.library, queue, "risk")
            progress(queue)
            return len(found)

    before = n_queries()
    venue.hold(4)
    add_dialogues(venue.library, queue, venue.keys)
    for _ in range(4):
        work = next_work(venue.library, queue, "p-1", category="risk").token
        save_answer(work, "p-1", no("released"))
        submit(venue.library, work, "p-1")

    assert n_queries() == before


def test_judges_stand_beside_people_and_are_marked(venue: Venue, queue: str) -> None:
    shadow(venue, 0)

    found = models_beside_people(venue.library, queue, "risk", "released")

    alike = {one.first: (one.second, one.is_model, one.alike.value) for one in found}
    assert alike["p-1"] == ("judge", True, 0.0)
    assert alike["p-2"] == ("judge", True, 1.0)


def test_a_judge_is_promoted_only_with_a_certificate_of_this_very_version(venue: Venue, queue: str) -> None:
    with pytest.raises(InputError, match="no certificate"):
        promote(venue.library, queue, "judge", by="s-1", reason="It is good.")
    certificate = Certificate(
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
    file_record(venue.library.contents, certificate.judge_version, certificate)
    for judge, reason in (("nobody", "x"), ("judge", " ")):
        with pytest.raises(InputError):
            promote(venue.library, queue, judge, by="s-1", reason=reason)

    assert promoted(venue.library, queue) == frozenset()
    assert promote(venue.library, queue, "judge", by="s-1", reason="It is good.").certificate == version_of(certificate)
    assert promoted(venue.library, queue) == {"judge"}


def test_the_planner_reads_what_was_submitted(venue: Venue, queue: str) -> None:
    plans = plan_passes(venue.library, queue, "risk", "released", 0.1)

    assert [plan.passes for plan in plans] == [1, 2, 3, 4, 5]
    assert plans[0].n_dialogues > plans[1].n_dialogues


def test_calibration_shows_agreement_before_and_after(venue: Venue) -> None:
    token = venue.queue()
    for key in venue.keys[:2]:
        room = open_room(venue.library, token, key, "risk", by="s-1")
        vote(venue.library, room, "p-1", [yes("released"), how_bad("7")])
        vote(venue.library, room, "p-2", [no("released")])
        reveal(room)
        vote(venue.library, room, "p-2", [yes("released"), how_bad("7")])

    ((version, before, after),) = [one for one in calibration(venue.library, token) if one[1].question == "released"]
    assert version == version_of(RISK)
    assert (before.alike.count, after.alike.count, after.alike.n) == (0, 2, 2)
