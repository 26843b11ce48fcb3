"""Contextual robustness: how far the value of a node varies between scenarios, levels of testing and users."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np
from scipy.special import chdtri, ndtri

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.tree import SummaryNode, TreeDesign, ValueRange
from theodolite.domain.tree_finding import ContextValue, NodeRobustness
from theodolite.domain.undefined_reasons import EMPTY_IN_CONTEXT, NO_INTERVAL_IN_CONTEXT, TOO_FEW_CONTEXTS
from theodolite.measurement.interval import Ends
from theodolite.measurement.trees.association import FEWEST, REPLICATES, Parts, parts_of
from theodolite.measurement.trees.bounds import Bounds, TreeData
from theodolite.measurement.trees.leaves import Flags, LeafTable
from theodolite.measurement.trees.measuring import Draws, NodeCoverage
from theodolite.measurement.trees.methods import BUILT_IN, Holds, Methods
from theodolite.measurement.trees.replicates import Compiled, compiled, point_values, replicated

SCENARIO: Final = "scenario"
"""Group of leaves that names the scenario, in studies with several."""

TESTER_TYPE: Final = "tester type"
"""The context that distinguishes simulated testers, scripts and people."""

GAP_METHOD: Final = "simultaneous differences of all pairs of contexts (MOVER, Sidak)"

SPREAD_METHOD: Final = "Paule-Mandel estimate; Q-profile interval, bounded by the interval of the gap"

_PRECISION: Final = 1e-12

_STEPS: Final = 200
"""Maximum number of bisections, far more than doubles need."""


def node_robustness(
    design: TreeDesign,
    table: LeafTable,
    contexts: Sequence[str],
    *,
    nodes: Sequence[str] = (),
    draws: Draws | None = None,
    methods: Methods = BUILT_IN,
) -> tuple[NodeRobustness, ...]:
    """Return the value in each context, the largest gap and the spread for each node and kind of context.

    A context with fewer than five dialogues below a node is named with its count but without its value.
    Nodes with dialogues in only one context are omitted, because their value cannot vary.

    The gap is the highest minus the lowest value.
    Its interval holds for all pairs of contexts simultaneously, because the data choose the pair.
    The spread is the standard deviation of the true values: sampling error is removed, so contexts
    that differ by chance alone have a spread of 0.
    Its Q-profile interval shrinks to a point as the values become equal, which is chance rather than certainty, and
    is very wide for two contexts. Values within the upper end of the gap have a largest standard deviation: it is
    the upper end of a spread of 0, and no upper end is above it.

    Args:
        design: The tree.
        table: Its leaves.
        contexts: Kinds of context: `scenario`, `level`, `tester type` or the name of a group.
        nodes: Names of the nodes; empty for all with one number.
        draws: Settings of the replicates.
        methods: The available summaries.

    Source:
        Contextual robustness: NIST AI 700-1 (2024), section 4.3. Differences from two intervals: Zou, Donner
        (2008), Statistics in Medicine 27:1693-1702. Simultaneous levels: Sidak (1967), Journal of the American
        Statistical Association 62:626-633. Spread: `between_contexts`; its bound by the gap: Popoviciu (1935),
        Mathematica (Cluj) 9:129-145. Q-profile intervals of very similar values are empty or too short: Viechtbauer
        (2007), Statistics in Medicine 26:37-52, section 2.
    """
    draws = draws or Draws()
    tree = compiled(design, table, methods)
    chosen = [name for name in nodes or design.by_name if _is_number(tree, name)]
    return tuple(
        result
        for context in contexts
        for result in _of_context(tree, _parts(table, context), chosen, replace(draws, replicates=_fewer(draws)))
    )


def _fewer(draws: Draws) -> int:
    return min(draws.replicates, REPLICATES)


def _is_number(tree: Compiled, name: str) -> bool:
    return isinstance(tree.design.by_name[name], SummaryNode) and tree.kinds[name].holds is Holds.NUMBERS


def _parts(table: LeafTable, context: str) -> Parts:
    if context != TESTER_TYPE:
        return parts_of(table, context)
    names = tuple(sorted({session.held_by for session in table.sessions} - {""}))
    codes = [names.index(session.held_by) if session.held_by else -1 for session in table.sessions]
    return Parts(group=context, names=names, part_of=np.array(codes, dtype=np.int64))


def contexts_of(groups: Sequence[str]) -> tuple[str, ...]:
    """Return the kinds of context for comparisons of a node: scenario, level, tester type and the study's groups."""
    return tuple(dict.fromkeys((SCENARIO, "level", TESTER_TYPE, *groups)))


@dataclass(frozen=True, kw_only=True)
class _Context:
    """One context with the data of its nodes.

    Attributes:
        part: Name of the context.
        data: Values and replicates of its dialogues.
        bounds: Bounds of its nodes.
        coverage: Outcomes of its answers.
    """

    part: str
    data: TreeData
    bounds: Bounds
    coverage: NodeCoverage

    @classmethod
    def of(cls, tree: Compiled, part: str, members: Flags, draws: Draws) -> _Context:
        """Return a context of some dialogues of a tree."""
        own = compiled(tree.design, tree.table.only(members), tree.methods)
        data = TreeData(tree=own, values=point_values(own), replicates=replicated(own, draws.replicates, draws.seed))
        return cls(part=part, data=data, bounds=Bounds(data=data), coverage=NodeCoverage(tree=own))

    def value(self, name: str, unit: str, confidence: float) -> ContextValue:
        """Return a node in this context."""
        n = self.data.n_sessions(name)
        if n < FEWEST:
            return ContextValue(part=self.part, n_dialogues=n)
        return ContextValue(
            part=self.part,
            n_dialogues=n,
            result=self._result(name, unit, confidence),
            outcomes=self.coverage.outcomes(name),
        )

    def _result(self, name: str, unit: str, confidence: float) -> Estimate | Undefined:
        value, n = self.data.values[name], self.data.n_sessions(name)
        if math.isnan(value):
            return Undefined(reason=EMPTY_IN_CONTEXT, n=n, unit=unit)
        bounded = self.bounds.of(name, confidence)
        low, high = bounded.ends or (None, None)
        return Estimate(
            value=value,
            low=low,
            high=high,
            confidence=confidence,
            n=n,
            unit=unit,
            method=bounded.method,
            n_clusters=self.data.n_clusters(name),
        )


def _of_context(tree: Compiled, parts: Parts, nodes: Sequence[str], draws: Draws) -> Iterator[NodeRobustness]:
    if len(parts.names) < 2:
        return
    contexts = [_Context.of(tree, part, parts.members(number), draws) for number, part in enumerate(parts.names)]
    for name in nodes:
        if sum(context.data.n_sessions(name) > 0 for context in contexts) >= 2:
            yield _robustness(name, parts.group, contexts, tree.kinds[name].range, draws.confidence)


def _robustness(
    name: str, kind: str, contexts: Sequence[_Context], scale: ValueRange | None, confidence: float
) -> NodeRobustness:
    unit = f"points from {scale}" if scale else ""
    values = tuple(context.value(name, unit, confidence) for context in contexts)
    known = {value.part: value.result.value for value in values if isinstance(value.result, Estimate)}
    reason = TOO_FEW_CONTEXTS.format(fewest=FEWEST)
    nothing = Undefined(reason=reason, n=sum(value.n_dialogues for value in values), unit=unit)
    if len(known) < 2:
        return NodeRobustness(
            node=name, context=kind, values=values, lowest="", highest="", gap=nothing, spread=nothing
        )
    lowest, highest = min(known, key=lambda part: known[part]), max(known, key=lambda part: known[part])
    if lowest == highest:  # all are equal: name two contexts, as a context has no gap to itself
        *_, highest = known
    shown = [context for context in contexts if context.part in known]
    total = _Total(name=name, contexts=shown, values=known, unit=unit, confidence=confidence)
    width = scale.width if scale else math.inf
    return NodeRobustness(
        node=name,
        context=kind,
        values=values,
        lowest=lowest,
        highest=highest,
        gap=(gap := total.gap(width)),
        spread=total.spread(gap, width),
    )


@dataclass(frozen=True, kw_only=True)
class _Total:
    """Gap and spread of one node over the contexts with a value."""

    name: str
    contexts: Sequence[_Context]
    values: Mapping[str, float]
    unit: str
    confidence: float

    @property
    def _n(self) -> int:
        return sum(context.data.n_sessions(self.name) for context in self.contexts)

    def _ends(self, confidence: float) -> list[Ends] | None:
        ends = [context.bounds.of(self.name, confidence).ends for context in self.contexts]
        known = [end for end in ends if end is not None]
        return known if len(known) == len(ends) else None

    def gap(self, width: float) -> Estimate:
        """Return the highest minus the lowest value."""
        values = list(self.values.values())
        n_pairs = len(values) * (len(values) - 1) // 2
        ends = self._ends(float(self.confidence ** (1 / n_pairs)))
        interval = gap_interval(values, ends) if ends and _have_width(ends) else None
        return Estimate(
            value=max(values) - min(values),
            low=interval[0] if interval else None,
            high=min(interval[1], width) if interval else None,
            confidence=self.confidence,
            n=self._n,
            unit=self.unit,
            method=GAP_METHOD,
        )

    def spread(self, gap: Estimate, width: float) -> Estimate | Undefined:
        """Return the standard deviation of the true values between contexts, with their largest gap as a bound."""
        ends = self._ends(self.confidence)
        z = 2 * float(ndtri((1 + self.confidence) / 2))
        errors = [(high - low) / z for low, high in ends] if ends else []
        if not ends or not _have_width(ends):
            reason = NO_INTERVAL_IN_CONTEXT
            return Undefined(reason=reason, n=self._n, unit=self.unit, method=SPREAD_METHOD)
        value, low, high = between_contexts(list(self.values.values()), errors, confidence=self.confidence)
        widest = largest_spread(gap.high if gap.high is not None else width, len(self.values))
        return Estimate(
            value=min(value, widest),
            low=min(low, widest),
            high=min(high, widest) if value else widest,
            confidence=self.confidence,
            n=self._n,
            unit=self.unit,
            method=SPREAD_METHOD,
        )


def largest_spread(gap: float, n_contexts: int) -> float:
    """Return the largest standard deviation (divisor n - 1) of values whose largest difference is known.

    Source:
        Popoviciu (1935), Mathematica (Cluj) 9:129-145: the variance with divisor n is at most the square of half
        the range.

    Example:
        >>> round(largest_spread(2.0, 2), 4)
        1.4142
    """
    return gap / 2 * math.sqrt(n_contexts / (n_contexts - 1))


def _have_width(ends: Sequence[Ends]) -> bool:
    """Return whether no interval is a single point, which has no error to combine and no certainty either."""
    return min(high - low for low, high in ends) > _PRECISION


def gap_interval(values: Sequence[float], ends: Sequence[Ends]) -> Ends:
    """Return bounds of the largest difference of several values.

    If the intervals of all pairwise differences hold simultaneously, the largest true difference is between the
    largest of their lower ends and the largest of their upper ends.

    Args:
        values: One for each context.
        ends: Interval of each value, at the level of one pair.

    Example:
        >>> low, high = gap_interval([1.0, 4.0], [(0.0, 2.0), (3.0, 5.0)])
        >>> round(low, 4), round(high, 4)
        (1.5858, 4.4142)
    """
    lows, highs = [0.0], [0.0]
    for i, j in combinations(range(len(values)), 2):
        for a, b in ((i, j), (j, i)):
            difference = values[a] - values[b]
            lows.append(difference - math.hypot(values[a] - ends[a][0], ends[b][1] - values[b]))
            highs.append(difference + math.hypot(ends[a][1] - values[a], values[b] - ends[b][0]))
    return max(lows), max(highs)


def between_contexts(
    values: Sequence[float], errors: Sequence[float], *, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Return the standard deviation of true values behind measured ones, with its interval.

    It is the variance at which the weighted squares of the values reach their expectation, k - 1 for k
    values; 0 if they stay below it without any variance.
    The ends of the interval are the variances at which they reach the quantiles of their distribution.

    Args:
        values: Measured values; at least two.
        errors: Their standard errors, above 0.
        confidence: Coverage of the interval; fraction.

    Raises:
        InputError: If there are fewer than two values, or an error is not above 0.

    Source:
        Paule, Mandel (1982), Journal of Research of the National Bureau of Standards 87:377-385. Q-profile
        interval: Viechtbauer (2007), Statistics in Medicine 26:37-52. Comparison of estimators: Veroniki et al.
        (2016), Research Synthesis Methods 7:55-79.

    Example:
        >>> [round(end, 3) for end in between_contexts([0.0, 4.0], [1.0, 1.0])]
        [2.646, 0.77, 90.25]
    """
    if len(values) < 2 or len(values) != len(errors) or not min(errors) > 0:
        message = (
            "expected two values or more, each with a standard error above 0;"
            f" got {len(values)} values and the errors {list(errors)}"
        )
        raise InputError(message)
    effects, variances = np.asarray(values, dtype=np.float64), np.asarray(errors, dtype=np.float64) ** 2
    degrees, tail = len(values) - 1, (1 - confidence) / 2
    targets = (degrees, float(chdtri(degrees, tail)), float(chdtri(degrees, 1 - tail)))
    value, low, high = (math.sqrt(_variance_at(target, effects, variances)) for target in targets)
    return value, low, high


def _weighted_squares(effects: np.ndarray, variances: np.ndarray, between: float) -> float:
    weights = 1 / (variances + between)
    mean = (weights * effects).sum() / weights.sum()
    return float((weights * (effects - mean) ** 2).sum())


def _variance_at(target: float, effects: np.ndarray, variances: np.ndarray) -> float:
    """Return the variance between values at which the weighted squares reach a target; 0 if they start below it."""
    if _weighted_squares(effects, variances, 0.0) <= target:
        return 0.0
    low, high = 0.0, float(np.ptp(effects) ** 2 + variances.max())
    while _weighted_squares(effects, variances, high) > target:
        low, high = high, high * 2
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _weighted_squares(effects, variances, middle) > target:
            low = middle
        else:
            high = middle
        if high - low <= _PRECISION * high:
            break
    return (low + high) / 2
