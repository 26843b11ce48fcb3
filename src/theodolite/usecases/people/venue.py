"""The venue: an event put together, so that people can test in it."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.plan import Plan
from theodolite.domain.run import Run
from theodolite.domain.study import Study
from theodolite.ports.clock import Clock
from theodolite.ports.people import People


@dataclass(frozen=True, slots=True, kw_only=True)
class Venue:
    """An event put together.

    Attributes:
        study: What is tested, as it was when the venue was opened.
        plan: The same fully drawn.
        run: The run that dialogues of people join.
        store: Keeps what people do.
        clock: Tells the time.
    """

    study: Study
    plan: Plan
    run: Run
    store: People
    clock: Clock
