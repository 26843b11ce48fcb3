"""Strata: dialogues sorted by verdict."""

from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.measurement.correction.strata import strata


def test_dialogues_without_a_verdict_are_a_stratum_too():
    heaps = strata([True, False, None, False], [True, None, False, False], None)

    found = [(part.verdict, part.judged, part.labelled, part.defects) for part in heaps.parts]
    assert found == [("defect", 1, 1, 1), ("sound", 2, 1, 0), ("no verdict", 1, 1, 0)]
    assert (heaps.judged, heaps.labelled, heaps.defects, heaps.n_clusters) == (4, 3, 1, None)


def test_labels_are_counted_in_the_clusters_they_come_from():
    heaps = strata(["a", "a", "a", "b"], [True, False, True, None], ["p", "p", "q", "q"])

    assert sorted(heaps.parts[0].by_cluster) == [(1, 1), (1, 2)]
    assert heaps.verdicts_by_cluster.tolist() == [[2, 0], [1, 1]]
    assert heaps.never_looked_at.startswith("No person has labelled a dialogue that the judge called `b`")


def test_shares_that_are_equally_likely_add_up():
    shares, defects = strata(["a", "b", "c"] * 20, [True, False, False] * 20, None).chances()

    assert shares.sum(axis=0) == pytest.approx(1.0)
    assert shares.mean(axis=1) == pytest.approx(1 / 3, abs=0.02)
    assert defects.mean(axis=1) == pytest.approx([20.5 / 21, 0.5 / 21, 0.5 / 21], abs=1e-3)


@pytest.mark.parametrize(
    ("verdicts", "labels", "words"),
    [
        ([True], [True, False], "must be of the same dialogues; got 1 and 2"),
        ([True], ["yes"], "`labels` must say True .defect., False or None .nobody looked.; got 'yes'"),
    ],
)
def test_lists_that_cannot_be_are_refused(verdicts, labels, words):
    with pytest.raises(InputError, match=words):
        strata(verdicts, labels, None)
