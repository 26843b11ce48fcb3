"""Translations: what people read of a study, in another language than its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """What people read of a study, in another language than its own.

    Attributes:
        language: Language tag, e.g. `de` or `ar-EG`.
        words: Key of a text (see `domain.wording.texts_of`) to what it says in that language.
    """

    language: str
    words: Mapping[str, str]
