"""Opening: between which moments the people of a level may hold their sessions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo
from enum import StrEnum

from theodolite.domain.event import Event, LevelPlan


class Openness(StrEnum):
    """Where a moment lies."""

    NOT_YET = "not yet open"
    OPEN = "open"
    OVER = "over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hours:
    """When a level is open.

    Attributes:
        opens: From when; None for always.
        closes: Until when, this moment left out; None for no end.
    """

    opens: datetime | None = None
    closes: datetime | None = None

    def at(self, now: datetime) -> Openness:
        """Tell where a moment lies."""
        if self.opens is not None and now < self.opens:
            return Openness.NOT_YET
        return Openness.OVER if self.closes is not None and now >= self.closes else Openness.OPEN

    def left_s(self, now: datetime) -> float | None:
        """Return the time until the end; seconds, 0 after it, None where there is none."""
        return None if self.closes is None else max((self.closes - now).total_seconds(), 0.0)


def hours_of(event: Event | None, plan: LevelPlan, zone: tzinfo) -> Hours:
    """Return when a level is open: its own times where it has some, else the event's.

    Args:
        event: Of the study; None where it has none.
        plan: The level.
        zone: The event's time zone.
    """
    opens = plan.opens or (event.opens if event else "")
    closes = plan.closes or (event.closes if event else "")
    return Hours(opens=_moment(opens, zone), closes=_moment(closes, zone))


def _moment(text: str, zone: tzinfo) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=zone) if text else None
