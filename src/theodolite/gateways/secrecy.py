"""Secrets: keys that are sent to an endpoint and shown to nobody."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from theodolite.domain.errors import InputError

SHOWN = 200
"""Characters of a server's words that people are shown."""

_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|ak)-[\w*.-]{6,}|\bBearer\s+\S+|\bAIza[\w-]{10,}|\bhf_\w{10,}", re.IGNORECASE)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


BEARER_HEADER = "Authorization"
"""Header in which a key stands as bearer token; in any other it stands alone."""


class Secret:
    """A key whose text stays out of everything that is printed, stored or raised."""

    __slots__ = ("_text", "header", "variable")

    def __init__(self, text: str = "", *, variable: str = "", header: str = BEARER_HEADER) -> None:
        """Keep the key, the name of the environment variable that it came from and the header that carries it.

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
        """Whether the study names a variable for the key and the variable holds none."""
        return bool(self.variable) and not self._text

    def headers(self) -> dict[str, str]:
        """Return the header that carries the key, or nothing where there is no key."""
        if not self._text:
            return {}
        return {self.header: self._worded(self._text)}

    @property
    def in_words(self) -> str:
        """The header with the name of the variable in place of the key, as a person types it into a shell."""
        return f"{self.header}: {self._worded(f'${self.variable}')}"

    def _worded(self, key: str) -> str:
        return f"Bearer {key}" if self.header.lower() == BEARER_HEADER.lower() else key

    def scrub(self, words: str) -> str:
        """Return somebody else's words on one short line, without this or any other key."""
        clean = words.replace(self._text, "***") if self._text else words
        line = " ".join(_UNPRINTABLE.sub(" ", _KEY_LIKE.sub("***", clean)).split())
        return line if len(line) <= SHOWN else line[: SHOWN - 3] + "..."


ARIA_AUTH = "ARIA_AUTH_JSON"
"""Environment variable in which ARIA's harness hands credentials over."""


class Credentials:
    """A JSON object of keys that is handed to an application's class and shown to nobody."""

    __slots__ = ("_auth", "_secrets", "variable")

    def __init__(self, text: str = "", *, variable: str = "") -> None:
        """Keep what the environment variable holds.

        Raises:
            InputError: If it is no JSON object; the text is not repeated.
        """
        self.variable = variable
        try:
            found = json.loads(text) if text.strip() else None
        except (ValueError, RecursionError):
            found = text
        if found is not None and not isinstance(found, dict):
            message = f'variable `{variable}` must hold a JSON object such as {{"key": "..."}}; it holds something else'
            raise InputError(message)
        self._auth: dict[str, Any] | None = found
        self._secrets = _longest_first(_texts_in(found))

    def __repr__(self) -> str:
        return f"Credentials(variable={self.variable!r})"

    @property
    def is_missing(self) -> bool:
        """Whether a variable is named for the credentials and holds none."""
        return bool(self.variable) and self._auth is None

    @property
    def auth(self) -> dict[str, Any] | None:
        """A copy that a class may keep and change; None where there are no credentials."""
        return copy.deepcopy(self._auth)

    def scrub(self, words: str) -> str:
        """Return somebody else's words on one short line, without any of the credentials."""
        for secret in self._secrets:
            words = words.replace(secret, "***")
        return Secret().scrub(words)


_SHORTEST_SECRET = 6
"""Characters from which on a text of the credentials is taken for a secret; shorter ones are words."""


def _texts_in(found: Any) -> Iterator[str]:
    if isinstance(found, str) and len(found) >= _SHORTEST_SECRET:
        yield found
    elif isinstance(found, dict):
        for member in found.values():
            yield from _texts_in(member)
    elif isinstance(found, list):
        for member in found:
            yield from _texts_in(member)


def without_secrets(words: str, credentials: Iterable[str]) -> str:
    """Return somebody else's words, whole, without what stands in some credentials.

    Args:
        words: What came back from a call that had the credentials.
        credentials: Each a key, or a JSON object of keys.
    """
    for given in credentials:
        for secret in _longest_first([given.strip(), *_texts_in(_object_in(given))]):
            words = words.replace(secret, "***") if len(secret) >= _SHORTEST_SECRET else words
    return words


def _object_in(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _longest_first(secrets: Iterable[str]) -> list[str]:
    return sorted(set(secrets), key=len, reverse=True)
