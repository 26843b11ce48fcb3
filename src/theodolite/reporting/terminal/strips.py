"""Strips drawn with characters."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.reporting.found.strips import Strip


@dataclass(frozen=True, slots=True, kw_only=True)
class Pen:
    """The characters that strips are drawn with."""

    empty: str
    line: str
    point: str
    zero: str


UNICODE_PEN = Pen(empty="·", line="━", point="●", zero="○")

PLAIN_PEN = Pen(empty=".", line="-", point="#", zero="o")


def strip_text(strip: Strip, *, cells: int, pen: Pen) -> str:
    """Return a strip drawn with characters; a bound at zero is shown by its mark alone."""
    places = [min(int(at * cells), cells - 1) for at in (strip.low, strip.value, strip.high)]
    drawn: list[str] = [pen.empty] * cells
    if not strip.is_zero:
        drawn[places[0] : places[2] + 1] = [pen.line] * (places[2] - places[0] + 1)
    drawn[places[1]] = pen.zero if strip.is_zero else pen.point
    return "".join(drawn)


def pen_for(*, unicode: bool) -> Pen:
    """Return the characters that a terminal can show."""
    return UNICODE_PEN if unicode else PLAIN_PEN
