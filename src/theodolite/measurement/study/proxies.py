"""Proxies: what a run shows of each scenario that stands for a use of the world."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from theodolite.domain.answer_rules import QuestionLabels, annotators_of
from theodolite.domain.dialogue import Level
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.proxy_check import LevelOrder, ProxyCheck, ProxyRate
from theodolite.domain.findings.significance import Significance
from theodolite.domain.guideline import DefectRule, Guideline, Violation
from theodolite.domain.scenario import Proxy, Scenario
from theodolite.measurement.clusters import cluster_sizes
from theodolite.measurement.comparison.multiplicity import adjust_p_values
from theodolite.measurement.matched import TOO_FEW, told_apart
from theodolite.measurement.proportion import defect_rate

Flags = Mapping[int, bool]
"""Position of each labelled dialogue in the plan to whether it is a defect."""


def proxy_checks(evidence: Evidence) -> tuple[ProxyCheck, ...]:
    """Return what a run shows of each scenario that says what it is a proxy of.

    Looked at are the rules that show one of the scenario's risks or are about its
    guardrail, by each annotator for itself; dialogues without a label stay counted.

    P-values are adjusted for all checks at once.

    Args:
        evidence: All records of one run.

    Source:
        `defect_rate` over testers as clusters; `told_apart`; `adjust_p_values`.
    """
    checks = tuple(_checks(evidence))
    tested = [check.apart.p_value for check in checks if not isinstance(check.apart, Undefined)]
    adjusted = iter(adjust_p_values(tested) if tested else ())
    return tuple(
        check if isinstance(check.apart, Undefined) else replace(check, adjusted_p_value=next(adjusted))
        for check in checks
    )


def _checks(evidence: Evidence) -> Iterator[ProxyCheck]:
    for scenario in evidence.study.scenarios:
        if scenario.proxy == Proxy():
            continue
        for guideline in evidence.study.guidelines:
            if evidence.study.asks(guideline.name, scenario.name):
                for rule in guideline.defect_rules:
                    if _is_about(evidence, scenario, guideline, rule):
                        yield from _by_rule(evidence, scenario, guideline, rule)


def _is_about(evidence: Evidence, scenario: Scenario, guideline: Guideline, rule: DefectRule) -> bool:
    shown = {name for risk in evidence.study.risks if risk.name in scenario.risks for name in risk.rules}
    return f"{guideline.name}.{rule.name}" in shown or rule.violation is not Violation.NOT_A_GUARDRAIL


def _by_rule(evidence: Evidence, scenario: Scenario, guideline: Guideline, rule: DefectRule) -> Iterator[ProxyCheck]:
    settings = evidence.answers.settings
    places = [p for p, s in enumerate(settings) if s.scenario == scenario.name and rule.applies_to(s.groups)]
    flags: dict[str, dict[int, bool]] = defaultdict(dict)
    question = guideline.instrument.question(rule.question)
    for application in evidence.study.applications:
        own = [place for place in places if settings[place].application == application.name]
        sheet = QuestionLabels(table=evidence.answers, guideline=guideline, question=question, positions=own, rule=rule)
        for source in annotators_of(evidence.study, guideline, application, question.name).counted:
            given = zip(own, sheet.labels(source), strict=True)
            flags[source.name] |= {p: rule.is_defect(r.value, question.scale) for p, r in given if r.value is not None}
    for annotator, found in flags.items():
        rates = tuple(_rates(evidence, found))
        yield ProxyCheck(
            scenario=scenario.name,
            rule=f"{guideline.name}.{rule.name}",
            annotator=annotator,
            n_planned=len(places),
            n_held=sum(evidence.answers.dialogues[place] is not None for place in places),
            n_labelled=len(found),
            rates=rates,
            apart=_apart(evidence, found),
            orders=tuple(_orders(rates)),
        )


def _rates(evidence: Evidence, flags: Flags) -> Iterator[ProxyRate]:
    """Yield the rate of each application at each level at which it has labels, in order of study and levels."""
    settings = evidence.answers.settings
    for application in evidence.study.applications:
        for level in Level:
            own = [p for p in flags if (settings[p].application, settings[p].level) == (application.name, level)]
            if own:
                defects, testers = [flags[place] for place in own], [_tester(evidence, place) for place in own]
                clusters = cluster_sizes(defects, testers) if len(set(testers)) < len(testers) else None
                rate = defect_rate(sum(defects), len(defects), clusters=clusters)
                yield ProxyRate(application=application.name, level=level, defect=rate)


def _tester(evidence: Evidence, place: int) -> str:
    return evidence.answers.settings[place].cluster or evidence.sessions.label(place)


def _apart(evidence: Evidence, flags: Flags) -> Significance | Undefined:
    """Return whether applications differ, where the same tester met all of them in the same repeat."""
    names = tuple(application.name for application in evidence.study.applications)
    met: dict[tuple[Level, str], dict[str, int]] = defaultdict(dict)
    for place in flags:
        setting = evidence.answers.settings[place]
        met[setting.level, evidence.sessions.pair_key(place)][setting.application] = place
    whole = [places for places in met.values() if len(places) == len(names)]
    if len(names) < 2 or not whole:
        return Undefined(reason=TOO_FEW, n=len(whole), method="Cochran's Q")
    sets = [[flags[places[name]] for name in names] for places in whole]
    clusters = [_tester(evidence, places[names[0]]) for places in whole]
    return told_apart(sets, clusters, seed=evidence.study.sampling.seed)


def _orders(rates: Sequence[ProxyRate]) -> Iterator[LevelOrder]:
    """Yield for every two levels how far they agree on which application is worse."""
    shares: dict[Level, dict[str, float]] = defaultdict(dict)
    for rate in rates:
        if isinstance(rate.defect, Estimate):
            shares[rate.level][rate.application] = rate.defect.value
    for first, second in combinations([level for level in Level if level in shares], 2):
        both = [name for name in shares[first] if name in shares[second]]
        signs = [
            (shares[first][a] - shares[first][b]) * (shares[second][a] - shares[second][b])
            for a, b in combinations(both, 2)
        ]
        if signs:
            alike, opposed = sum(sign > 0 for sign in signs), sum(sign < 0 for sign in signs)
            tied = len(signs) - alike - opposed
            yield LevelOrder(first=first, second=second, alike=alike, opposed=opposed, tied=tied)
