"""Suggestions of a judge: drawn by dialogue, recorded, never preset, and excluded from blind labels."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest

from tests.fakes.annotation_queue import Venue, a_design, how_bad, no, yes
from tests.integration.annotation.test_judges import JUDGED, read
from theodolite.annotation.agreement import agreement, orders, question_figures
from theodolite.annotation.assignment import next_work
from theodolite.annotation.bulk import open_rooms
from theodolite.annotation.quality import add_gold, make_gold
from theodolite.annotation.queues import add_dialogues, open_queue
from theodolite.annotation.review import open_room_on
from theodolite.annotation.submission import save_answer, submit, task
from theodolite.domain.annotation import Annotation
from theodolite.domain.errors import InputError
from theodolite.domain.event import AnnotationProcess, PreAnnotation
from theodolite.domain.findings.order import OrderFactor
from theodolite.domain.identity import keyed_draw
from theodolite.store.models import AnnotationRow
from theodolite.store.models.annotating import ReservationRow, WorkItemRow
from theodolite.store.results import annotations_in

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

N_DIALOGUES = 8

PROCESS = AnnotationProcess(passes=2, pass_mark=0.0, pre_annotation=PreAnnotation(judge="judge"))


@pytest.fixture
def queue(venue: Venue) -> str:
    """Return a queue of eight dialogues, all read by the judge but the last one."""
    venue.hold(N_DIALOGUES - len(venue.keys))
    for number in range(N_DIALOGUES - 1):
        read(venue, number)
    process = replace(PROCESS, seed=seed_with_both(venue.keys[:-1]))
    token = open_queue(venue.records, "judged", JUDGED, a_design(process=process))
    add_dialogues(venue.records, token, venue.keys)
    return token


def seed_with_both(keys: list[str]) -> int:
    """Return the first seed that shows suggestions in some dialogues and not in others; keys differ between runs."""
    return next(seed for seed in count(1) if len({keyed_draw(seed, "suggestions", key) < 0.5 for key in keys}) == 2)


def annotate_all(venue: Venue, queue: str, who: str) -> None:
    """Annotate all dialogues: follow each suggestion, and report no finding without one."""
    while work := next_work(venue.records, queue, who, category="risk"):
        is_suggested = bool(task(venue.records, work.token, who).suggestions)
        save_answer(work.token, who, (yes if is_suggested else no)("released"))
        if is_suggested:
            save_answer(work.token, who, how_bad("5"))
        assert submit(venue.records, work.token, who).open == ()


def by_people() -> list[Annotation]:
    return annotations_in(list(AnnotationRow.objects.filter(unit__isnull=True).order_by("id")))


def test_suggestions_are_drawn_by_dialogue_and_recorded_with_each_annotation(venue: Venue, queue: str) -> None:
    for who in ("p-1", "p-2"):
        annotate_all(venue, queue, who)
    shown = {(one.annotator, one.dialogue): one.shown.suggestions for one in by_people()}
    of_first, of_second = ({key: shown[who, key] for key in venue.keys} for who in ("p-1-risk", "p-2-risk"))

    assert of_first == of_second, "all annotators of a dialogue have the same draw"
    assert of_first[venue.keys[-1]] is None, "the judge has not read it"
    assert set(of_first.values()) == {None, False, True}


def test_a_suggestion_is_shown_and_never_preset(venue: Venue, queue: str) -> None:
    tasks = {}
    for number in range(N_DIALOGUES):
        work = next_work(venue.records, queue, f"p-{number}", category="risk")
        assert work is not None
        tasks[work.token] = task(venue.records, work.token, f"p-{number}")
    with_suggestions = [one for one in tasks.values() if one.suggestions]

    assert {bool(one.suggestions) == bool(one.order.suggestions) for one in tasks.values()} == {True}
    assert with_suggestions
    assert {(one.question, one.value) for one in with_suggestions[0].suggestions} == {
        ("released", "yes"),
        ("how-bad", "5"),
    }
    assert all(not one.answers and one.open for one in tasks.values())


def test_agreement_is_blind_and_the_effect_uses_all_labels(venue: Venue, queue: str) -> None:
    for who in ("p-1", "p-2"):
        annotate_all(venue, queue, who)
    n_blind = sum(not one.shown.suggestions for one in by_people()) // 2
    n_hidden = sum(one.shown.suggestions is False for one in by_people())
    (released, _) = agreement(venue.records, queue, "risk")
    figures = question_figures(venue.records, queue, "risk", "released")
    answers, same = (
        one for one in orders(venue.records, queue, "risk")["released"] if one.factor is OrderFactor.SUGGESTIONS
    )

    assert 0 < n_blind < N_DIALOGUES
    assert dict(released.prevalence) == {"yes": 0, "no": 2 * n_blind}
    assert {pair.alike.n for pair in figures.models_beside_people()} == {n_hidden // 2}
    assert dict(answers.first.given) == {"yes": 0, "no": n_hidden}
    assert dict(answers.second.given) == {"yes": 2 * (N_DIALOGUES - n_blind), "no": 0}
    assert (same.first.n, same.second.n, same.n_between) == (n_hidden, 2 * (N_DIALOGUES - n_blind), 2)


def test_dialogues_with_suggestions_are_neither_gold_nor_calibrated(venue: Venue, queue: str) -> None:
    for who in ("p-1", "p-2"):
        annotate_all(venue, queue, who)
    assisted = ReservationRow.objects.filter(shown="suggestions shown").first()
    assert assisted is not None
    item = str(assisted.item.token)

    with pytest.raises(InputError, match="saw suggestions"):
        make_gold(venue.records, item, by="s-1", reason="all agree")
    with pytest.raises(InputError, match="saw suggestions"):
        open_room_on(venue.records, item, by="s-1")
    (line,) = open_rooms(venue.records, queue, [item], by="s-1")
    assert line.refused == "annotators saw suggestions of a judge in it"


def test_gold_items_have_no_suggestions(venue: Venue, queue: str) -> None:
    for item in WorkItemRow.objects.filter(category="risk"):
        add_gold(venue.records, str(item.token), {("released", None): "no"}, by="s-1", reason="known")
    annotate_all(venue, queue, "p-1")
    assert {one.shown.suggestions for one in by_people()} == {None}


def test_a_queue_without_pre_annotation_shows_and_records_none(venue: Venue) -> None:
    read(venue, 0)
    token = open_queue(venue.records, "plain", JUDGED, a_design(process=replace(PROCESS, pre_annotation=None)))
    add_dialogues(venue.records, token, venue.keys)
    annotate_all(venue, token, "p-1")
    assert {one.shown.text for one in by_people()} == {""}
    assert question_figures(venue.records, token, "risk", "released").orders() is not None
