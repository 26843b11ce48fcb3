"""Two-sided plots, laid out in advance: released against withheld on the first screen, and utility against risk.

Each application is a cross: its marker at both rates, its lines at both intervals.
Names are next to the markers; crowded points are drawn again in an inset.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import hypot

from theodolite.domain.dialogue import Level
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.reporting.interval_bars import ends_of
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.queries.cases import title_of
from theodolite.reporting.queries.rates import Rate, guardrail_of, lead_rates, matrix_of, rate_by_application
from theodolite.reporting.tables import Table, columns
from theodolite.reporting.words import figures

Ends = tuple[float, float, float]
"""Low end, value and high end; percent."""

Box = tuple[float, float, float, float]
"""Left, top, right and bottom; units of the drawing."""

_STEPS = {1: 0.5, 2: 1, 4: 2, 5: 1, 8: 4, 10: 5, 15: 5, 20: 5, 25: 5, 40: 10, 50: 10, 75: 25, 100: 25}
"""End of an axis and the distance of its ticks; percent."""

_NEAR = 50.0
"""Distance below which two markers crowd; units of the drawing."""

_WIDE = 500
"""Width above which a drawing has room for longer text; units of the drawing."""

_LETTER = 7.6
"""Approximate width of a character of a name; units of the drawing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cross:
    """One application in the drawing.

    Attributes:
        name: The application.
        tint: Number of its colour and marker.
        opens: Name of the set with its defects of both sides.
        x: Left end, marker and right end of the interval.
        y: Lower end, marker and upper end of the interval.
        scale: Size of the marker; 1 is the usual one.
    """

    name: str
    tint: int
    opens: str
    x: Ends
    y: Ends
    scale: float = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class NameLabel:
    """A name next to its marker."""

    text: str
    tint: int
    x: float
    y: float
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotPanel:
    """A pair of axes with the area between them.

    Attributes:
        box: Its plotting area.
        x_ticks: Position and text of each tick below.
        y_ticks: The same at the left.
        crosses: The applications.
        labels: Their names.
    """

    box: Box
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    crosses: tuple[Cross, ...]
    labels: tuple[NameLabel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardrailPlot:
    """The drawing.

    Attributes:
        width: Width; units of the drawing.
        height: Height.
        x_title: Title of the lower axis.
        y_title: Title of the left axis.
        words: All values as text.
        main: The whole range.
        inset: The range in which points crowd; None if none do.
        source: Position of that range in the whole.
        card: Outline of the inset.
        inset_title: Range of the inset as text.
    """

    width: int
    height: int
    x_title: str
    y_title: str
    words: str
    main: PlotPanel
    inset: PlotPanel | None = None
    source: Box = (0, 0, 0, 0)
    card: Box = (0, 0, 0, 0)
    inset_title: str = ""


@dataclass(frozen=True, slots=True)
class _Point:
    name: str
    tint: int
    opens: str
    x: Ends
    y: Ends


@dataclass(frozen=True, slots=True)
class _Axes:
    box: Box
    x_end: float
    y_end: float

    def x(self, value: float) -> float:
        left, _, right, _ = self.box
        return round(left + (right - left) * min(value / self.x_end, 1), 1)

    def y(self, value: float) -> float:
        _, top, _, bottom = self.box
        return round(bottom - (bottom - top) * min(value / self.y_end, 1), 1)

    def cross(self, point: _Point, scale: float = 1) -> Cross:
        low, value, high = point.x
        below, at, above = point.y
        return Cross(
            name=point.name,
            tint=point.tint,
            opens=point.opens,
            x=(self.x(low), self.x(value), self.x(high)),
            y=(self.y(below), self.y(at), self.y(above)),
            scale=scale,
        )

    def panel(self, crosses: Sequence[Cross], named: Sequence[Cross]) -> PlotPanel:
        return PlotPanel(
            box=self.box,
            x_ticks=tuple((self.x(value), f"{value:g}") for value in _ticks(self.x_end)),
            y_ticks=tuple((self.y(value), f"{value:g}") for value in _ticks(self.y_end)),
            crosses=tuple(crosses),
            labels=tuple(_labels(named, crosses, self.box)),
        )


def guardrail_plots(subject: Subject) -> tuple[GuardrailPlot, ...]:
    """Return the plot for a wide and for a narrow screen; empty without two sides and two applications."""
    guardrail = guardrail_of(subject.study)
    if guardrail is None:
        return ()
    sides = [
        rate_by_application(subject.rates, guardrail.guideline.name, rule.name)
        for rule in (guardrail.withheld, guardrail.released)
    ]
    shared = [app.name for app in subject.study.applications if all(app.name in rates for rates in sides)]
    if len(shared) < 2:
        return ()
    points = [_point(subject, name, sides[0][name], sides[1][name]) for name in shared]
    titles = [
        f"{title}, % of {_of([rates[name].measurement.result.n for name in shared])}"
        for title, rates in zip(("Withheld", "Released"), sides, strict=True)
    ]
    return _plots(points, titles, ("withheld", "released"))


def _plots(points: Sequence[_Point], titles: Sequence[str], words: tuple[str, str]) -> tuple[GuardrailPlot, ...]:
    """Return the drawing for a wide and for a narrow screen."""
    return tuple(_plot(points, titles, words, width, height) for width, height in ((566, 360), (340, 340)))


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityPlot:
    """Utility against risk for one kind of risk and level of testing, with the table of its values.

    Attributes:
        title: Heading.
        plots: The drawing for a wide and for a narrow screen.
        table: The same values.
    """

    title: str
    plots: tuple[GuardrailPlot, ...]
    table: Table


def utility_plots(subject: Subject) -> tuple[UtilityPlot, ...]:
    """Return utility against risk of each application, by risk and level; empty if one of both is unknown.

    Utility is the share of sessions in which people completed their task; risk is the likelihood of a risk in
    dialogues or sessions of the same level. Without a question about the task, utility is the share of permitted
    requests that were answered, and risk the share of prohibited ones that were released, unless the first screen
    already has both sides of the guardrail.
    """
    done = {(tally.application, tally.level): tally.done for tally in subject.findings.tasks}
    by_risk: dict[tuple[str, Level], dict[str, tuple[_Share, _Share]]] = {}
    for finding in subject.findings.risks:
        utility = _share_of(done.get((finding.application, finding.level)), "task completed")
        risk = _share_of(finding.impact.likelihood if finding.impact else None, finding.risk.name)
        if utility and risk:
            sides = by_risk.setdefault((finding.risk.name, finding.level), {})
            sides[finding.application] = utility, risk
    plots = [
        _utility_plot(subject, f"{name}, {level.value}", ("Task completed", f"Risk {name}"), sides)
        for (name, level), sides in by_risk.items()
    ]
    is_shown = guardrail_plots(subject) and not matrix_of(subject.study, subject.rates)
    plots += [] if subject.findings.tasks or is_shown else _guardrail_utility(subject)
    return tuple(plots)


def _guardrail_utility(subject: Subject) -> Iterator[UtilityPlot]:
    guardrail = guardrail_of(subject.study)
    if guardrail is None:
        return
    by_condition: dict[str, dict[str, dict[bool, Rate]]] = {}
    for is_risk, rule in ((False, guardrail.withheld), (True, guardrail.released)):
        for rate in lead_rates(subject.rates, guardrail.guideline.name, rule.name):
            if rate.estimate and rate.estimate.n >= figures.FEW:
                own = by_condition.setdefault(f"{rate.annotator}\0{rate.station}", {})
                own.setdefault(rate.measurement.application, {})[is_risk] = rate
    for key, own in by_condition.items():
        annotator, _, condition = key.partition("\0")
        sides = {
            name: (_answered(result[False]), _Share(*ends_of(result[True]), _n(result[True]), "prohibited released"))
            for name, result in own.items()
            if len(result) == 2
        }
        if sides:
            by = title_of(subject.study, annotator) if len({one.partition("\0")[0] for one in by_condition}) > 1 else ""
            title = ", ".join(filter(None, (guardrail.guideline.name, condition, by)))
            yield _utility_plot(subject, title, ("Permitted answered", "Prohibited released"), sides)


def _n(rate: Rate) -> int:
    return rate.measurement.result.n


def _answered(withheld: Rate) -> _Share:
    low, value, high = ends_of(withheld)
    return _Share(1 - high, 1 - value, 1 - low, _n(withheld), "permitted answered")


@dataclass(frozen=True, slots=True)
class _Share:
    low: float
    value: float
    high: float
    n: int
    name: str

    @property
    def text(self) -> str:
        count = f"{round(self.value * self.n)} of {figures.count(self.n)}"
        ends = figures.span(self.low, self.high) if self.value else f"at most {figures.points(self.high)}"
        return f"{count}, {figures.percent(self.value)} ({ends})"


def _share_of(result: Estimate | Undefined | None, name: str) -> _Share | None:
    if not isinstance(result, Estimate) or result.low is None or result.high is None or result.n < figures.FEW:
        return None
    return _Share(result.low, result.value, result.high, result.n, name)


def _utility_plot(
    subject: Subject, title: str, axes: tuple[str, str], sides: Mapping[str, tuple[_Share, _Share]]
) -> UtilityPlot:
    points = [
        _Point(
            name,
            subject.tint(name),
            "",
            (100 * utility.low, 100 * utility.value, 100 * utility.high),
            (100 * risk.low, 100 * risk.value, 100 * risk.high),
        )
        for name, (utility, risk) in sides.items()
    ]
    titles = [
        f"{axis}, % of {_of([pair[index].n for pair in sides.values()], 'units')}" for index, axis in enumerate(axes)
    ]
    words = (axes[0].lower(), axes[1].lower())
    return UtilityPlot(
        title=f"Utility against risk: {title}",
        plots=_plots(points, titles, words),
        table=Table(
            title=f"Utility against risk, {title}: values",
            columns=columns("Application", *axes),
            rows=tuple((name, utility.text, risk.text) for name, (utility, risk) in sides.items()),
            style="groups",
        ),
    )


def _of(ns: Sequence[int], unit: str = "dialogues") -> str:
    sizes = sorted(set(ns))
    counts = " to ".join(figures.count(n) for n in dict.fromkeys((sizes[0], sizes[-1])))
    return f"{counts} {unit}"


def _point(subject: Subject, name: str, withheld: Rate, released: Rate) -> _Point:
    labels = {*withheld.measurement.dialogues, *released.measurement.dialogues}
    cases = [case.index for case in subject.labelled(labels)]
    opens = subject.sets.add(f"guardrail.{name}", f"{name}: withheld or released", cases)
    x, y = ((100 * low, 100 * value, 100 * high) for low, value, high in map(ends_of, (withheld, released)))
    return _Point(name, subject.tint(name), opens, x, y)


def _plot(
    points: Sequence[_Point], titles: Sequence[str], sides: tuple[str, str], width: int, height: int
) -> GuardrailPlot:
    axes = _Axes((44, 26, width - 14, height - 44), _end([p.x[2] for p in points]), _end([p.y[2] for p in points]))
    words = "; ".join(f"{p.name}: {sides[0]} {p.x[1]:.1f}%, {sides[1]} {p.y[1]:.1f}%" for p in points)
    plot = GuardrailPlot(
        width=width,
        height=height,
        x_title=titles[0],
        y_title=titles[1],
        words=words,
        main=axes.panel([axes.cross(point) for point in points], [axes.cross(point) for point in points]),
    )
    return _with_inset(plot, axes, points, sides)


def _with_inset(plot: GuardrailPlot, axes: _Axes, points: Sequence[_Point], sides: tuple[str, str]) -> GuardrailPlot:
    crowd = _crowd(points, axes)
    if not crowd:
        return plot
    x_end, y_end = _end([point.x[2] for point in crowd]), _end([point.y[2] for point in crowd])
    source = (axes.x(0), axes.y(y_end), axes.x(x_end), axes.y(0))
    rest = [axes.cross(point) for point in points if point not in crowd]
    names = [_label_box(label) for label in _labels(rest, rest, axes.box)]
    card = _free_card(axes.box, [source, *names, *(box for cross in rest for box in _boxes(cross))])
    if card is None or x_end > 0.6 * axes.x_end or y_end > 0.6 * axes.y_end:
        return plot
    inner = _Axes((card[0] + 32, card[1] + 30, card[2] - 14, card[3] - 26), x_end, y_end)
    crosses = [inner.cross(point) for point in crowd]
    small = [axes.cross(point, 0.75) for point in crowd]
    main = axes.panel([*rest, *small], rest)
    return replace(
        plot,
        main=main,
        inset=inner.panel(crosses, crosses),
        source=source,
        card=card,
        inset_title=f"Inset: {x_end:g} by {y_end:g}"
        if plot.width < _WIDE
        else f"Inset: {sides[0]} 0 to {x_end:g}, {sides[1]} 0 to {y_end:g}",
    )


def _crowd(points: Sequence[_Point], axes: _Axes) -> list[_Point]:
    """Return the points that have another one near them."""
    places = {point.name: (axes.x(point.x[1]), axes.y(point.y[1])) for point in points}

    def is_near(a: _Point, b: _Point) -> bool:
        (x1, y1), (x2, y2) = places[a.name], places[b.name]
        return a is not b and hypot(x1 - x2, y1 - y2) < _NEAR

    return [point for point in points if any(is_near(point, other) for other in points)]


def _free_card(box: Box, taken: Sequence[Box]) -> Box | None:
    """Return the largest outline of an inset that covers nothing; None if there is none."""
    left, top, right, bottom = box
    for share in (0.7, 0.6, 0.5, 0.42):
        width, height = (right - left) * max(share, 0.5), (bottom - top) * share
        for x in (right - width + 8, left + (right - left - width) / 2, left + 24):
            for y in (top + 4, top + (bottom - top - height) / 2):
                card = (round(x, 1), round(y, 1), round(x + width, 1), round(y + height, 1))
                if not any(_overlap(card, other) for other in taken):
                    return card
    return None


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _boxes(cross: Cross) -> tuple[Box, ...]:
    """Return the area of a cross: its marker and its two lines."""
    (left, x, right), (below, y, above) = cross.x, cross.y
    return (x - 7, y - 7, x + 7, y + 7), (left, y - 3, right, y + 3), (x - 3, above, x + 3, below)


def _labels(named: Sequence[Cross], crosses: Sequence[Cross], box: Box) -> Iterator[NameLabel]:
    """Yield a name next to each marker, at the position where it covers least."""
    taken = [part for cross in crosses for part in _boxes(cross)]
    for cross in named:
        options = [(_label_box(label), label) for label in _options(cross)]
        label = min(options, key=lambda option: _covered(option[0], taken, box))[1]
        taken.append(_label_box(label))
        yield label


def _options(cross: Cross) -> Iterator[NameLabel]:
    x, y = cross.x[1], cross.y[1]
    sides = (
        (9, -9, "start"),
        (-9, -9, "end"),
        (0, -13, "middle"),
        (9, 20, "start"),
        (-9, 20, "end"),
        (0, 24, "middle"),
    )
    for dx, dy, anchor in sides:
        yield NameLabel(text=cross.name, tint=cross.tint, x=round(x + dx, 1), y=round(y + dy, 1), anchor=anchor)
    yield NameLabel(text=cross.name, tint=cross.tint, x=round(cross.x[2] + 8, 1), y=round(y + 4, 1), anchor="start")


def _label_box(label: NameLabel) -> Box:
    width = _LETTER * len(label.text)
    left = label.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor] * width
    return left, label.y - 11, left + width, label.y + 3


def _covered(outline: Box, taken: Sequence[Box], box: Box) -> int:
    """Return the area that a label covers; positions outside the axes weigh most."""
    is_outside = outline[0] < box[0] or outline[1] < box[1] - 20 or outline[2] > box[2] + 12 or outline[3] > box[3]
    return 100 * is_outside + sum(_overlap(outline, other) for other in taken)


def _end(highest: Sequence[float]) -> float:
    most = max(highest)
    return next((end for end in _STEPS if end >= most), 100)


def _ticks(end: float) -> tuple[float, ...]:
    step = _STEPS[int(end)]
    return tuple(step * number for number in range(round(end / step) + 1))
