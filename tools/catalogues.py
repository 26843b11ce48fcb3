"""Catalogues of the pages' words: brought up to date with templates and code, and compiled.

`python tools/catalogues.py` writes `src/theodolite/web/locale/*/LC_MESSAGES/django.{po,mo}` anew;
with `--check` it writes nothing and says what is out of date or not translated.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.utils.translation.template import templatize

WEB = Path(__file__).parents[1] / "src" / "theodolite" / "web"
LOCALE = WEB / "locale"
_KEYWORDS = {"_": None, "lazy": None, "gettext": None, "gettext_lazy": None, "ngettext": (1, 2)}

ENGLISH = "en"
"""Catalogue that is written by hand: other words for English texts of other packages."""

_NO_DAY = datetime(2000, 1, 1, tzinfo=UTC)
"""Stands where the form wants a day: the same words are the same bytes, whenever they are compiled."""


def messages() -> Iterator[tuple[str, str | tuple[str, ...]]]:
    """Yield every text that is marked for translation, with the file that it stands in."""
    if not settings.configured:
        settings.configure()
    for path in sorted([*WEB.rglob("*.py"), *WEB.rglob("*.html")]):
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".html":  # as lines of their own, since Python minds what stands at their beginning
            text = re.sub(r"^[^\S\n]+", "", templatize(text), flags=re.MULTILINE)
        if "gettext" in text or path.suffix == ".html":
            for _, found, _, _ in extract("python", io.BytesIO(text.encode()), keywords=_KEYWORDS):
                yield path.relative_to(WEB).as_posix(), found


def renewed(language: str) -> Catalog:
    """Return the catalogue of a language with all texts that are marked now, and none that is gone."""
    path = LOCALE / language / "LC_MESSAGES" / "django.po"
    known = read_po(io.BytesIO(path.read_bytes()), locale=language) if path.exists() else Catalog(locale=language)
    fresh = Catalog(locale=language, project="Theodolite", header_comment=known.header_comment, fuzzy=False)
    for file, found in messages():
        fresh.add(found, locations=[(file, 0)])
    for message in fresh:
        before = known.get(message.id)
        if message.id and before is not None and before.string:
            message.string = before.string
    return fresh


def po_text(catalogue: Catalog) -> bytes:
    """Return a catalogue as its source: in the order of the files, without dates and lines that every edit changes."""
    out = io.BytesIO()
    write_po(out, catalogue, width=100, sort_by_file=True, include_lineno=False)
    return re.sub(
        rb'"(?:POT-Creation-Date|PO-Revision-Date|Generated-By|Last-Translator|Language-Team):[^\n]*\n(?:"[^:"\n]*\\n"\n)?',
        b"",
        out.getvalue(),
    )


def mo_bytes(catalogue: Catalog) -> bytes:
    """Return a catalogue as programs read it."""
    out, source = io.BytesIO(), read_po(io.BytesIO(po_text(catalogue)), locale=catalogue.locale)
    source.creation_date = source.revision_date = _NO_DAY
    write_mo(out, source)
    return out.getvalue()


def untranslated(catalogue: Catalog) -> list[str]:
    """Return the texts that a catalogue has no words for."""
    return [str(message.id) for message in catalogue if message.id and not all(_strings(message.string))]


def _strings(string: str | tuple[str, ...]) -> tuple[str, ...]:
    return (string,) if isinstance(string, str) else tuple(string or ("",))


def languages() -> list[str]:
    """Return the languages that there are translations to."""
    return sorted(path.name for path in LOCALE.iterdir() if path.is_dir() and path.name != ENGLISH)


def english() -> Catalog:
    """Return the catalogue of other words for English texts."""
    path = LOCALE / ENGLISH / "LC_MESSAGES" / "django.po"
    return read_po(io.BytesIO(path.read_bytes()), locale=ENGLISH)


def main() -> int:
    """Write all catalogues, or say what is wrong with them."""
    checks, wrong = "--check" in sys.argv, []
    for language in [*languages(), ENGLISH]:
        catalogue = english() if language == ENGLISH else renewed(language)
        folder = LOCALE / language / "LC_MESSAGES"
        for name, content in (("django.po", po_text(catalogue)), ("django.mo", mo_bytes(catalogue))):
            path = folder / name
            if checks and (not path.exists() or path.read_bytes() != content):
                wrong.append(f"{path.relative_to(WEB)} is out of date: run python tools/catalogues.py")
            elif not checks:
                folder.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        wrong += [f"{language}: not translated: {text}" for text in untranslated(catalogue)]
    print("\n".join(wrong) or f"{', '.join(languages())}: whole")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
