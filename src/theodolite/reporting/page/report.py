"""The report as one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined, Template

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Findings
from theodolite.domain.evidence import Evidence
from theodolite.domain.identity import SHORT
from theodolite.domain.run import Spending
from theodolite.domain.scenario import Proxy
from theodolite.domain.text import spent_text
from theodolite.reporting.facts import RunFacts
from theodolite.reporting.page.annotators import agreement_tables, instruments, matrix_groups
from theodolite.reporting.page.answer import answer_view, heatmap_of
from theodolite.reporting.page.applications import (
    application_table,
    claim_table,
    failure_table,
    impact_table,
    proxy_table,
    risk_table,
    strategy_blocks,
    taxonomy_table,
)
from theodolite.reporting.page.constructs import construct_blocks
from theodolite.reporting.page.dialogues import LETTERS, data_pieces, embedded_in
from theodolite.reporting.page.differences import gap_chart, typology_chart, versions_view
from theodolite.reporting.page.distributions import (
    answer_charts,
    control_charts,
    funnels,
    group_charts,
    repeat_charts,
    severity_charts,
    vote_charts,
)
from theodolite.reporting.page.guardrail_plot import guardrail_plots, utility_plots
from theodolite.reporting.page.judges import (
    diagnostics_tables,
    group_tables,
    order_effect_tables,
    rater_tables,
    validation_views,
)
from theodolite.reporting.page.order_metrics import order_blocks
from theodolite.reporting.page.overview import reader_questions
from theodolite.reporting.page.precision import cost_chart, precision_table
from theodolite.reporting.page.rates import area_table, nobody_labels_by, rule_blocks, spreads
from theodolite.reporting.page.review import chips_of, first_reads
from theodolite.reporting.page.subject import Subject, subject_of
from theodolite.reporting.page.testers import (
    event_view,
    realism_blocks,
    response_blocks,
    role_break_table,
    task_lines,
    theme_blocks,
)
from theodolite.reporting.page.trees import tree_views
from theodolite.reporting.page.tuning import Section
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import contamination_facts, criteria_facts, series_facts
from theodolite.reporting.words.reading_aids import read_words

WORDS = "words.yaml"

TEMPLATE = "report.html"


_HERE = "\0"

"""Placeholder for the dialogues while the surrounding page is rendered; no text of a study may contain it."""


def report_html(evidence: Evidence, findings: Findings, facts: RunFacts, assets: Mapping[str, str]) -> str:
    """Return the report of a run as one self-contained HTML file; see `report_pieces`."""
    return "".join(report_pieces(evidence, findings, facts, assets))


def report_pieces(
    evidence: Evidence,
    findings: Findings,
    facts: RunFacts,
    assets: Mapping[str, str],
    *,
    letters: int = LETTERS,
    sections: Sequence[Section] = (),
) -> Iterator[str]:
    """Yield the report of a run, one self-contained HTML file, piece by piece.

    Texts of dialogues reach the page as JSON and are shown only as text; the
    content security policy admits the page's own script and style by their
    hashes.

    Args:
        evidence: The evidence of the run.
        findings: Everything that was measured on it.
        facts: Origin of the run.
        assets: Path below `resources/report` to text, for all files there.
        letters: Approximate maximum length of the dialogues in the file; beyond it, the file contains
            the informative ones and a random sample, and states this. Characters.
        sections: Sections for one audience, before the results.

    Raises:
        InputError: If the words file or the template is not among the assets.
    """
    missing = {WORDS, TEMPLATE} - set(assets)
    if missing:
        message = f"expected the report's assets, but {', '.join(sorted(missing))} is not among them"
        raise InputError(message)
    subject = subject_of(evidence, findings, facts, read_words(assets[WORDS]))
    style, script = style_of(assets) + _page_foot(subject), _script(assets)
    template = template_of(assets, TEMPLATE)
    views = views_of(subject)
    sample = embedded_in(subject, [read.case for read in views["reads"]], letters=letters)
    library = library_of(assets) if has_zoomable_chart(views) else ""
    page = template.render(
        **views,
        tabs=tabs_of(views),
        has_testers=_has_testers(views),
        sections=sections,
        sample=sample,
        style=style,
        library=library,
        script=script,
        policy=policy_of(style, *filter(None, (library, script))),
        data=_HERE,
    )
    before, _, after = page.rpartition(_HERE)
    yield before
    yield from data_pieces(subject, views["chips"], sample)
    yield after


def views_of(subject: Subject) -> dict[str, Any]:
    """Return every part of the report by its name in the templates."""
    chips = chips_of(subject)
    return {
        **_chart_views(subject),
        "answer": answer_view(subject),
        "plots": guardrail_plots(subject),
        "heatmap": heatmap_of(subject),
        "reads": first_reads(subject),
        "areas": area_table(subject),
        "blocks": rule_blocks(subject),
        "unlabelled": nobody_labels_by(subject),
        "spreads": spreads(subject),
        "responses": response_blocks(subject),
        "themes": theme_blocks(subject),
        "tasks": task_lines(subject),
        "event": event_view(subject),
        "risks": risk_table(subject),
        "impacts": impact_table(subject),
        "order_metrics": order_blocks(subject),
        "strategies": strategy_blocks(subject),
        "trees": tree_views(subject),
        "failures": failure_table(subject),
        "users": role_break_table(subject),
        "realisms": realism_blocks(subject),
        "applications": application_table(subject),
        "claims": claim_table(subject),
        "instruments": instruments(subject),
        "diagnostics": diagnostics_tables(subject),
        "validations": validation_views(subject),
        "agreements": agreement_tables(subject),
        "annotator_groups": group_tables(subject),
        "raters": rater_tables(subject),
        "orders": order_effect_tables(subject),
        "matrices": matrix_groups(subject),
        "method": method_view(subject),
        "proxies": proxy_table(subject),
        "words": subject.words,
        "chips": chips,
        "n_cases": len(subject.cases),
        "has_matrix": _has_matrix(subject),
    }


def _chart_views(subject: Subject) -> dict[str, Any]:
    """Return the charts and tables that belong to several sections."""
    return {
        "severities": severity_charts(subject),
        "controls": control_charts(subject),
        "votes": vote_charts(subject),
        "repeats": repeat_charts(subject),
        "cost": cost_chart(subject),
        "utilities": utility_plots(subject),
        "group_charts": group_charts(subject),
        "answer_charts": tuple(answer_charts(finding) for finding in subject.findings.responses),
        "funnels": funnels(subject),
        "precision": precision_table(subject),
        "questions": reader_questions(subject),
        "versions": versions_view(subject),
        "gaps": gap_chart(subject),
        "typology": typology_chart(subject),
        "constructs": construct_blocks(subject),
        "taxonomies": taxonomy_table(subject),
    }


def _has_matrix(subject: Subject) -> bool:
    """Return whether two applications received the same prompts."""
    keys = [case.pair_key for case in subject.cases] if len(subject.study.applications) > 1 else []
    return len(set(keys)) < len(keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """A tab of the page: the address of its part, its title and a count."""

    name: str
    title: str
    n: str = ""
    needs_script: bool = False


_TESTERS = ("event", "constructs", "responses", "themes", "tasks", "users", "realisms")
"""Views that are under the tab of testers."""


def tabs_of(views: Mapping[str, Any]) -> tuple[Tab, ...]:
    """Return the tabs of a page: the common ones, and those that its study needs."""
    reads = figures.count(len(views["reads"]))
    every: tuple[tuple[Tab, object], ...] = (
        (Tab(name="overview", title="Overview"), True),
        (Tab(name="review-first", title="Review first", n=reads), views["reads"]),
        (Tab(name="results", title="Results"), True),
        (Tab(name="trees", title="Trees"), views["trees"]),
        (Tab(name="order-metrics", title="Order"), views["order_metrics"]),
        (Tab(name="testers", title="Testers"), _has_testers(views)),
        (Tab(name="matrix", title="Matrix", needs_script=True), views["has_matrix"]),
        (Tab(name="dialogues", title="Dialogues", n=figures.count(views["n_cases"]), needs_script=True), True),
        (Tab(name="judges", title="Judges"), True),
        (Tab(name="completeness", title="Completeness"), True),
        (Tab(name="method", title="Method"), True),
        (Tab(name="glossary", title="Glossary"), True),
    )
    return tuple(tab for tab, is_there in every if is_there)


def _has_testers(views: Mapping[str, Any]) -> bool:
    return any(views[name] for name in _TESTERS)


FONT = "fonts/inter-latin.woff2"


def template_of(assets: Mapping[str, str], name: str) -> Template:
    """Return one of the page templates among the assets; equal templates are compiled once per process."""
    return _environment(tuple((each, text) for each, text in assets.items() if each.endswith(".html"))).get_template(
        name
    )


@lru_cache(maxsize=4)
def _environment(templates: tuple[tuple[str, str], ...]) -> Environment:
    return Environment(
        loader=DictLoader(dict(templates)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def style_of(assets: Mapping[str, str]) -> str:
    """Return the style of all standalone pages, with the typeface embedded."""
    face = ""
    if FONT in assets:
        source = f'url(data:font/woff2;base64,{assets[FONT]}) format("woff2")'
        face = f'@font-face {{ font-family: "Inter"; font-weight: 100 900; font-display: swap; src: {source}; }}\n'
    return face + _joined(assets, "css/")


def policy_of(style: str, *scripts: str) -> str:
    """Return the content security policy that admits one style, the scripts and the typeface inside the style."""
    hashes = " ".join(f"'{_hash(script)}'" for script in scripts)
    admitted = f"script-src {hashes}; " if scripts else ""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; {admitted}font-src data:; base-uri 'none'; form-action 'none'"
    )


def _joined(assets: Mapping[str, str], folder: str) -> str:
    return "\n".join(assets[name].strip() for name in sorted(assets) if name.startswith(folder)) + "\n"


def _page_foot(subject: Subject) -> str:
    """Return the style that prints study, run and date on each page."""
    view = method_view(subject)
    foot = _css_text(f"{view.study}, {view.run}, {view.generated}")
    return f'@page {{ @bottom-left {{ content: "{foot}" }} @bottom-right {{ content: counter(page) }} }}\n'


def _css_text(text: str) -> str:
    """Return a text as the content of a CSS string, with non-ASCII characters escaped."""
    return "".join(letter if letter.isascii() and letter.isalnum() else f"\\{ord(letter):x} " for letter in text)


def _script(assets: Mapping[str, str]) -> str:
    return '(() => {\n"use strict";\n' + _joined(assets, "js/") + "})();\n"


LIBRARY = "vendor/echarts.min.js"
"""The chart library; only pages with a zoomable chart contain it (ADR 0092)."""


def library_of(assets: Mapping[str, str]) -> str:
    """Return the chart library as the text of a script."""
    return assets[LIBRARY]


def has_zoomable_chart(views: Mapping[str, Any]) -> bool:
    """Return whether a page has a chart that readers can zoom."""
    return any(tree.icicles for tree in views["trees"])


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodView:
    """Facts of a run, as `(name, text)` pairs, and the scenarios' real-world risks."""

    study: str
    run: str
    generated: str
    facts: tuple[tuple[str, str], ...]
    scenarios: tuple[tuple[str, str, tuple[str, ...]], ...]
    series: tuple[tuple[str, str], ...] = ()
    criteria: tuple[tuple[str, str], ...] = ()
    contamination: tuple[tuple[str, str], ...] = ()


def method_view(subject: Subject) -> MethodView:
    """Return the origin of a run."""
    run, facts, study = subject.evidence.run, subject.facts, subject.study
    completed, planned = subject.evidence.answers.n_completed, len(subject.cases)
    entries = {
        "To repeat this run": facts.command,
        "Study": f"{study.name}, version {run.study_version[:SHORT]}",
        "Plan": f"version {run.plan_version[:SHORT]}, seed {study.sampling.seed}",
        "Run": f"number {run.number}, {run.state.value}, started {run.started:%Y-%m-%d %H:%M} UTC",
        "Dialogues": f"{figures.count(completed)} of {figures.count(planned)} planned",
        "Hosts": _hosts(facts),
        "Calls": _spending_text(subject.evidence.spending),
        "Created with": f"theodolite {facts.package_version}, {facts.generated:%Y-%m-%d %H:%M} UTC",
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
        contamination=contamination_facts(study, subject.findings.contamination),
    )


def _hosts(facts: RunFacts) -> str:
    """Return the destinations of calls; for applications' own code the observed ones."""
    called = [", ".join(facts.hosts)] if facts.hosts else []
    code = [f"`{use.application}`: {use.text}" for use in facts.network]
    return "; ".join([*called, *code, *facts.unobserved]) or NO_HOSTS


NO_HOSTS = "none: nothing left this machine"

"""Text for runs without calls and code."""


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
    return text + spent_text(spending.cost_microusd, spending.calls, spending.unpriced_calls)
