"""One question of a form, and what can be chosen as its answer."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.instrument import Exemplar, OpenQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One thing that can be chosen.

    Attributes:
        value: What is sent.
        words: What it says.
        meaning: What stands beside it, smaller.
        tag: Identifier on the page.
        is_chosen: Whether the person has chosen it.
        is_aside: Whether it stands apart from the scale: "unable to determine" or "does not apply".
    """

    value: str
    words: str
    tag: str
    meaning: str = ""
    is_chosen: bool = False
    is_aside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One question on a page, about the whole or one turn.

    Attributes:
        place: The question and the turn.
        name: Name of the field in what is sent.
        tag: Identifier on the page.
        kind: `numbers`, `list`, `several`, `decimal` or `text`.
        ask: The question.
        options: What can be chosen; empty for text and decimals.
        low: What the lowest number means, in words.
        high: What the highest number means.
        text: What was written, for text and decimals.
        least: Lower end of a decimal scale; None for others.
        most: Upper end of a decimal scale.
        is_asked: Whether it is asked, given the answers so far.
        is_open: Whether it waits for an answer.
        is_optional: Whether it may stay empty.
        exemplars: Examples of answers.
        problem: What is wrong with it; empty where nothing is, or nobody checked.
        is_shut: Whether a browser sends nothing of it while it is not asked.
    """

    place: OpenQuestion
    name: str
    tag: str
    kind: str
    ask: str
    options: tuple[Option, ...] = ()
    low: str = ""
    high: str = ""
    text: str = ""
    least: int | None = None
    most: int | None = None
    is_asked: bool = True
    is_open: bool = True
    is_optional: bool = False
    exemplars: tuple[Exemplar, ...] = ()
    problem: str = ""
    is_shut: bool = False

    @property
    def lowest(self) -> Option | None:
        """The first point of the scale."""
        return next((option for option in self.options if not option.is_aside), None)

    @property
    def highest(self) -> Option | None:
        """The last point of the scale."""
        return next((option for option in reversed(self.options) if not option.is_aside), None)

    @property
    def plain(self) -> tuple[Option, ...]:
        """What can be chosen of the scale itself."""
        return tuple(option for option in self.options if not option.is_aside)

    @property
    def aside(self) -> tuple[Option, ...]:
        """What can be chosen in place of a value."""
        return tuple(option for option in self.options if option.is_aside)

    @property
    def first(self) -> str:
        """Identifier of what takes the focus when one goes to the question."""
        return self.options[0].tag if self.options else self.tag
