"""Secrets: keys that are sent to an endpoint and shown to nobody."""

from __future__ import annotations

import re

from theodolite.domain.errors import InputError

SHOWN = 200
"""Characters of a server's words that people are shown."""

_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|ak)-[\w*.-]{6,}|\bBearer\s+\S+|\bAIza[\w-]{10,}|\bhf_\w{10,}", re.IGNORECASE)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


class Secret:
    """A key whose text stays out of everything that is printed, stored or raised."""

    __slots__ = ("_text", "variable")

    def __init__(self, text: str = "", *, variable: str = "") -> None:
        """Keep the key and the name of the environment variable that it came from.

        Raises:
            InputError: If the text cannot be a key; the text is not repeated.
        """
        self._text = text.strip()
        self.variable = variable
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
        return {"Authorization": f"Bearer {self._text}"} if self._text else {}

    def scrub(self, words: str) -> str:
        """Return somebody else's words on one short line, without this or any other key."""
        clean = words.replace(self._text, "***") if self._text else words
        line = " ".join(_UNPRINTABLE.sub(" ", _KEY_LIKE.sub("***", clean)).split())
        return line if len(line) <= SHOWN else line[: SHOWN - 3] + "..."
