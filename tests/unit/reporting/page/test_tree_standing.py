"""How applications stand to each other, drawn without a ranking."""

import re
from dataclasses import replace

import pytest

from tests.fakes.evidence import facts
from tests.fakes.report import evidence_named, findings_named, report_named, words
from theodolite.domain.tree_finding import TreeComparison, TreeStanding
from theodolite.reporting.page.subject import subject_of
from theodolite.reporting.page.tree_standing import standing_picture

BARE = TreeStanding(tree="t", dimensions=(), comparisons=())


def pair(first, second, order, **more):
    return TreeComparison(first=first, second=second, order=order, differences=(), **more)


def picture(*pairs, **parts):
    standing = replace(BARE, comparisons=pairs, **parts)
    findings = replace(findings_named("xstest"), standings=(standing,), trees=())
    return standing_picture(subject_of(evidence_named("xstest"), findings, facts(), words()), "t")


def test_a_chain_runs_from_left_to_right_without_implied_lines():
    order = picture(pair("a", "b", "lower"), pair("a", "c", "lower"), pair("b", "c", "lower")).order

    assert [place.x for place in order.places] == [20.0, 170.0, 320.0]
    assert len(order.lines) == 2
    assert order.words == ("a is nowhere higher than b", "b is nowhere higher than c")


def test_incomparable_applications_share_one_column_without_a_line():
    order = picture(pair("a", "b", "incomparable")).order

    assert {place.x for place in order.places} == {20.0}
    assert order.lines == ()


@pytest.mark.parametrize(
    "pairs",
    [(pair("a", "b", "lower"), pair("a", "c", "lower")), (pair("a", "b", "", warnings=("Other scenarios.",)),)],
    ids=["not all compared", "side by side only"],
)
def test_a_diagram_that_would_omit_pairs_is_not_drawn(pairs):
    assert picture(*pairs).order is None


def test_a_single_application_has_no_order():
    subject = subject_of(evidence_named("live"), findings_named("live"), facts(), words())

    assert standing_picture(subject, "by-guideline") is None


def test_the_page_draws_order_and_profile_of_the_replayed_applications_and_no_ranking():
    page = report_named("trees")

    assert page.count('<figure class="standing">') == 2
    assert "; not dominated; not dominated in" in page
    assert re.search(r"(first|second|third) \d+(\.\d)? %", page) is None
