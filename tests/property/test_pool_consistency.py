"""Every number of a pool of people equals a count of its raw labels, wherever it is shown."""

from __future__ import annotations

from collections import Counter
from random import Random
from statistics import fmean

import pytest

from tests.fakes.evidence import facts
from tests.fakes.pooled import PEOPLE_NAMES, pooled_evidence
from tests.fakes.report import words
from theodolite.domain.annotator import PEOPLE
from theodolite.domain.tree import AnswersNode, TreeOutline
from theodolite.measurement.study.findings import measure_study
from theodolite.measurement.study.trees import leaf_table
from theodolite.measurement.trees.construction import TreeSources, build_design
from theodolite.measurement.trees.measuring import measure_tree
from theodolite.reporting.page.rates import spreads
from theodolite.reporting.page.subject import subject_of
from theodolite.reporting.results.document import results_document
from theodolite.reporting.terminal.summary import summary_text

N_STUDIES = 300
LABELS = ("yes", "no", None)


class Drawn:
    """Random labels of a pool: `given` by dialogue and person, `final` by dialogue, `open` without a label yet."""

    def __init__(self, rng: Random) -> None:
        names = [f"d{number}" for number in range(1, rng.randint(1, 12) + 1)]
        takers = {name: rng.sample(PEOPLE_NAMES, rng.randint(0, 3)) for name in names}
        takers["d1"] = list(PEOPLE_NAMES[:2])  # one person is no pool
        self.given = {name: {who: rng.choice(LABELS) for who in takers[name]} for name in names}
        self.final = {name: rng.choice(("yes", "no")) for name in names if rng.random() < 0.2}
        free = [(who, name) for name in names for who in PEOPLE_NAMES if who not in takers[name]]
        self.open = rng.sample(free, min(len(free), rng.randint(0, 4)))
        self.evidence = pooled_evidence(self.given, final=self.final, open_=self.open)

    def labels(self, name: str) -> list[str]:
        """Return the labels of a dialogue that count: its final label, else all labels of people."""
        own = [label for label in self.given[name].values() if label is not None]
        return [self.final[name]] if name in self.final else own


def check_headline(drawn: Drawn, estimates: dict) -> None:
    counted = {name: labels for name in drawn.given if (labels := drawn.labels(name))}
    entry = estimates[PEOPLE]
    assert entry["outcomes"]["planned"] == len(drawn.given)
    assert entry["outcomes"]["used"] == entry["n"] == len(counted)
    assert entry["outcomes"]["missing"] == len(drawn.given) - len(counted)
    assert entry["dialogues"] == [name for name, labels in counted.items() if "yes" in labels]
    if counted:
        assert entry["value"] == pytest.approx(fmean(labels.count("yes") / len(labels) for labels in counted.values()))
        assert entry["low"] <= entry["value"] <= entry["high"]
    else:
        assert entry["value"] is None


def check_people(drawn: Drawn, estimates: dict) -> None:
    for person in PEOPLE_NAMES:
        if person not in estimates:
            continue
        own = [labels[person] for labels in drawn.given.values() if person in labels]
        waiting = sum(who == person for who, _ in drawn.open)
        outcomes, readable = estimates[person]["outcomes"], [label for label in own if label is not None]
        assert (outcomes["planned"], outcomes["used"]) == (len(own) + waiting, len(readable))
        assert outcomes["missing"] == len(own) - len(readable) + waiting
        assert not readable or estimates[person]["count"] == readable.count("yes")


def check_screens(drawn: Drawn, results, findings) -> None:
    (account,) = results["dispositions"]
    assert (account["labelled"], account["missing"]) == (
        sum(bool(drawn.labels(name)) for name in drawn.given),
        sum(not drawn.labels(name) for name in drawn.given),
    )
    subject = subject_of(drawn.evidence, findings, facts(), words())
    (spread,) = spreads(subject)
    shown = {bar.label: int(bar.n) for bar in spread.rows[0][2]}
    labels = Counter(label for name in drawn.given for label in drawn.labels(name))
    assert shown == labels + Counter({"missing": account["missing"]})
    assert "cleo" not in summary_text(drawn.evidence, findings, facts(), words())


def check_tree(drawn: Drawn, estimates: dict) -> None:
    """A node without names reads the labels of the leading rate; a node with a name reads that person's own."""
    study = drawn.evidence.study
    design = build_design(TreeOutline(name="t", topology="six-levels"), TreeSources(guidelines=study.guidelines))
    table = leaf_table(drawn.evidence, design, study.applications[0])
    nodes = {node.node: node for node in measure_tree(design, table).nodes}
    top = nodes["polite.defect: model testing"]
    undecided = {name: labels for name, labels in drawn.given.items() if name not in drawn.final}
    waiting = [name for _, name in drawn.open if name in undecided]
    unreadable = sum(label is None for labels in undecided.values() for label in labels.values())
    untaken = sum(not labels and name not in waiting for name, labels in undecided.items())
    assert top.outcomes.used == sum(len(drawn.labels(name)) for name in drawn.given)
    assert top.outcomes.missing == unreadable + len(waiting) + untaken
    assert top.value == (None if estimates[PEOPLE]["value"] is None else pytest.approx(estimates[PEOPLE]["value"]))
    for person in estimates.keys() & set(PEOPLE_NAMES):
        own = table.rows_of(AnswersNode(name="own", question="polite.label", by=(person,)))
        assert len(own) == estimates[person]["outcomes"]["planned"]


@pytest.mark.parametrize("first", range(0, N_STUDIES, 100))
def test_every_number_of_a_pool_equals_a_count_of_its_labels(first):
    for seed in range(first, first + 100):
        drawn = Drawn(Random(seed))  # noqa: S311  # labels to test with, no secrets
        findings = measure_study(drawn.evidence)
        results = results_document(drawn.evidence, findings, facts())
        rates = [entry for entry in results["estimates"] if entry["measure"] == "defect_rate"]
        estimates = {entry["subject"]["annotators"][0]: entry for entry in rates}
        try:
            check_headline(drawn, estimates)
            check_people(drawn, estimates)
            check_screens(drawn, results, findings)
            check_tree(drawn, estimates)
        except AssertionError as fault:
            fault.add_note(f"random pool {seed}")
            raise
