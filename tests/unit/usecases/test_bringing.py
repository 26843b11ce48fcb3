from __future__ import annotations

from dataclasses import replace

from tests.fakes.venue import RED, a_session, a_venue, an_event, exchange

from theodolite.domain.brought import BroughtDialogue
from theodolite.domain.dialogue import HeldBy, Level
from theodolite.domain.identity import canonical_json
from theodolite.domain.recording import RecordedTurn
from theodolite.domain.scenario import Scenario
from theodolite.domain.scenario import TestPacket as Packet
from theodolite.testing.people import event_sessions
from theodolite.testing.planning import draw_plan
from theodolite.usecases.bringing import bring_in
from theodolite.usecases.measuring import evidence_of, sittings_in
from theodolite.usecases.people.sitting import end_session


def elsewhere(item="a", **more):
    known = {
        "item": item,
        "application": "blue",
        "scenario": "shop",
        "level": RED,
        "held_by": HeldBy.RECORDED,
        "turns": (RecordedTurn(prompt="May I?", response="No."), RecordedTurn(prompt="Please.", response="Yes.")),
    }
    return BroughtDialogue(**(known | more))


def evidence(venue):
    planned = draw_plan(venue.study)[1]
    sessions = event_sessions(venue.study, planned, venue.store.held(venue.study.name))
    return evidence_of(venue.store, venue.study, sessions, venue.run)


def test_what_was_held_elsewhere_is_a_dialogue_of_the_run_at_its_level():
    venue = a_venue()

    found = bring_in(venue, [elsewhere(), elsewhere("b", level=Level.FIELD_TESTING, held_by=HeldBy.PERSON)])
    first, second = evidence(venue).archive.dialogues()

    assert (found.new, found.known) == (("p001", "p002"), 0)
    assert [turn.response for turn in first.turns] == ["No.", "Yes."]
    assert (first.level, first.held_by, second.level, second.held_by) == (
        RED,
        HeldBy.RECORDED,
        Level.FIELD_TESTING,
        HeldBy.PERSON,
    )
    assert first.cluster != second.cluster


def test_the_same_words_come_in_once_and_checking_keeps_nothing():
    venue = a_venue()

    assert bring_in(venue, [elsewhere()], store=False).new == ("p001",)
    assert list(venue.store.dialogues(venue.run)) == []
    bring_in(venue, [elsewhere()])
    again = bring_in(venue, [elsewhere(), elsewhere("b"), elsewhere("b")])

    assert (again.new, again.known) == (("p002",), 2)


def test_people_before_and_after_keep_their_places():
    venue = a_venue()
    exchange(venue, before := a_session(venue, "p1"))
    end_session(venue, before.key)
    bring_in(venue, [elsewhere()])
    exchange(venue, after := a_session(venue, "p2"))
    end_session(venue, after.key)

    told = [(one.label, one.held_by) for one in evidence(venue).archive.dialogues()]

    assert told == [("p001", HeldBy.PERSON), ("p002", HeldBy.RECORDED), ("p003", HeldBy.PERSON)]


def test_it_fills_no_cell_and_is_no_sitting_of_the_event():
    venue = a_venue()
    empty = len(evidence(venue).sessions)
    bring_in(venue, [elsewhere(tester="eve"), elsewhere("b", tester="eve")])

    known = evidence(venue)

    assert len(known.sessions) == empty + 2
    assert (known.event.sessions, sittings_in(venue.store, venue.study)) == ((), ())
    assert len({one.cluster for one in known.archive.dialogues()}) == 1


def test_equal_prompts_to_two_applications_are_a_pair():
    venue = a_venue()
    bring_in(venue, [elsewhere(), elsewhere(application="green")])

    first, second = evidence(venue).archive.dialogues()

    assert first.pair_key == second.pair_key


def test_what_was_said_to_another_version_counts_no_more():
    venue = a_venue()
    bring_in(venue, [elsewhere()])
    scenarios = (Scenario(name="shop", turns=4, packet=Packet(permitted=("Anything.",))),)

    changed = replace(venue, study=an_event(scenarios=scenarios))

    assert list(evidence(changed).archive.dialogues()) == []


def test_source_material_that_is_brought_stands_beside_that_of_the_scenario():
    venue = a_venue()
    turns = (RecordedTurn(prompt="When?", response="At nine.", context="Open at nine."),)
    bring_in(venue, [elsewhere(turns=turns)])

    (held,) = evidence(venue).archive.dialogues()

    assert held.context.endswith("Open at nine.")


def test_a_dialogue_without_source_material_keeps_the_key_that_it_always_had():
    assert canonical_json(RecordedTurn(prompt="a", response="b")) == '{"prompt":"a","response":"b"}'
