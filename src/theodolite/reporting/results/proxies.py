"""Proxy checks as entries of the results file."""

from __future__ import annotations

from theodolite.domain.findings.proxy_check import LevelOrder, ProxyCheck, ProxyRate
from theodolite.domain.identity import Json
from theodolite.reporting.results.number_entries import number_entry
from theodolite.reporting.results.responses import comparison_fields


def proxy_entry(check: ProxyCheck) -> dict[str, Json]:
    """Return one entry of the list `proxies`."""
    return {
        "scenario": check.scenario,
        "rule": check.rule,
        "annotator": check.annotator,
        "planned": check.n_planned,
        "completed": check.n_held,
        "labelled": check.n_labelled,
        "reach": check.reach.value,
        "rates": [_rate(rate) for rate in check.rates],
        "apart": {**comparison_fields(check.apart), "adjusted_p_value": check.adjusted_p_value},
        "orders": [_order(order) for order in check.orders],
    }


def _rate(rate: ProxyRate) -> dict[str, Json]:
    return {"application": rate.application, "level": rate.level.value, "defect": number_entry(rate.defect)}


def _order(order: LevelOrder) -> dict[str, Json]:
    levels: list[Json] = [order.first.value, order.second.value]
    return {"levels": levels, "alike": order.alike, "opposed": order.opposed, "tied": order.tied}
