"""WCAG 2.2 AA, as far as a machine can check it."""

import pytest
from playwright.sync_api import expect

from tests.browser_pages import barriers

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

UNFOLD = """() => {
  document.querySelectorAll("details").forEach(each => { each.open = true; });
  const seen = new Map();
  for (const row of document.querySelectorAll("tbody > tr")) {
    const values = / (?:id|href|title|d|points|[xy][12]?|name|value|for|aria-label|data-[a-z-]+)="[^"]*"/g;
    const kind = row.outerHTML.replace(/>[^<]+/g, ">").replace(values, "");
    const n = (seen.get(kind) ?? 0) + 1;
    seen.set(kind, n);
    if (n > 3) row.remove();
  }
}"""
"""Opens all details, and of table rows that differ in texts and values alone, leaves the first three in the page.

Hundreds of rows more show no more, and axe looks at each for seconds.
"""

RULES_OF_COLOUR = ["color-contrast", "link-in-text-block"]
"""The rules whose result depends on the colour scheme; the others look at what light and dark have in common."""


def barriers_of_tabs(page, tabs, rules=None):
    """Return what axe finds on some tabs of a report with all details open, one line a finding."""
    found = []
    for tab in tabs:
        page.evaluate("tab => { location.hash = tab; }", tab)
        expect(page.locator(".tabs a[aria-current]")).to_have_attribute("href", f"#{tab}")
        page.evaluate(UNFOLD)
        found += [f"{tab}: {line}" for line in barriers(page, rules)]
    return found


@pytest.mark.parametrize(
    ("name", "width"),
    [
        *((name, 1280) for name in ("live", "scripted", "certified", "trees", "doubtful")),
        *((name, 320) for name in ("live", "scripted", "certified", "doubtful")),  # hundreds of rows more show no more
    ],
)
def test_axe_finds_no_barrier_in_the_report(visit, name, width):
    page = visit(name, width=width, bypass_csp=True)
    page.evaluate(UNFOLD)

    assert barriers(page) == []


TABS = ("overview", "review-first", "results", "matrix", "dialogues", "judges", "completeness")


@pytest.mark.parametrize(("scheme", "rules"), [("light", None), ("dark", RULES_OF_COLOUR)], ids=["light", "dark"])
def test_axe_finds_no_barrier_on_any_tab_in_light_and_dark_mode(visit, scheme, rules):
    page = visit("xstest", bypass_csp=True, color_scheme=scheme)

    assert barriers_of_tabs(page, TABS, rules) == []


def test_axe_finds_no_barrier_in_the_panel(visit):
    page = visit("xstest", bypass_csp=True)
    page.locator(".answer .num").first.click()
    expect(page.locator("#panel")).to_be_visible()

    assert barriers(page) == []


@pytest.mark.parametrize("address", ["#d/d001", "#d/d018", "#d/d041"])
def test_axe_finds_no_barrier_in_a_dialogue(visit, address):
    page = visit("live", address=address, bypass_csp=True)

    assert barriers(page) == []


def test_no_element_moves_with_reduced_motion(visit):
    page = visit("live", reduced_motion="reduce")

    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
