from __future__ import annotations

import itertools
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from theodolite.domain.choices import Assignment
from theodolite.domain.dialogue import Level
from theodolite.testing.assigning import AllocationDesign

WITHIN, BETWEEN = Assignment.WITHIN_SUBJECTS, Assignment.BETWEEN_SUBJECTS

names = st.integers(min_value=1, max_value=4).map(lambda n: tuple(f"n{number}" for number in range(n)))
designs = st.builds(
    AllocationDesign,
    level=st.just(Level.RED_TEAMING),
    applications=names,
    scenarios=names,
    sessions=st.integers(min_value=1, max_value=6),
    assignment=st.sampled_from(Assignment),
    seed=st.integers(min_value=0, max_value=1000),
)


class TestBalance:
    """After every full block each cell has been met equally often at each place of the order."""

    @given(designs, st.integers(min_value=0, max_value=2))
    def test_cells_are_balanced(self, design: AllocationDesign, block: int) -> None:
        numbers = range(block * design.block(), (block + 1) * design.block())
        for place in range(design.sessions):
            met = Counter(design.cells(number)[place] for number in numbers)

            assert len(met) == len(design.applications) * len(design.scenarios)
            assert len(set(met.values())) == 1

    @given(designs.filter(lambda design: design.assignment is WITHIN and design.sessions >= len(design.applications)))
    def test_each_application_follows_each_other_one_equally_often(self, design: AllocationDesign) -> None:
        first = len(design.applications)
        met = [design.cells(number)[:first] for number in range(design.block())]
        follows = Counter(
            (one.application, other.application) for cells in met for one, other in itertools.pairwise(cells)
        )

        assert len(set(follows.values())) <= 1


class TestPeople:
    """A person meets what the number says, whoever else takes part."""

    @given(designs, st.integers(min_value=0, max_value=200))
    def test_a_slot_number_always_has_the_same_applications(self, design: AllocationDesign, number: int) -> None:
        assert design.cells(number) == design.cells(number)
        assert len(design.cells(number)) == design.sessions

    @given(designs.filter(lambda design: design.assignment is WITHIN), st.integers(min_value=0, max_value=99))
    def test_within_subjects_all_applications_come_before_a_repeat(self, design: AllocationDesign, number: int) -> None:
        first = design.cells(number)[: len(design.applications)]

        assert len({cell.application for cell in first}) == len(first)
        assert len({cell.scenario for cell in first}) == 1

    @given(designs.filter(lambda design: design.assignment is BETWEEN), st.integers(min_value=0, max_value=99))
    def test_between_subjects_a_tester_has_one_application(self, design: AllocationDesign, number: int) -> None:
        assert len({cell.application for cell in design.cells(number)}) == 1
