"""Role breaks: where a simulated user did not act like the person that it plays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

_NAME = re.compile(r"[^\W\d_]+")
_CODE = 3
"""Letters of a language's code at most; count."""


class RoleBreakKind(StrEnum):
    """In which way a simulated user fell out of its part."""

    ROLE_FLIP = "role flip"
    REPETITION = "repetition"
    REFUSAL = "refusal"
    EARLY_GOODBYE = "early goodbye"
    SPEAKS_AS_MODEL = "speaks as a model"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleBreakRule:
    """How one kind of role break is found.

    Attributes:
        kind: The kind.
        meaning: What it is, for readers of a report.
        words: Regular expressions over a prompt, letters' case ignored.
        hints: Pieces in small letters of which one stands wherever words are found; none where that is not known.
    """

    kind: RoleBreakKind
    meaning: str
    words: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleBreakRules:
    """All rules by which role breaks are found.

    Attributes:
        rules: One for each kind, in the order of a report.
        same_words: Share of words in common from which two texts are the same; fraction.
        echoed_words: Different words from which a prompt that equals a reply is an echo of it; count.
        languages: Names of the languages that the words are of, in small letters.
        few_turns: Turns after which leaving is early; count.
        long_limit: Turn limit from which leaving can be early; count.
    """

    rules: tuple[RoleBreakRule, ...]
    same_words: float
    echoed_words: int
    few_turns: int
    long_limit: int
    languages: tuple[str, ...] = ()

    def know(self, language: str) -> bool:
        """Tell whether the words are of a language, as a study names it, e.g. `British English`; also where none is."""
        names = _NAME.findall(language.casefold())
        # A short code counts where it comes first: `de` is German in `de-AT`, and "of" in `Português de Portugal`.
        told = (name for place, name in enumerate(names) if not place or len(name) > _CODE)
        return not names or any(name in self.languages for name in told)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleBreak:
    """One place where a rule found a role break.

    Attributes:
        dialogue: Label of the dialogue.
        turn: Number of the turn.
        words: What it was found by: words of the prompt, the beginning of a repeated one, or what happened.
    """

    dialogue: str
    turn: int
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleBreakCheck:
    """What one rule found in all dialogues of a run that simulated users held.

    Attributes:
        kind: The kind of role break.
        meaning: What it is.
        n: Dialogues that were looked at; count.
        unread: Those of them in a language that the rule has no words of; count.
        role_breaks: Where it was found, in order of the plan; may be gone through as often as wanted.
    """

    kind: RoleBreakKind
    meaning: str
    n: int
    unread: int = 0
    role_breaks: Iterable[RoleBreak] = ()

    def dialogues(self) -> Iterator[str]:
        """Yield the labels of the dialogues with at least one such role break, in order of the plan."""
        return (label for label, _ in groupby(self.role_breaks, key=lambda role_break: role_break.dialogue))

    @property
    def n_dialogues(self) -> int:
        """Dialogues with at least one such role break; count."""
        return sum(1 for _ in self.dialogues())
