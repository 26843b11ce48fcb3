"""An application that is bound to scenarios is tested in these alone, by everybody."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest

from tests.fakes.builders import study as a_study
from theodolite.domain.application import Application, PythonCallable
from theodolite.domain.choices import Assignment
from theodolite.domain.dialogue import Level
from theodolite.domain.persona import Script
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Study
from theodolite.testing.assigning import AllocationDesign
from theodolite.testing.planning import draw_plan, planned_sessions

NAMES = ("travel", "tv", "meal")


def bound_study(**bound: tuple[str, ...]) -> Study:
    """Return a study of three applications and three scenarios with two scripts each."""
    scenarios = tuple(
        Scenario(name=name, scripts=tuple(Script(key=f"{name}-{n}", prompts=(f"{name} {n}",)) for n in range(2)))
        for name in NAMES
    )
    applications = tuple(
        Application(name=f"bot-{name}", connection=PythonCallable(target="b:f"), scenarios=bound.get(name, ()))
        for name in NAMES
    )
    return replace(a_study(), applications=applications, scenarios=scenarios, personas=())


def test_without_bindings_the_design_is_unchanged() -> None:
    sessions = planned_sessions(bound_study())

    assert len(sessions) == 18
    assert [sessions.label(at) for at in range(4)] == [
        "bot-travel/d001",
        "bot-tv/d001",
        "bot-meal/d001",
        "bot-travel/d002",
    ]


def test_each_application_is_tested_in_its_own_scenarios() -> None:
    sessions = planned_sessions(bound_study(travel=("travel",), tv=("tv", "meal")))

    met = Counter((one.application, one.scenario) for one in sessions)

    assert met == {
        ("bot-travel", "travel"): 2,
        ("bot-tv", "tv"): 2,
        ("bot-tv", "meal"): 2,
        **{("bot-meal", name): 2 for name in NAMES},
    }


def test_labels_and_pairs_equal_those_of_the_whole_design() -> None:
    everything, bound = planned_sessions(bound_study()), planned_sessions(bound_study(travel=("meal",), tv=("tv",)))

    pairs = {everything.label(at): everything.pair_key(at) for at in range(len(everything))}

    assert all(pairs[bound.label(at)] == bound.pair_key(at) for at in range(len(bound)))
    assert [bound.find(bound.label(at)) for at in range(len(bound))] == list(range(len(bound)))
    assert [bound.find(label) for label in ("bot-travel/d001", "bot-tv/d006", "bot-tv/d007")] == [None] * 3


def test_a_binding_changes_the_plan_and_not_the_application_version() -> None:
    plain, bound = bound_study(), bound_study(travel=("travel",))
    swapped = bound_study(travel=("meal",))

    assert len({draw_plan(one)[0].run_fingerprint for one in (plain, bound, swapped)}) == 3
    assert plain.application_version("bot-travel") == bound.application_version("bot-travel")


def design(assignment: Assignment, **bound: tuple[str, ...]) -> AllocationDesign:
    return AllocationDesign(
        level=Level.FIELD_TESTING,
        applications=NAMES,
        scenarios=("a", "b", "c"),
        sessions=3,
        assignment=assignment,
        bound=bound,
    )


@pytest.mark.parametrize("assignment", list(Assignment))
@pytest.mark.parametrize(
    "bound", [{}, {"travel": ("a",), "tv": ("b",), "meal": ("c",)}, {"travel": ("a",), "tv": ("b", "c")}]
)
def test_slots_contain_bound_pairs_only_and_full_blocks_balance_them(
    assignment: Assignment, bound: dict[str, tuple[str, ...]]
) -> None:
    drawn = design(assignment, **bound)

    met = Counter((cell.application, cell.scenario) for seat in range(drawn.block()) for cell in drawn.cells(seat))

    allowed = {(name, scenario) for name in NAMES for scenario in bound.get(name, ("a", "b", "c"))}
    assert set(met) == allowed
    per_application = Counter(application for application, _ in met.elements())
    assert len(set(per_application.values())) == 1
    for name in NAMES:
        assert len({n for (application, _), n in met.items() if application == name}) == 1


def test_within_subjects_every_slot_contains_every_bound_application_once() -> None:
    drawn = design(Assignment.WITHIN_SUBJECTS, travel=("a",), tv=("b",), meal=("c",))

    seats = [drawn.cells(seat) for seat in range(drawn.block())]

    assert all({cell.application for cell in seat} == set(NAMES) for seat in seats)
    follows = Counter((one.application, other.application) for seat in seats for one, other in pairwise(seat))
    assert len(set(follows.values())) == 1
