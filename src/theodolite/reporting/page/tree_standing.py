"""Drawings of the partial order of applications on a tree and of their profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from theodolite.domain.tree import ValueRange
from theodolite.domain.tree_finding import TreeFinding, TreeStanding
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.words import figures
from theodolite.reporting.words.trees import number

_POINTS = "points from "


def range_of(unit: str) -> ValueRange | None:
    """Return the range that a unit names, e.g. `points from 0 to 10`; None for any other unit.

    Example:
        >>> range_of("points from 0 to 10").highest
        10.0
    """
    words = unit.removeprefix(_POINTS).split(" to ")
    if len(words) != 2 or not unit.startswith(_POINTS):
        return None
    return ValueRange(lowest=float(words[0]), highest=float(words[1]))


_COLUMN, _ROW = 150.0, 34.0

_TALL = 120.0

_SPOKE = 110.0

_MOST_LINES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPlace:
    """An application in the drawing of the partial order."""

    application: str
    tint: int
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPicture:
    """The partial order: a line leads from an application that is nowhere higher to one that is.

    Attributes:
        places: The applications; those further right are nowhere higher, and no line means no order.
        lines: Ends of the lines, as x, y, x, y; implied lines are omitted.
        width: Of the drawing.
        height: Of the drawing.
        words: The drawing as text.
    """

    places: tuple[OrderPlace, ...]
    lines: tuple[tuple[float, float, float, float], ...]
    width: float
    height: float
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileLine:
    """One application across the dimensions.

    Attributes:
        application: Its name.
        tint: Number of its colour.
        points: Its intersections with the axes, as x and y.
        is_front: Whether no other dominates it.
        words: Its values, and the share of replicates in which no other dominates it.
    """

    application: str
    tint: int
    points: tuple[tuple[float, float], ...]
    is_front: bool
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """All applications across all dimensions, one axis each; the lower end of an axis is the good end."""

    axes: tuple[tuple[str, float], ...]
    lines: tuple[ProfileLine, ...]
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingPicture:
    """Chart of a comparison; parts without data are None or empty."""

    order: OrderPicture | None
    profile: Profile | None


def standing_picture(subject: Subject, tree: str) -> StandingPicture | None:
    """Return the drawings of the relations of applications on a tree; None for a single application."""
    standing = next((tree_standing for tree_standing in subject.findings.standings if tree_standing.tree == tree), None)
    if standing is None:
        return None
    findings = [finding for finding in subject.findings.trees if finding.design.name == tree]
    return StandingPicture(
        order=_order(subject, standing),
        profile=_profile(subject, standing, findings),
    )


def _order(subject: Subject, standing: TreeStanding) -> OrderPicture | None:
    """Return the partial order as a picture; None if some pairs were not compared or may not be ordered."""
    names = tuple(dict.fromkeys(name for pair in standing.comparisons for name in (pair.first, pair.second)))
    n_pairs = len(names) * (len(names) - 1) // 2
    if len(standing.comparisons) < n_pairs or any(not pair.order for pair in standing.comparisons):
        return None
    below = _below(standing)
    storeys = _storeys(names, below)
    rows = [[name for name in names if storeys[name] == storey] for storey in range(max(storeys.values()) + 1)]
    tall = _ROW * max(len(row) for row in rows)
    spots = {
        name: (20.0 + _COLUMN * storey, round(tall * (index + 0.5) / len(row), 1))
        for storey, row in enumerate(rows)
        for index, name in enumerate(row)
    }
    lines = [(*spots[low], *spots[high]) for high in names for low in sorted(_nearest(high, below))]
    return OrderPicture(
        places=tuple(
            OrderPlace(application=name, tint=subject.tint(name), x=spots[name][0], y=spots[name][1]) for name in names
        ),
        lines=tuple(lines),
        width=_COLUMN * len(rows) + 20.0,
        height=tall,
        words=tuple(_order_words(names, below)),
    )


def _below(standing: TreeStanding) -> Mapping[str, frozenset[str]]:
    """Return, for each application, those that are nowhere higher and somewhere lower."""
    result: dict[str, set[str]] = {}
    for pair in standing.comparisons:
        result.setdefault(pair.first, set())
        result.setdefault(pair.second, set())
        if pair.order == "lower":
            result[pair.second].add(pair.first)
        elif pair.order == "higher":
            result[pair.first].add(pair.second)
    return {name: frozenset(low) for name, low in result.items()}


def _storeys(names: Sequence[str], below: Mapping[str, frozenset[str]]) -> Mapping[str, int]:
    """Return the length of the longest chain below each application; count."""
    result: dict[str, int] = {}
    for name in sorted(names, key=lambda each: len(below[each])):
        result[name] = max((result.get(low, 0) + 1 for low in below[name]), default=0)
    return result


def _nearest(name: str, below: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return the applications directly below an application."""
    further = frozenset(low for between in below[name] for low in below[between])
    return below[name] - further


def _order_words(names: Sequence[str], below: Mapping[str, frozenset[str]]) -> list[str]:
    lower = [f"{low} is nowhere higher than {high}" for high in names for low in sorted(_nearest(high, below))]
    return lower or ["No application is nowhere higher than another: each is lower somewhere."]


def _profile(subject: Subject, standing: TreeStanding, findings: Sequence[TreeFinding]) -> Profile | None:
    names, shown = standing.dimensions, [f for f in findings if f.application in standing.front_odds]
    if len(names) < 2 or not shown or len(shown) > _MOST_LINES:
        return None
    places = [20.0 + _SPOKE * number for number in range(len(names))]
    titles = [shown[0].design.by_name[name].title or name for name in names]
    return Profile(
        axes=tuple(zip(titles, places, strict=True)),
        lines=tuple(_profile_line(subject, standing, finding, places) for finding in shown),
        width=_SPOKE * (len(names) - 1) + 40.0,
    )


def _profile_line(
    subject: Subject, standing: TreeStanding, finding: TreeFinding, places: Sequence[float]
) -> ProfileLine:
    result = [finding.node(name) for name in standing.dimensions]
    points = []
    for place, node in zip(places, result, strict=True):
        scale = range_of(node.result.unit)
        if node.value is not None and scale is not None:
            points.append((place, round(_TALL * (1.0 - (node.value - scale.lowest) / scale.width), 1)))
    values = ", ".join(number(node.value) for node in result)
    odds = figures.percent(standing.front_odds[finding.application])
    is_front = finding.application in standing.front
    return ProfileLine(
        application=finding.application,
        tint=subject.tint(finding.application),
        points=tuple(points),
        is_front=is_front,
        words=(
            f"{values}; {'not dominated' if is_front else 'dominated by another'}; "
            f"not dominated in {odds} of replicates"
        ),
    )
