"""Lists of a queue's dialogues: filters, stages, and hidden words that search does not reveal."""

from __future__ import annotations

import itertools

import pytest

from tests.fakes.annotation_queue import Venue, no
from theodolite.annotation import cases, listing
from theodolite.annotation.assignment import next_work, offer
from theodolite.annotation.listing import Listing, case_lines, room_lines
from theodolite.annotation.review import close_room, open_room, vote
from theodolite.annotation.rules import stage_of
from theodolite.domain.annotating.case import CaseView, DialogueFilter, Flag, FlagKind, ItemStage
from theodolite.domain.annotating.discrepancy import DissentCause, RoomState
from theodolite.domain.annotating.work import ItemState
from theodolite.domain.dialogue import Level, Turn
from theodolite.domain.errors import InputError
from theodolite.domain.text import BLOCK
from theodolite.store.models.annotating import ResolutionRow, WorkItemRow

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


def keys(venue: Venue, queue: str, **sought: object) -> list[str]:
    """Return the keys of the dialogues that a filter finds."""
    found = Listing.of(venue.records, queue, DialogueFilter(**sought))
    return list(found.rows.values_list("unit__key", flat=True))


def test_stages_in_the_database_equal_those_of_the_rule(venue: Venue) -> None:
    cases_of = list(itertools.product(ItemState, (0, 2), (0, 1, 3), (0, 1, 3)))
    venue.hold(len(cases_of) - len(venue.keys))
    queue = venue.queue(first="risk")
    wanted = {}
    for item, (state, live, disputed, resolved) in zip(WorkItemRow.objects.order_by("id"), cases_of, strict=True):
        WorkItemRow.objects.filter(pk=item.pk).update(state=state.value, live=live, done=live, disputed=disputed)
        for turn in range(resolved):
            ResolutionRow.objects.create(
                item=item,
                question="q",
                turn=turn,
                cause=DissentCause.VALUE_DIFFERENCE.value,
                rationale="r",
                created=item.created,
            )
        wanted[item.dialogue.unit.key] = stage_of(state, n_live=live, n_disputed=disputed, n_resolved=resolved)

    for stage in ItemStage:
        assert set(keys(venue, queue, stage=stage)) == {key for key, one in wanted.items() if one is stage}


def test_attributes_of_dialogues_filter_them(venue: Venue) -> None:
    [field] = venue.hold(1, level=Level.FIELD_TESTING, scenario="another", groups={"type": "safe"})
    queue = venue.queue()

    assert keys(venue, queue) == venue.keys
    assert keys(venue, queue, level=Level.FIELD_TESTING) == [field]
    assert keys(venue, queue, scenario="another") == [field]
    assert keys(venue, queue, group=("type", "safe")) == [field]
    assert keys(venue, queue, group=("type", "unsafe")) == []
    assert keys(venue, queue, scenario="series", level=Level.FIELD_TESTING) == []
    assert listing.scenarios_in(queue) == ["another", "series"]
    assert listing.groups_in(queue) == [("type", "safe")]


def test_category_disagreement_flag_and_annotator_filter_dialogues(venue: Venue) -> None:
    queue = venue.queue(first="")
    first, second, third = venue.keys
    WorkItemRow.objects.filter(dialogue__unit__key=second, category="style").update(disputed=2)
    cases.flag_dialogue("spoilers", third, Flag(kind=FlagKind.WELLBEING), by="sami")
    offer(queue, [(first, "risk")], "p-1")

    assert keys(venue, queue, disputed=True) == [second]
    assert keys(venue, queue, disputed=True, category="risk") == []
    assert keys(venue, queue, flag=FlagKind.WELLBEING) == [third]
    assert keys(venue, queue, flag=FlagKind.PII) == []
    assert keys(venue, queue, annotator="p-1") == [first]
    assert keys(venue, queue, annotator="p-1", category="style") == []


def test_a_dismissed_suspicion_is_no_flag(venue: Venue) -> None:
    queue = venue.queue()
    case = cases.flag_dialogue("spoilers", venue.keys[0], Flag(kind=FlagKind.PII, by_detector=True), by="a program")
    cases.dismiss(case, by="sami")

    assert keys(venue, queue, flag=FlagKind.PII) == []


def test_search_finds_visible_words_and_no_hidden_ones(venue: Venue) -> None:
    said = Turn(number=1, prompt="My name is Zenobia Quill.", response="Hello! ÄRGER", latency_s=0.1)
    [key] = venue.hold(1, turns=(said,))
    queue = venue.queue()

    assert keys(venue, queue, words="zenobia quill") == [key]
    assert keys(venue, queue, words="Ärger") == [key]
    assert keys(venue, queue, words="bot-9") == []  # said, and masked
    case = cases.flag_dialogue("spoilers", key, Flag(kind=FlagKind.PII, turn=1), by="sami")
    cases.redact(venue.records, case, "Zenobia", by="sami", shown_in=["risk"])
    assert keys(venue, queue, words="Zenobia") == []
    assert keys(venue, queue, words="name is") == [key]


def test_too_short_and_too_frequent_search_words_are_refused(venue: Venue, monkeypatch) -> None:
    queue = venue.queue()
    monkeypatch.setattr(listing, "MOST_SOUGHT", 2)

    with pytest.raises(InputError, match="3 characters"):
        keys(venue, queue, words="ab")
    with pytest.raises(InputError, match="more than 2"):
        keys(venue, queue, words="tower")


def test_a_page_describes_each_dialogue_and_counts_them_by_stage(venue: Venue) -> None:
    queue = venue.queue()
    taken = next_work(venue.records, queue, "p-1")
    assert taken is not None
    cases.flag_dialogue("spoilers", venue.keys[0], Flag(kind=FlagKind.TECHNICAL), by="sami")
    found = Listing.of(venue.records, queue, DialogueFilter())

    page = found.page(venue.records, reader="sami")

    assert [one.opening for one in page] == ["Who are you?"] * 3
    assert len({one.name for one in page}) == 3
    assert [one.flags for one in page] == [(FlagKind.TECHNICAL,), (), ()]
    assert sorted(one.items[0].stage for one in page) == [ItemStage.IN_WORK, ItemStage.WAITING, ItemStage.WAITING]
    assert found.stages() == {ItemStage.IN_WORK: 1, ItemStage.WAITING: 2}


def test_counts_by_stage_ignore_the_filter_by_stage(venue: Venue) -> None:
    venue.hold(1, scenario="another")
    queue = venue.queue()
    next_work(venue.records, queue, "p-1")

    sought = DialogueFilter(scenario="series", stage=ItemStage.FINAL, words="tower")
    found = Listing.of(venue.records, queue, sought)

    assert sum(found.stages().values()) == 3
    assert found.rows.count() == 0


def test_rows_of_cases_show_the_context_of_hidden_words_without_them(venue: Venue) -> None:
    said = Turn(number=1, prompt="My name is Zenobia Quill, hello.", response="Hello!", latency_s=0.1)
    [key] = venue.hold(1, turns=(said,))
    queue = venue.queue()
    hidden = cases.flag_dialogue("spoilers", key, Flag(kind=FlagKind.PII, turn=1), by="sami")
    cases.redact(venue.records, hidden, "Zenobia Quill", by="sami")
    cases.flag_dialogue("spoilers", venue.keys[0], Flag(kind=FlagKind.TECHNICAL, note="It stops."), by="sami")

    plain, blocked = case_lines(venue.records, queue, CaseView.OPEN, reader="sami")

    assert (plain.words, plain.case.flag.note, plain.scenario) == ("", "It stops.", "series")
    assert blocked.words == f"My name is {BLOCK * 13}, hello."
    assert plain.name != blocked.name


def test_rows_of_calibration_sessions_are_distinct_and_open_ones_come_first(venue: Venue) -> None:
    queue = venue.queue()
    first, second = (open_room(venue.records, queue, key, "risk", by="sami") for key in venue.keys[:2])
    vote(venue.records, first, "p-1", [no("released")])
    close_room(second)

    lines = room_lines(venue.records, queue, reader="sami")

    assert [(one.token, one.n_voted) for one in lines] == [(first, 1), (second, 0)]
    assert [one.state for one in lines] == [RoomState.VOTING, RoomState.CLOSED]
    assert {(one.opening, one.scenario) for one in lines} == {("Who are you?", "series")}
    assert lines[0].name != lines[1].name
