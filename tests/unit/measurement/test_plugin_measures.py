"""Measures of plugins: their value, their interval over clusters, and what happens to code that fails."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.measurement.plugin_measures import FEW_CLUSTERS, LabelledDialogue, PluginMeasure, measure_labels


def share_of_yes(rows: Sequence[LabelledDialogue]) -> float | None:
    return sum(row.label == "yes" for row in rows) / len(rows)


SHARE = PluginMeasure(name="our-house/share@1", compute=share_of_yes, unit="fraction of dialogues")


def rows_of(n: int, *, per_cluster: int = 1) -> list[LabelledDialogue]:
    """Dialogues of which every second cluster is labelled yes."""
    return [
        LabelledDialogue(
            dialogue=f"d{i}", label="yes" if i // per_cluster % 2 else "no", cluster=f"c{i // per_cluster}"
        )
        for i in range(n)
    ]


def estimated(measure: PluginMeasure, rows: Sequence[LabelledDialogue]) -> Estimate:
    result = measure_labels(measure, rows, seed=7)
    assert isinstance(result, Estimate)
    return result


@pytest.mark.parametrize(("n", "per_cluster"), [(400, 1), (400, 4)], ids=["independent", "clusters-of-4"])
def test_the_interval_has_the_width_of_the_normal_approximation_over_clusters(n: int, per_cluster: int) -> None:
    """Clusters are all yes or all no, so that the mean has the variance of n / per_cluster independent units."""
    share = estimated(SHARE, rows_of(n, per_cluster=per_cluster))
    assert share.low is not None
    assert share.high is not None

    wanted = 2 * 1.96 * math.sqrt(0.25 / (n / per_cluster))
    assert share.value == 0.5
    assert share.high - share.low == pytest.approx(wanted, rel=0.1)
    assert share.n_clusters == (None if per_cluster == 1 else n // per_cluster)


def test_the_same_seed_gives_the_same_interval() -> None:
    assert measure_labels(SHARE, rows_of(40), seed=3) == measure_labels(SHARE, rows_of(40), seed=3)


def test_few_clusters_have_no_interval() -> None:
    share = estimated(SHARE, rows_of(40, per_cluster=5))

    assert (share.low, share.high) == (None, None)
    assert f"fewer than {FEW_CLUSTERS} independent units" in share.method


def test_a_constant_value_has_an_interval_of_positive_length() -> None:
    share = estimated(SHARE, [LabelledDialogue(dialogue=f"d{i}", label="yes") for i in range(40)])

    assert (share.value, share.low, share.high) == (1.0, None, None)
    assert "all samples have the same value" in share.method


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (None, "has no value for these dialogues"),
        (math.nan, "returned nan; expected a finite number or None"),
        ("0.5", "returned '0.5'; expected a finite number or None"),
        (True, "returned True; expected a finite number or None"),
    ],
    ids=["none", "nan", "text", "bool"],
)
def test_a_non_numeric_value_is_undefined(returned: object, reason: str) -> None:
    measure = PluginMeasure(name="our-house/odd@1", compute=lambda _: returned)  # type: ignore[arg-type,return-value]

    result = measure_labels(measure, rows_of(20), seed=1)

    assert isinstance(result, Undefined)
    assert reason in result.reason
    assert result.n == 20


def test_a_measure_that_raises_is_undefined_with_its_exception() -> None:
    def broken(rows: Sequence[LabelledDialogue]) -> float:
        return 1 / 0

    result = measure_labels(PluginMeasure(name="our-house/broken@1", compute=broken), rows_of(20), seed=1)

    assert isinstance(result, Undefined)
    assert result.reason == "measure `our-house/broken@1` raised ZeroDivisionError: division by zero"


def test_samples_without_a_value_may_leave_no_interval() -> None:
    def only_whole(rows: Sequence[LabelledDialogue]) -> float | None:
        return 1.0 if len({row.dialogue for row in rows}) == len(rows) else None

    result = estimated(PluginMeasure(name="our-house/whole@1", compute=only_whole), rows_of(20))

    assert (result.value, result.low) == (1.0, None)
    assert "most samples have no value" in result.method


def test_without_labels_there_is_no_value() -> None:
    assert isinstance(measure_labels(SHARE, [], seed=1), Undefined)
