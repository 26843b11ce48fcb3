"""Dialogues about which annotators have nothing left to say."""

from __future__ import annotations

import pytest

from tests.fakes.annotation_queue import UTILITY, Venue, no, yes
from theodolite.annotation.assignment import next_work
from theodolite.annotation.review import disputed_items, open_review, resolve, waiting_items
from theodolite.annotation.submission import save_answer, submit
from theodolite.domain.annotating.discrepancy import Resolution
from theodolite.domain.annotating.work import QueueCategory
from theodolite.domain.annotation import Outcome
from theodolite.domain.event import AnnotationProcess
from theodolite.domain.identity import version_of

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

USEFUL = QueueCategory(name="utility", version=version_of(UTILITY))
AGREED = Resolution(
    question="useful", turn=None, participants=("s",), rationale="Read it.", outcome=Outcome.ANSWERED, value="no"
)


@pytest.fixture
def queue(venue: Venue) -> str:
    """A queue of one dialogue in one category, for two people."""
    del venue.keys[1:]
    process = AnnotationProcess(passes=2, pass_mark=0.0)
    return venue.queue(process=process, categories=(USEFUL,), first="", on_violation=(), otherwise=())


def say(venue: Venue, queue: str, who: str, answer) -> None:
    token = next_work(venue.records, queue, who).token
    save_answer(token, who, answer)
    submit(venue.records, token, who)


def unsettled(study: str) -> set[str]:
    return set(waiting_items(study).values_list("dialogue__unit__key", flat=True))


def test_a_dialogue_waits_for_all_annotations(venue, queue):
    say(venue, queue, "p-0", no("useful"))
    before = unsettled("spoilers")
    say(venue, queue, "p-1", no("useful"))

    assert (before, unsettled("spoilers")) == ({venue.keys[0]}, set())


def test_disagreements_wait_for_their_review(venue, queue):
    say(venue, queue, "p-0", no("useful"))
    say(venue, queue, "p-1", yes("useful"))
    before = unsettled("spoilers")
    (disputed,) = disputed_items(venue.records, queue, "s")
    open_review(disputed.item)
    resolve(venue.records, disputed.item, AGREED)

    assert (before, unsettled("spoilers")) == ({venue.keys[0]}, set())


def test_other_studies_have_separate_queues(venue, queue):
    assert unsettled("another") == set()
    assert unsettled("spoilers") == {venue.keys[0]}
