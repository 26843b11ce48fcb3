from __future__ import annotations

import pytest

from tests.fakes.builders import (
    dialogue,
    live,
    person,
    recorded,
    recording,
    scripts,
    sessions_of,
    study,
    unit,
)
from tests.fakes.clients import held_by_hand
from theodolite.domain.persona import Script
from theodolite.domain.run import UnitKind
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Reference
from theodolite.usecases.running import StudyFlows

BOTH = study(
    applications=(live(), recorded()),
    scenarios=(Scenario(name="shop", scripts=scripts("a")),),
    personas=(),
    annotators=(person(),),
    reference=Reference(column="final", guideline="polite"),
)
ROWS = (recording("a", ann="yes", final="yes"), recording("a", repeat=2, ann="no", final="no"))
FLOWS = StudyFlows(BOTH, sessions_of(BOTH, *ROWS), ROWS)


def label_of(label):
    at = sessions_of(BOTH, *ROWS).find(label)
    asked = unit(kind=UnitKind.ANNOTATION, label=label, position=at, annotator="ann")
    flow = FLOWS.annotation(asked, dialogue(label=label))
    (answer,) = held_by_hand(flow).result.answers
    return answer.value or answer.outcome.value


def test_a_session_follows_the_plan():
    held = held_by_hand(FLOWS.session(unit(label="d001", key="u1"))).result

    assert (held.key, held.label, held.application, held.scenario) == ("u1", "d001", "bot", "shop")
    assert held.application_version == BOTH.application_version("bot")
    assert [turn.prompt for turn in held.turns] == ["a 1"]


def test_labels_come_from_the_row_of_the_dialogue():
    assert [label_of(label) for label in ("old/a", "old/a#2")] == ["yes", "no"]


def test_a_live_dialogue_has_no_row_even_if_its_script_shares_the_name():
    assert label_of("d001") == "missing"


def test_final_labels_come_from_the_rows_too():
    labels = ("old/a#2", "old/a", "d001")
    placed = [(sessions_of(BOTH, *ROWS).find(label), dialogue(key=label, label=label)) for label in labels]

    finals = FLOWS.adjudications(placed)

    assert [(final.dialogue, final.value) for final in finals] == [("old/a#2", "no"), ("old/a", "yes"), ("d001", None)]


def test_without_a_reference_there_are_no_final_labels():
    plain = study()

    assert StudyFlows(plain, sessions_of(plain), ()).adjudications([(0, dialogue())]) == ()


def test_withheld_prompts_are_still_sent_to_the_recording():
    hidden = Script(key="a", prompts=("",), withheld="harmful")
    plain = study(scenarios=(Scenario(name="shop", scripts=(hidden,)),), personas=())

    held = held_by_hand(StudyFlows(plain, sessions_of(plain), ()).session(unit(label="d001"))).result

    assert held.withheld == "harmful"


@pytest.mark.parametrize(("label", "is_searched"), [("d001", True), ("old/a", False)])
def test_the_prompts_of_recorded_dialogues_are_not_searched(label, is_searched):
    queries = []

    def search(query):
        queries.append(query)
        return ()

    flows = StudyFlows(BOTH, sessions_of(BOTH, *ROWS), ROWS, searches={"shop": search})
    held_by_hand(flows.session(unit(label=label, position=sessions_of(BOTH, *ROWS).find(label))))

    assert bool(queries) is is_searched
