"""Laws of the queue of people's annotation."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.annotation_queue import next_of

from theodolite.annotation.rules import most_items, why_not
from theodolite.domain.annotating.work import AnnotatorState, ItemState, WorkItem
from theodolite.domain.event import AnnotationProcess

KEYS = st.sampled_from([f"i{number}" for number in range(12)])
CATEGORIES = st.sampled_from(["risk", "style", "utility"])
ITEMS = st.lists(
    st.builds(
        WorkItem,
        key=KEYS,
        dialogue=st.sampled_from(["d1", "d2", "d3"]),
        category=CATEGORIES,
        passes=st.integers(1, 3),
        n_live=st.integers(0, 3),
        draw=st.floats(0, 1),
        tester=st.sampled_from(["", "p-1", "p-2"]),
        state=st.sampled_from(list(ItemState)),
    ),
    max_size=12,
    unique_by=lambda item: item.key,
)
PEOPLE = st.builds(
    AnnotatorState,
    participant=st.just("p-1"),
    qualified=st.frozensets(CATEGORIES),
    had=st.frozensets(KEYS, max_size=4),
    met=st.dictionaries(st.sampled_from(["d1", "d2"]), st.frozensets(CATEGORIES), max_size=2),
    n_taken=st.dictionaries(CATEGORIES, st.integers(0, 5)),
    n_items=st.dictionaries(CATEGORIES, st.integers(0, 9)),
    offered=st.frozensets(KEYS, max_size=3),
)
PROCESSES = st.builds(AnnotationProcess, most_share=st.floats(0, 1), apart=st.booleans())


class TestEligibility:
    """Law: the next item, where there is one, is one that no rule forbids."""

    @given(ITEMS, PEOPLE, PROCESSES)
    def test_assigned_items_are_eligible(self, items, who, process):
        found = next_of(items, who, process)

        if found is None:
            assert all(why_not(item, who, process) for item in items)
        else:
            assert why_not(found, who, process) == ""
            assert found.tester != "p-1"
            assert found.n_live < found.passes


class TestPriority:
    """Law: nothing that may be had and was not offered has fewer passes than the item that comes next."""

    @given(ITEMS, PEOPLE, PROCESSES)
    def test_items_with_the_fewest_annotations_come_first(self, items, who, process):
        found = next_of(items, who, process)
        allowed = [item for item in items if not why_not(item, who, process)]

        if found is not None and not who.offered & {item.key for item in allowed}:
            assert found.n_live == min(item.n_live for item in allowed)


class TestListOrder:
    """Law: the same items in another order bring the same next item, unless two draws are equal."""

    @given(ITEMS, PEOPLE, PROCESSES)
    def test_the_order_of_the_list_does_not_matter(self, items, who, process):
        if len({item.draw for item in items}) == len(items):
            assert next_of(items, who, process) == next_of(items[::-1], who, process)


class TestShare:
    """Law: more items never mean fewer for one annotator, and one is always allowed."""

    @given(st.integers(0, 500), st.floats(0, 1))
    def test_the_limit_per_annotator_grows_with_the_queue(self, n_items, share):
        process = AnnotationProcess(most_share=share)

        assert 1 <= most_items(n_items, process) <= most_items(n_items + 1, process) <= max(1, n_items + 1)
