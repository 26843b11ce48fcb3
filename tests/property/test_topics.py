"""Laws of what somebody is offered who would rather not meet a topic."""

from __future__ import annotations

import itertools
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from theodolite.domain.dialogue import Level
from theodolite.testing.assigning import AllocationDesign
from theodolite.testing.availability import best_number, n_avoided, place_after

NAMES = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4, unique=True)
CELLS = st.lists(st.sampled_from("abcd"), max_size=8)
SOME = st.frozensets(st.sampled_from("abcd"))


def held(scenarios: list[str], avoided: frozenset[str], heavy: frozenset[str]) -> list[int]:
    """Return the places of the sessions that one person holds, in order."""
    over: list[int] = []
    while (place := place_after(scenarios, over, avoided, heavy)) is not None:
        over.append(place)
    return over


@given(CELLS, SOME, SOME)
def test_every_session_that_is_not_avoided_takes_place_once(
    scenarios: list[str], avoided: frozenset[str], heavy: frozenset[str]
):
    assert sorted(held(scenarios, avoided, heavy)) == [
        at for at, scenario in enumerate(scenarios) if scenario not in avoided
    ]


@given(CELLS, SOME)
def test_sensitive_follows_sensitive_only_if_nothing_else_remains(scenarios: list[str], heavy: frozenset[str]):
    order = held(scenarios, frozenset(), heavy)
    for at, (before, after) in enumerate(itertools.pairwise(order)):
        if scenarios[before] in heavy and scenarios[after] in heavy:
            assert all(scenarios[place] in heavy for place in order[at + 1 :])


@given(NAMES, NAMES, SOME, st.frozensets(st.integers(0, 12)), st.integers(1, 12), st.integers(1, 5))
def test_the_best_slot_is_free_and_none_is_better(names, scenarios, avoided, taken, most, sessions):
    design = AllocationDesign(
        level=Level.RED_TEAMING, applications=tuple(names), scenarios=tuple(scenarios), sessions=sessions
    )
    costs = {number: n_avoided(design, number, "", avoided) for number in range(most) if number not in taken}
    best = best_number(design, taken, most, "", avoided)

    if best is None:
        assert all(cost == sessions for cost in costs.values())
    else:
        assert best in costs
        assert costs[best] == min(costs.values())


@given(st.integers(2, 4), st.sampled_from([("grim", "mild"), ("grim", "mild", "kind")]), st.integers(1, 50))
def test_each_application_is_equally_often_at_each_position(n: int, scenarios: tuple[str, ...], seed: int):
    """The rule looks at topics alone, so that a whole block of seats is turned alike."""
    design = AllocationDesign(
        level=Level.FIELD_TESTING,
        applications=tuple("abcd"[:n]),
        scenarios=scenarios,
        sessions=n * len(scenarios),
        seed=seed,
    )
    met: Counter[tuple[int, str]] = Counter()
    for number in range(design.block()):
        cells = design.cells(number)
        order = held([cell.scenario for cell in cells], frozenset(), frozenset({"grim"}))
        met.update((at, cells[place].application) for at, place in enumerate(order))

    assert len(set(met.values())) == 1
    assert len(met) == n * design.sessions
