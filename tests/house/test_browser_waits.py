"""Tests in a browser never read a page right after a click: the browser may still show the page before."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from tests.house.tree import ROOT, parsed

CLICKS = {"click", "dblclick", "tap"}

READS = {
    "all",
    "all_inner_texts",
    "all_text_contents",
    "assert_accessible",
    "barriers",
    "content",
    "count",
    "evaluate",
    "evaluate_all",
    "is_checked",
    "is_hidden",
    "is_visible",
    "ready",
    "url",
}
"""Reads that do not wait, and helpers that begin with one; `expect` and `load_by_click` of `browser_pages` wait."""


def calls(statement: ast.stmt) -> set[str]:
    """Return the names of the functions that a simple statement calls, and `url` where it reads one."""
    nodes = list(ast.walk(statement))
    names = {node.func.attr for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)}
    names |= {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    return names | {node.attr for node in nodes if isinstance(node, ast.Attribute) and node.attr == "url"}


def is_click(statement: ast.stmt) -> bool:
    """Tell whether a statement is a click alone, as `page.locator("button").click()`, or a press of Enter."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return False
    sends = call.func.attr == "press" and "Enter" in ast.unparse(call)
    return sends or call.func.attr in CLICKS


def hasty_reads(tree: ast.AST) -> Iterator[int]:
    """Yield the lines of reads that follow a click with nothing between them."""
    for block in ast.walk(tree):
        body = getattr(block, "body", None)
        for click, read in pairwise(body) if isinstance(body, list) else ():
            if is_click(click) and calls(read) & READS and "expect" not in calls(read):
                yield read.lineno


def browser_tests() -> list[Path]:
    files = sorted((ROOT / "tests").rglob("*.py"))
    return [file for file in files if "playwright" in (text := file.read_text()) or "browser_pages" in text]


def test_no_page_is_read_right_after_a_click():
    found = [f"{file.relative_to(ROOT)}:{line}" for file in browser_tests() for line in hasty_reads(parsed(file))]

    assert found == [], "press with `load_by_click` of tests.browser_pages, or wait with `expect` before the read"


def test_an_early_read_is_detected_and_a_waiting_one_is_accepted():
    hasty = ast.parse("def f(page):\n    page.locator('a').click()\n    assert page.locator('b').count()\n")
    waiting = ast.parse("def f(page):\n    load_by_click(page.locator('a'))\n    assert page.locator('b').count()\n")

    assert list(hasty_reads(hasty)) == [3]
    assert list(hasty_reads(waiting)) == []
