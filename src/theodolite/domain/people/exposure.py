"""Exposure: how long somebody has tested and what was met, for breaks and rotation."""

from __future__ import annotations

from dataclasses import dataclass

LATELY_H = 24
"""How far back one looks for heavy work; hours."""

MUCH_MIN = 60
"""Time in sessions on one heavy topic, lately, from which on other work is suggested; minutes."""

MUCH_DIALOGUES = 20
"""Dialogues on one heavy topic, annotated lately by one person, from which on other work is suggested; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """What one person has been through.

    Attributes:
        minutes: Time in sessions, pauses left out; minutes.
        turns: Prompts sent; count.
        severe: Turns that the person marked as broken guardrails; count.
        since_break_min: Time in sessions since the last break; minutes.
    """

    minutes: float = 0.0
    turns: int = 0
    severe: int = 0
    since_break_min: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakRule:
    """When a person is reminded to rest, and when it is enough.

    Attributes:
        every_min: Time between reminders; minutes, 0 for none.
        most_min: Time in sessions that one person spends in the study at most; minutes, 0 for no limit.
        most_severe: Broken guardrails that one person meets at most; count, 0 for no limit.
    """

    every_min: int = 0
    most_min: int = 0
    most_severe: int = 0

    def is_due(self, exposure: Exposure) -> bool:
        """Tell whether the person is to be reminded of a break now."""
        return bool(self.every_min) and exposure.since_break_min >= self.every_min

    def is_enough(self, exposure: Exposure) -> bool:
        """Tell whether the person has met as much as anybody should."""
        over_time = bool(self.most_min) and exposure.minutes >= self.most_min
        return over_time or (bool(self.most_severe) and exposure.severe >= self.most_severe)
