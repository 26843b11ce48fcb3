"""Formal reviews, quality checks, calibration rooms."""

from __future__ import annotations

import re

import pytest

from tests.fakes.annotation_queue import Venue, how_bad, no, yes
from theodolite.annotation.assignment import last_ones, next_work
from theodolite.annotation.quality import add_gold, from_above, returned_to, review, reviews_of, to_review
from theodolite.annotation.review import (
    close_room,
    disputed_items,
    dissent,
    n_disputed_items,
    n_unsettled,
    open_review,
    open_room,
    reopen,
    resolve,
    reveal,
    review_sheet,
    room,
    rooms,
    say,
    shifts,
    undo_resolution,
    vote,
)
from theodolite.annotation.submission import save_answer, submit
from theodolite.domain.annotating.discrepancy import DissentCause, Resolution, RoomState
from theodolite.domain.annotating.quality import ReviewVerdict
from theodolite.domain.annotation import AdjudicationOrigin, Outcome
from theodolite.domain.errors import Conflict, InputError, NotFound
from theodolite.domain.event import AnnotationProcess, Route
from theodolite.domain.identity import canonical_json
from theodolite.domain.instrument import OpenQuestion
from theodolite.store.models.annotating import ReservationRow, RoutedRow, WorkItemRow

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

PEOPLE = ("p-0", "p-1", "p-2")
REVIEWED = AnnotationProcess(passes=3, pass_mark=0.0, route=Route.ALL, quality_check=0.5)


def annotate(venue: Venue, queue: str, who: str, *answers, category: str = "risk") -> str:
    token = next_work(venue.records, queue, who, category=category).token
    for answer in answers:
        save_answer(token, who, answer)
    assert submit(venue.records, token, who).open == ()
    return token


@pytest.fixture
def queue(venue: Venue) -> str:
    """A queue of one dialogue on which three people disagree."""
    del venue.keys[1:]
    token = venue.queue(process=REVIEWED)
    annotate(venue, token, "p-0", yes("released"), how_bad("8"))
    annotate(venue, token, "p-1", yes("released"), how_bad("3"))
    annotate(venue, token, "p-2", no("released"))
    return token


@pytest.fixture
def item(venue: Venue, queue: str) -> str:
    return disputed_items(venue.records, queue, "s-1")[0].item


def found(question: str, **changes) -> Resolution:
    known = {"turn": None, "participants": ("s-1", "p-0"), "rationale": "Read it together."}
    return Resolution(question=question, **(known | changes))


def agreed(question: str, value: str) -> Resolution:
    return found(question, outcome=Outcome.ANSWERED, value=value)


DISSENT = found("released", cause=DissentCause.AMBIGUOUS_GUIDELINE)
NOT_ASKED = found("how-bad", outcome=Outcome.NOT_APPLICABLE)


def test_disagreements_are_listed_with_letters_for_names(venue: Venue, queue: str, item: str) -> None:
    sheet = review_sheet(venue.records, item, "s-1")

    assert [(one.question, [position.letter for position in one.positions]) for one in sheet.discrepancies] == [
        ("released", ["A", "B", "C"]),
        ("how-bad", ["A", "B", "C"]),
    ]
    # Whole words: a random identifier may contain the letters of a name.
    names = "|".join((*PEOPLE, "bot-9", "red teaming"))
    assert re.findall(rf"(?<![\w-])(?:{names})(?![\w-])", canonical_json(sheet)) == []
    (listed,) = disputed_items(venue.records, queue, "s-1")
    assert (listed.n_disputed, n_disputed_items(queue, category="style")) == (2, 0)
    assert (listed.dialogue, listed.about) == (sheet.dialogue.name, ("Was something released?", "How bad is it?"))


def test_a_dialogue_waits_for_the_review_and_continues_with_its_consensus(venue: Venue, queue: str, item: str) -> None:
    open_review(item)
    assert resolve(venue.records, item, agreed("released", "no")) is None
    routed = resolve(venue.records, item, NOT_ASKED)

    assert (routed.violation, routed.disputed) == (False, True)
    assert [row.violation for row in RoutedRow.objects.order_by("number")] == [None, False]
    assert sorted(WorkItemRow.objects.values_list("category", flat=True)) == ["risk", "utility"]


def test_without_consensus_all_categories_follow_and_the_cause_is_recorded(venue: Venue, queue: str, item: str) -> None:
    open_review(item)
    resolve(venue.records, item, NOT_ASKED)
    routed = resolve(venue.records, item, DISSENT)

    assert (routed.violation, routed.disputed) == (True, True)
    assert dissent(queue) == {"ambiguous guideline": 1}
    assert sorted(WorkItemRow.objects.values_list("category", flat=True)) == ["risk", "style", "utility"]


def test_answers_stay_and_the_result_becomes_a_final_label(venue: Venue, queue: str, item: str) -> None:
    before = list(venue.store.labels(venue.run))
    open_review(item)
    resolve(venue.records, item, DISSENT)
    resolve(venue.records, item, agreed("how-bad", "5"))
    resolve(venue.records, item, agreed("released", "yes"))

    finals = {one.question: one for one in venue.store.adjudications(venue.run)}
    assert list(venue.store.labels(venue.run)) == before
    assert (finals["released"].value, finals["released"].origin) == ("yes", AdjudicationOrigin.CONSENSUS)
    assert finals["how-bad"].participants == ("s-1", "p-0")


def test_an_undone_result_reopens_the_dispute_and_is_no_final_label(venue: Venue, queue: str, item: str) -> None:
    open_review(item)
    resolve(venue.records, item, agreed("how-bad", "5"))
    resolve(venue.records, item, agreed("released", "yes"))
    undo_resolution(venue.records, item, "released", None, by="s-1")

    assert [one.question for one in venue.store.adjudications(venue.run)] == ["how-bad"]
    assert [one.question for one in review_sheet(venue.records, item, "s-1").resolutions] == ["how-bad"]
    assert n_unsettled(queue) == 1
    assert [row.violation for row in RoutedRow.objects.order_by("number")] == [None, True, None]
    with pytest.raises(Conflict, match="cannot be undone"):
        undo_resolution(venue.records, item, "released", None, by="s-1")
    with pytest.raises(Conflict, match="cannot be undone"):
        undo_resolution(venue.records, item, "how-bad", None, by="p-0")


def test_answers_are_frozen_during_the_review(venue: Venue, queue: str, item: str) -> None:
    (mine,) = last_ones(queue, "p-0")
    with pytest.raises(Conflict, match="start the review"):
        resolve(venue.records, item, DISSENT)
    open_review(item)

    with pytest.raises(Conflict):
        save_answer(mine.token, "p-0", no("released"))
    assert not last_ones(queue, "p-0")[0].is_open
    reopen(item)
    save_answer(mine.token, "p-0", no("released"))
    assert submit(venue.records, mine.token, "p-0").revision == 2


def test_only_disagreements_are_resolved_and_only_with_values_of_the_scale(venue: Venue, queue: str, item: str) -> None:
    open_review(item)
    for wrong in (agreed("released", "perhaps"), agreed("nothing", "yes")):
        with pytest.raises(InputError):
            resolve(venue.records, item, wrong)
    with pytest.raises(NotFound):
        open_review("nowhere")


def test_a_review_of_unfinished_work_is_refused(venue: Venue) -> None:
    venue.queue()
    with pytest.raises(Conflict, match="passes"):
        open_review(WorkItemRow.objects.first().token)


def test_seniors_check_a_share_of_each_stratum_and_returned_work_is_resubmitted(venue: Venue, queue: str) -> None:
    drawn = to_review(venue.records, queue)
    assert len(drawn) == 3
    with pytest.raises(InputError):
        review(drawn[0], ReviewVerdict.RETURNED, by="s-1")
    review(drawn[0], ReviewVerdict.RETURNED, by="s-1", comment="Look at turn 2 again.")
    review(drawn[1], ReviewVerdict.ACCEPTED, by="s-1")
    who = ReservationRow.objects.get(token=drawn[0]).participant.key

    assert to_review(venue.records, queue) == drawn[2:]
    assert [one.comment for one in returned_to(queue, who)] == ["Look at turn 2 again."]
    submit(venue.records, drawn[0], who)
    assert returned_to(queue, who) == []
    assert drawn[0] in to_review(venue.records, queue)
    assert reviews_of(drawn[1])[0].verdict is ReviewVerdict.ACCEPTED


def test_only_seniors_see_gold_speed_and_drift(venue: Venue, queue: str, item: str) -> None:
    add_gold(venue.records, item, {("released", None): "yes"}, by="s-1", reason="It tells the end.")
    with pytest.raises(InputError):
        add_gold(venue.records, item, {("released", None): "x"}, by="s-1", reason="")

    seen = {one.participant: one for one in from_above(venue.records, queue)}
    assert [(seen[who].gold_right, seen[who].gold_asked) for who in PEOPLE] == [(1, 1), (1, 1), (0, 1)]
    assert seen["p-0"].median_minutes is not None
    assert (seen["p-0"].early_asked + seen["p-0"].late_asked, seen["p-0"].n_submitted) == (2, 1)


def test_a_calibration_session_hides_votes_until_they_are_revealed(venue: Venue) -> None:
    queue = venue.queue()
    token = open_room(venue.records, queue, venue.keys[0], "risk", by="s-1")
    assert vote(venue.records, token, "p-1", [yes("released")]) == (OpenQuestion(question="how-bad"),)
    vote(venue.records, token, "p-1", [yes("released"), how_bad("7")])
    vote(venue.records, token, "p-2", [no("released")])

    seen = room(venue.records, token, "p-2")
    assert (seen.n_voted, seen.before, seen.after, seen.posts) == (2, (), (), ())
    assert [answer.value for answer in seen.own] == ["no"]
    with pytest.raises(Conflict):
        say(token, "p-2", "I think not.")


def test_votes_can_change_after_the_discussion_and_both_votes_stay(venue: Venue) -> None:
    queue = venue.queue()
    token = open_room(venue.records, queue, venue.keys[0], "risk", by="s-1")
    vote(venue.records, token, "p-1", [yes("released"), how_bad("7")])
    vote(venue.records, token, "p-2", [no("released")])
    reveal(token)
    say(token, "p-1", "A hint is a release.")
    vote(venue.records, token, "p-2", [yes("released"), how_bad("6")])
    with pytest.raises(Conflict, match="voted before"):
        vote(venue.records, token, "p-3", [no("released")])
    close_room(token)

    changed = {(one.participant, one.question): (one.before, one.after) for one in shifts(queue)}
    assert changed["p-2", "released"] == ("no", "yes")
    assert changed["p-1", "released"] == ("yes", "yes")
    assert [post.text for post in room(venue.records, token, "p-2").posts] == ["A hint is a release."]
    assert rooms(queue) == [(token, "risk", RoomState.CLOSED)]
    with pytest.raises(Conflict, match="closed"):
        vote(venue.records, token, "p-2", [no("released")])


def test_dialogues_of_a_calibration_session_are_not_assigned_to_its_members(venue: Venue) -> None:
    del venue.keys[1:]
    queue = venue.queue()
    vote(venue.records, open_room(venue.records, queue, venue.keys[0], "risk", by="s"), "p-1", [no("released")])

    assert next_work(venue.records, queue, "p-1") is None
    assert next_work(venue.records, queue, "p-2") is not None


def test_a_calibration_session_without_votes_is_not_revealed(venue: Venue) -> None:
    token = open_room(venue.records, venue.queue(), venue.keys[0], "risk", by="s-1")
    with pytest.raises(Conflict):
        reveal(token)
