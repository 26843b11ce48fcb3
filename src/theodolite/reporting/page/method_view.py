"""The method section: how to repeat the run, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.identity import SHORT
from theodolite.domain.money import cost_text
from theodolite.domain.run import Spending
from theodolite.domain.scenario import Proxy
from theodolite.reporting.facts import RunFacts
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.words import figures
from theodolite.reporting.words.criteria import criteria_facts
from theodolite.reporting.words.series import series_facts


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodView:
    """Facts of a run, as `(name, text)` pairs, and what the scenarios stand for."""

    study: str
    run: str
    generated: str
    facts: tuple[tuple[str, str], ...]
    scenarios: tuple[tuple[str, str, tuple[str, ...]], ...]
    series: tuple[tuple[str, str], ...] = ()
    criteria: tuple[tuple[str, str], ...] = ()


def method_view(subject: Subject) -> MethodView:
    """Return how a run came about."""
    run, facts, study = subject.evidence.run, subject.facts, subject.study
    held, planned = subject.evidence.answers.n_completed, len(subject.cases)
    entries = {
        "To have it all again": facts.command,
        "Study": f"{study.name}, version {run.study_version[:SHORT]}",
        "Plan": f"version {run.plan_version[:SHORT]}, seed {study.sampling.seed}",
        "Run": f"number {run.number}, {run.state.value}, begun {run.started:%Y-%m-%d %H:%M} UTC",
        "Dialogues": f"{figures.count(held)} of {figures.count(planned)} planned",
        "Hosts": _hosts(facts),
        "Calls": _spending_text(subject.evidence.spending),
        "Made with": f"theodolite {facts.package_version}, {facts.generated:%Y-%m-%d %H:%M} UTC",
    }
    if facts.code_changes:
        entries["Changed code"] = "; ".join(facts.code_changes)
    if facts.duration_s is not None:
        entries["Time"] = figures.duration(facts.duration_s)
    return MethodView(
        study=study.name,
        run=f"run {run.number}",
        generated=f"{facts.generated:%Y-%m-%d}",
        facts=tuple(entries.items()),
        scenarios=tuple((scenario.name, scenario.goal, _unstated(scenario.proxy)) for scenario in study.scenarios),
        series=series_facts(study),
        criteria=criteria_facts(subject.evidence.criteria),
    )


def _hosts(facts: RunFacts) -> str:
    """Return where calls went; of applications' own code what was observed."""
    called = [", ".join(facts.hosts)] if facts.hosts else []
    code = [f"`{use.application}`: {use.text}" for use in facts.network]
    return "; ".join([*called, *code, *facts.unobserved]) or NO_HOSTS


NO_HOSTS = "none: nothing left this machine"
"""Said of runs that called nothing and ran no code."""


def _unstated(proxy: Proxy) -> tuple[str, ...]:
    stated = {
        "use case": proxy.use_case,
        "enabling capabilities": proxy.capabilities,
        "design of the experiment": proxy.design,
    }
    return tuple(f"{name}: {text or 'not stated'}" for name, text in stated.items())


def _spending_text(spending: Spending) -> str:
    if not spending.calls:
        return "none"
    tokens = f"{figures.count(spending.tokens_in)} tokens read, {figures.count(spending.tokens_out)} written"
    if spending.unpriced_calls and not spending.tokens:
        tokens = "tokens unknown"
    text = f"{figures.count(spending.calls)} ({figures.count(spending.attempts)} attempts), {tokens}, "
    text += cost_text(spending.cost_microusd)
    return f"{text}; {figures.count(spending.unpriced_calls)} at an unknown price" if spending.unpriced_calls else text
