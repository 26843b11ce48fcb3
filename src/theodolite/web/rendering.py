"""Safe HTML of texts by applications and people, and small charts as geometry for templates.

Texts of an application under test are untrusted. They may be formatted, but they
may not load, run, link to or imitate anything on the page.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import nh3
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.responses import AnswerSpread
from theodolite.domain.undefined_reasons import undefined_text
from theodolite.reporting.words import figures
from theodolite.web.questions import humanize

STEP, BAR, HEIGHT, LETTERS = 26, 18, 60, 14
"""Widths of a column and a bar, height of the tallest bar, space above and below for figures; pixels."""


LONGEST: Final = 3
"""Maximum length of a label below a bar; longer labels are numbered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartBar:
    """A label of a scale.

    Attributes:
        label: Text below it: the label, or its number if it is long.
        words: The label in full.
        n: Answers with it; count.
        x: Left edge; pixels.
        middle: Middle; pixels.
        y: Upper edge; pixels.
        height: Pixels.
        figure: Position of the count; pixels.
        is_middle: Whether this label is the median.
    """

    label: str
    words: str
    n: int
    x: float
    middle: float
    y: float
    height: float
    figure: float
    is_middle: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """The distribution of the answers to a question as a histogram.

    Attributes:
        bars: One per label, in order of the scale.
        width: Pixels.
        words: The histogram as text, for screen readers.
        quartiles: Left and right end of the line between the quartiles; None if the labels have no order.
    """

    bars: tuple[ChartBar, ...]
    width: int
    words: str
    quartiles: tuple[float, float] | None = None

    @property
    def height(self) -> int:
        """Height of the chart; pixels."""
        return HEIGHT + 2 * LETTERS + 6

    @property
    def foot(self) -> int:
        """Position of the labels; pixels."""
        return HEIGHT + 2 * LETTERS

    @property
    def line(self) -> int:
        """Position of the line between the quartiles; pixels."""
        return HEIGHT + LETTERS + 3

    @property
    def legend(self) -> tuple[tuple[str, str], ...]:
        """The meaning of the numbers below the bars; empty if the labels are shown."""
        return tuple((bar.label, bar.words) for bar in self.bars if bar.label != bar.words)


def histogram(spread: AnswerSpread) -> Histogram | None:
    """Return the histogram of a distribution; None if the answers have no labels to count."""
    if not spread.counts:
        return None
    labels = list(spread.counts)
    tallest = max(*spread.counts.values(), 1)
    short = all(len(label) <= LONGEST for label in labels)
    middle = spread.quartiles[1] if spread.quartiles else ""
    bars = tuple(
        _bar(index, label if short else str(index + 1), label, spread.counts[label], tallest, is_middle=label == middle)
        for index, label in enumerate(labels)
    )
    ends = None
    if spread.quartiles:
        low, high = (bars[labels.index(end)] for end in (spread.quartiles[0], spread.quartiles[2]))
        ends = low.x, high.x + BAR
    return Histogram(bars=bars, width=STEP * len(bars) + 4, words=_words(spread.counts), quartiles=ends)


def _bar(index: int, label: str, text: str, n: int, tallest: int, *, is_middle: bool) -> ChartBar:
    height = round(HEIGHT * n / tallest, 1)
    x, y = 4.0 + STEP * index, LETTERS + HEIGHT - height
    return ChartBar(
        label=label, words=text, n=n, x=x, middle=x + BAR / 2, y=y, height=height, figure=y - 2, is_middle=is_middle
    )


def _words(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{label}: {n}" for label, n in counts.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareLine:
    """A share with its interval, as text and as positions on a line from 0 to 100%.

    Attributes:
        words: Count, share (if there are enough) and interval.
        at: Position of the share; pixels, None if there is none.
        low: Lower end of the interval; pixels.
        length: Length of the interval; pixels.
    """

    words: str
    at: float | None = None
    low: float = 0.0
    length: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitStrip:
    """A few answers as squares, because a share of so few would suggest false precision.

    Attributes:
        squares: Left edge in pixels, and the answer: `yes`, `no` or `open`.
        width: Pixels.
    """

    squares: tuple[tuple[int, str], ...]
    width: int


SQUARE: Final = 12
"""Width of a square including the gap; pixels."""


MOST_SQUARES: Final = 20
"""Maximum number of answers drawn as squares; count."""


def unit_strip(n_yes: int, n_no: int, n_open: int) -> UnitStrip | None:
    """Return answers as squares, those with a theme first; None if there are too many, or none.

    Args:
        n_yes: Answers with it; count.
        n_no: Answers without it; count.
        n_open: Answers without a decision; count.
    """
    kinds = ["yes"] * n_yes + ["no"] * n_no + ["open"] * n_open
    if not 0 < len(kinds) <= MOST_SQUARES:
        return None
    squares = tuple((1 + SQUARE * index, kind) for index, kind in enumerate(kinds))
    return UnitStrip(squares=squares, width=SQUARE * len(kinds) + 2)


SHARE_WIDTH: Final = 120
"""Length of the line from 0 to 100%; pixels."""


def share_place(share: float) -> float:
    """Return the position of a share on the line from 0 to 100%; pixels."""
    return round(4 + SHARE_WIDTH * share, 1)


def share_line(estimate: Estimate | Undefined | None) -> ShareLine:
    """Return the displayed share, or the statement that it is withheld or undefined."""
    if estimate is None:
        return ShareLine(words="too few people to tell")
    if isinstance(estimate, Undefined):
        return ShareLine(words="none coded")
    text = figures.share(estimate.count or 0, estimate.n)
    if estimate.low is None or estimate.high is None or estimate.n < figures.FEW:
        return ShareLine(words=text)
    low, high = share_place(estimate.low), share_place(estimate.high)
    return ShareLine(
        words=f"{text}, {100 * estimate.low:.0f} to {100 * estimate.high:.0f}%",
        at=share_place(estimate.value),
        low=low,
        length=round(high - low, 1),
    )


def number_words(estimate: Estimate | Undefined, digits: int = 2) -> str:
    """Return a number with its interval and count as text, or the reason why there is none."""
    if isinstance(estimate, Undefined):
        return undefined_text(estimate)
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.{digits}f}, from {estimate.n}"
    return f"{estimate.value:.{digits}f} ({estimate.low:.{digits}f} to {estimate.high:.{digits}f}), from {estimate.n}"


def listed(names: Sequence[str]) -> str:
    """Return words joined by commas, or `none`."""
    return ", ".join(names) or "none"


WIDTH, MARGIN = 220, 10
"""Size of a strip; pixels."""


LOWEST, HIGHEST = -0.5, 1.0
"""Ends of the axis for agreement; alpha below the lower end is drawn at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalBar:
    """A number with its interval, as text and as positions on an axis.

    Attributes:
        words: Estimate, interval and count, or the reason why there is none.
        at: Position of the estimate; pixels, None if it is undefined.
        low: Position of the interval's lower end; pixels.
        high: Position of its upper end; pixels.
    """

    words: str
    at: float | None = None
    low: float = 0.0
    high: float = 0.0

    @property
    def length(self) -> float:
        """Length of the interval; pixels."""
        return self.high - self.low


def interval_bar(estimate: Estimate | Undefined) -> IntervalBar:
    """Return a number as an interval bar; an undefined number has its reason as text."""
    if isinstance(estimate, Undefined):
        return IntervalBar(words=undefined_text(estimate))
    at = place_of(estimate.value)
    if estimate.low is None or estimate.high is None:
        return IntervalBar(
            words=f"{short(estimate.value)}, without an interval, from {estimate.n}", at=at, low=at, high=at
        )
    text = f"{short(estimate.value)} ({short(estimate.low)} to {short(estimate.high)}), from {estimate.n}"
    return IntervalBar(words=text, at=at, low=place_of(estimate.low), high=place_of(estimate.high))


def short(value: float) -> str:
    """Return a number with two decimals, without the zero before the point.

    Example:
        >>> short(-0.504)
        '-.50'
    """
    return f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.2f}"


def place_of(value: float) -> float:
    """Return the position of a number on the axis; pixels."""
    share = (min(max(value, LOWEST), HIGHEST) - LOWEST) / (HIGHEST - LOWEST)
    return round(MARGIN + WIDTH * share, 1)


TINTS = 10
"""Tints of a bar, from the first label of the scale to its last; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BarPart:
    """A label of a bar: its tint, start and length; pixels."""

    tint: int
    at: float
    length: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadBar:
    """The distribution of labels: parts of one bar in the order of the scale, and a text."""

    words: str
    parts: tuple[BarPart, ...]


def bar_of(counts: Sequence[tuple[str, int]]) -> SpreadBar:
    """Return the label distribution as a bar; unused labels are left out.

    Args:
        counts: Frequency of each label, in the order of the scale; counts.
    """
    total, at, parts = sum(n for _, n in counts), 0.0, []
    for index, (_, n) in enumerate(counts):
        length = round(WIDTH * n / total, 1) if total else 0.0
        if n:
            parts.append(BarPart(tint=index * (TINTS - 1) // max(len(counts) - 1, 1), at=round(at, 1), length=length))
        at += length
    return SpreadBar(
        words=", ".join(f"{humanize(label)}: {n}" for label, n in counts if n) or "nothing yet", parts=tuple(parts)
    )


LONGEST_FORMATTED = 50_000
"""Maximum number of characters parsed as Markdown; count."""


_TAGS = {
    "p", "br", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li", "hr",
    "table", "thead", "tbody", "tr", "th", "td", "span",
}  # fmt: skip

_ATTRIBUTES = {"ol": {"start"}}

_CLASSES = {"span": {"address"}, "p": {"heading"}}


def safe_html(text: str) -> SafeString:
    """Return Markdown as HTML without links, pictures, headings, scripts or styles.

    A link is shown as its text followed by the address: nothing can be opened by
    a click, and the host of a link never learns a reader's address. A picture is shown
    as its description. Headings become bold lines, since only the page has headings.
    After `LONGEST_FORMATTED` characters, the rest of the text is shown unformatted:
    parsing a malicious text takes a second per 100,000 characters.

    Args:
        text: Any text; HTML in it is escaped.
    """
    if len(text) <= LONGEST_FORMATTED:
        return _formatted(text)
    cut = text.rfind("\n", 0, LONGEST_FORMATTED) + 1 or LONGEST_FORMATTED
    return format_html("{}<pre>{}</pre>", _formatted(text[:cut]), text[cut:])


_BLOCK = re.compile(r"\s|[-*+#>|~`]|\d+[.)]\s|[^|]*\|")
"""Start of a line that belongs to a block of Markdown; any other line is its own paragraph."""


def line_html(text: str) -> SafeString:
    """Return Markdown as HTML in which each plain line is a paragraph, so that a search finds lines.

    Args:
        text: Any text; see `safe_html`.
    """
    lines: list[str] = []
    is_fenced = was_plain = False
    for line in text.splitlines():
        is_fence = line.lstrip().startswith(("```", "~~~"))
        is_plain = bool(line) and not is_fenced and not _BLOCK.match(line)
        lines += ["", line] if is_plain and was_plain else [line]
        was_plain, is_fenced = is_plain, is_fenced != is_fence
    return safe_html("\n".join(lines))


@functools.lru_cache(maxsize=256)
def _formatted(text: str) -> SafeString:
    html = _MARKDOWN.render(text)
    clean = nh3.clean(html, tags=_TAGS, attributes=_ATTRIBUTES, allowed_classes=_CLASSES, url_schemes=set())
    return mark_safe(clean)  # noqa: S308 - this is the place that makes it so


def _markdown() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    reader.add_render_rule("link_open", lambda *_: "")
    reader.add_render_rule("link_close", _link_close)
    reader.add_render_rule("image", _image)
    reader.add_render_rule("heading_open", lambda *_: '<p class="heading"><strong>')
    reader.add_render_rule("heading_close", lambda *_: "</strong></p>")
    return reader


def _link_close(_renderer: object, tokens: Sequence[Token], at: int, *_: object) -> str:
    """Return the address of the link that ends at this token."""
    opening = next(index for index in range(at - 1, -1, -1) if tokens[index].type == "link_open")
    text = "".join(token.content for token in tokens[opening:at])
    address = str(tokens[opening].attrs.get("href", ""))
    return "" if text == address else f' <span class="address">({escape(address)})</span>'


def _image(_renderer: object, tokens: Sequence[Token], at: int, *_: object) -> str:
    return f'<span class="address">[picture: {escape(tokens[at].content or "without description")}]</span>'


_MARKDOWN = _markdown()
