"""Scenarios as proxies are told in words, and as an entry of the results file."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from theodolite.domain.dialogue import Level
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.number import Significance
from theodolite.domain.findings.responses import LevelOrder, ProxyCheck, ProxyRate
from theodolite.domain.study import Study
from theodolite.reporting.page.applications import proxy_table
from theodolite.reporting.results.testers import proxy_entry

HALF = Estimate(value=0.5, low=0.2, high=0.8, confidence=0.95, n=10, unit="fraction of dialogues", method="wilson")
APART = Significance(
    p_value=0.03, statistic=4.0, method="Cochran's Q", n=20, degrees=1, effect=0.4, effect_name="gap", n_clusters=10
)
CHECK = ProxyCheck(
    scenario="tv",
    rule="secrets.prohibited_released",
    annotator="reference",
    n_planned=40,
    n_held=38,
    n_labelled=36,
    rates=(ProxyRate(application="leaky", level=Level.MODEL_TESTING, defect=HALF),),
    apart=APART,
    adjusted_p_value=0.04,
    orders=(LevelOrder(first=Level.MODEL_TESTING, second=Level.RED_TEAMING, alike=2, opposed=0, tied=1),),
)


def row_of(check):
    study = Study(name="s", applications=(), scenarios=())
    table = proxy_table(SimpleNamespace(study=study, findings=SimpleNamespace(proxies=(check,))))
    return table.texts[0]


def test_a_check_is_a_table_row_in_words():
    _, by, labelled, reach, apart, orders = row_of(CHECK)

    assert (by, labelled, reach) == ("final labels", "36 of 40 (90.0%)", "some fail, some do not")
    assert apart == "40.0 points between the furthest two, p = .040 (20 sets of 10 testers, personas or prompts)"
    assert orders == (
        "model testing and red teaming: 2 of 3 pairs of applications in the same order, 0 in the opposite one, 1 tied"
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"adjusted_p_value": 0.0005}, "p < .001"),
        ({"apart": Undefined(reason="One application alone.")}, "undefined: one application alone"),
    ],
)
def test_an_untested_or_chance_result_is_reported(change, words):
    assert words in row_of(replace(CHECK, **change))[4]


def test_the_entry_contains_every_count():
    entry = proxy_entry(CHECK)

    assert (entry["planned"], entry["completed"], entry["labelled"], entry["reach"]) == (40, 38, 36, "between")
    assert entry["orders"] == [{"levels": ["model testing", "red teaming"], "alike": 2, "opposed": 0, "tied": 1}]
    assert (entry["apart"]["p_value"], entry["rates"][0]["defect"]["n"]) == (0.03, 10)
