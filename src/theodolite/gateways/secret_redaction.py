"""Secrets: keys that are sent to an endpoint and never shown; and repair of texts from endpoints."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterable, Iterator
from html import unescape
from html.parser import HTMLParser
from typing import Any

from theodolite.domain.application import Markup
from theodolite.domain.errors import InputError
from theodolite.domain.network import strike_out

STRUCK = "***"
"""Replacement for a key."""

_SHORTEST_SECRET = 6
"""Minimum length of a text of the credentials that counts as a secret; characters. Shorter ones are words."""

SHOWN = 200
"""Maximum length of a server's text that is shown to people; characters."""

KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|ak)-[\w*.-]{6,}|\bBearer\s+\S+|\bAIza[\w-]{10,}|\bhf_\w{10,}", re.IGNORECASE)

KEY_NAME = re.compile(r"key|token|secret|pass|auth|bearer|credential", re.IGNORECASE)

_NO_KEY = re.compile(
    r"(?:models?|scenario|version|deployment|region|type|method|scheme|name|url|uri|host|endpoint|author)$",
    re.IGNORECASE,
)

_KEY_SHAPE = re.compile(r"(?=\S*\d)(?=\S*[A-Za-z])\S{16,}")

_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")

BEARER_HEADER = "Authorization"
"""Header that contains a key as a bearer token; any other header contains only the key."""


class Secret:
    """A key whose text is never printed, stored or raised."""

    __slots__ = ("_text", "header", "variable")

    def __init__(self, text: str = "", *, variable: str = "", header: str = BEARER_HEADER) -> None:
        """Store the key, the name of its environment variable and its header.

        Raises:
            InputError: If the text cannot be a key; the text is not repeated.
        """
        self._text = text.strip()
        self.variable = variable
        self.header = header
        if not all("!" <= letter <= "~" for letter in self._text):
            message = (
                f"variable `{variable}` holds spaces, line breaks or letters that no key has; "
                "expected one word of plain ASCII. Set it again."
            )
            raise InputError(message)

    def __repr__(self) -> str:
        return f"Secret(variable={self.variable!r})"

    def __bool__(self) -> bool:
        return bool(self._text)

    @property
    def is_missing(self) -> bool:
        """Whether the study names a variable for the key that is not set."""
        return bool(self.variable) and not self._text

    def headers(self) -> dict[str, str]:
        """Return the header that carries the key, or nothing if there is no key."""
        if not self._text:
            return {}
        return {self.header: self._described(self._text)}

    @property
    def in_words(self) -> str:
        """The header with the name of the variable instead of the key, as typed into a shell."""
        return f"{self.header}: {self._described(f'${self.variable}')}"

    def _described(self, key: str) -> str:
        return f"Bearer {key}" if self.header.lower() == BEARER_HEADER.lower() else key

    def strike(self, text: str) -> str:
        """Return the whole text of another party without this key: applications can be made to print their keys."""
        return text.replace(self._text, STRUCK) if len(self._text) >= _SHORTEST_SECRET else text

    def begun_at_end(self, text: str) -> int:
        """Return how many of a text's last characters are a prefix of this key; count."""
        if len(self._text) < _SHORTEST_SECRET:
            return 0
        lengths = range(min(len(self._text) - 1, len(text)), 0, -1)
        return next((n for n in lengths if text.endswith(self._text[:n])), 0)

    def scrub(self, words: str) -> str:
        """Return a foreign text on one short line, without this or any other key."""
        clean = words.replace(self._text, STRUCK) if self._text else words
        line = " ".join(_UNPRINTABLE.sub(" ", strike_out(KEY_LIKE.sub(STRUCK, clean))).split())
        return line if len(line) <= SHOWN else line[: SHOWN - 3] + "..."

    def scrub_lines(self, text: str) -> str:
        """Return a foreign text line by line, each without this or any other key, e.g. a traceback."""
        lines = (text.replace(self._text, STRUCK) if self._text else text).split("\n")
        return "\n".join(
            _UNPRINTABLE.sub(" ", strike_out(KEY_LIKE.sub(STRUCK, line))).rstrip()[:_LONGEST_LINE] for line in lines
        )


_LONGEST_LINE = 500
"""Maximum length of a line of a traceback that is shown; characters."""


class StruckPieces:
    """Passes another party's text on without keys, also if a key is split between pieces."""

    def __init__(self, secret: Secret, hear: Callable[[str], None]) -> None:
        """Start with an empty buffer."""
        self._secret = secret
        self._hear = hear
        self._held = ""

    def feed(self, piece: str) -> None:
        """Take the next piece; a possible prefix of the key waits for the next one."""
        text = self._secret.strike(self._held + piece)
        position = len(text) - self._secret.begun_at_end(text)
        released, self._held = text[:position], text[position:]
        if released:
            self._hear(released)

    def end(self) -> None:
        """Return the held-back text that is not part of the key."""
        released, self._held = self._held, ""
        if released:
            self._hear(released)


ARIA_AUTH = "ARIA_AUTH_JSON"
"""Environment variable in which ARIA's harness passes credentials."""


class Credentials:
    """A JSON object of keys that is passed to an application's class and never shown."""

    __slots__ = ("_auth", "_keys", "_secrets", "variable")

    def __init__(self, text: str = "", *, variable: str = "") -> None:
        """Store the value of the environment variable.

        Raises:
            InputError: If it is not a JSON object; the text is not repeated.
        """
        self.variable = variable
        try:
            result = json.loads(text) if text.strip() else None
        except (ValueError, RecursionError):
            result = text
        if result is not None and not isinstance(result, dict):
            message = f'variable `{variable}` must hold a JSON object such as {{"key": "..."}}; it holds something else'
            raise InputError(message)
        self._auth: dict[str, Any] | None = result
        self._secrets = _longest_first(_texts_in(result))
        self._keys = _longest_first(_keys_in(result))

    def __repr__(self) -> str:
        return f"Credentials(variable={self.variable!r})"

    @property
    def is_missing(self) -> bool:
        """Whether the variable for the credentials is named but not set."""
        return bool(self.variable) and self._auth is None

    @property
    def auth(self) -> dict[str, Any] | None:
        """A copy that a class may keep and change; None if there are no credentials."""
        return copy.deepcopy(self._auth)

    def strike(self, text: str) -> str:
        """Return the whole text of an application without the keys; names of scenarios or models are kept."""
        return _without(self._keys, text)

    def scrub(self, words: str) -> str:
        """Return a foreign text on one short line, without any of the credentials."""
        return Secret().scrub(_without(self._secrets, words))

    def scrub_lines(self, text: str) -> str:
        """Return a foreign text line by line, without any of the credentials."""
        return Secret().scrub_lines(_without(self._secrets, text))


def _without(secrets: Iterable[str], text: str) -> str:
    for secret in secrets:
        text = text.replace(secret, STRUCK)
    return text


def _keys_in(found: Any) -> Iterator[str]:
    """Yield the texts that are keys: by their names, or else by their form."""
    members = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    for name, member in members:
        if isinstance(member, str) and isinstance(name, str) and _NO_KEY.search(name):
            continue
        if isinstance(name, str) and KEY_NAME.search(name):
            yield from _texts_in(member)
        elif isinstance(member, str):
            yield from filter(_KEY_SHAPE.fullmatch, [member])
        else:
            yield from _keys_in(member)


def _texts_in(found: Any) -> Iterator[str]:
    if isinstance(found, str) and len(found) >= _SHORTEST_SECRET:
        yield found
    elif isinstance(found, dict):
        for member in found.values():
            yield from _texts_in(member)
    elif isinstance(found, list):
        for member in found:
            yield from _texts_in(member)


def _longest_first(secrets: Iterable[str]) -> list[str]:
    return sorted(set(secrets), key=len, reverse=True)


_UNKEEPABLE = re.compile("[\x00\ud800-\udfff]")


def repaired(text: str) -> tuple[str, int]:
    r"""Return a text in which NUL and lone surrogates became U+FFFD, and how many there were.

    This happens before the reply is shown: if it were done when the reply is
    stored, a resumed dialogue would continue with other words than the first one.

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
    """Return a reply's text, and the original reply if it is HTML; else an empty text for the latter."""
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
        """Return the collected text, without spaces at ends of lines and without more than one empty line."""
        lines = "".join(self._parts).split("\n")
        joined = "\n".join(line.rstrip() if self._parts else line for line in lines)
        joined = re.sub(r"\n[ \t]+(?=[^\s-])", "\n", joined)
        return re.sub(r"\n{3,}", "\n\n", joined).strip()
