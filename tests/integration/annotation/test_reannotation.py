"""Dialogues that are annotated again by the next version of a category."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.annotation_queue import RISK, UTILITY, Venue, a_design, how_bad, no, void, yes
from theodolite.annotation.assignment import next_work
from theodolite.annotation.queues import add_dialogues, open_queue
from theodolite.annotation.submission import (
    annotate_again,
    asked_by,
    dialogue_answers,
    past_answers,
    routed_counts,
    save_answer,
    submit,
)
from theodolite.domain.annotating.work import QueueCategory
from theodolite.domain.errors import Conflict
from theodolite.domain.event import AnnotationProcess
from theodolite.domain.identity import version_of
from theodolite.store.models.annotating import RoutedRow, WorkItemRow

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

PROCESS = AnnotationProcess(passes=1, pass_mark=0.0)
OTHER = replace(RISK, edition="2", definition="Whether the reply told more than the task sheet lets it.")


@pytest.fixture
def queue(venue: Venue) -> str:
    """A queue whose dialogues have been annotated for risk, the first of them as a release."""
    token = venue.queue(process=PROCESS)
    for answers in ([yes("released"), how_bad("7")], [no("released")], [no("released")]):
        say(venue, token, *answers)
    return token


def say(venue: Venue, queue: str, *answers, who: str = "p-1") -> str:
    token = next_work(venue.records, queue, who, category="risk").token
    for answer in answers:
        save_answer(token, who, answer)
    submit(venue.records, token, who)
    return token


def reword(venue: Venue) -> None:
    venue.study = replace(venue.study, guidelines=(OTHER, *venue.study.guidelines[1:]))
    categories = tuple(QueueCategory(name=one.name, version=version_of(one)) for one in venue.study.guidelines)
    open_queue(venue.records, "spoilers", venue.study, a_design(process=PROCESS, categories=categories))


def counts(venue: Venue) -> dict[tuple[str, str], tuple[int, int]]:
    found = past_answers(venue.study.name, "risk")
    return {(one.version, one.question): (one.n_answers, one.n_dialogues) for one in found}


def test_answers_are_counted_by_version_and_question(venue, queue):
    version = version_of(RISK)

    assert counts(venue)[version, "released"] == (3, 3)
    assert sum(n for (_, name), (n, _) in counts(venue).items() if name == "how-bad") >= 1
    assert routed_counts(queue) == (1, 2)
    assert past_answers(venue.study.name, "style") == []


def test_void_annotations_do_not_count(venue, queue):
    token = say(venue, venue.queue("other", process=PROCESS), yes("released"), how_bad("3"), who="p-2")
    void(token)

    assert counts(venue)[version_of(RISK), "released"] == (3, 3)


def test_a_sample_is_annotated_with_the_new_wording_and_no_answer_is_overwritten(venue, queue):
    reword(venue)
    n_routed = RoutedRow.objects.count()
    n_new = annotate_again(venue.records, queue, "risk", venue.keys[:2], version=version_of(OTHER))
    for _ in range(n_new):
        say(venue, queue, no("released"), who="p-2")

    before = dialogue_answers(venue.study.name, "risk", version_of(RISK), "released")
    after = dialogue_answers(venue.study.name, "risk", version_of(OTHER), "released")
    assert (n_new, len(before), {one.dialogue for one in after}) == (2, 3, set(venue.keys[:2]))
    assert sorted(value for one in before for _, _, value in one.said) == ["no", "no", "yes"]
    assert RoutedRow.objects.count() == n_routed
    assert asked_by(queue, "risk", version_of(OTHER)) == frozenset(venue.keys[:2])


def test_a_repeated_sample_adds_no_item_and_a_larger_one_the_missing_items(venue, queue):
    reword(venue)
    drawn = [
        annotate_again(venue.records, queue, "risk", keys, version=version_of(OTHER))
        for keys in (venue.keys[:2], venue.keys[:2], venue.keys)
    ]

    assert drawn == [2, 0, 1]
    assert WorkItemRow.objects.filter(again__gt=0).count() == 3


def test_an_unassigned_dialogue_moves_to_the_new_wording_and_is_annotated_once(venue, queue):
    (late,) = venue.hold(1)
    add_dialogues(venue.records, queue, [late])
    reword(venue)

    assert annotate_again(venue.records, queue, "risk", [late], version=version_of(OTHER)) == 0
    assert asked_by(queue, "risk", version_of(OTHER)) == {late}


@pytest.mark.parametrize(("category", "version"), [("risk", version_of(OTHER)), ("tone", version_of(UTILITY))])
def test_categories_outside_the_queue_are_not_added(venue, queue, category, version):
    with pytest.raises(Conflict, match="publish it, and fill the queue again"):
        annotate_again(venue.records, queue, category, venue.keys, version=version)
