"""The shipped injections by which judges are tried."""

from __future__ import annotations

from functools import cache

from ruamel.yaml import YAML

from theodolite.config.resources import shipped_text
from theodolite.domain.injection import InjectionAttempt, InjectionSpot


@cache
def injection_attempts() -> tuple[InjectionAttempt, ...]:
    """Return the attempts that the package ships, in the order of their file."""
    listed = YAML(typ="safe", pure=True).load(shipped_text("injections/judges.yaml"))
    return tuple(
        InjectionAttempt(
            name=name,
            spot=InjectionSpot(entry["where"]),
            text=entry["text"],
            unseen=bool(entry.get("unseen", False)),
        )
        for name, entry in listed["attempts"].items()
    )
