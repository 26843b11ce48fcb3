"""Conditions: numbers of different levels and testers stay apart."""

from __future__ import annotations

from dataclasses import replace

from tests.fakes.evidence import changed
from tests.unit.measurement.study.small_study import SmallStudy
from theodolite.domain.dialogue import HeldBy, Level
from theodolite.domain.estimate import Estimate
from theodolite.measurement import measure_study
from theodolite.measurement.study.conditions import conditions


def looked_at(groups=(), **places):
    """Return the evidence of a study whose dialogues were held at some levels by some testers."""
    study = SmallStudy(groups=groups)
    study.annotator("ann")
    for label in places:
        study.session(label, groups={"kind": "x"})
    study.column("ann", **dict.fromkeys(places, "no"))
    evidence = study.evidence()
    moved = [replace(s, level=places[s.label][0], held_by=places[s.label][1]) for s in evidence.sessions]
    return changed(evidence, sessions=tuple(moved))


SCRIPT = (Level.MODEL_TESTING, HeldBy.SCRIPT)
SIMULATED = (Level.RED_TEAMING, HeldBy.SIMULATED_USER)
PERSON = (Level.RED_TEAMING, HeldBy.PERSON)


def rates(evidence):
    found = [m for m in measure_study(evidence).measurements if m.measure == "defect_rate"]
    return [(m.subject.level, m.subject.tester_type, m.result.n) for m in found]


def test_levels_and_testers_have_a_rate_each():
    evidence = looked_at(d1=PERSON, d2=SCRIPT, d3=SIMULATED, d4=SIMULATED)

    assert rates(evidence) == [
        ("model testing", "script", 1),
        ("red teaming", "simulated user", 2),
        ("red teaming", "person", 1),
    ]


def test_where_there_is_one_condition_alone_nothing_is_said_of_it():
    assert rates(looked_at(d1=SIMULATED, d2=SIMULATED)) == [(None, None, 2)]


def test_splits_by_group_keep_the_conditions_apart():
    evidence = looked_at(groups=("kind",), d1=SCRIPT, d2=SIMULATED)

    splits = [m for m in measure_study(evidence).measurements if m.subject.group]

    assert [(m.subject.level, m.result.n) for m in splits] == [("model testing", 1), ("red teaming", 1)]
    assert all(isinstance(m.result, Estimate) for m in splits)


def test_conditions_come_in_the_order_of_the_levels():
    found = conditions(looked_at(d1=PERSON, d2=SCRIPT, d3=SIMULATED).sessions)

    assert [(condition.level, condition.held_by) for condition in found] == [SCRIPT, SIMULATED, PERSON]
