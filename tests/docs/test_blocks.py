"""Every code block of the documents does what it says."""

from __future__ import annotations

import pytest
from tests.docs.blocks import blocks_of, first_missing, try_block
from tests.house.tree import ROOT
from tools.check_docs import pages

PAGES = [page for page in pages() if blocks_of(page)]


PLAYED_ELSEWHERE = ("first-study.md", "notebook.md", "control-runs-from-a-program.md")
"""Pages that `tests/integration/release`, `test_notebook.py` and `tests/integration/web/test_api_guide.py` play."""


@pytest.mark.integration
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.name not in PLAYED_ELSEWHERE],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_the_blocks_of_a_page_run_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": page.stem}

    for block in blocks_of(page):
        try_block(block, tmp_path, names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_block_that_does_not_run_states_why(page):
    reasons = {block.place: block.value for block in blocks_of(page) if block.mark == "not run"}

    assert [place for place, reason in reasons.items() if len(reason.split()) < 3] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_names_its_language(page):
    assert [block.place for block in blocks_of(page) if not block.language] == []


@pytest.mark.parametrize(
    ("expected", "missing"),
    [
        (["one", "three"], None),
        (["one", "...", "th...e"], None),
        (["three", "one"], "one"),
        (["on"], "on"),
    ],
    ids=["in order", "with gaps", "out of order", "whole lines"],
)
def test_expected_lines_are_searched_in_order(expected, missing):
    assert first_missing(expected, "one\n  two\nthree\n") == missing
