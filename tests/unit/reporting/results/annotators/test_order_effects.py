from __future__ import annotations

from dataclasses import replace

from tests.unit.reporting.words.test_order_metrics import EFFECT
from theodolite.domain.findings.number import Undefined
from theodolite.reporting.results.annotators import order_effect_entry


def test_an_undefined_effect_states_its_reason_and_who_answered() -> None:
    entry = order_effect_entry(replace(EFFECT, shift=Undefined(reason="All went one way."), annotator="judge"))

    assert entry["annotator"] == "judge"
    assert entry["shift"]["undefined_reason"] == "All went one way."


def test_an_effect_on_all_annotators_names_none() -> None:
    assert order_effect_entry(EFFECT)["annotator"] is None
