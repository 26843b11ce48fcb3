"""Questions about the schema, and sensitive parts of dialogues."""

from __future__ import annotations

import pytest

from tests.fakes.annotation_queue import Venue
from theodolite.annotation.assignment import next_work, offer
from theodolite.annotation.cases import (
    accesses,
    begin_thread,
    case_of,
    case_page,
    cases,
    close,
    confirm,
    dismiss,
    end_thread,
    flag,
    flag_dialogue,
    n_cases,
    notify,
    original,
    own_threads,
    redact,
    reply,
    restrict,
    settled,
    suspect,
    thread_page,
)
from theodolite.annotation.queues import add_dialogues
from theodolite.annotation.submission import task
from theodolite.domain.annotating.case import CaseAct, CaseView, Flag, FlagKind
from theodolite.domain.annotating.discrepancy import Anchor, AnchorKind, ThreadEnd
from theodolite.domain.dialogue import Turn
from theodolite.domain.errors import Conflict, InputError, NotFound
from theodolite.domain.text import BLOCK

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

PII = Flag(kind=FlagKind.PII, turn=2, words="the tower")


@pytest.fixture
def queue(venue: Venue) -> str:
    return venue.queue()


@pytest.fixture
def token(venue: Venue, queue: str) -> str:
    return next_work(venue.records, queue, "p-1").token


def asked(venue: Venue, queue: str, token: str, who: str = "p-1") -> str:
    anchor = Anchor(kind=AnchorKind.TURN, category="risk", question="released", turn=2, reservation=token)
    return begin_thread(venue.records, queue, who, anchor, "Is a hint a release?")


def test_only_the_author_and_seniors_see_a_thread(venue: Venue, queue: str, token: str) -> None:
    thread = asked(venue, queue, token)
    reply(thread, "s-1", "Yes, if it tells the end.", senior=True)

    (seen,) = own_threads(queue, "p-1")
    assert [(post.is_own, post.text) for post in seen.posts] == [
        (True, "Is a hint a release?"),
        (False, "Yes, if it tells the end."),
    ]
    assert own_threads(queue, "p-2") == []
    assert [one.token for one in thread_page(queue, "s-1")] == [thread]
    with pytest.raises(NotFound):
        reply(thread, "p-2", "Me too")


def test_all_annotators_see_the_outcome_of_a_thread(venue: Venue, queue: str, token: str) -> None:
    thread = asked(venue, queue, token)
    with pytest.raises(InputError):
        end_thread(thread, ThreadEnd.FAQ, by="s-1")
    end_thread(thread, ThreadEnd.FAQ, by="s-1", text="A hint that tells the end is a release.")

    assert settled(queue) == [("risk", "A hint that tells the end is a release.")]
    assert settled(queue, end=ThreadEnd.GUIDELINE) == []
    for late in (lambda: reply(thread, "p-1", "But"), lambda: end_thread(thread, ThreadEnd.NOTHING, by="s-1")):
        with pytest.raises(Conflict):
            late()


def test_a_thread_needs_an_assignment_of_its_author(venue: Venue, queue: str, token: str) -> None:
    with pytest.raises(NotFound):
        asked(venue, queue, token, who="p-2")
    with pytest.raises(InputError):
        begin_thread(venue.records, queue, "p-1", Anchor(kind=AnchorKind.GUIDELINE, category="no"), "?")


def test_a_second_flag_is_added_to_the_open_case(venue: Venue, queue: str, token: str) -> None:
    first = flag(token, "p-1", PII)

    assert flag_dialogue("spoilers", case_of(first).dialogue, PII, by="detector") == first
    close(first, by="s-1")
    assert flag(token, "p-1", PII) != first
    assert len(cases("spoilers")) == 2


def test_a_restricted_dialogue_is_not_assigned_before_it_is_redacted(venue: Venue, queue: str, token: str) -> None:
    case = flag(token, "p-1", PII)
    restrict(case, by="s-1")
    others = [next_work(venue.records, queue, f"p-{number}") for number in (2, 3, 4)]
    assert case_of(case).is_restricted
    assert not task(venue.records, token, "p-1").reservation.is_open

    redact(venue.records, case, "the tower", by="s-1", note="a place of a person")

    assert task(venue.records, token, "p-1").reservation.is_open
    assert task(venue.records, token, "p-1").dialogue.turns[1].response == f"In {BLOCK * 9} he dies."
    assert all(other is not None for other in others)


def test_a_category_may_show_the_parts_that_it_needs(venue: Venue, queue: str, token: str) -> None:
    redact(venue.records, flag(token, "p-1", PII), "the tower", by="s-1", shown_in=("risk", "style"))

    assert "tower" in task(venue.records, token, "p-1").dialogue.turns[1].response


def test_access_to_the_original_is_recorded(venue: Venue, queue: str, token: str) -> None:
    case = flag(token, "p-1", PII)
    redact(venue.records, case, "the tower", by="s-1")
    with pytest.raises(InputError):
        original(venue.records, case, by="s-1", reason="")

    assert "tower" in original(venue.records, case, by="s-1", reason="to tell the person").turns[1].response
    assert [(one.by, one.reason) for one in accesses(case)] == [("s-1", "to tell the person")]


def test_every_step_of_a_case_is_recorded(venue: Venue, queue: str, token: str) -> None:
    case = flag(token, "p-1", PII)
    restrict(case, by="s-1")
    notify(case, by="s-1", note="privacy officer, by phone")
    close(case, by="s-2", note="fictional person")

    found = case_of(case)
    assert [step.act for step in found.steps] == [
        CaseAct.OPENED,
        CaseAct.RESTRICTED,
        CaseAct.NOTIFIED,
        CaseAct.CLOSED,
    ]
    assert (found.is_closed, found.is_restricted) == (True, False)


def named(venue: Venue) -> str:
    """Store a dialogue that matches every detector; return its key."""
    prompt = "Write to ana@example.org, I want to die."
    turn = Turn(number=1, prompt=prompt, response="I am bot-9, made by OpenAI.", latency_s=0.5)
    return venue.hold(1, turns=(turn,))[0]


def test_automatic_detection_opens_cases_that_people_confirm_or_dismiss(venue: Venue, queue: str) -> None:
    key = named(venue)
    assert suspect(venue.records, queue, [key]) == 3
    assert suspect(venue.records, queue, [key]) == 0
    wellbeing, naming, details = case_page("spoilers", CaseView.SUGGESTED)

    confirm(naming.token, by="s-1", note="It names its maker.")
    dismiss(wellbeing.token, by="s-1", note="A line of a song.")
    with pytest.raises(Conflict):
        dismiss(naming.token, by="s-1")

    assert [one.dialogue for one in (wellbeing, naming, details)] == [key] * 3
    assert n_cases("spoilers") == {CaseView.SUGGESTED: 1, CaseView.OPEN: 1, CaseView.CLOSED: 1}
    assert case_page("spoilers", CaseView.CLOSED)[0].token == wellbeing.token


def test_suspected_personal_data_are_hidden_until_a_person_dismisses_the_suspicion(venue: Venue, queue: str) -> None:
    key = named(venue)
    suspect(venue.records, queue, [key])
    details = case_page("spoilers", CaseView.SUGGESTED)[-1]
    add_dialogues(venue.records, queue, [key], categories=["risk", "style"])
    offer(queue, [(key, "risk"), (key, "style")], "p-9")

    def seen(category: str) -> str:
        token = next_work(venue.records, queue, "p-9", category=category).token
        return task(venue.records, token, "p-9").dialogue.turns[0].prompt

    assert (seen("style"), seen("risk").count(BLOCK)) == (f"Write to {BLOCK * 15}, I want to die.", 0)
    dismiss(details.token, by="s-1", note="An address of an invented person.")
    assert seen("style").count(BLOCK) == 0


def test_unknown_threads_and_cases_are_reported_as_not_found(venue: Venue) -> None:
    for look in (
        lambda: case_of("none"),
        lambda: flag_dialogue("s", "0" * 64, PII, by="d"),
        lambda: reply("n", "p", "x"),
    ):
        with pytest.raises(NotFound):
            look()
