"""The application and the judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_OPENING_HOURS = {"monday": "9 to 17", "saturday": "10 to 14"}


def opening_hours(prompt: str) -> str:
    """Return the opening hours of the day that the prompt names."""
    for day, hours in _OPENING_HOURS.items():
        if day in prompt.lower():
            return f"Please come on {day.title()} from {hours}."
    return "We are closed."


def is_polite(turns: Sequence[Mapping[str, object]]) -> str:
    """Return `yes` if each response says please, otherwise `no`."""
    return "yes" if all("please" in str(turn["response"]).lower() for turn in turns) else "no"
