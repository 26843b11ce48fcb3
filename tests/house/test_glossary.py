"""The glossary has the terms that users meet, and no noun of the domain is named twice."""

from __future__ import annotations

import ast
import re

from tests.house.tree import PACKAGE, ROOT, modules, parsed

from theodolite.domain import errors

ROW = re.compile(r"^\| (?P<term>[^|]+) \| (?P<meaning>[^|]+) \| (?P<elsewhere>[^|]+) \|$", re.MULTILINE)
GLOSSARY = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
ENTRIES = [row for row in ROW.finditer(GLOSSARY) if row["term"] != "Term"]
TOOLS = ("Inspect", "PyRIT", "Label Studio", "ARIA")
LIMIT = 70
"""Terms at most: a reader learns these, so another one must be worth it."""


ERRORS = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)}


def public_classes() -> set[str]:
    """Return the names of the nouns; the errors have a page of their own."""
    nodes = (node for path in modules("domain") for node in parsed(path).body if isinstance(node, ast.ClassDef))
    return {node.name for node in nodes if not node.name.startswith("_")} - ERRORS


def test_every_row_has_a_term_a_meaning_and_the_terms_of_other_tools():
    rows = [line for line in GLOSSARY.splitlines() if line.startswith("| ") and not line.startswith("| Term ")]

    assert len(rows) == len(ENTRIES)
    assert [row["term"] for row in ENTRIES if not row["meaning"].endswith(".")] == []


def test_no_term_is_explained_twice_and_the_number_is_small():
    terms = [row["term"] for row in ENTRIES]

    assert sorted({term for term in terms if terms.count(term) > 1}) == []
    assert len(terms) <= LIMIT


def test_each_tool_has_synonyms_and_the_index_of_aria_is_explained():
    named = {tool: sum(tool in row["elsewhere"] for row in ENTRIES) for tool in TOOLS}

    assert [tool for tool, count in named.items() if count < 10] == []
    assert {"CoRIx", "Contextual robustness"} <= {row["term"] for row in ENTRIES}


def test_no_other_class_uses_the_name_of_a_domain_class():
    elsewhere = [path for path in modules() if path.relative_to(PACKAGE).parts[0] not in {"domain", "ports"}]
    taken = {
        f"{path.relative_to(PACKAGE)}: {node.name}"
        for path in elsewhere
        if "models" not in path.parent.parts[-1:]
        for node in parsed(path).body
        if isinstance(node, ast.ClassDef) and node.name in public_classes()
    }

    assert sorted(taken) == []


def test_every_error_is_on_the_errors_page():
    page = (ROOT / "docs" / "reference" / "errors-and-exit-codes.md").read_text(encoding="utf-8")
    assert [name for name in sorted(ERRORS) if f"`{name}`" not in page] == []
