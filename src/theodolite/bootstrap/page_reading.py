"""Pages of the web side as a program reads them: forms, fields and links."""

from __future__ import annotations

import urllib.parse
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser


@dataclass
class Form:
    """One form of a page.

    Attributes:
        action: Where it is sent to; empty for the page itself.
        fields: What it would send as it stands: its hidden fields.
        choices: Values that one may choose from, by field; empty ones left out.
        texts: Fields that one writes into.
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
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(given.get("action", "")))
        elif tag in {"a", "link"} and "href" in given:
            self.links.append(given["href"])
        elif tag == "script" and "src" in given:
            self.links.append(given["src"])
        elif self.forms:
            self._read_field(tag, given)

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = ""

    def _read_field(self, tag: str, given: dict[str, str]) -> None:
        if "disabled" in given:
            return
        form, name, kind = self.forms[-1], given.get("name", ""), given.get("type", "text")
        if tag == "select":
            self._select = name
        elif tag == "option" and self._select and given.get("value"):
            form.choices.setdefault(self._select, []).append(given["value"])
        elif tag == "textarea" or (tag == "input" and name and kind in {"text", "number", "email"}):
            form.texts.append(name)
        elif tag == "input" and kind == "hidden":
            form.fields[name] = given.get("value", "")
        elif tag == "input" and kind in {"radio", "checkbox"} and given.get("value"):
            form.choices.setdefault(name, []).append(given["value"])


@dataclass
class PageAnswer:
    """What came back."""

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
        """Return the first form whose action ends so, or with an empty ending the one without any; None for none."""
        fits = (one for one in self.forms if one.action.endswith(ending) and bool(ending) == bool(one.action))
        return next(fits, None)

    @cached_property
    def _read(self) -> _TextParser:
        reader = _TextParser()
        reader.feed(self.text)
        return reader
