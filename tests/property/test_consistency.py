"""Every number of a study equals a count of its raw rows, wherever it is shown."""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import pytest

from tests.fakes.evidence import facts
from tests.fakes.random_study import RandomStudy, ReferenceFigures, Unit, deciding_rules, random_study
from tests.fakes.report import words
from theodolite.domain.annotation import Outcome
from theodolite.domain.answers import outcomes_of
from theodolite.domain.instrument import QuestionLevel
from theodolite.domain.tree import TreeOutline
from theodolite.measurement.study.findings import measure_study
from theodolite.measurement.study.trees import leaf_table
from theodolite.measurement.trees.construction import TreeSources, build_design
from theodolite.measurement.trees.measuring import Draws, measure_tree
from theodolite.reporting.exporting.dialogue_rows import dialogue_rows
from theodolite.reporting.exporting.tables import ANSWERS, export_tables
from theodolite.reporting.page.distributions import severity_charts
from theodolite.reporting.page.rates import is_graded, spreads
from theodolite.reporting.page.review import chips_of
from theodolite.reporting.page.subject import subject_of
from theodolite.reporting.queries.cases import pseudonyms
from theodolite.reporting.results.document import results_document
from theodolite.reporting.terminal.summary import summary_text

WORDS = words()
N_STUDIES = int(os.environ.get("THEODOLITE_RANDOM_STUDIES", "300"))
"""Studies to draw; `.ci/run` draws 2,000."""

PER_TEST = 50
ROUNDING = 1e-9
NUMBERS = ("value", "low", "high", "n")
AGREEMENTS = {
    "exact_agreement",
    "relaxed_agreement",
    "cohen_kappa",
    "fleiss_kappa",
    "krippendorff_alpha",
    "unanimity",
    "macro_f1",
    "class_precision",
    "class_recall",
    "class_f1",
}
DISPOSITIONS = ("labelled", "unparseable", "refused", "not_applicable", "missing")


class Published:
    """A random study, its reference figures and its published results."""

    def __init__(self, seed: int) -> None:
        self.drawn: RandomStudy = random_study(Random(seed))  # noqa: S311  # studies to test with, no secrets
        self.reference = ReferenceFigures(self.drawn)
        self.findings = measure_study(self.drawn.evidence)
        self.results = results_document(self.drawn.evidence, self.findings, facts())
        self.estimates = {_key(entry): entry for entry in self.results["estimates"]}


def _key(entry):
    subject = entry["subject"]
    names = subject["annotators"]
    return (
        entry["measure"],
        subject["application"],
        subject.get("guideline"),
        subject.get("rule"),
        names[0] if len(names) == 1 else None,
        subject.get("group", {}).get("value"),
    )


def check_rates(published: Published) -> None:
    study = published.drawn.study
    for application in study.applications:
        for guideline in study.guidelines:
            for rule in guideline.defect_rules:
                for annotator in published.reference.annotators(guideline):
                    units = published.reference.units(application.name, annotator, guideline, rule)
                    key = (application.name, guideline.name, rule.name, annotator)
                    check_rate(published.estimates["defect_rate", *key, None], units)
                    bound = published.estimates.get(("zero_defect_bound", *key, None))
                    labelled = [unit for unit in units if unit.value is not None]
                    assert (bound is not None) == bool(labelled and not any(unit.is_defect for unit in units))
                    if bound is not None:
                        assert published.estimates["defect_rate", *key, None]["high"] >= bound["value"] - ROUNDING


def check_rate(entry, units: list[Unit]) -> None:
    outcomes = Counter(unit.outcome for unit in units)
    defects = [unit.session for unit in units if unit.is_defect]
    n = outcomes[Outcome.ANSWERED]
    assert entry["outcomes"] == {
        "planned": len(units),
        "used": n,
        "missing": outcomes[Outcome.MISSING],
        "failed": outcomes[Outcome.FAILED],
        "refused": outcomes[Outcome.REFUSED],
        "unparseable": outcomes[Outcome.UNPARSEABLE],
        "not_applicable": outcomes[Outcome.NOT_APPLICABLE],
    }
    assert entry["dialogues"] == defects
    assert entry["n"] == n
    if n:
        assert entry["count"] == len(defects)
        assert entry["value"] == pytest.approx(len(defects) / n)
        assert entry["low"] <= entry["value"] <= entry["high"]
    else:
        assert entry["value"] is None
        assert entry["undefined_reason"]


def check_dispositions(published: Published) -> None:
    study = published.drawn.study
    for guideline, account in zip(study.guidelines, published.results["dispositions"], strict=True):
        published_counts = Counter({name: account[name] for name in DISPOSITIONS})
        published_counts["failed"] = sum(part["n"] for part in account["failed"])
        assert +published_counts == published.reference.dispositions(guideline), guideline.name
        assert sum(published_counts.values()) == account["planned"]


def check_confusions(published: Published) -> None:
    study = published.drawn.study
    for entry in published.results["confusions"]:
        guideline = study.guideline(entry["guideline"])
        pairs = Counter(
            (first.value, second.value)
            for first, second in published.reference.shared(
                entry["application"], entry["first"], entry["second"], guideline
            )
        )
        scale = set(guideline.question.scale.categories)
        counts = {
            (first, second): n
            for first, row in zip(entry["categories"], entry["counts"], strict=True)
            for second, n in zip(entry["categories"], row, strict=True)
            if n and {first, second} <= scale
        }
        assert counts == pairs


def check_agreements(published: Published) -> None:
    """Every figure of one line rests on the same dialogues: those with a readable label of all whom it compares."""
    for entry in published.results["estimates"]:
        subject = entry["subject"]
        if entry["measure"] not in AGREEMENTS:
            continue
        guideline = published.drawn.study.guideline(subject["guideline"])
        names = subject["annotators"]
        units = published.reference.labels(subject["application"], names, guideline)
        shared = [labels for labels in units if len(labels) > 1]
        assert entry["outcomes"]["planned"] == len(units)
        assert entry["outcomes"]["used"] == len(shared)
        if entry["measure"] in {"exact_agreement", "unanimity"} and shared:
            assert (entry["count"], entry["n"]) == (sum(len(set(labels)) == 1 for labels in shared), len(shared))
        elif entry["measure"] in {"class_precision", "class_recall"}:
            side = int(entry["measure"] == "class_precision")
            of_label = [labels for labels in shared if labels[side] == subject["label"]]
            assert entry["n"] == len(of_label)
            assert not of_label or entry["count"] == sum(len(set(labels)) == 1 for labels in of_label)
        elif entry["measure"] != "class_f1":
            assert entry["n"] == len(shared)
        assert entry["value"] is None or shared


def check_exports(published: Published) -> None:
    tables = {table.name: list(table.rows) for table in export_tables(published.drawn.evidence)}
    columns = [ANSWERS.index(name) for name in ("guideline", "turn", "outcome", "value")]
    exported = Counter(tuple(row[column] for column in columns) for row in tables["answers"])
    assert exported == Counter((r.guideline, r.turn, r.outcome.value, r.value) for r in published.drawn.rows)
    assert len(tables["dialogues"]) == len(published.drawn.completed)
    assert Counter((row[3], row[4]) for row in tables["final_labels"]) == Counter(
        (final.outcome.value, final.value) for final in published.drawn.finals
    )


def check_dialogue_table(published: Published) -> None:
    """The table that is exported with texts holds each raw row once, and nothing else."""
    drawn = published.drawn
    people = {number: name for name, number in pseudonyms(drawn.evidence).items()}
    rows = list(dialogue_rows(drawn.evidence))
    failed = [row for row in rows if row["failure"]]
    finals = [row for row in rows if row["judge_kind"] == "final label"]
    labels = [row for row in rows if row["judge"] and not row["failure"] and row["judge_kind"] != "final label"]
    assert Counter(
        (
            row["dialogue"],
            people.get(row["judge"], row["judge"]),
            row["guideline"],
            row["turn"] if row["asked_about"] == "turn" else None,
            row["outcome"],
            row["label"],
        )
        for row in labels
    ) == Counter((r.session, r.annotator, r.guideline, r.turn, r.outcome.value, r.value) for r in drawn.rows)
    assert Counter((row["dialogue"], row["label"]) for row in finals) == Counter(
        (row.session, row.value) for row in drawn.finals
    )
    assert {(row["dialogue"], people.get(row["judge"], row["judge"] or "")) for row in failed} == set(drawn.failures)
    assert {row["dialogue"] for row in rows if row["turn"]} == drawn.completed
    assert {row["dialogue"] for row in rows} == {session.label for session in drawn.sessions}
    for row in [*labels, *finals]:
        assert row["defect"] == expected_defect(published, row), row


def expected_defect(published: Published, row) -> bool | None:
    """Whether a rule that applies to the row's group holds for its label; None where there is no rule or label."""
    guideline = published.drawn.study.guideline(row["guideline"])
    scale = guideline.question.scale
    rules = [
        rule
        for rule in guideline.defect_rules
        if all(row.get(f"group_{name}") == value for name, value in rule.among.items())
    ]
    if row["label"] is None or not scale.admits(row["label"]) or not rules:
        return None
    return any(rule.is_defect(row["label"], scale) for rule in rules)


def check_summary(published: Published) -> None:
    """The screen shows the count and the denominator of each leading rate."""
    text = " ".join(summary_text(published.drawn.evidence, published.findings, facts(), WORDS).split())
    for application in published.drawn.study.applications:
        for guideline in published.drawn.study.guidelines:
            for rule in guideline.defect_rules:
                for annotator in published.reference.lead(guideline):
                    units = published.reference.units(application.name, annotator, guideline, rule)
                    labelled = [unit for unit in units if unit.value is not None]
                    if labelled:
                        assert f"{sum(unit.is_defect for unit in units)} of {len(labelled)}" in text


def check_report(published: Published) -> None:
    """The report shows the same defects, and the same labels, as the rates rest on."""
    study, drawn = published.drawn.study, published.drawn
    subject = subject_of(drawn.evidence, published.findings, facts(), WORDS)
    defects = {
        unit.session
        for guideline in study.guidelines
        for rule in guideline.defect_rules
        for application in study.applications
        for annotator in published.reference.lead(guideline)
        for unit in published.reference.units(application.name, annotator, guideline, rule)
        if unit.is_defect
    }
    chips = {chip.name: chip.n for chip in chips_of(subject)}
    assert chips["defect"] == len(defects)
    assert chips["failed"] == len({session for session, _ in drawn.failures})
    for spread, (guideline, annotator) in zip(
        spreads(subject),
        [(g, a) for g in study.guidelines if not is_graded(g.question.scale) for a in published.reference.lead(g)],
        strict=True,
    ):
        for application, _, bars in spread.rows:
            shown = {bar.label: int(bar.n) for bar in bars}
            units = [
                published.reference.unit(session.label, annotator, guideline, *deciding_rules(session, guideline))
                for session in published.reference.sessions(application)
            ]
            assert shown == dict(Counter(unit.value or unit.outcome.value for unit in units))
    graded = [(g, a) for g in study.guidelines if is_graded(g.question.scale) for a in published.reference.lead(g)]
    for chart, (guideline, annotator) in zip(severity_charts(subject), graded, strict=True):
        labels = [column.title for column in chart.table.columns[1:-1]]
        for application, *cells, n in chart.table.rows:
            shown = {label: cell.value for label, cell in zip(labels, cells, strict=True) if cell.value}
            units = [
                published.reference.unit(session.label, annotator, guideline, *deciding_rules(session, guideline))
                for session in published.reference.sessions(application)
            ]
            assert shown == dict(Counter(unit.value or unit.outcome.value for unit in units))
            assert n == len(units)


def check_trees(published: Published) -> None:
    """A tree reads the labels of the leading rates: final labels where there are some, else everybody's."""
    study = published.drawn.study
    design = build_design(TreeOutline(name="t", topology="six-levels"), TreeSources(guidelines=study.guidelines))
    rules = [
        f"{guideline.name}.{rule.name}: model testing"
        for guideline in study.guidelines
        for rule in guideline.defect_rules
    ]
    for application in study.applications:
        table = leaf_table(published.drawn.evidence, design, application)
        nodes = {node.node: node for node in measure_tree(design, table, nodes=rules, draws=Draws(replicates=2)).nodes}
        for guideline in study.guidelines:
            for rule in guideline.defect_rules:
                node = nodes[f"{guideline.name}.{rule.name}: model testing"]
                value, n = published.reference.tree_share(application.name, guideline, rule)
                assert node.value == (None if value is None else pytest.approx(value))
                assert node.n_dialogues == n
                lead = published.reference.lead(guideline)
                if n and len(lead) == 1:
                    rate = published.estimates["defect_rate", application.name, guideline.name, rule.name, *lead, None]
                    assert (node.result.low, node.result.high) == pytest.approx((rate["low"], rate["high"]))
                if guideline.question.level is QuestionLevel.DIALOGUE:
                    outcomes = published.reference.tree_outcomes(application.name, guideline, rule)
                    assert outcomes_of(outcomes.elements()) == node.outcomes


def check_votes(published: Published) -> None:
    """The rate by majorities is the headline of a judge that votes: the dialogues without a vote have no label."""
    study = published.drawn.study
    for entry in published.results["judge_diagnostics"]:
        guideline = study.guideline(entry["guideline"])
        if entry["votes"] is not None:
            rule = guideline.defect_rules[0].name
            key = (entry["application"], guideline.name, rule, entry["annotator"], None)
            headline = published.estimates["defect_rate", *key]
            majorities = entry["votes"]["rate_by_majorities"]
            assert {name: majorities[name] for name in NUMBERS} == {name: headline[name] for name in NUMBERS}


CHECKS = (
    check_votes,
    check_rates,
    check_dispositions,
    check_confusions,
    check_agreements,
    check_exports,
    check_dialogue_table,
    check_summary,
    check_report,
    check_trees,
)


@pytest.mark.parametrize("first", range(0, N_STUDIES, PER_TEST))
def test_every_count_equals_a_count_of_the_raw_rows(first):
    for seed in range(first, first + PER_TEST):
        published = Published(seed)
        try:
            for check in CHECKS:
                check(published)
        except AssertionError as fault:
            fault.add_note(f"random study {seed}")
            raise
