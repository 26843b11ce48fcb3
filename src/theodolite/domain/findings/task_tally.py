"""Task tallies: in how many sessions people say that they completed their task."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.dialogue import Level
from theodolite.domain.findings.number import Estimate, Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTally:
    """Task completion with one application at one level, by people's own account.

    Attributes:
        application: Name of the application.
        level: Level of testing.
        n_sessions: Sessions that are over; count.
        n_unsaid: Those whose tester has not said; count, not in the share.
        done: Share of the others in which the task was completed.
    """

    application: str
    level: Level
    n_sessions: int
    n_unsaid: int
    done: Estimate | Undefined
