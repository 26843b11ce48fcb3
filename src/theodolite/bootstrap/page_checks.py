"""Pages as readers see them, and words on them that reveal an application."""

from __future__ import annotations

import html
import urllib.parse
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser

from theodolite.assessment.blinding import SecretWord, UnblindingWord, unblinding_words


@dataclass
class Form:
    """One form of a page.

    Attributes:
        action: Target of the form; empty for the page itself.
        fields: Its hidden fields, which it sends unchanged.
        choices: Possible non-empty values by field.
        texts: Text fields.
    """

    action: str
    fields: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)


class _TextParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.links: list[str] = []
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(attributes.get("action", "")))
        elif tag in {"a", "link"} and "href" in attributes:
            self.links.append(attributes["href"])
        elif tag == "script" and "src" in attributes:
            self.links.append(attributes["src"])
        elif self.forms:
            self._read_field(tag, attributes)

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = ""

    def _read_field(self, tag: str, attributes: dict[str, str]) -> None:
        if "disabled" in attributes:
            return
        form, name, kind = self.forms[-1], attributes.get("name", ""), attributes.get("type", "text")
        if tag == "select":
            self._select = name
        elif tag == "option" and self._select and attributes.get("value"):
            form.choices.setdefault(self._select, []).append(attributes["value"])
        elif tag == "textarea" or (tag == "input" and name and kind in {"text", "number", "email"}):
            form.texts.append(name)
        elif tag == "input" and kind == "hidden":
            form.fields[name] = attributes.get("value", "")
        elif tag == "input" and kind in {"radio", "checkbox"} and attributes.get("value"):
            form.choices.setdefault(name, []).append(attributes["value"])


@dataclass
class PageAnswer:
    """The response."""

    url: str
    status: int
    headers: str
    text: str

    @property
    def path(self) -> str:
        """Path of the page."""
        return urllib.parse.urlsplit(self.url).path

    @property
    def forms(self) -> list[Form]:
        """Forms of the page, in order."""
        return self._read.forms

    @property
    def links(self) -> list[str]:
        """Addresses that the page names, in order."""
        return self._read.links

    def form(self, ending: str) -> Form | None:
        """Return the first form whose action has this suffix (without one, the form without action), or None."""
        fits = (form for form in self.forms if form.action.endswith(ending) and bool(ending) == bool(form.action))
        return next(fits, None)

    @cached_property
    def _read(self) -> _TextParser:
        reader = _TextParser()
        reader.feed(self.text)
        return reader


GUESSING = "/guess/"
"""Suffix of the only page with names of applications, on which testers guess."""

_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}

_SAID, _WORDS, _NOTES = "said", "words", "notes"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLeak:
    """A secret word on a page.

    Attributes:
        role: Role that can open the page.
        page: Its path, numbers and tokens included.
        revealed: The revealed information and its context.
    """

    role: str
    page: str
    revealed: UnblindingWord


class Lookout:
    """Searches pages of one role.

    Attributes:
        n_pages: Pages that were searched; count.
    """

    def __init__(self, role: str, secrets: tuple[SecretWord, ...], *, hears: bool = False) -> None:
        """Store the words to search for.

        Args:
            role: Role that sees these pages.
            secrets: Words that must not appear.
            hears: Whether to search the texts of dialogues as well, on pages that show them with masked names.
        """
        self.role, self.n_pages = role, 0
        self._secrets, self._hears = secrets, hears
        self._named = tuple(secret for secret in secrets if secret.what != "an application")
        self._leaks: dict[tuple[str, str], PageLeak] = {}

    def look(self, page: PageAnswer) -> None:
        """Search address, headers and text of a page."""
        self.n_pages += 1
        text = page.text if self._hears else without_said(page.text)
        secrets = self._named if page.path.endswith(GUESSING) else self._secrets
        for details in unblinding_words(f"{page.path}\n{page.headers}\n{html.unescape(text)}", secrets):
            leak = PageLeak(role=self.role, page=page.path, revealed=details)
            self._leaks.setdefault((_kind(page.path), details.secret.words), leak)

    @property
    def leaks(self) -> tuple[PageLeak, ...]:
        """Findings: each word once for each kind of page."""
        return tuple(self._leaks.values())


def without_said(page: str) -> str:
    """Return a page without the texts of testers and applications, and without testers' notes."""
    reader = _PageParser()
    reader.feed(page)
    reader.close()
    return "".join(reader.kept)


class _PageParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.kept: list[str] = []
        self._open: list[tuple[str, frozenset[str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self._is_quoted:
            self.kept.append(self.get_starttag_text() or "")
        if tag not in _VOID:
            attributes = dict(attrs)
            classes = frozenset((attributes.get("class") or "").split())
            own = frozenset({_SAID, _WORDS}) if attributes.get("id") == "text" else frozenset[str]()
            self._open.append((tag, classes | own))

    def handle_endtag(self, tag: str) -> None:
        while any(tag == name for name, _ in self._open):
            if self._open.pop()[0] == tag:
                break

    def handle_data(self, data: str) -> None:
        if not self._is_quoted:
            self.kept.append(data)

    def handle_entityref(self, name: str) -> None:
        self.handle_data(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.handle_data(f"&#{name};")

    @property
    def _is_quoted(self) -> bool:
        around = [classes for _, classes in self._open]
        return any(_NOTES in classes or _WORDS in classes for classes in around) and any(
            _SAID in classes or _NOTES in classes for classes in around
        )


def _kind(path: str) -> str:
    return "/".join(_steps(path))


def _steps(path: str) -> Iterator[str]:
    """Yield the parts of a path that are the same for all sessions and dialogues."""
    parts = [part for part in path.split("/") if part]
    for index, part in enumerate(parts):
        if not part.isdecimal() and not (index and parts[index - 1] in {"s", "d", "room"}):
            yield part
