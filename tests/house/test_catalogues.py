"""The catalogues of the pages' words are whole, up to date, and nobody forgets to mark a word."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

_TOOL = Path(__file__).parents[2] / "tools" / "catalogues.py"
_SPEC = importlib.util.spec_from_file_location("catalogues", _TOOL)
catalogues = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(catalogues)

TEMPLATES = catalogues.WEB / "templates"
GROUPS = ("web/tester/*.html", "web/accounts/*.html", "web/questions/[_s]*.html", "account/*.html", "[45]*.html")
MARKED = sorted(
    [TEMPLATES / "web" / "base.html", *(path for group in GROUPS for path in TEMPLATES.glob(group))],
)
FOR_OTHERS = {"demo.html", "second_factor.html"}
"""Pages that no tester meets."""


@pytest.mark.parametrize("language", catalogues.languages())
def test_a_catalogue_translates_every_text_and_is_compiled(language):
    catalogue, folder = catalogues.renewed(language), catalogues.LOCALE / language / "LC_MESSAGES"

    assert catalogues.untranslated(catalogue) == []
    assert (folder / "django.po").read_bytes() == catalogues.po_text(catalogue), "run python tools/catalogues.py"
    assert (folder / "django.mo").read_bytes() == catalogues.mo_bytes(catalogue), "run python tools/catalogues.py"


def test_the_english_catalogue_is_compiled_and_in_sentence_case():
    catalogue, folder = catalogues.english(), catalogues.LOCALE / catalogues.ENGLISH / "LC_MESSAGES"
    texts = [str(message.string) for message in catalogue if message.id]

    assert (folder / "django.po").read_bytes() == catalogues.po_text(catalogue), "run python tools/catalogues.py"
    assert (folder / "django.mo").read_bytes() == catalogues.mo_bytes(catalogue), "run python tools/catalogues.py"
    assert [text for text in texts if any(word[0].isupper() for word in text.split()[1:] if word.isalpha())] == []


@pytest.mark.parametrize("path", MARKED, ids=lambda path: path.name)
def test_pages_for_testers_contain_no_unmarked_text(path):
    assert path.name in FOR_OTHERS or unmarked(path.read_text(encoding="utf-8")) == []


def test_an_unmarked_text_is_detected():
    assert unmarked("<p title=\"{% url 'home' %}\">{{ name }} is here</p>") == ["is here"]
    assert unmarked('<button aria-label="Close">x</button>') == ["Close"]
    assert unmarked("{% blocktranslate %}Here{% endblocktranslate %} <kbd>Esc</kbd>") == []


def unmarked(template: str) -> list[str]:
    """Return the words of a template that people would read and that no catalogue knows."""
    marked = r"\{% (?:blocktranslate|block body_class).*?\{% end\w+ %\}|\{#.*?#\}|\{\{.*?\}\}"
    text = re.sub(marked, "", template, flags=re.DOTALL)
    text = re.sub(r"<kbd>.*?</kbd>", "", re.sub(r"\{%.*?%\}", "\0", text, flags=re.DOTALL), flags=re.DOTALL)
    read_aloud = re.findall(r'(?:aria-label|placeholder|title|alt)="([^"\0]*[A-Za-z]{2}[^"\0]*)"', text)
    shown = re.sub(r"<[^<>]*>", "\0", text)
    words = (part.strip() for part in shown.split("\0"))
    return [*read_aloud, *(part for part in words if re.search(r"[A-Za-z]{2}", part) and part not in KEPT)]


KEPT = {"Theodolite"}
"""What is called the same in every language."""
