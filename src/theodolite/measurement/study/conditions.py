"""Conditions of testing: the level, and who held the tester's side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from theodolite.domain.dialogue import HeldBy, Level
from theodolite.domain.estimate_subject import EstimateSubject
from theodolite.domain.plan import Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class TesterCondition:
    """One level of testing with one kind of tester.

    Attributes:
        level: Level of testing.
        held_by: Who held the tester's side.
        alone: Whether the application was looked at from here only.
    """

    level: Level
    held_by: HeldBy
    alone: bool

    def limited(self, subject: EstimateSubject) -> EstimateSubject:
        """Return a subject limited to this level and tester type; unchanged where there is no other."""
        return subject if self.alone else replace(subject, level=self.level, tester_type=self.held_by)

    def holds(self, setting: Setting) -> bool:
        """Tell whether sessions of a setting were held at it."""
        return (setting.level, setting.held_by) == (self.level, self.held_by)


def conditions(settings: Iterable[Setting]) -> tuple[TesterCondition, ...]:
    """Return the conditions of one application's sessions, in order of the levels.

    Numbers of different conditions answer different questions (a red teamer tries
    to break what a user only uses; a simulated user is no person), so that they
    are counted apart and never added.
    """
    met = {(setting.level, setting.held_by) for setting in settings}
    ordered = sorted(met, key=lambda at: (list(Level).index(at[0]), list(HeldBy).index(at[1])))
    return tuple(TesterCondition(level=level, held_by=held_by, alone=len(met) == 1) for level, held_by in ordered)
