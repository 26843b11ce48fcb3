"""Scenarios as proxies: what the run shows of them, as the page tells it."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.estimate import Undefined
from theodolite.domain.findings.proxy_check import LevelOrder, ProxyCheck, Reach
from theodolite.reporting.found.cases import title_of
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.words import figures

_REACHED = {
    Reach.NOTHING_KNOWN: "no label, so nothing is known",
    Reach.NEVER: "no application ever failed: as it stands, it tells nobody apart",
    Reach.ALWAYS: "every application failed always: as it stands, it tells nobody apart",
    Reach.BETWEEN: "some fail, some do not",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyRow:
    """One scenario by one rule and annotator, in words.

    Attributes:
        scenario: Name of the scenario.
        rule: The rule.
        by: Who labelled.
        labelled: How many dialogues have a label, of those planned.
        reach: Whether it leaves room between applications.
        apart: How clearly it tells them apart.
        orders: Whether levels of testing agree.
    """

    scenario: str
    rule: str
    by: str
    labelled: str
    reach: str
    apart: str
    orders: str


def proxy_rows(subject: Subject) -> tuple[ProxyRow, ...]:
    """Return one row for each check; none where no scenario says what it stands for."""
    return tuple(_row(subject, check) for check in subject.findings.proxies)


def _row(subject: Subject, check: ProxyCheck) -> ProxyRow:
    orders = "; ".join(map(_order_text, check.orders))
    return ProxyRow(
        scenario=check.scenario,
        rule=check.rule,
        by=title_of(subject.study, check.annotator),
        labelled=figures.share(check.n_labelled, check.n_planned),
        reach=_REACHED[check.reach],
        apart=_apart_text(check),
        orders=orders or "one level alone, or one application",
    )


def _apart_text(check: ProxyCheck) -> str:
    test = check.apart
    if isinstance(test, Undefined):
        return test.reason
    gap = "" if test.effect is None else f"{figures.points(test.effect)} points between the furthest two, "
    p_value = test.p_value if check.adjusted_p_value is None else check.adjusted_p_value
    chance = "p < .001" if p_value < 0.001 else f"p = {p_value:.3f}".replace("0.", ".")
    sets, testers = figures.count(test.n), figures.count(test.n_clusters or test.n)
    return f"{gap}{chance} ({sets} sets of {testers} testers, personas or prompts)"


def _order_text(order: LevelOrder) -> str:
    n = order.alike + order.opposed + order.tied
    return (
        f"{order.first.value} and {order.second.value}: {order.alike} of {n} pairs of applications in the same order, "
        f"{order.opposed} in the opposite one, {order.tied} tied"
    )
