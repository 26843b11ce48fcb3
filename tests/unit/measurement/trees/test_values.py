"""Values of nodes: from single answers upwards, and what happens to those that are not there."""

from __future__ import annotations

import pytest

from tests.fakes.trees import FEW, answers, design, leaf, leaves, measured, value
from theodolite.domain.annotation import Outcome
from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement.trees.leaves import table_of
from theodolite.measurement.trees.measuring import measure_tree

TWO = {"top": {"summary": "mean", "of": ["x", "y"]}, "x": {"summary": "mean", "of": "a"},
       "y": {"summary": "mean", "of": "b"}, "a": answers("a"), "b": answers("b")}  # fmt: skip


def test_a_hand_computed_tree_has_its_values():
    nodes = {
        "top": {"summary": "mean", "of": ["x", "y"]},
        "x": {"summary": "scale-normalised median", "of": "a"}, "y": {"summary": "max", "of": ["z"]},
        "z": {"summary": "mean", "of": "b"}, "a": answers("a", "0-5"), "b": answers("b"),
    }  # fmt: skip

    assert value(nodes, leaves("a", 1, 3, 5) + leaves("b", 0, 0, 0, 0, 1)) == pytest.approx(0.4)


def test_the_example_of_means_and_maxima_has_the_published_values():
    nodes = {"top": {"summary": "mean", "of": ["p", "q"]}, "p": {"summary": "mean", "of": ["a", "b"]},
             "q": {"summary": "mean", "of": ["c", "d"]}} | {name: answers(name, "0-5") for name in "abcd"}  # fmt: skip
    given = [leaf(name, "d1", number) for name, number in zip("abcd", (1, 3, 2, 2), strict=True)]
    highest = {name: {**node, "summary": "max"} if "summary" in node else node for name, node in nodes.items()}

    assert value(nodes, given) == 2
    assert [value(highest, given, node) for node in ("p", "q", "top")] == [3, 2, 3]


def test_an_empty_child_is_dropped_and_listed():
    finding = measured(TWO, leaves("a", 1, 0)).node("top")

    assert finding.value == 0.5
    assert finding.empty == ("y",)


def test_an_empty_node_has_no_data_instead_of_zero():
    result = measured(TWO, []).node("top").result

    assert isinstance(result, Undefined)
    assert result.reason.startswith("No data")


def test_weights_of_zero_exclude_a_child_without_marking_it_missing():
    weighted = {**TWO, "top": {"summary": "mean", "of": {"x": 1, "y": 0}}}
    finding = measured(weighted, leaves("a", 1, 0) + leaves("b", 1, 1)).node("top")

    assert finding.value == 0.5
    assert finding.empty == ()


@pytest.mark.parametrize("summary", ["mean", "max", "median"])
def test_fully_connected_with_zero_weights_equals_partly_connected(summary):
    given = leaves("a", 1, 0, 0) + leaves("b", 1, 1, 1)
    full = {**TWO, "top": {"summary": summary, "of": {"x": 1, "y": 0}}}
    part = {**TWO, "top": {"summary": summary, "of": {"x": 1}}}

    assert measured(full, given).node("top") == measured(part, given).node("top")


def test_only_zero_weights_are_no_data():
    weightless = {**TWO, "top": {"summary": "mean", "of": {"x": 0, "y": 0}}}

    assert value(weightless, leaves("a", 1)) is None


def test_each_dialogue_has_weight_one_regardless_of_its_annotators():
    nodes = {"top": {"summary": "mean", "of": "a"}, "a": answers("a")}
    given = [leaf("a", "d1", 1, by="ann"), leaf("a", "d2", 0, by="ann"), leaf("a", "d2", 0, by="ben")]

    assert value(nodes, given) == 0.5
    assert value({**nodes, "top": {**nodes["top"], "weigh": "answer"}}, given) == pytest.approx(1 / 3)


def test_disagreement_is_preserved_down_to_the_leaves():
    nodes = {"top": {"summary": "mean", "of": "a"}, "a": answers("a")}
    given = [leaf("a", "d1", 1, by="ann"), leaf("a", "d1", 0, by="ben")]
    finding = measured(nodes, given).node("top")

    assert finding.outcomes.used == 2
    assert finding.spread == pytest.approx(0.5**0.5)


def test_turns_are_collapsed_by_a_declared_method():
    given = [leaf("a", "d1", 1, turn=1), leaf("a", "d1", 0, turn=2), leaf("a", "d2", 0, turn=1)]
    nodes = {
        "top": {"summary": "mean", "of": "w"},
        "w": {"per": "dialogue", "summary": "max", "of": "a"},
        "a": answers("a"),
    }

    assert value(nodes, given) == 0.5
    assert value({**nodes, "w": {**nodes["w"], "summary": "mean"}}, given) == 0.25


def test_annotators_of_one_turn_are_aggregated_before_turns():
    given = [leaf("a", "d1", v, turn=t, by=b) for t, b, v in [(1, "x", 1), (1, "y", 0), (2, "x", 0), (2, "y", 0)]]
    nodes = {
        "top": {"summary": "mean", "of": "w"}, "w": {"per": "dialogue", "summary": "max", "of": "t"},
        "t": {"per": "turn", "summary": "mean", "of": "a"}, "a": answers("a"),
    }  # fmt: skip

    assert value(nodes, given) == 0.5


def test_transforms_are_visible_nodes():
    nodes = {
        "top": {"summary": "mean", "of": "s"}, "s": {"transform": "rescale", "of": "r", "scale": "0-1"},
        "r": {"transform": "reverse", "of": "a"}, "a": answers("a", "1-10", "lower_is_worse"),
    }  # fmt: skip

    assert value(nodes, leaves("a", 1, 10)) == 0.5
    assert value(nodes, leaves("a", 10)) == 0
    assert value(nodes, leaves("a", 1)) == 1


def test_a_transform_may_be_the_parent_of_a_summary():
    nodes = {"top": {"transform": "reverse", "of": "m"}, "m": {"summary": "mean", "of": "a"}, "a": answers("a")}
    result = measured(nodes, leaves("a", *[1] * 30, *[0] * 10)).node("top").result

    assert result.value == 0.25
    assert result.low < 0.25 < result.high


def test_recoding_to_null_excludes_an_answer_and_counts_it():
    nodes = {
        "top": {"summary": "mean", "of": "c"}, "a": {"answers": "a", "scale": ["yes", "no", "unable"]},
        "c": {"transform": "recode", "of": "a", "values": {"yes": 1, "no": 0, "unable": None}},
    }  # fmt: skip
    finding = measured(nodes, leaves("a", "yes", "no", "unable")).node("top")

    assert finding.value == 0.5
    assert (finding.outcomes.used, finding.outcomes.not_applicable, finding.conditional) == (2, 1, True)


def test_answers_outside_the_scale_are_unparseable_and_have_no_value():
    finding = measured({"top": {"summary": "mean", "of": "a"}, "a": answers("a")}, leaves("a", 1, 7, "x")).node("top")

    assert (finding.value, finding.outcomes.unparseable) == (1, 2)


def test_every_answer_is_counted_in_the_disposition():
    given = [*leaves("a", 1, None), leaf("a", "d3", None, outcome=Outcome.FAILED),
             leaf("a", "d4", None, outcome=Outcome.NOT_APPLICABLE)]  # fmt: skip
    finding = measured(TWO, given).node("top")

    assert (finding.outcomes.planned, finding.outcomes.used, finding.outcomes.failed) == (4, 1, 1)
    assert finding.conditional


def test_a_leaf_shared_by_two_dimensions_is_counted_once():
    nodes = {"top": {"summary": "mean", "of": ["x", "y"]}, "x": {"summary": "mean", "of": "a"},
             "y": {"summary": "mean", "of": ["a2"]}, "a": answers("a"), "a2": answers("a")}  # fmt: skip

    assert measured(nodes, leaves("a", 1, 0)).node("top").outcomes.planned == 2


def test_nodes_select_by_level_tester_and_annotator():
    given = [leaf("a", "d1", 1, level="red teaming", held_by="person", by="ann", kind="person"),
             leaf("a", "d2", 0, level="red teaming", held_by="simulated user", by="gpt", kind="model")]  # fmt: skip
    tops = {"top": {"summary": "mean", "of": "a"}}

    assert value({**tops, "a": answers("a", held_by=["person"])}, given) == 1
    assert value({**tops, "a": answers("a", by=["model"])}, given) == 0
    assert value({**tops, "a": answers("a", by=["ann"])}, given) == 1
    assert value({**tops, "a": answers("a", levels=["field testing"])}, given) is None


def test_sets_and_texts_accompany_numbers():
    nodes = {
        "top": {"summary": "mean", "of": "a", "beside": ["kinds", "words"]}, "a": answers("a"),
        "kinds": {"summary": "set", "of": "k"}, "k": {"answers": "k", "scale": ["rude", "kind"]},
        "words": {"summary": "texts", "of": "t"}, "t": {"answers": "t", "scale": "text"},
    }  # fmt: skip
    finding = measured(
        nodes, leaves("a", 1) + leaves("k", "rude", "rude", "kind") + leaves("t", "It shouted.", "Fine.")
    )

    assert finding.node("kinds").labels == {"rude": 2, "kind": 1}
    assert finding.node("words").texts == ("It shouted.", "Fine.")
    assert finding.node("top").outcomes.planned == 1


def test_likelihood_and_magnitude_accompany_their_product():
    nodes = {
        "risk": {"summary": "product", "of": ["likelihood", "magnitude"]},
        "likelihood": {"summary": "mean", "of": "a"}, "magnitude": {"summary": "mean", "of": "b"},
        "a": answers("a"), "b": answers("b"),
    }  # fmt: skip
    finding = measured(nodes, leaves("a", 1, 0, 0, 0) + leaves("b", 0.6))

    assert [finding.node(name).value for name in ("likelihood", "magnitude", "risk")] == [0.25, 0.6, 0.15]


def test_leaves_that_contradict_each_other_about_a_dialogue_are_refused():
    with pytest.raises(InputError, match="must agree on its cluster"):
        table_of([leaf("a", "d1", 1, cluster="Ana"), leaf("b", "d1", 1, cluster="Ben")])


VIEWED = {
    "safe": {"summary": "mean", "of": "safe answers"},
    "fair": {"summary": "mean", "of": "fair answers"},
    "safe answers": answers("safe", "0-10"),
    "fair answers": answers("fair", "0-10"),
}


def test_a_view_is_the_weighted_mean_of_its_dimensions_and_does_not_change_nodes():
    views = {"safety first": {"safe": 3, "fair": 1}, "fair alone": {"fair": 1}}
    given = [*leaves("safe", 2, 4, 6), *leaves("fair", 8, 8, 8)]
    plain = measure_tree(design(VIEWED), given, draws=FEW)
    found = measure_tree(design(VIEWED, views=views), given, draws=FEW)

    assert [(view.node, view.value) for view in found.views] == [("safety first", 5.0), ("fair alone", 8.0)]
    assert found.views[0].result.low < 5.0 < found.views[0].result.high
    assert found.nodes == plain.nodes
    assert found.design.method_version == plain.design.method_version


def test_a_view_lists_dimensions_without_data():
    found = measure_tree(design(VIEWED, views={"both": {"safe": 1, "fair": 1}}), leaves("safe", 2, 4), draws=FEW)

    assert (found.views[0].value, found.views[0].empty) == (3.0, ("fair",))


@pytest.mark.parametrize(
    ("views", "said"),
    [
        ({"v": {"sefe": 1}}, "no node of tree `small`; did you mean `safe`|sefe"),
        ({"v": {"safe": 0}}, "at least one above 0"),
        ({"v": {"safe": -1}}, "0 or more"),
    ],
    ids=["unknown", "nothing", "negative"],
)
def test_a_view_with_invalid_weights_is_refused(views, said):
    with pytest.raises(InputError, match=said):
        design(VIEWED, views=views)
