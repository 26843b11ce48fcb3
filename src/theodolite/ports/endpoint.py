"""The port for asking an endpoint once before the first paid unit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from theodolite.domain.run import Spending


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointCheck:
    """What an endpoint said when it was asked once.

    Attributes:
        name: Name of the model or application in the study.
        host: Host and port; empty where nothing leaves the program.
        alive: Whether it can be used.
        answer: What to tell people, e.g. `ok, 0.4 s, answers as gpt-5.2-2026-01-15`.
        hint: What one could try, e.g. a command line; empty where all is well.
        spent: What asking cost.
        reached: Whether anybody answered at all.
    """

    name: str
    host: str
    alive: bool
    answer: str
    hint: str = ""
    spent: Spending = field(default_factory=Spending)
    reached: bool = True


@runtime_checkable
class Endpoint(Protocol):
    """Anything that can be asked whether it is there."""

    async def check_endpoint(self) -> EndpointCheck:
        """Ask once, within 4 seconds; never raises a `GatewayError`."""
        ...
