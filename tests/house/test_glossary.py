"""The glossary is the authority about words, so it must know every noun and no stranger."""

from __future__ import annotations

import ast
import re

from tests.house.tree import PACKAGE, ROOT, modules, parsed

ENTRY = re.compile(r"^### `(?P<name>\w+)`", re.MULTILINE)
SAID = re.compile(r"^### `(?P<name>\w+)`\n(?P<words>[^#\n].*)", re.MULTILINE)
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")


def public_classes() -> set[str]:
    """Return the names of the nouns; the errors have a page of their own."""
    files = [path for path in modules("domain") if path.name != "errors.py"]
    nodes = (node for path in files for node in parsed(path).body if isinstance(node, ast.ClassDef))
    return {node.name for node in nodes if not node.name.startswith("_")}


def test_every_noun_stands_in_the_glossary():
    assert sorted(public_classes() - set(ENTRY.findall(GLOSSARY))) == []


def test_the_glossary_names_no_class_that_is_gone():
    assert sorted(set(ENTRY.findall(GLOSSARY)) - public_classes()) == []


def test_no_noun_is_explained_twice():
    names = ENTRY.findall(GLOSSARY)

    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_every_entry_says_what_the_word_is():
    said = {entry["name"] for entry in SAID.finditer(GLOSSARY)}

    assert sorted(set(ENTRY.findall(GLOSSARY)) - said) == []


def test_no_other_class_takes_the_name_of_a_noun():
    elsewhere = [path for path in modules() if path.relative_to(PACKAGE).parts[0] not in {"domain", "ports"}]
    taken = {
        f"{path.relative_to(PACKAGE)}: {node.name}"
        for path in elsewhere
        if "models" not in path.parent.parts[-1:]
        for node in parsed(path).body
        if isinstance(node, ast.ClassDef) and node.name in public_classes()
    }

    assert sorted(taken) == []


def test_every_error_stands_on_the_errors_page():
    page = (ROOT / "docs" / "reference" / "errors-and-exit-codes.md").read_text(encoding="utf-8")
    errors = [
        node.name
        for path in modules("domain")
        if path.name == "errors.py"
        for node in parsed(path).body
        if isinstance(node, ast.ClassDef)
    ]

    assert [name for name in errors if f"`{name}`" not in page] == []
