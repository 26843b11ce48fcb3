"""A watch on one screen of a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from theodolite.domain.annotation import Outcome
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.monitoring import NO_TIME, Alert, AlertKind, Cause, History, InstrumentChange, Segment, Watch
from theodolite.reporting.terminal.layout import labelled
from theodolite.reporting.words import figures
from theodolite.reporting.words import order_metrics as order_words
from theodolite.reporting.words.reading_aids import Words

MARGIN = 11
SHOWN = 8
"""Maximum number of segments and alerts on a screen; counts."""

CAUSES: Mapping[Cause, str] = {
    Cause.APPLICATION: "the anchors are stable, so the application has changed",
    Cause.JUDGE: "the anchors also drifted, so the judge has changed",
    Cause.UNKNOWN: "no anchors were judged since, so the cause (judge or application) is unknown",
}


def watch_text(
    watch: Watch, words: Words, *, width: int = 80, unicode: bool = True, chart: str = "", data: str = ""
) -> str:
    """Return the result of monitoring as lines of text.

    Args:
        watch: The result of monitoring.
        words: The reading aids.
        width: Columns of the terminal; count.
        unicode: Whether the terminal shows non-ASCII characters.
        chart: Path of the chart.
        data: Path of the document.
    """
    parts = [
        labelled(watch.history.name, head_text(watch), margin=_room(watch.history.name), width=width),
        *(labelled("Changed", change_text(change, words), margin=MARGIN, width=width) for change in watch.changes),
        *_segments(watch, width),
        *_alerts(watch, width),
        *_anchors(watch, width),
        *(labelled("Note", note, margin=MARGIN, width=width) for note in watch.notes),
        labelled("Errors", guarantee_text(watch), margin=MARGIN, width=width),
        *(labelled("Power", text, margin=MARGIN, width=width) for text in power_texts(watch)),
        *([f"{'Open':<{MARGIN}}{chart}"] if chart else (),),
        *([f"{'Data':<{MARGIN}}{data}"] if data else (),),
        labelled("Next", _next(watch), margin=MARGIN, width=width),
    ]
    text = "\n".join(line for part in parts for line in part)
    return text if unicode else text.encode("ascii", "replace").decode()


def _room(name: str) -> int:
    """Return the width of a possibly long label, with two columns between it and the text."""
    return max(MARGIN, len(name) + 2)


def head_text(watch: Watch) -> str:
    """Return the monitored scores, on one line."""
    scores = watch.history.columns
    n_anchors = scores.n_anchors
    parts = [figures.number_of(len(scores), "score")]
    parts += [f"{figures.count(n)} of them {name}" for name, n in without_value(watch.history)]
    parts += [f"{figures.count(n_anchors)} on anchors"] * bool(n_anchors)
    first = min((moment for moment in scores.moment if moment != NO_TIME), default=None)
    if first is not None:
        both = (scores.moment.index(moment) for moment in (first, max(scores.moment)))
        parts.append(" to ".join(day(scores.at(row)) for row in both))
    ends = f"scale {watch.history.lowest:g} to {watch.history.highest:g}, {watch.history.worse.value} is bad"
    return ", ".join([*parts, ends])


def without_value(history: History) -> list[tuple[str, int]]:
    """Return the outcomes of the scores without a value, and the count of each."""
    result = [(outcome.value, history.columns.n_of(outcome)) for outcome in Outcome if outcome is not Outcome.ANSWERED]
    return [(name, n) for name, n in result if n]


def day(moment: datetime | None) -> str:
    """Return the day of a time; a dash if there is none."""
    return f"{moment:%Y-%m-%d}" if moment else "-"


def change_text(change: InstrumentChange, words: Words) -> str:
    """Return the change of the instrument, and the shift of scores."""
    moved = f"{change.n_lower} applications lower, {change.n_higher} higher, {change.n_equal} unmoved"
    shift = f", median {change.median_shift:+.2g} points" if change.median_shift is not None else ""
    where = day(change.at) if change.at else f"score {change.position + 1}"
    if change.is_suspected:
        message = f"{where}: nobody declared a change, but {moved} at once{shift}. Suspect the instrument"
        return f"{message}, and ask who changed what"
    aid = words.aid("instrument_changed", a=change.before, b=change.after)
    named = aid if change.part == "judge" else aid.replace("The judge", f"The {change.part}", 1)
    moves = f" {moved[0].upper()}{moved[1:]}{shift}." if change.median_shift is not None else ""
    return f"{where}: {named}{moves}"


def _segments(watch: Watch, width: int) -> Iterator[list[str]]:
    alerted = {alert.application for alert in watch.alerts}
    shown = [one for one in watch.segments if one.application in alerted or len(watch.segments) <= SHOWN][:SHOWN]
    for segment in shown:
        yield labelled(
            segment.application or "scores", _segment(segment), margin=_room(segment.application), width=width
        )
        yield labelled("", latest_text(segment), margin=MARGIN, width=width)
        if segment.ranking is not None:
            text = f"in the order of people's scores: {order_words.ranking_text(segment.ranking)}"
            yield labelled("", text, margin=MARGIN, width=width)
        for note in segment.notes:
            yield labelled("", note, margin=MARGIN, width=width)
    if len(shown) < len(watch.segments):
        rest = len(watch.segments) - len(shown)
        yield labelled(
            "", f"and {figures.count(rest)} more segments without an alert, in the data", margin=MARGIN, width=width
        )


def _segment(segment: Segment) -> str:
    under = ", ".join(f"{part} {version}" for part, version in segment.instruments.items())
    level = f", level {segment.level:.2f}" if segment.level is not None else ""
    missing = f", {figures.count(segment.n_missing)} missing" if segment.n_missing else ""
    head = f"{figures.number_of(segment.n, 'score')}{missing}{level}{f' under {under}' if under else ''}"
    return f"{head}; {_rate(segment)}" if isinstance(segment.rate, Estimate) else head


def latest_text(segment: Segment) -> str:
    """Return the order metrics of the latest window, or the reason why there are none."""
    profile = segment.latest
    if isinstance(profile, Undefined):
        return f"PEN, CIN, LIS {order_words.profile_text(profile)}"
    return f"latest {profile.n}: {order_words.profile_text(profile)}; level {profile.level:.2f}"


def _rate(segment: Segment) -> str:
    rate = segment.rate
    if isinstance(rate, Undefined) or rate.count is None:
        return "no rate"
    text = f"defects {figures.share(rate.count, rate.n)}"
    if rate.n >= figures.FEW and rate.low is not None and rate.high is not None:
        text += f", {figures.span(rate.low, rate.high)} at every look"
    limit = {True: ", above the limit", False: ", below the limit", None: ""}[segment.over_limit]
    return text + limit


def _alerts(watch: Watch, width: int) -> Iterator[list[str]]:
    if not watch.alerts:
        yield labelled("Alerts", "none", margin=MARGIN, width=width)
    for alert in watch.alerts[:SHOWN]:
        yield labelled("ALERT", alert_text(alert), margin=MARGIN, width=width)
    if len(watch.alerts) > SHOWN:
        yield labelled("", f"and {len(watch.alerts) - SHOWN} more alerts, in the data", margin=MARGIN, width=width)


def alert_text(alert: Alert) -> str:
    """Return an alert as a paragraph: kind, position, start, observation, cause."""
    where = [alert.application] if alert.application else []
    where += [day(alert.at)] if alert.at else []
    where += [f"score {alert.position + 1:,}"] if alert.position is not None else []
    text = f"{alert.kind.value} ({', '.join(where)}): {alert.detail}"
    if alert.delay is not None:
        text += f"; seen {figures.number_of(alert.delay, 'score')} after it began"
    if alert.kind not in {AlertKind.JUDGE_DRIFT, AlertKind.RECALIBRATION_DUE, AlertKind.RATE_OVER_LIMIT}:
        text += f"; {CAUSES[alert.cause]}"
    return text


def _anchors(watch: Watch, width: int) -> Iterator[list[str]]:
    if not watch.anchors:
        return
    last = watch.anchors[-1]
    text = (
        f"judged again {figures.number_of(len(watch.anchors), 'time')}; latest: of {last.n} anchors"
        f" {last.n_lower} lower than at first, {last.n_higher} higher"
    )
    if last.ranking is not None:
        tau = last.ranking.tau
        tau_text = f", tau {figures.coefficient(tau.value)}" if isinstance(tau, Estimate) else ""
        text += f"; against people's order CIN {last.ranking.cin}, LIS {last.ranking.lis}{tau_text}"
    yield labelled("Anchors", text, margin=MARGIN, width=width)


def guarantee_text(watch: Watch) -> str:
    """Return the expected rate of false alarms."""
    return (
        f"False alarms: at most 1 per {watch.rules.arl:,} scores of an application,"
        f" and 1 per {2 * watch.rules.arl:,} from anchors."
    )


def power_texts(watch: Watch) -> list[str]:
    """Return the detectable rises of the defect rate and the scores needed, one text for each shown segment."""
    rated = [segment for segment in watch.segments if segment.baseline is not None and segment.detectable][-SHOWN:]
    if not rated:
        return ['not stated: no rule says which scores are defects. Add one, e.g.  --defect "<= 3"']
    advice = (
        " Smaller rises are found with a known rate (--baseline RATE), or with a baseline learned from more than"
        f" {figures.count(watch.rules.reference)} scores (--reference N)."
    )
    texts = [_power(one) for one in rated]
    return texts if watch.rules.baseline is not None else [*texts[:-1], texts[-1] + advice]


def _power(segment: Segment) -> str:
    named = f"{segment.application}: " if segment.application else ""
    result = [rise for rise in segment.detectable if rise.rate is not None]
    if segment.baseline is None or not result:
        most = max((rise.n for rise in segment.detectable), default=0)
        return f"{named}no rise of the defect rate is found within {figures.number_of(most, 'score')}."
    rates = ", ".join(
        f"within {figures.number_of(rise.n, 'score')} ({figures.percent(rise.rate)} or more)"
        for rise in result
        if rise.rate is not None
    )
    return (
        f"{named}a higher defect rate is found with a probability of at least {result[0].power:g}"
        f" {rates}; it is compared with a baseline ({figures.percent(segment.baseline)})."
    )


def _next(watch: Watch) -> str:
    kinds: Sequence[AlertKind] = [alert.kind for alert in watch.alerts]
    if AlertKind.JUDGE_DRIFT in kinds:
        return "let people score the anchors again under the present judge, before any rate is believed"
    if any(alert.cause is Cause.APPLICATION for alert in watch.alerts):
        return "read the dialogues since the alert began"
    if AlertKind.RECALIBRATION_DUE in kinds:
        return "let people score a sample:  theodolite label STUDY --sample 40"
    if not watch.anchors:
        return "add anchors, so that an alert can say who moved"
    return "nothing; look again after the next run"
