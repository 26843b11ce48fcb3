"""Progress of a queue and agreement of annotators."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.fakes.annotation_queue import RISK, STUDY, Venue, a_design, how_bad, no, yes
from theodolite.annotation.agreement import agreement, calibration, progress, question_figures
from theodolite.annotation.assignment import next_work
from theodolite.annotation.queues import add_dialogues, open_queue
from theodolite.annotation.review import open_room, reveal, vote
from theodolite.annotation.submission import save_answer, submit
from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import Annotator, ModelJudge
from theodolite.domain.application import ModelEndpoint
from theodolite.domain.errors import InputError
from theodolite.domain.identity import version_of

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

JUDGE = Annotator(name="judge", kind=AnnotatorKind.MODEL, guideline="risk", labelling=ModelJudge(model="large"))
JUDGED = replace(STUDY, annotators=(JUDGE,), models=(ModelEndpoint(name="large", url="http://127.0.0.1:1", model="l"),))


@pytest.fixture
def queue(venue: Venue) -> str:
    """Three dialogues: two people annotated all, one a part."""
    token = open_queue(venue.records, "judged", JUDGED, a_design())
    add_dialogues(venue.records, token, venue.keys)
    for who, n in (("p-1", 3), ("p-2", 3), ("p-3", 1)):
        for _ in range(n):
            work = next_work(venue.records, token, who, category="risk").token
            save_answer(work, who, no("released") if who == "p-1" else yes("released"))
            save_answer(work, who, how_bad("4"))
            assert submit(venue.records, work, who).open == ()
    next_work(venue.records, token, "p-3", category="risk")
    return token


def test_a_category_states_required_submitted_and_started_annotations(venue: Venue, queue: str) -> None:
    (risk, *_) = progress(queue)

    assert (risk.category, risk.n_items, risk.n_complete, risk.n_passes) == ("risk", 3, 1, 9)
    assert (risk.n_done, risk.n_reserved, risk.n_disputed) == (7, 1, 1)


def test_agreement_uses_submitted_annotations(venue: Venue, queue: str) -> None:
    released, bad = agreement(venue.records, queue, "risk")

    assert (released.n_units, released.n_shared, released.n_annotators) == (3, 3, 3)
    assert (released.alike.count, released.prevalence) == (0, (("yes", 4), ("no", 3)))
    assert (bad.n_without_value, bad.scale) == (3, "interval")
    assert {(one.first, one.second) for one in question_figures(venue.records, queue, "risk", "released").pairs()} == {
        ("p-1", "p-2"),
        ("p-1", "p-3"),
        ("p-2", "p-3"),
    }
    with pytest.raises(InputError):
        agreement(venue.records, queue, "nothing")


def test_the_number_of_queries_of_the_page_is_constant(venue: Venue, queue: str) -> None:
    def n_queries() -> int:
        with CaptureQueriesContext(connection) as found:
            agreement(venue.records, queue, "risk")
            progress(queue)
            return len(found)

    before = n_queries()
    venue.hold(4)
    add_dialogues(venue.records, queue, venue.keys)
    for _ in range(4):
        work = next_work(venue.records, queue, "p-1", category="risk").token
        save_answer(work, "p-1", no("released"))
        submit(venue.records, work, "p-1")

    assert n_queries() == before


def test_the_planner_reads_submitted_annotations(venue: Venue, queue: str) -> None:
    plans = question_figures(venue.records, queue, "risk", "released").plan(0.1)

    assert [plan.passes for plan in plans] == [1, 2, 3, 4, 5]
    assert plans[0].n_dialogues > plans[1].n_dialogues


def test_calibration_shows_agreement_before_and_after(venue: Venue) -> None:
    token = venue.queue()
    for key in venue.keys[:2]:
        room = open_room(venue.records, token, key, "risk", by="s-1")
        vote(venue.records, room, "p-1", [yes("released"), how_bad("7")])
        vote(venue.records, room, "p-2", [no("released")])
        reveal(room)
        vote(venue.records, room, "p-2", [yes("released"), how_bad("7")])

    ((version, before, after),) = [one for one in calibration(venue.records, token) if one[1].question == "released"]
    assert version == version_of(RISK)
    assert (before.alike.count, after.alike.count, after.alike.n) == (0, 2, 2)
