"""Charts of an event over days, with the table of values behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.formats import date_format
from django.utils.safestring import SafeString, mark_safe

from theodolite.annotation.agreement import DailyAgreement
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.undefined_reasons import NO_SHARED_UNIT, reason_text, undefined_text
from theodolite.events.progress import EventTimeline
from theodolite.reporting.words.lanes import DayChart, Mark, day_bars, day_chart
from theodolite.web.access import hosts_only
from theodolite.web.questions import humanize

LONGEST_FORECAST = timedelta(days=366)
"""How far in the future the end of a forecast has a date; later ends have none."""

MOST_DAY_LABELS = 6
"""Maximum number of days with a label below a chart; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayLine:
    """A day of the event in the table behind the charts."""

    day: date
    started: int
    ended: int
    dialogues: int
    annotations: int
    agreement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Charts:
    """The charts over days with their texts and the table of values.

    Attributes:
        sessions: Ended sessions over time; empty before the first one.
        forecast: The forecast as text; empty if the event is not open.
        agreement: Agreement day by day; empty while no day has a value.
        asked: The question of the agreement as text; empty without one.
        no_agreement: Reason why there is no value yet.
        bars: Title and chart of each count of the days.
        lines: The values, one line per day.
    """

    sessions: SafeString
    forecast: str
    agreement: SafeString
    asked: str
    no_agreement: str
    bars: Sequence[tuple[str, SafeString]]
    lines: Sequence[DayLine]


def charts_of(timeline: EventTimeline, agreement: DailyAgreement | None, now: datetime, zone: ZoneInfo) -> Charts:
    """Return the charts of an event over days.

    Args:
        timeline: The event over time.
        agreement: The agreement of annotators day by day; None without a queue.
        now: The present moment.
        zone: Time zone of the event.
    """
    days = [day.day for day in timeline.days]
    values = {day.day: day.alpha for day in agreement.days} if agreement else {}
    defined = {day: alpha for day, alpha in values.items() if isinstance(alpha, Estimate)}
    why_none = [alpha.reason for alpha in values.values() if isinstance(alpha, Undefined)]
    return Charts(
        sessions=_sessions_chart(timeline, now, zone),
        forecast=forecast_text(timeline.forecast, now, zone),
        agreement=_agreement_chart(defined, sorted({*days, *values})),
        asked=f"{humanize(agreement.category)}: {humanize(agreement.question)}" if agreement else "",
        no_agreement=why_none[-1] if why_none else NO_SHARED_UNIT,
        bars=_bars(timeline),
        lines=[
            DayLine(
                day=day.day,
                started=day.started,
                ended=day.ended,
                dialogues=day.dialogues,
                annotations=day.annotations,
                agreement=_alpha_text(values.get(day.day)),
            )
            for day in timeline.days
        ],
    )


def _alpha_text(alpha: Estimate | Undefined | None) -> str:
    if alpha is None:
        return "none"
    if isinstance(alpha, Undefined):
        return undefined_text(alpha)
    ends = "" if alpha.low is None or alpha.high is None else f" ({alpha.low:.2f} to {alpha.high:.2f})"
    return f"{alpha.value:.2f}{ends}, n = {alpha.n}"


def forecast_text(forecast: Estimate | Undefined | None, now: datetime, zone: ZoneInfo) -> str:
    """Return a forecast as a sentence; empty for None.

    Args:
        forecast: Days from now, or the reason why there is no forecast.
        now: The present moment.
        zone: Time zone of the event.
    """
    if forecast is None:
        return ""
    if isinstance(forecast, Undefined):
        return f"No forecast: {reason_text(forecast.reason)}."
    low, value, high = (_date_of(days, now, zone) for days in (forecast.low or 0.0, forecast.value, forecast.high))
    return f"Planned sessions end about {value} at this pace (95% interval: {low} to {high})."


def _date_of(days: float | None, now: datetime, zone: ZoneInfo) -> str:
    if days is None or timedelta(days=min(days, 1e6)) > LONGEST_FORECAST:
        return "more than a year from now"
    return date_format((now + timedelta(days=days)).astimezone(zone), "D j M, H:i")


def _sessions_chart(timeline: EventTimeline, now: datetime, zone: ZoneInfo) -> SafeString:
    if not timeline.ended:
        return SafeString("")
    forecast = timeline.forecast if isinstance(timeline.forecast, Estimate) else None
    first, total = _midnight(timeline.days[0].day, zone), float(timeline.n_ended)
    last = max(_end_of_chart(timeline, forecast, now), first + timedelta(days=1))
    until = now if timeline.forecast is not None else timeline.ended[-1][0]
    highest = max(timeline.n_ended + timeline.n_left, timeline.n_planned, 1)

    def x(moment: datetime) -> float:
        return min(1.0, max(0.0, (moment - first) / (last - first)))

    done = [(0.0, 0.0), *((x(moment), float(n)) for moment, n in timeline.ended), (x(until), total)]
    lines: list[tuple[str, Sequence[tuple[float, float]]]] = [("done", done)]
    if timeline.opens and timeline.closes:
        lines.append(("plan", [(x(timeline.opens), 0.0), (x(timeline.closes), float(timeline.n_planned))]))
    band: list[tuple[float, float]] = []
    if forecast is not None:
        end = total + timeline.n_left
        early, likely, late = (_on_line(now, days, last) for days in _days_of(forecast))
        ends = [(x(moment), total + part * (end - total)) for moment, part in (early, likely, late)]
        band = [(x(now), total), ends[0], (ends[2][0], end), ends[2]]
        lines.append(("forecast", [(x(now), total), ends[1]]))
    drawing = day_chart(
        DayChart(
            label=f"Ended sessions over time: {timeline.n_ended} of {timeline.n_planned} planned.",
            low=0.0,
            high=float(highest),
            ticks=[(0.0, "0"), (highest / 2, f"{highest / 2:g}"), (float(highest), str(highest))],
            days=_day_labels(first, last, zone),
            lines=lines,
            band=band,
            marks=[Mark(x=x(until), value=total, text=str(timeline.n_ended))],
        )
    )
    return mark_safe(drawing)  # noqa: S308 - numbers and escaped words


def _days_of(forecast: Estimate) -> tuple[float, float, float]:
    """Return the earliest, likeliest and latest end of a forecast; days from now."""
    low, high = forecast.low or 0.0, forecast.high if forecast.high is not None else forecast.value
    return low, forecast.value, high


def _on_line(now: datetime, days: float, last: datetime) -> tuple[datetime, float]:
    """Return the end point of a line from now to an end, and the share of the height that it reaches there."""
    room = (last - now) / timedelta(days=1)
    part = min(1.0, room / days) if days > 0 else 1.0
    return now + timedelta(days=days * part), part


def _end_of_chart(timeline: EventTimeline, forecast: Estimate | None, now: datetime) -> datetime:
    """Return the end of the chart's time axis: the schedule's end, or the likely range of the forecast."""
    ends = [now if timeline.forecast is not None else timeline.ended[-1][0]]
    if timeline.closes is not None:
        ends.append(timeline.closes)
    if forecast is not None:
        _, value, high = _days_of(forecast)
        ends.append(now + min(timedelta(days=min(high, 2 * value)), LONGEST_FORECAST))
    return max(ends)


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone)


def _day_labels(first: datetime, last: datetime, zone: ZoneInfo) -> list[tuple[float, str]]:
    """Return the positions and names of some days between two times, at their midnights."""
    begin = first.astimezone(zone).date()
    n_days = (last.astimezone(zone).date() - begin).days + 1
    step = -(-n_days // MOST_DAY_LABELS)
    days = [begin + timedelta(days=number) for number in range(0, n_days, step)]
    words = _day_words(n_days)
    placed = [((_midnight(day, zone) - first) / (last - first), date_format(day, words)) for day in days]
    return [(x, text) for x, text in placed if x < 1 - 0.5 / (MOST_DAY_LABELS + 1) or x == 0]


def _agreement_chart(defined: Mapping[date, Estimate], days: Sequence[date]) -> SafeString:
    if not defined:
        return SafeString("")
    marks = [
        Mark(
            x=(days.index(day) + 0.5) / len(days),
            value=alpha.value,
            text=f"{alpha.value:.2f}",
            low=alpha.low,
            high=alpha.high,
        )
        for day, alpha in defined.items()
    ]
    ends = [alpha.value if alpha.low is None else alpha.low for alpha in defined.values()]
    low = 0.0 if min(ends) >= 0 else -1.0
    texts = [f"{day:%-d %B}: {_alpha_text(alpha)}" for day, alpha in defined.items()]
    drawing = day_chart(
        DayChart(
            label=f"Krippendorff's alpha per day. {'; '.join(texts)}.",
            low=low,
            high=1.0,
            ticks=[(low, f"{low:g}"), ((1 + low) / 2, f"{(1 + low) / 2:g}"), (1.0, "1")],
            days=_middles(days),
            lines=[("alpha", [(mark.x, mark.value) for mark in marks])],
            marks=marks,
        )
    )
    return mark_safe(drawing)  # noqa: S308 - numbers and escaped words


def _middles(days: Sequence[date]) -> list[tuple[float, str]]:
    """Return the position and name of some days, each at the middle of its column."""
    step, words = -(-len(days) // MOST_DAY_LABELS), _day_words(len(days))
    return [
        ((number + 0.5) / len(days), date_format(day, words)) for number, day in enumerate(days) if number % step == 0
    ]


def _day_words(n_days: int) -> str:
    """Return the format of a label: the weekday for a short event, the month for a long one."""
    return "D j" if n_days <= 2 * MOST_DAY_LABELS else "j M"


def _bars(timeline: EventTimeline) -> list[tuple[str, SafeString]]:
    """Return a bar chart for each count of the days; empty before the first day."""
    if not timeline.days:
        return []
    places = _middles([day.day for day in timeline.days])
    rows = {
        "Sessions started": [day.started for day in timeline.days],
        "Dialogues": [day.dialogues for day in timeline.days],
        "Annotations": [day.annotations for day in timeline.days],
    }
    return [
        (title, mark_safe(day_bars(f"{title} per day: {', '.join(map(str, counts))}.", counts, places)))  # noqa: S308 - numbers
        for title, counts in rows.items()
    ]


@hosts_only
def components(request: HttpRequest) -> HttpResponse:
    """Show every component of the pages with example content, to review their design."""
    first, last = datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 3, 6, tzinfo=UTC)
    ended = [(0.0, 0.0), (0.25, 30.0), (0.5, 60.0)]
    example = DayChart(
        label="60 of 120 sessions have ended.",
        low=0.0,
        high=120.0,
        ticks=[(0.0, "0"), (60.0, "60"), (120.0, "120")],
        days=_day_labels(first, last, ZoneInfo("UTC")),
        lines=[("done", ended), ("forecast", [(0.5, 60.0), (0.9, 120.0)]), ("plan", [(0.0, 0.0), (1.0, 120.0)])],
        band=[(0.5, 60.0), (0.8, 120.0), (1.0, 120.0)],
        marks=[Mark(x=0.5, value=60.0, text="60", low=50.0, high=70.0)],
    )
    shown = {
        "chart": SafeString(day_chart(example)),
        "bars": SafeString(day_bars("Sessions per day: 8, 12, 6.", [8, 12, 6], [(0.5 / 3, "Mon"), (2.5 / 3, "Wed")])),
        "people": (("Ana", 42), ("Ben", 7), ("Cleo", 18)),
    }
    return render(request, "web/components.html", shown)
