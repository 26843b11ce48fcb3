"""Repair: letters that no database and no JSON document can hold."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

from theodolite.domain.application import Markup

_UNKEEPABLE = re.compile("[\x00\ud800-\udfff]")


def repaired(text: str) -> tuple[str, int]:
    r"""Return a text in which NUL and lone surrogates became U+FFFD, and how many there were.

    This happens before anybody sees the reply: were it done when the reply is
    stored, a resumed dialogue would go on with other words than the first one.

    Example:
        >>> repaired("a\x00b")
        ('a\ufffdb', 1)
    """
    if text.isascii() and "\x00" not in text:  # known without looking; most texts are
        return text, 0
    return _UNKEEPABLE.subn("\ufffd", text)


_UNSEEN = frozenset({"script", "style", "head", "title", "template", "noscript"})

_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "div", "dl", "fieldset", "figure", "footer", "form", "header", "hr"}
    | {"h1", "h2", "h3", "h4", "h5", "h6", "main", "nav", "ol", "p", "pre", "section", "table", "ul"}
)

_LINES = frozenset({"br", "dd", "dt", "li", "tr", "option"})

_CELLS = frozenset({"td", "th"})

_TAG = re.compile(r"<[a-zA-Z!/][^<>]*>")

_SPACE = re.compile(r"[ \t\r\n\f]+")


def readable(text: str, markup: Markup) -> tuple[str, str]:
    """Return a reply's text, and the reply as it came where it came as HTML; else an empty text for the latter."""
    return (text_of_html(text), text) if markup is Markup.HTML else (text, "")


def text_of_html(html: str) -> str:
    r"""Return the text of an HTML reply; one without tags keeps its lines.

    Example:
        >>> text_of_html("<p>Two <b>dishes</b>:</p><ul><li>soup</li><li>salad &amp; bread</li></ul>")
        'Two dishes:\n\n- soup\n- salad & bread'
    """
    if not _TAG.search(html):
        return unescape(html)
    reader = _MarkupReader()
    reader.feed(html)
    reader.close()
    return reader.text()


class _MarkupReader(HTMLParser):
    """Collects text between tags."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts: list[str] = []
        self._unseen = 0
        self._as_written = 0
        self._links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self._unseen += tag in _UNSEEN
        self._as_written += tag == "pre"
        if tag == "a":
            self._links.append(values.get("href", ""))
        elif tag == "img" and values.get("alt"):
            self.handle_data(values["alt"])
        elif tag == "li":
            self._parts.append("\n- ")
        else:
            self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        self._unseen = max(0, self._unseen - (tag in _UNSEEN))
        self._as_written = max(0, self._as_written - (tag == "pre"))
        if tag == "a" and self._links:
            address = self._links.pop()
            if address.startswith(("http://", "https://")) and address not in "".join(self._parts[-1:]):
                self._parts.append(f" ({address})")
        elif tag in _BLOCKS:
            self._break(tag)

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self._parts.append(data if self._as_written else _SPACE.sub(" ", data))

    def _break(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._parts.append("\n\n")
        elif tag in _LINES:
            self._parts.append("\n")
        elif tag in _CELLS and self._parts and not self._parts[-1].endswith("\n"):
            self._parts.append(" | ")

    def text(self) -> str:
        """Return what was collected, without spaces at ends of lines and without more than one empty line."""
        lines = "".join(self._parts).split("\n")
        joined = "\n".join(line.rstrip() if self._parts else line for line in lines)
        joined = re.sub(r"\n[ \t]+(?=[^\s-])", "\n", joined)
        return re.sub(r"\n{3,}", "\n\n", joined).strip()
