from __future__ import annotations

from tests.unit.config.study_page import MARKED, PAGE, TABLES, page


def test_the_page_matches_the_program():
    assert page() == PAGE.read_text(encoding="utf-8")


def test_every_kind_of_entry_has_a_table():
    assert {found["name"] for found in MARKED.finditer(PAGE.read_text(encoding="utf-8"))} == set(TABLES)
