from __future__ import annotations

from dataclasses import replace

from tests.fakes.event import RED, a_session, an_event, an_open_event, exchange, measured

from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.identity import canonical_json
from theodolite.domain.live import BroughtDialogue, RecordedTurn
from theodolite.domain.scenario import Scenario
from theodolite.domain.scenario import TestPacket as Packet
from theodolite.events.context import import_dialogues
from theodolite.events.sessions import end_session
from theodolite.testing.planning import draw_plan


def elsewhere(item="a", **more):
    known = {
        "item": item,
        "application": "blue",
        "scenario": "shop",
        "level": RED,
        "held_by": TesterType.RECORDED,
        "turns": (RecordedTurn(prompt="May I?", response="No."), RecordedTurn(prompt="Please.", response="Yes.")),
    }
    return BroughtDialogue(**(known | more))


def evidence(event):
    planned = draw_plan(event.study)[1]
    return measured(event, planned)


def test_an_imported_dialogue_is_a_dialogue_of_the_run_at_its_level():
    event = an_open_event()

    found = import_dialogues(event, [elsewhere(), elsewhere("b", level=Level.FIELD_TESTING, held_by=TesterType.PERSON)])
    first, second = evidence(event).archive.dialogues()

    assert (found.new, found.known) == (("p001", "p002"), 0)
    assert [turn.response for turn in first.turns] == ["No.", "Yes."]
    assert (first.level, first.held_by, second.level, second.held_by) == (
        RED,
        TesterType.RECORDED,
        Level.FIELD_TESTING,
        TesterType.PERSON,
    )
    assert first.cluster != second.cluster


def test_a_dialogue_is_imported_once_and_a_check_stores_nothing():
    event = an_open_event()

    assert import_dialogues(event, [elsewhere()], store=False).new == ("p001",)
    assert list(event.store.dialogues(event.run)) == []
    import_dialogues(event, [elsewhere()])
    again = import_dialogues(event, [elsewhere(), elsewhere("b"), elsewhere("b")])

    assert (again.new, again.known) == (("p002",), 2)


def test_participants_keep_their_positions_after_an_import():
    event = an_open_event()
    exchange(event, before := a_session(event, "p1"))
    end_session(event, before.key)
    import_dialogues(event, [elsewhere()])
    exchange(event, after := a_session(event, "p2"))
    end_session(event, after.key)

    told = [(one.label, one.held_by) for one in evidence(event).archive.dialogues()]

    assert told == [("p001", TesterType.PERSON), ("p002", TesterType.RECORDED), ("p003", TesterType.PERSON)]


def test_an_imported_dialogue_fills_no_cell_and_is_not_a_session_of_the_event():
    event = an_open_event()
    empty = len(evidence(event).sessions)
    import_dialogues(event, [elsewhere(tester="eve"), elsewhere("b", tester="eve")])

    known = evidence(event)

    assert len(known.sessions) == empty + 2
    assert (known.event.sessions, known.sittings) == ((), ())
    assert len({one.cluster for one in known.archive.dialogues()}) == 1


def test_equal_prompts_to_two_applications_are_a_pair():
    event = an_open_event()
    import_dialogues(event, [elsewhere(), elsewhere(application="green")])

    first, second = evidence(event).archive.dialogues()

    assert first.pair_key == second.pair_key


def test_dialogues_with_an_earlier_version_are_not_counted():
    event = an_open_event()
    import_dialogues(event, [elsewhere()])
    scenarios = (Scenario(name="shop", turns=4, packet=Packet(permitted=("Anything.",))),)

    changed = replace(event, study=an_event(scenarios=scenarios))

    assert list(evidence(changed).archive.dialogues()) == []


def test_imported_source_material_is_stored_with_that_of_the_scenario():
    event = an_open_event()
    turns = (RecordedTurn(prompt="When?", response="At nine.", context="Open at nine."),)
    import_dialogues(event, [elsewhere(turns=turns)])

    (held,) = evidence(event).archive.dialogues()

    assert held.context.endswith("Open at nine.")


def test_a_dialogue_without_source_material_keeps_its_key():
    assert canonical_json(RecordedTurn(prompt="a", response="b")) == '{"prompt":"a","response":"b"}'
