"""A defect rate as the page shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from theodolite.domain.annotator import PEOPLE
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.reporting.found.cases import title_of
from theodolite.reporting.found.rates import Rate, interval_words, unmeasured_words
from theodolite.reporting.found.strips import strip_of
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.words import figures

_LEFT, _WIDTH = 8.0, 184.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StripMark:
    """A strip in the units of its drawing (200 wide, 22 high)."""

    low: float
    value: float
    high: float
    is_zero: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RateView:
    """A defect rate in words and as a strip.

    Attributes:
        place: Place in the list `estimates`.
        application: Name of the application.
        tint: Number of the application's colour.
        by: Whose labels it is read by, and at which level of testing; empty where there is only one.
        count: Dialogues with the defect, as text.
        of: Dialogues with a label, as text.
        percent: The share as text; empty where there are too few units.
        interval: The interval or bound as text.
        undefined: Why there is no rate; empty where there is one.
        unmeasured: What is missing from it, in words; empty where nothing is.
        n_unmeasured: Units that should have a label and have none; count.
        mark: The strip; None where nothing can be drawn.
    """

    place: int
    application: str
    tint: int
    by: str
    count: str
    of: str
    percent: str
    interval: str
    undefined: str
    unmeasured: str
    n_unmeasured: int
    mark: StripMark | None


def rate_view(subject: Subject, rate: Rate, end: float, *, column: Sequence[Rate] = ()) -> RateView:
    """Return a rate as it is shown, on an axis from 0 to `end`."""
    result = rate.measurement.result
    enough = isinstance(result, Estimate) and result.n >= figures.FEW
    several = len({other.annotator for other in column}) > 1 or (bool(column) and rate.annotator == PEOPLE)
    application = rate.measurement.application
    return RateView(
        place=rate.place,
        application=application,
        tint=subject.tint(application),
        by=", ".join(
            words for words in (title_of(subject.study, rate.annotator) if several else "", rate.station) if words
        ),
        count=rate.defects_text,
        of=figures.count(result.n),
        percent=figures.percent(result.value) if isinstance(result, Estimate) and enough else "",
        interval=interval_words(rate) if enough else "",
        undefined=result.reason if isinstance(result, Undefined) else "",
        unmeasured=unmeasured_words(rate),
        n_unmeasured=rate.measurement.outcomes.unmeasured,
        mark=_mark(rate, end) if enough else None,
    )


def _mark(rate: Rate, end: float) -> StripMark:
    strip = strip_of(rate, end)
    return StripMark(low=_x(strip.low), value=_x(strip.value), high=_x(strip.high), is_zero=strip.is_zero)


def _x(at: float) -> float:
    return round(_LEFT + at * _WIDTH, 1)
