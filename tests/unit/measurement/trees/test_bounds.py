"""Uncertainty: clusters are drawn, shared leaves move together, and a max is bounded by its children."""

from __future__ import annotations

import numpy as np
import pytest

from tests.fakes.trees import FEW, answers, design, leaf, leaves, measured
from theodolite.domain.errors import InputError
from theodolite.measurement.trees.bounds import with_dialogues
from theodolite.measurement.trees.leaves import table_of
from theodolite.measurement.trees.measuring import Draws, measure_tree
from theodolite.measurement.trees.replicates import compiled, point_values, replicated, resampled

MANY = Draws(replicates=400, seed=5)

STARS = [int(star) for star in np.random.default_rng(7).integers(0, 6, 60)]

MEAN = {"top": {"summary": "mean", "of": "a"}, "a": answers("a", "0-5")}


def test_many_varied_dialogues_give_a_bootstrap_interval():
    result = measured(MEAN, leaves("a", *STARS), MANY).node("top").result
    half = 1.96 * np.std(STARS) / 60**0.5

    assert result.method == "mean; bootstrap of clusters"
    assert (result.low, result.high) == pytest.approx((np.mean(STARS) - half, np.mean(STARS) + half), abs=0.1)


def test_dialogues_of_one_persona_are_resampled_together_and_are_less_informative():
    clusters = [leaf("a", f"d{i}", 5 * (i % 30 < 15), cluster=f"c{i % 30}") for i in range(300)]
    alone = [leaf("a", f"d{i}", 5 * (i % 30 < 15)) for i in range(300)]
    wide, narrow = (measured(MEAN, given, MANY).node("top").result for given in (clusters, alone))

    assert (wide.n_clusters, narrow.n_clusters) == (30, 300)
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


def test_forty_equal_answers_have_an_interval_of_positive_width():
    result = measured(MEAN, leaves("a", *[5] * 40), MANY).node("top").result

    assert result.high == 5
    assert result.low < 4.7


def test_independent_binary_answers_get_wilsons_interval():
    nodes = {"top": {"summary": "mean", "of": "a"}, "a": answers("a")}
    result = measured(nodes, leaves("a", *[1] * 3, *[0] * 27), MANY).node("top").result

    assert result.method == "mean; wilson"
    assert (result.low, result.high) == pytest.approx((0.0346, 0.2562), abs=1e-4)


def test_few_clusters_get_the_beta_binomial_interval():
    nodes = {"top": {"summary": "mean", "of": "a"}, "a": answers("a")}
    given = [leaf("a", f"d{i}", int(i < 9), cluster=f"c{i % 6}") for i in range(60)]
    result = measured(nodes, given, MANY).node("top").result

    assert result.method == "mean; beta-binomial"
    assert (result.low, result.value, result.high) == pytest.approx((0.078, 0.15, 0.304), abs=0.001)


def test_a_median_of_few_dialogues_has_no_interval():
    nodes = {"top": {"summary": "median", "of": "a"}, "a": answers("a", "0-5")}
    result = measured(nodes, leaves("a", 1, 2, 3), MANY).node("top").result

    assert (result.value, result.low, result.high) == (2, None, None)


def max_of(n: int, *shares: float):
    names = [f"x{i}" for i in range(len(shares))]
    nodes = {"top": {"summary": "max", "of": names}} | {name: {"summary": "mean", "of": f"{name}a"} for name in names}
    nodes |= {f"{name}a": answers(name) for name in names}
    given = [
        leaf(name, f"{name}-{i}", int(i < round(share * n)), level=name)
        for name, share in zip(names, shares, strict=True)
        for i in range(n)
    ]
    return measured(nodes, given, MANY)


def test_a_max_is_bounded_by_its_children_at_sidaks_level():
    finding = max_of(60, 0.1, 0.1, 0.1)
    result = finding.node("top").result

    assert result.method == "max; simultaneous intervals of the parts (Sidak)"
    assert result.low < finding.node("x0").result.low
    assert result.high > finding.node("x0").result.high


def test_the_probability_of_being_the_worst_is_stated():
    clear, tied = max_of(60, 0.1, 0.6).node("top"), max_of(60, 0.3, 0.3).node("top")

    assert clear.worst_odds["x1"] > 0.99
    assert tied.worst == ("x0", "x1")
    assert 0.3 < tied.worst_odds["x0"] < 0.7


def test_parents_of_a_max_are_bounded_by_its_bounds():
    nodes = {
        "top": {"summary": "mean", "of": ["m", "y"]}, "m": {"summary": "max", "of": ["x"]},
        "x": {"summary": "mean", "of": "a"}, "y": {"summary": "mean", "of": "b"}, "a": answers("a"), "b": answers("b"),
    }  # fmt: skip
    result = measured(nodes, leaves("a", *[1, 0] * 20) + leaves("b", *[1, 0] * 20), MANY).node("top").result

    assert result.method == "mean; simultaneous intervals of the parts (Sidak)"


def test_a_shared_leaf_varies_identically_in_both_nodes():
    nodes = {"x": {"summary": "mean", "of": "a"}, "y": {"summary": "mean", "of": "a"}, "a": answers("a", "0-5")}
    drawn = replicated(compiled(design(nodes), table_of(leaves("a", *STARS))), 50, seed=1)

    assert drawn["x"].tolist() == drawn["y"].tolist()


def test_every_replicate_equals_the_tree_over_the_resampled_dialogues():
    nodes = {"m": {"summary": "mean", "of": "a"}, "s": {"summary": "scale-normalised median", "of": "a"},
             "h": {"summary": "max", "of": ["m"]}, "a": answers("a", "0-5")}  # fmt: skip
    table = table_of(leaves("a", *STARS[:25]))
    drawn = replicated(compiled(design(nodes), table), 30, seed=2)

    for number, counts in enumerate(np.concatenate(list(resampled(table, 30, seed=2)))):
        anew = [v for v, n in zip(STARS[:25], counts, strict=True) for _ in range(int(n))]
        assert drawn["m"][number] == pytest.approx(np.mean(anew))
        assert drawn["s"][number] == pytest.approx(np.median(anew) / 5)
        assert drawn["h"][number] == drawn["m"][number]


def test_levels_are_strata_with_fixed_sizes():
    given = [*leaves("a", 1, 2, 3, level="red teaming"), leaf("a", "f1", 1, level="field testing")]
    weights = np.concatenate(list(resampled(table_of(given), 40, seed=1)))

    assert set(weights[:, :3].sum(axis=1)) == {3}
    assert set(weights[:, 3]) == {1}


def test_the_same_seed_gives_the_same_bounds():
    assert measured(MEAN, leaves("a", *STARS), MANY) == measured(MEAN, leaves("a", *STARS), MANY)


def test_replicates_may_be_computed_in_batches(monkeypatch):
    tree = compiled(design(MEAN), table_of(leaves("a", *STARS)))
    monkeypatch.setattr("theodolite.measurement.trees.replicates.MOST_CELLS", 600)

    assert len(replicated(tree, 35, seed=1)["top"]) == 35
    assert point_values(tree)["top"] == pytest.approx(np.mean(STARS))


def test_a_confidence_is_between_0_and_1():
    with pytest.raises(InputError, match="`confidence` must be a fraction"):
        measured(MEAN, [], Draws(confidence=95))


def root_of(shares, n_clusters, size, seed=11, scale="0-1"):
    """Return the mean of one question each share, asked of the same dialogues in clusters that resemble each other."""
    names = [f"x{place}" for place in range(len(shares))]
    nodes = {"top": {"summary": "mean", "of": names}} | {name: {"summary": "mean", "of": f"{name}a"} for name in names}
    nodes |= {f"{name}a": answers(name, scale) for name in names}
    rng, most = np.random.default_rng(seed), int(scale[-1])
    given = []
    for name, share in zip(names, shares, strict=True):
        hard = rng.beta(share * 9, (1 - share) * 9, 60)[:n_clusters]
        drawn = rng.binomial(most, np.repeat(hard, size).reshape(n_clusters, size))
        given += [
            leaf(name, f"{cluster}-{place}", int(drawn[cluster, place]), cluster=f"{cluster}")
            for cluster in range(n_clusters)
            for place in range(size)
        ]
    return measured(nodes, given, MANY)


def width(finding):
    result = finding.node("top").result
    return result.high - result.low


def test_a_mean_of_few_clusters_is_as_wide_as_its_children_require():
    """Under Sidak's level all three were added up: .281 where a cluster-robust interval of the logit has .153."""
    finding = root_of((0.1, 0.2, 0.3), 10, 20)
    reaches = [finding.node(f"x{place}").result for place in range(3)]

    assert finding.node("top").result.method == "mean; combined intervals of the parts (MOVER)"
    assert width(finding) < 0.17
    assert width(finding) >= np.sqrt(sum((child.high - child.low) ** 2 for child in reaches)) / 3 * 0.98


@pytest.mark.parametrize("scale", ["0-1", "0-5"])
def test_one_cluster_more_or_less_does_not_change_the_width_abruptly(scale):
    widths = {
        n: np.mean([width(root_of((0.1, 0.2, 0.3), n, 5, seed, scale)) for seed in range(4)]) for n in (18, 19, 20, 21)
    }

    assert widths[20] / widths[19] == pytest.approx(1.0, abs=0.1)
    assert widths[21] / widths[18] == pytest.approx(1.0, abs=0.15)


def test_a_child_of_weight_0_changes_nothing():
    nodes = {"top": {"summary": "mean", "of": {"x": 1, "y": 0}}, "x": {"summary": "mean", "of": "a"},
             "y": {"summary": "mean", "of": "b"}, "a": answers("a"), "b": answers("b")}  # fmt: skip
    finding = measured(nodes, leaves("a", *[1] * 4, *[0] * 36) + leaves("b", *[1] * 20, *[0] * 20), MANY)
    top, child = finding.node("top").result, finding.node("x").result

    assert (top.low, top.value, top.high) == (child.low, child.value, child.high)


def test_children_without_a_defect_leave_room_above_the_mean():
    nodes = {"top": {"summary": "mean", "of": ["x", "y"]}, "x": {"summary": "mean", "of": "a"},
             "y": {"summary": "mean", "of": "b"}, "a": answers("a"), "b": answers("b")}  # fmt: skip
    finding = measured(nodes, leaves("a", *[0] * 40) + leaves("b", *[0] * 40), MANY)
    child = finding.node("x").result

    assert finding.node("top").result.low == 0.0
    assert finding.node("top").result.high == pytest.approx(child.high / np.sqrt(2))


NODES = {
    "top": {"summary": "max", "of": ["x", "y"]},
    "x": {"summary": "mean", "of": "a"}, "y": {"summary": "mean", "of": "b"}, "a": answers("a"), "b": answers("b"),
}  # fmt: skip


def reached(nodes, given):
    plain, table = design(nodes), table_of(given)
    finding = with_dialogues(measure_tree(plain, table, draws=FEW), plain, table)
    return {node.node: (node.dialogues, node.raised) for node in finding.nodes}


def test_a_node_lists_the_dialogues_with_an_answer_below_it():
    found = reached(NODES, [*leaves("a", 0, 1, None, 0.5), leaf("b", "d3", 1)])

    assert found["x"] == (("d1", "d2", "d4"), ("d2", "d4"))
    assert found["y"] == (("d3",), ("d3",))
    assert found["top"] == (("d1", "d2", "d3", "d4"), ("d2", "d3", "d4"))


def test_answer_nodes_list_their_annotators_and_raise_nothing():
    assert reached(NODES, leaves("a", 0, 1))["a"] == (("d1", "d2"), ())


def test_a_child_of_weight_0_adds_no_dialogue():
    nodes = {**NODES, "top": {"summary": "mean", "of": {"x": 1, "y": 0}}}

    assert reached(nodes, [*leaves("a", 0), leaf("b", "d2", 1)])["top"] == (("d1",), ())


def test_text_values_have_no_minimum():
    nodes = {"kinds": {"summary": "set", "of": "k"}, "k": {"answers": "k", "scale": ["rude", "kind"]}}

    assert reached(nodes, leaves("k", "rude", "kind"))["kinds"] == (("d1", "d2"), ())
