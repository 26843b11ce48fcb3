"""Charts of the report as static SVG, each with the table of its values behind it.

A chart is drawn when the report is made; it needs neither script nor network.
Shapes carry classes, so that the style of the page decides colours, dark mode and print.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from theodolite.reporting.interval_bars import tick_values
from theodolite.reporting.tables import Table
from theodolite.reporting.words import figures

WIDTH: Final = 900
NAME: Final = 210
"""Width of the drawing and of the column of names; units of the drawing."""

STEPS: Final = 8
"""Number of the darkest step of the one-hue sequence."""

_LETTER = 6.4
"""Approximate width of a character; units of the drawing."""

_LONGEST = 30
"""Maximum length of a name in the column of names; characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A drawing with its table.

    Attributes:
        title: Heading.
        legend: How to read the drawing; one or two sentences.
        drawing: The drawing as SVG.
        table: The same values.
    """

    title: str
    legend: str
    drawing: str
    table: Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A count in a chart: its label, and the set of dialogues that it opens (empty for none)."""

    label: str
    n: int
    opens: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRow:
    """One histogram of several on one scale, or one stacked bar of several.

    Attributes:
        title: Its name.
        tint: Number of the application's colour; -1 for none.
        parts: The counts, in order of the scale.
    """

    title: str
    tint: int
    parts: tuple[Part, ...]

    @property
    def n(self) -> int:
        """All that is counted; count."""
        return sum(part.n for part in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareRow:
    """A share, or a difference of two shares, with its interval in its own row.

    Attributes:
        title: Name of the row.
        tint: Number of the application's colour; -1 for none.
        low: Lower end; fraction.
        value: The share; fraction.
        high: Upper end; fraction.
        text: The share as text.
        heading: Heading above this row; empty for none.
        opens: Index of the estimate that the row opens; None for none.
    """

    title: str
    tint: int
    low: float
    value: float
    high: float
    text: str
    heading: str = ""
    opens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BarRow:
    """An amount as a bar in its own row.

    Attributes:
        title: Name of the row.
        tint: Number of the application's colour; -1 for none.
        value: The amount; a count, or millionths of a US dollar.
        text: The amount as text.
        heading: Heading above the first row with it.
    """

    title: str
    tint: int
    value: int
    text: str
    heading: str = ""


def count_ticks(most: int) -> tuple[int, ...]:
    """Return three to six round counts from 0 to at least `most`.

    Example:
        >>> count_ticks(7), count_ticks(250)
        ((0, 2, 4, 6, 8), (0, 50, 100, 150, 200, 250))
    """
    size = 1
    while True:
        for step in (size, 2 * size, 5 * size):
            if most <= 5 * step:
                n = max(1, -(-most // step))
                return tuple(step * number for number in range(n + 1))
        size *= 10


def histograms(panels: Sequence[CountRow], *, label: str, unit: str) -> str:
    """Return one histogram per panel, all on one scale of counts, as SVG.

    Args:
        panels: The histograms; all have the same labels.
        label: Description of the drawing.
        unit: Name of the counted units.
    """
    ticks = count_ticks(max((part.n for panel in panels for part in panel.parts), default=1))
    columns = 1 if len(panels) == 1 else 2 if len(panels) in {2, 4} else 3
    width, height = WIDTH / columns, 184
    elements: list[str] = []
    for number, panel in enumerate(panels):
        left, top = width * (number % columns), height * (number // columns)
        elements += _histogram(panel, left, top, min(width, 560), ticks, unit)
    rows = -(-len(panels) // columns)
    return _svg(elements, height * rows + 4, label)


def _histogram(
    panel: CountRow, left: float, top: float, width: float, ticks: Sequence[int], unit: str
) -> Iterator[str]:
    start, end, base, height = left + 44, left + width - 14, top + 148, 108
    title = _short(f"{panel.title}, n {figures.count(panel.n)} {unit}", int((width - 8) / 7))
    yield _text(left + 4, top + 16, title, kind="name")
    for tick in ticks:
        y = base - height * tick / ticks[-1]
        yield f'<line class="axis" x1="{start:.1f}" x2="{end:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield _text(start - 6, y + 4, figures.count(tick), anchor="end")
    step = (end - start) / max(1, len(panel.parts))
    every = -(-max(len(part.label) for part in panel.parts) * _LETTER // step)
    tint = _tint(panel.tint)
    for index, part in enumerate(panel.parts):
        x, tall = start + step * index, height * part.n / ticks[-1]
        bar = _rect("shape", x + step * 0.15, base - tall, step * 0.7, tall)
        count = _text(x + step / 2, base - tall - 4, figures.count(part.n), anchor="middle") if part.n else ""
        yield f'<g class="{tint}"{_opens(part)}>{bar}{count}</g>'
        if every <= 1 or index % int(every) == 0:
            yield _text(x + step / 2, base + 16, part.label, anchor="middle")


def stacked(panels: Sequence[CountRow], *, label: str) -> str:
    """Return one bar per panel, split by its parts, on a scale from 0 to 100%, as SVG; darker to the right."""
    labels = tuple(part.label for part in panels[0].parts)
    start, end = NAME + 10, WIDTH - 70
    elements, y = [], 8.0
    for line in _key_lines(labels, end - start):
        x = float(start)
        for place in line:
            elements.append(_rect(_step(place, len(labels)), x, y, 12, 12))
            elements.append(_text(x + 17, y + 10, labels[place]))
            x += _key_width(labels[place])
        y += 20
    top = y
    for panel in panels:
        elements += _stack(panel, start, end, y)
        y += 30
    ticks = [(start + (end - start) * tick / 100, f"{tick}%") for tick in range(0, 101, 25)]
    elements = [*_grid(ticks, top, y), *elements]
    return _svg(elements, y + 24, label)


def _stack(panel: CountRow, start: float, end: float, y: float) -> Iterator[str]:
    yield _text(NAME, y + 18, _short(panel.title, _LONGEST), kind="name", anchor="end")
    x, n = start, max(1, panel.n)
    for index, part in enumerate(panel.parts):
        width = (end - start) * part.n / n
        if not part.n:
            continue
        step = _step(index, len(panel.parts))
        box = _rect(step, x, y + 4, width, 20)
        text = figures.count(part.n)
        inside = _text(x + width / 2, y + 18, text, anchor="middle", kind=f"on-{step}") if width > 22 else ""
        yield f"<g{_opens(part)}>{box}{inside}</g>"
        x += width
    yield _text(end + 8, y + 18, f"n {figures.count(panel.n)}")


def _key_lines(labels: Sequence[str], width: float) -> Iterator[list[int]]:
    """Yield the positions of the labels on each line of a legend."""
    line: list[int] = []
    used = 0.0
    for index, label in enumerate(labels):
        if line and used + _key_width(label) > width:
            yield line
            line, used = [], 0.0
        line.append(index)
        used += _key_width(label)
    if line:
        yield line


def _key_width(label: str) -> float:
    return 34 + _LETTER * len(label)


def _step(place: int, n: int) -> str:
    """Return the class of a part: equal distances on the sequence, without its lightest steps."""
    return f"s{round(2 + (STEPS - 2) * place / max(1, n - 1))}"


def funnel(stages: Sequence[Part], losses: Sequence[Sequence[Part]], *, label: str) -> str:
    """Return one bar per stage, scaled to the first one, with the losses before the next stage, as SVG.

    Args:
        stages: Name and count of each stage; no count is larger than the one before.
        losses: Losses between each stage and the next, by source.
        label: Description of the drawing.
    """
    start, end = NAME + 10, WIDTH - 300
    ticks = count_ticks(stages[0].n)
    elements, y = [], 6.0
    for number, stage in enumerate(stages):
        width = (end - start) * stage.n / ticks[-1]
        bar = _rect("shape", start, y + 4, width, 18)
        count = _text(start + width + 8, y + 18, figures.count(stage.n))
        elements.append(_text(NAME, y + 18, stage.label, kind="name", anchor="end"))
        elements.append(f'<g class="plain"{_opens(stage)}>{bar}{count}</g>')
        lost = losses[number] if number < len(losses) else ()
        if lost:
            words = "; ".join(f"{figures.count(part.n)} {part.label}" for part in lost)
            elements.append(_text(end + 70, y + 34, _short(f"lost: {words}", 40)))
        y += 28
    grid = [(start + (end - start) * tick / ticks[-1], figures.count(tick)) for tick in ticks]
    elements = [*_grid(grid, 6, y), *elements]
    return _svg(elements, y + 24, label)


def bars(rows: Sequence[BarRow], *, label: str, is_cost: bool = False) -> str:
    """Return one bar per row, all on one axis from 0, as SVG.

    Args:
        rows: The amounts.
        label: Description of the drawing.
        is_cost: Whether amounts are millionths of a US dollar; else they are counts.
    """
    start, end = NAME + 80, WIDTH - 220
    ticks = count_ticks(max(1, *(row.value for row in rows)))
    elements: list[str] = []
    y, heading = 4.0, ""
    for row in rows:
        if row.heading != heading:
            elements.append(_text(4, y + 18, row.heading, kind="name"))
            y, heading = y + 26, row.heading
        width = (end - start) * row.value / ticks[-1]
        elements.append(_text(start - 10, y + 16, _short(row.title, 44), anchor="end"))
        elements.append(f'<g class="{_tint(row.tint)}">{_rect("shape", start, y + 5, width, 14)}</g>')
        elements.append(_text(end + 14, y + 16, _short(row.text, 36)))
        y += 24
    words = (f"${tick / 1e6:g}" if is_cost else figures.count(tick) for tick in ticks)
    grid = [(start + (end - start) * tick / ticks[-1], text) for tick, text in zip(ticks, words, strict=True)]
    return _svg([*_grid(grid, 4, y), *elements], y + 24, label)


def _tint(number: int) -> str:
    return f"t{number}" if number >= 0 else "plain"


def dots(rows: Sequence[ShareRow], *, axis: float, label: str, unit: str = "%") -> str:
    """Return one share with its interval per row, all on one axis from 0 to `axis` (a fraction), as SVG.

    Args:
        rows: The shares; a heading is above the first of neighbours that have it.
        axis: End of the axis; fraction.
        label: Description of the drawing.
        unit: Unit at the ticks: `%`, or `points` for differences.
    """
    after = "%" if unit == "%" else ""
    ticks = [(value, f"{100 * value:g}{after}") for value in tick_values(axis)]
    return _rows(rows, (0.0, axis), ticks, label=label, name=NAME, words=40)


def differences(rows: Sequence[ShareRow], *, label: str) -> str:
    """Return one difference with its interval per row, all on one axis around 0 in points, as SVG."""
    most = max(abs(end) for row in rows for end in (row.low, row.high))
    end, step = next((end, step) for end, step in _ENDS if end >= most or end == 1.0)
    n = round(end / step)
    ticks = [(step * number, f"{100 * step * number:+g}" if number else "0") for number in range(-n, n + 1)]
    return _rows(rows, (-end, end), ticks, label=label, name=NAME + 60, words=56)


_ENDS = ((0.05, 0.025), (0.1, 0.05), (0.2, 0.1), (0.3, 0.1), (0.5, 0.25), (0.75, 0.25), (1.0, 0.5))
"""Ends of an axis around 0, and the distance of its ticks; fractions."""


def _rows(
    rows: Sequence[ShareRow],
    axis: tuple[float, float],
    ticks: Sequence[tuple[float, str]],
    *,
    label: str,
    name: int,
    words: int,
) -> str:
    """Return rows on one axis; `name` is the width of the names in units, `words` that of the texts in characters."""
    start, end, (least, most) = name + 20, round(WIDTH - 6.25 * words), axis

    def at(value: float) -> float:
        return start + (end - start) * (min(max(value, least), most) - least) / (most - least)

    elements: list[str] = []
    y, heading = 4.0, ""
    for row in rows:
        if row.heading and row.heading != heading:
            elements.append(_text(4, y + 18, _short(row.heading, 120), kind="name"))
            y += 26
        heading = row.heading or heading
        elements += _row(row, at, (start, end), y, longest=(round(_LONGEST * name / NAME), words))
        y += 24
    grid = [(at(value), text) for value, text in ticks]
    zero = f'<line class="zero" x1="{at(0):.1f}" x2="{at(0):.1f}" y1="4" y2="{y:.1f}"/>' if least < 0 else ""
    return _svg([*_grid(grid, 4, y), zero, *elements], y + 24, label)


def _row(
    row: ShareRow,
    at: Callable[[float], float],
    ends: tuple[float, float],
    y: float,
    *,
    longest: tuple[int, int],
) -> Iterator[str]:
    start, end = ends
    yield _text(start - 20, y + 16, _short(row.title, longest[0]), anchor="end")
    yield f'<line class="axis" x1="{start}" x2="{end}" y1="{y + 12:.1f}" y2="{y + 12:.1f}"/>'
    yield _text(end + 14, y + 16, _short(row.text, longest[1]))
    tint = _tint(row.tint)
    low, high = at(row.low), at(row.high)
    line = f'<line class="whisker" x1="{low:.1f}" x2="{high:.1f}" y1="{y + 12:.1f}" y2="{y + 12:.1f}"/>'
    opens = f' data-estimate="{row.opens}"' if row.opens is not None else ""
    point = f'<g transform="translate({at(row.value):.1f} {y + 12:.1f})">{_MARKERS[max(row.tint, 0) % 8]}</g>'
    yield f'<g class="{tint}"{opens}>{line}{point}</g>'


_MARKERS = (
    '<circle class="shape" r="5"/>',
    '<rect class="shape" x="-4.5" y="-4.5" width="9" height="9"/>',
    '<path class="shape" d="M0-6.2L6.2 0 0 6.2-6.2 0z"/>',
    '<path class="shape" d="M0-5.8L5.8 4.6H-5.8z"/>',
    '<circle class="ring" r="4"/>',
    '<path class="shape" d="M0 5.8L5.8-4.6H-5.8z"/>',
    '<path class="shape" d="M0-5.8L5.5-1.8 3.4 4.7H-3.4L-5.5-1.8z"/>',
    '<path class="shape" d="M-1.9-5.5H1.9V-1.9H5.5V1.9H1.9V5.5H-1.9V1.9H-5.5V-1.9H-1.9z"/>',
)
"""Marker of each application, by the number of its colour: hue and shape always correspond."""


def _grid(ticks: Sequence[tuple[float, str]], top: float, bottom: float) -> Iterator[str]:
    """Yield the vertical lines of an axis below a drawing, with their texts."""
    for x, text in ticks:
        yield f'<line class="tick" x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{bottom:.1f}"/>'
        yield _text(x, bottom + 16, text, anchor="middle")


def _svg(elements: Sequence[str], height: float, label: str) -> str:
    size = f'viewBox="0 0 {WIDTH} {height:.0f}"'
    return f'<svg class="chart" {size} role="img" aria-label="{escape(label)}">{"".join(elements)}</svg>'


def _text(x: float, y: float, text: str, *, anchor: str = "start", kind: str = "") -> str:
    name = f' class="{kind}"' if kind else ""
    return f'<text{name} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _rect(kind: str, x: float, y: float, width: float, height: float) -> str:
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _opens(part: Part) -> str:
    return f' data-set="{escape(part.opens)}"' if part.opens else ""
