"""A pool of people shares the dialogues of a guideline: each of them labels some."""

from __future__ import annotations

import pytest

from tests.fakes.evidence import facts
from tests.fakes.pooled import pooled_evidence
from tests.fakes.report import assets, words
from theodolite.domain.annotator import PEOPLE
from theodolite.domain.answer_rules import annotators_of, labels_of
from theodolite.domain.estimate import Undefined
from theodolite.domain.estimate_subject import Measure
from theodolite.domain.tree import TreeOutline
from theodolite.measurement.study.findings import measure_study
from theodolite.measurement.study.trees import tree_leaves
from theodolite.measurement.trees.construction import TreeSources, build_design
from theodolite.reporting.page.report import report_html
from theodolite.reporting.queries.cases import cases_of
from theodolite.reporting.queries.dispositions import account_text, accounts_of
from theodolite.reporting.terminal.summary import summary_text


def rates(evidence):
    """Return the defect rates by the name of their annotator."""
    found = measure_study(evidence).measurements
    return {one.subject.annotator: one for one in found if one.measure is Measure.DEFECT_RATE}


def test_the_rate_of_a_pool_is_over_dialogues_and_counts_each_label():
    pool = rates(pooled_evidence())[PEOPLE]

    assert pool.result.value == pytest.approx((1 + 0.5 + 0 + 0 + 0) / 5)
    assert (pool.result.n, pool.outcomes.used, pool.outcomes.missing) == (5, 5, 1)
    assert pool.dialogues == ("d1", "d2")
    assert pool.bounds == pytest.approx((1.5 / 6, 2.5 / 6))


def test_a_final_label_replaces_human_labels():
    pool = rates(pooled_evidence(final={"d2": "no"}))[PEOPLE]

    assert pool.result.value == pytest.approx(1 / 5)
    assert pool.dialogues == ("d1",)


def test_only_assigned_dialogues_can_be_missing():
    found = rates(pooled_evidence(open_=[("eve", "d6")]))

    assert {name: one.outcomes.planned for name, one in found.items()} == {
        PEOPLE: 6, "ann": 2, "ben": 2, "cleo": 2, "dan": 2, "eve": 3,
    }  # fmt: skip
    assert {name: one.outcomes.missing for name, one in found.items() if one.outcomes.missing} == {
        PEOPLE: 1, "ann": 1, "eve": 1,
    }  # fmt: skip


def test_people_without_parseable_labels_have_no_rate():
    found = rates(pooled_evidence({"d1": {"ann": None, "ben": None}}))

    assert isinstance(found[PEOPLE].result, Undefined)


def test_a_pool_represents_its_members():
    evidence = pooled_evidence()
    sources = annotators_of(evidence.study, evidence.study.guidelines[0], "bot")

    assert [source.name for source in sources.headline] == [PEOPLE]
    assert sources.pool is not None
    assert [source.name for source in sources.counted] == ["ann", "ben", "cleo", "dan", "eve"]


JUDGED = {"d1": "yes", "d2": "yes", "d3": "no", "d4": "no", "d5": "yes", "d6": "no"}


def test_beside_a_judge_a_pool_has_its_own_headline_row():
    evidence = pooled_evidence(judged=JUDGED)
    found = [
        (one.subject.rule, one.subject.annotator, one.result.n)
        for one in measure_study(evidence).measurements
        if one.measure is Measure.DEFECT_RATE and one.subject.annotator in {"words", PEOPLE}
    ]

    assert found == [("defect", "words", 6), ("defect", PEOPLE, 5), ("harmful", PEOPLE, 0)]
    text = summary_text(evidence, measure_study(evidence), facts(), words())
    assert "3 of 6" in text
    assert "1.5 of 5" in text
    assert "cleo" not in text


def test_beside_a_judge_a_pool_has_its_own_disposition():
    evidence = pooled_evidence(judged=JUDGED)

    accounts = accounts_of(evidence.study, cases_of(evidence.answers))

    assert [account_text(account) for account in accounts] == [
        "6 planned: 6 judged, 0 failed, 0 missing",
        "6 planned: 5 labelled by people, 1 missing",
    ]


def test_people_who_label_the_sample_of_a_judge_are_not_a_pool():
    evidence = pooled_evidence(judged=JUDGED, is_representative=False)

    assert PEOPLE not in rates(evidence)
    assert [one.annotators for one in accounts_of(evidence.study, cases_of(evidence.answers))] == [("words",)]


def test_agreement_of_judge_and_pool_is_the_share_of_its_labels():
    evidence = pooled_evidence(judged=JUDGED)
    (agreement,) = (one for one in measure_study(evidence).measurements if one.subject.annotators == (PEOPLE, "words"))

    # d1 2 of 2, d2 1 of 2, d3 and d4 2 of 2, d5 0 of 1
    assert agreement.measure is Measure.EXACT_AGREEMENT
    assert (agreement.result.value, agreement.result.n) == (pytest.approx(3.5 / 5), 5)
    assert agreement.result.low < agreement.result.value < agreement.result.high
    text = " ".join(summary_text(evidence, measure_study(evidence), facts(), words()).split())
    assert "label: words (not validated) agrees with people on 3.5 of 5 dialogues." in text


def test_a_tree_counts_each_answer_of_judge_and_pool_once():
    evidence = pooled_evidence(judged=JUDGED)
    design = build_design(
        TreeOutline(name="t", topology="six-levels"), TreeSources(guidelines=evidence.study.guidelines)
    )
    leaves = [
        (leaf.by, leaf.outcome.value)
        for leaf in tree_leaves(evidence, design, evidence.study.applications[0])
        if leaf.question == "polite.label"
    ]

    assert sum(name == "words" for name, _ in leaves) == 6
    assert sum(name != "words" and outcome == "answered" for name, outcome in leaves) == 9


def test_a_dialogue_is_listed_by_its_defect_label():
    evidence = pooled_evidence()
    guideline = evidence.study.guidelines[0]

    listed = labels_of(evidence.answers, PEOPLE, guideline, guideline.question)

    assert [label.value for label in listed] == ["yes", "yes", "no", "no", "no", None]


def test_the_disposition_adds_up_to_the_plan():
    evidence = pooled_evidence()
    (account,) = accounts_of(evidence.study, cases_of(evidence.answers))

    assert account_text(account) == "6 planned: 5 labelled by people, 1 missing"


def test_the_screen_has_one_row_for_all_people():
    evidence = pooled_evidence()

    text = summary_text(evidence, measure_study(evidence), facts(), words())

    assert "1.5 of 5" in text
    assert "cleo" not in text


def test_the_report_collapses_the_rows_of_single_people():
    evidence = pooled_evidence()

    page = report_html(evidence, measure_study(evidence), facts(), assets())

    assert page.index("all people") < page.index("The same by each annotator (5)") < page.index("By ben")


def test_a_tree_counts_a_dialogue_without_annotator_once():
    evidence = pooled_evidence()
    design = build_design(
        TreeOutline(name="t", topology="six-levels"), TreeSources(guidelines=evidence.study.guidelines)
    )

    leaves = list(tree_leaves(evidence, design, evidence.study.applications[0]))

    assert len(leaves) == 11
    assert [(leaf.by, leaf.session) for leaf in leaves if leaf.outcome == "missing"] == [("ann", "d5"), (PEOPLE, "d6")]
