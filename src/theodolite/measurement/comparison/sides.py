"""Sides: two applications, or two runs, held against each other pair by pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations

from theodolite.domain.comparison import ComparedSide, Comparison, Flip, PairedRate, Ruling
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.significance import Significance
from theodolite.measurement.clusters import shared_clusters
from theodolite.measurement.comparison.paired import NO_CASE, RATE_DIFFERENCE, paired_difference
from theodolite.measurement.comparison.planning import n_for_flips
from theodolite.measurement.comparison.significance import adjust_p_values, cluster_permutation, mcnemar

_FEWEST_FLIPS = 2


def compare_sides(
    first: ComparedSide, second: ComparedSide, *, mitigation: str = "", confidence: float = 0.95
) -> Comparison:
    """Compare the defect rates of two sides on the pairs that both have.

    Two dialogues are a pair where the tester's side saw the same. Labels of
    different versions of a judge or guideline are no pair of measurements: such
    rates stand side by side without a difference. Pairs of one cluster change
    together, so the interval and the test are those of clusters there. P-values
    are adjusted by Holm for all rates of one annotator.

    Args:
        first: The side that is compared with.
        second: The side that is compared.
        mitigation: Name of the mitigation that the second side adds, where that is what differs.
        confidence: Coverage of the intervals; fraction in (0, 1).

    Example:
        >>> from theodolite.domain.comparison import RuleVerdict
        >>> from theodolite.domain.estimate_subject import EstimateSubject
        >>> def side(name, *defects):
        ...     verdicts = {str(p): RuleVerdict(dialogue=f"{name}/{p}", is_defect=p in defects) for p in range(57)}
        ...     of = EstimateSubject(application=name, guideline="g", rule="r", annotators=("judge",))
        ...     ruling = Ruling(subject=of, verdicts=verdicts)
        ...     return ComparedSide(name=name, application=name, study="s", run=1, plan="p", rulings=(ruling,))
        >>> (rate,) = compare_sides(side("a", *range(9)), side("b", 7, 8, 20, 21)).rates
        >>> rate.n_first, rate.n_second, len(rate.fixed), len(rate.regressed)
        (9, 4, 7, 2)
        >>> round(rate.difference.value, 3), round(rate.test.p_value, 3)
        (-0.088, 0.18)

    Source:
        `paired_difference`, `mcnemar`, `cluster_permutation`, `n_for_flips`, `adjust_p_values`.
    """
    others = {ruling.key: ruling for ruling in second.rulings}
    rates = [_paired_rate(ruling, others[ruling.key], confidence) for ruling in first.rulings if ruling.key in others]
    return Comparison(first=first, second=second, rates=tuple(_adjusted(rates)), mitigation=mitigation)


def compare_by_mitigation(sides: Sequence[ComparedSide], *, confidence: float = 0.95) -> tuple[Comparison, ...]:
    """Compare all pairs of variants of which the second has one mitigation more than the first.

    Two applications that are no variants of one differ by more than what they declare.

    Args:
        sides: Applications of one run.
        confidence: Coverage of the intervals; fraction in (0, 1).

    Returns:
        One comparison for each such pair, in order of the study; none where no two applications differ so.
    """
    found = []
    for first, second in permutations(sides, 2):
        added = set(second.mitigations) - set(first.mitigations)
        is_more = len(added) == 1 and set(first.mitigations) < set(second.mitigations)
        if is_more and first.family == second.family:
            found.append(compare_sides(first, second, mitigation=added.pop(), confidence=confidence))
    return tuple(found)


def _paired_rate(first: Ruling, second: Ruling, confidence: float) -> PairedRate:
    common = [pair for pair in first.verdicts if pair in second.verdicts]
    both = [pair for pair in common if _measured(first, pair) and _measured(second, pair)]
    defects = [[float(bool(one.verdicts[pair].is_defect)) for pair in both] for one in (first, second)]
    clusters = _clusters(first, both)
    changed = _changed(first, second)
    rate = PairedRate(
        ruling=first,
        n=len(both),
        n_first=int(sum(defects[0])),
        n_second=int(sum(defects[1])),
        n_unmeasured=len(common) - len(both),
        n_unpaired=len(first.verdicts) + len(second.verdicts) - 2 * len(common),
        flips=tuple(_flips(first, second, both)),
        difference=Undefined(reason=changed or NO_CASE, n=len(both), unit=RATE_DIFFERENCE),
        changed=changed,
    )
    if changed or not both:
        return rate
    difference = paired_difference(defects[0], defects[1], clusters=clusters, confidence=confidence)
    return replace(
        rate,
        difference=difference,
        test=_test(rate, defects[0], defects[1], clusters),
        n_wanted=_wanted(rate, difference),
    )


def _test(
    rate: PairedRate, first: Sequence[float], second: Sequence[float], clusters: Sequence[str] | None
) -> Significance | None:
    """Return McNemar's exact test, or where pairs share clusters the permutation of whole clusters."""
    if clusters is None:
        return mcnemar(len(rate.fixed), len(rate.regressed))
    permuted = cluster_permutation(first, second, clusters)
    return None if isinstance(permuted, Undefined) else permuted


def _measured(ruling: Ruling, pair: str) -> bool:
    return ruling.verdicts[pair].is_defect is not None


def _clusters(ruling: Ruling, pairs: Sequence[str]) -> list[str] | None:
    """Return the cluster of each pair; None where no two pairs share one."""
    named = [ruling.verdicts[pair].cluster or pair for pair in pairs]
    return shared_clusters(named)


def _flips(first: Ruling, second: Ruling, pairs: Sequence[str]) -> Iterator[Flip]:
    for pair in pairs:
        one, other = first.verdicts[pair], second.verdicts[pair]
        if one.is_defect != other.is_defect:
            yield Flip(pair=pair, first=one.dialogue, second=other.dialogue, is_fixed=bool(one.is_defect))


def _changed(first: Ruling, second: Ruling) -> str:
    """Return which instruments differ, as a reason not to compare."""
    parts = [name for name in first.instruments if second.instruments.get(name) != first.instruments[name]]
    if not parts:
        return ""
    named = " and ".join(f"`{part}`" for part in parts)
    are = "is not the same version" if len(parts) == 1 else "are not the same versions"
    return f"{named} {are} on both sides, so a difference would be the instrument's as much as the application's"


def _wanted(rate: PairedRate, difference: Estimate | Undefined) -> int | None:
    """Return the pairs that would tell a difference of this size, where the present ones do not."""
    if not isinstance(difference, Estimate) or difference.value == 0 or len(rate.flips) < _FEWEST_FLIPS:
        return None
    if difference.low is None or difference.high is None or not difference.low <= 0.0 <= difference.high:
        return None
    return n_for_flips(len(rate.fixed) / rate.n, len(rate.regressed) / rate.n)


def _adjusted(rates: Sequence[PairedRate]) -> Iterator[PairedRate]:
    """Yield the rates with their p-values adjusted for all rates by the same annotator."""
    families: dict[str, list[float]] = {}
    for rate in rates:
        if rate.test is not None:
            families.setdefault(rate.ruling.subject.annotator, []).append(rate.test.p_value)
    adjusted = {name: iter(adjust_p_values(p_values)) for name, p_values in families.items()}
    for rate in rates:
        yield rate if rate.test is None else replace(rate, adjusted=next(adjusted[rate.ruling.subject.annotator]))
