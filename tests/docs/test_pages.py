"""The documents hold together: links lead somewhere, decisions stay short, nothing is lost."""

from __future__ import annotations

import re

from tests.house.tree import ROOT, modules
from tools.check_docs import crowded_lines, faults
from tools.cli_reference import PAGE, reference

VARIABLE = re.compile(r"(?:environ(?:\.get)?[\[(]|getenv\(|envvar=)\s*\"(?P<name>[A-Z][A-Z_]+)\"")


def test_the_documents_have_no_fault_that_a_machine_can_see():
    assert faults() == []


def test_the_page_of_commands_is_what_the_commands_say():
    assert PAGE.read_text(encoding="utf-8") == reference()


def test_every_environment_variable_that_is_read_is_documented():
    page = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    read = {found["name"] for path in modules() for found in VARIABLE.finditer(path.read_text(encoding="utf-8"))}

    assert sorted(name for name in read if f"`{name}`" not in page) == []


def test_a_line_with_two_sentences_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr("tools.check_docs.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("One sentence, e.g. This. Another one.\nA single one.\n", encoding="utf-8")

    assert len(list(crowded_lines(page))) == 1
