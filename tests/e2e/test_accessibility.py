"""WCAG 2.2 AA, as far as a machine can check it."""

from importlib import resources

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def violations(page):
    """Return what axe finds on a page, one line a finding."""
    page.evaluate(resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("rules => axe.run(document, {runOnly: rules})", RULES)["violations"]
    return [f"{v['id']}: {node['html'][:120]}" for v in found for node in v["nodes"]]


@pytest.mark.parametrize(
    ("name", "width"),
    [
        *((name, 1280) for name in ("xstest", "live", "scripted", "certified", "trees", "doubtful")),
        *((name, 320) for name in ("live", "scripted", "certified", "doubtful")),  # hundreds of rows more show no more
    ],
)
def test_the_report_has_no_barrier_that_axe_knows(visit, name, width):
    page = visit(name, width=width, bypass_csp=True)
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")

    assert violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "tab", ["overview", "review-first", "results", "matrix", "dialogues", "judges", "completeness"]
)
def test_no_tab_has_a_barrier_in_either_scheme(visit, tab, scheme):
    page = visit("xstest", address=f"#{tab}", bypass_csp=True, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")

    assert violations(page) == []


def test_the_panel_has_none(visit):
    page = visit("xstest", bypass_csp=True)
    page.locator(".answer .num").first.click()

    assert violations(page) == []


@pytest.mark.parametrize("address", ["#d/d001", "#d/d018", "#d/d041"])
def test_a_dialogue_has_none(visit, address):
    page = visit("live", address=address, bypass_csp=True)

    assert violations(page) == []


def test_nothing_moves_where_less_motion_is_wanted(visit):
    page = visit("live", reduced_motion="reduce")

    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
