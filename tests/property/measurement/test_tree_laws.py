"""Laws of measurement trees."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.trees import answers, design, leaf
from theodolite.domain.tree import Leaf, TreeDesign
from theodolite.domain.tree_form import design_document, design_of
from theodolite.measurement.trees.tree import MeasurementTree

QUESTIONS = ("a", "b", "c")
SUMMARIES = st.sampled_from(("mean", "max", "median"))
LEAVES = st.lists(
    st.builds(
        lambda question, session, value, by: leaf(question, f"d{session}", value, by=by),
        st.sampled_from(QUESTIONS), st.integers(1, 6), st.one_of(st.none(), st.integers(0, 5)), st.sampled_from("xyz"),
    ),
    max_size=25,
)  # fmt: skip


@st.composite
def designs(draw) -> TreeDesign:
    """Return a graph of two storeys over three questions, with shared children."""
    nodes: dict[str, dict] = {}
    lower = [f"n{i}" for i in range(draw(st.integers(1, 4)))]
    weights = st.sampled_from((0, 0.5, 1, 3))
    for name in lower:
        children = draw(st.lists(st.sampled_from(QUESTIONS), min_size=1, max_size=3, unique=True))
        nodes[name] = {"summary": draw(SUMMARIES), "of": {child: draw(weights) for child in children}}
    nodes["top"] = {"summary": draw(SUMMARIES), "of": {name: draw(weights) for name in lower}}
    return design({**nodes, **{question: answers(question, "0-5") for question in QUESTIONS}})


def values(tree: TreeDesign, leaves: list[Leaf]) -> dict[str, float | None]:
    return MeasurementTree(design=tree, leaves=tuple(leaves)).evaluate()


def expanded(tree: TreeDesign) -> TreeDesign:
    """Return the proper tree: every node with several parents stands once under each."""
    plain = design_document(tree)
    nodes: dict[str, dict] = {}

    def copy(name: str, path: str) -> str:
        node = dict(plain["nodes"][name])
        if "of" in node:
            edges = node["of"] if isinstance(node["of"], dict) else dict.fromkeys(node["of"], 1.0)
            node["of"] = {copy(child, f"{path}/{child}"): weight for child, weight in edges.items()}
        nodes[path] = node
        return path

    for root in tree.roots:
        copy(root, root)
    return design_of({**plain, "nodes": nodes})


@given(tree=designs(), leaves=LEAVES, data=st.data())
@settings(max_examples=60)
def test_the_order_of_answers_does_not_matter(tree, leaves, data):
    shuffled = data.draw(st.permutations(leaves))

    assert values(tree, shuffled) == pytest.approx(values(tree, leaves), nan_ok=True)


@given(tree=designs(), leaves=LEAVES)
@settings(max_examples=60)
def test_values_stay_between_the_lowest_and_the_highest_answer(tree, leaves):
    given_ = [float(one.value) for one in leaves if one.value is not None]

    for value in values(tree, leaves).values():
        assert value is None or min(given_) - 1e-9 <= value <= max(given_) + 1e-9


@given(tree=designs(), leaves=LEAVES)
@settings(max_examples=60)
def test_a_graph_and_its_expanded_tree_have_equal_values_and_dispositions(tree, leaves):
    proper = expanded(tree)
    one, other = (MeasurementTree(design=each, leaves=tuple(leaves)) for each in (tree, proper))

    assert other.evaluate()["top"] == pytest.approx(one.evaluate()["top"])
    assert other.bootstrap(replicates=5).node("top").outcomes == one.bootstrap(replicates=5).node("top").outcomes


@given(tree=designs(), leaves=LEAVES, times=st.integers(2, 4))
@settings(max_examples=40)
def test_repeating_a_study_with_equal_answers_gives_equal_values(tree, leaves, times):
    again = [leaf(one.question, f"{one.session}-{n}", one.value, by=one.by) for n in range(times) for one in leaves]

    assert values(tree, again) == pytest.approx(values(tree, leaves))


@given(tree=designs(), leaves=LEAVES)
@settings(max_examples=40)
def test_reversing_all_scales_reverses_means_and_medians(tree, leaves):
    plain = design_document(tree)
    nodes = {name: {**node, "summary": "mean"} if node.get("summary") == "max" else node
             for name, node in plain["nodes"].items()}  # fmt: skip
    turned = [leaf(o.question, o.session, None if o.value is None else 5 - int(o.value), by=o.by) for o in leaves]
    one, other = (values(design_of({**plain, "nodes": nodes}), each) for each in (leaves, turned))

    assert {name: None if v is None else 5 - v for name, v in other.items()} == pytest.approx(one)


@given(tree=designs(), leaves=LEAVES)
@settings(max_examples=40)
def test_bounds_contain_the_value(tree, leaves):
    for node in MeasurementTree(design=tree, leaves=tuple(leaves)).bootstrap(replicates=20).nodes:
        result = node.result
        if node.value is not None and result.low is not None:
            assert result.low - 1e-9 <= node.value <= result.high + 1e-9


@given(tree=designs(), leaves=LEAVES)
@settings(max_examples=40)
def test_a_tree_survives_a_file_round_trip(tree, leaves):
    one = MeasurementTree(design=tree, leaves=tuple(leaves))

    assert MeasurementTree.from_dict(one.to_dict()) == one
