"""Sample sizes of differences, rates, bounds and rewordings, and the comparison of two sides."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from typing import Final

from scipy.special import ndtri

from theodolite.domain.annotating.rewording import DialogueAnswers, MeasuredShift, SampleAim, SamplePlan, SampleWish
from theodolite.domain.comparison import ComparedSide, Comparison, Flip, PairedRate, Ruling
from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.number import Significance
from theodolite.domain.undefined_reasons import NO_CASE, NO_DEFECT_RULE, NO_DIALOGUE_OF_BOTH_VERSIONS
from theodolite.measurement.comparison import (
    RATE_DIFFERENCE,
    adjust_p_values,
    cluster_permutation,
    mcnemar,
    paired_difference,
)
from theodolite.measurement.interval import normal_quantile, whole_count, zero_count_bound
from theodolite.measurement.labels import shared_clusters
from theodolite.measurement.proportion import mean_fraction

MOST_CLUSTERS = 100_000
"""Maximum number of clusters of a plan; count."""


def n_for_difference(
    difference: float,
    variance: float,
    *,
    confidence: float = 0.95,
    power: float = 0.8,
    cluster_size: float = 1.0,
    correlation: float = 0.0,
) -> int:
    """Return the number of paired cases that detects a difference of this size.

    Args:
        difference: The smallest difference to detect; above 0.
        variance: Variance of the difference between cases.
        confidence: Coverage of the interval that should exclude 0; fraction.
        power: Probability of detecting it; fraction.
        cluster_size: Cases in a cluster; count, 1 = cases are independent.
        correlation: Correlation of cases within a cluster; fraction.

    Returns:
        Cases; count, rounded up.

    Raises:
        InputError: If a number is out of range.

    Example:
        >>> n_for_difference(0.03, 1 / 9)
        969

    Source:
        Miller (2024), Adding Error Bars to Evals, arXiv:2411.00640, equation 9;
        clusters: Kish (1965), Survey Sampling, section 5.4.
    """
    if not (difference > 0.0 and variance > 0.0 and cluster_size >= 1.0 and 0.0 <= correlation <= 1.0):
        message = (
            "`difference` and `variance` must be above 0, `cluster_size` 1 or more, `correlation` a fraction;"
            f" got {difference!r}, {variance!r}, {cluster_size!r}, {correlation!r}"
        )
        raise InputError(message)
    reach = _reach(confidence, power)
    effect = 1.0 + (cluster_size - 1.0) * correlation
    return math.ceil(reach**2 * variance * effect / difference**2 - 1e-9)


def detectable_difference(n: int, variance: float, *, confidence: float = 0.95, power: float = 0.8) -> float:
    """Return the smallest difference that a number of paired cases can detect.

    Args:
        n: Cases; count, at least 1.
        variance: Variance of the difference between cases.
        confidence: Coverage of the interval that should exclude 0; fraction.
        power: Probability of detecting it; fraction.

    Returns:
        A difference, in the unit of the results.

    Raises:
        InputError: If a number is out of range.

    Example:
        >>> round(detectable_difference(198, 4 / 9), 4)
        0.1327

    Source:
        Miller (2024), arXiv:2411.00640, equation 10.
    """
    if whole_count(n, "n") < 1 or not variance > 0.0:
        message = f"`n` must be 1 or more and `variance` above 0; got {n!r}, {variance!r}"
        raise InputError(message)
    return _reach(confidence, power) * math.sqrt(variance / n)


def n_for_flips(only_a: float, only_b: float, *, confidence: float = 0.95, power: float = 0.8) -> int:
    """Return the number of paired cases that McNemar's test needs.

    Args:
        only_a: Share of cases with the defect only under the first; fraction.
        only_b: Share of cases with it only under the second; fraction.
        confidence: 1 minus the chance of a false alarm; fraction.
        power: Probability of detecting the difference; fraction.

    Returns:
        Cases, changed or not; count, rounded up.

    Raises:
        InputError: If the shares are equal, or not fractions with a sum of at most 1.

    Example:
        >>> n_for_flips(0.10, 0.05), n_for_flips(0.25, 0.10)
        (469, 120)

    Source:
        Connor (1987), Sample size for testing differences in proportions for the
        paired-sample design, Biometrics 43:207-211.
    """
    together, apart = only_a + only_b, abs(only_a - only_b)
    if min(only_a, only_b) < 0.0 or together > 1.0 or apart == 0.0:
        message = f"`only_a` and `only_b` must be different fractions that fit together; got {only_a!r}, {only_b!r}"
        raise InputError(message)
    z_power = float(ndtri(power))
    reach = normal_quantile(confidence) * math.sqrt(together) + z_power * math.sqrt(together - apart**2)
    return math.ceil(reach**2 / apart**2 - 1e-9)


def n_for_rate(rate: float, half_width: float, *, confidence: float = 0.95) -> int:
    """Return the number of independent dialogues that gives a rate an interval of this width.

    Args:
        rate: Expected rate; fraction.
        half_width: Half-width of the interval; fraction above 0.
        confidence: Coverage of Wilson's interval; fraction.

    Returns:
        Dialogues; count.

    Raises:
        InputError: If a number is out of range.

    Example:
        >>> n_for_rate(0.05, 0.02)
        469

    Source:
        Wilson's interval solved for n: Wilson (1927), Journal of the American
        Statistical Association 22:209-212.
    """
    if not (0.0 <= rate <= 1.0 and 0.0 < half_width < 0.5):
        message = f"`rate` must be a fraction and `half_width` between 0 and 0.5; got {rate!r}, {half_width!r}"
        raise InputError(message)
    z = normal_quantile(confidence)
    low, high = 1, 2
    while _wilson_reach(rate, high, z) > half_width:
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _wilson_reach(rate, middle, z) <= half_width else (middle + 1, high)
    return high


def n_for_zero_defects(highest: float, *, confidence: float = 0.95, cluster_size: int = 1) -> int:
    """Return the number of dialogues without a defect that shows that the rate is no higher.

    Args:
        highest: The rate to rule out; fraction above 0.
        confidence: Confidence of the claim, one-sided; fraction.
        cluster_size: Dialogues of one persona or script; count. Above 1 the
            clustered bound is used, which requires more dialogues.

    Returns:
        Dialogues; count, whole clusters.

    Raises:
        InputError: If a number is out of range, or no number of clusters suffices.

    Example:
        >>> n_for_zero_defects(0.01), n_for_zero_defects(0.01, cluster_size=25)
        (299, 950)

    Source:
        The bound of `zero_defect_bound`, solved for n.
    """
    if not 0.0 < highest < 1.0 or whole_count(cluster_size, "cluster_size") < 1:
        message = f"`highest` must be between 0 and 1, `cluster_size` 1 or more; got {highest!r}, {cluster_size!r}"
        raise InputError(message)
    if cluster_size == 1:
        return math.ceil(math.log(1.0 - confidence) / math.log1p(-highest) - 1e-9)
    low, high = 1, 2
    while _clustered_bound(high, cluster_size, confidence) > highest:
        low, high = high, 2 * high
        if high > MOST_CLUSTERS:
            message = f"no claim of {highest} within {MOST_CLUSTERS} clusters; ask for a higher rate"
            raise InputError(message)
    while low < high:
        middle = (low + high) // 2
        enough = _clustered_bound(middle, cluster_size, confidence) <= highest
        low, high = (low, middle) if enough else (middle + 1, high)
    return high * cluster_size


def _clustered_bound(n_clusters: int, size: int, confidence: float) -> float:
    return zero_count_bound(((size, n_clusters),), 1.0 - confidence)


def _wilson_reach(rate: float, n: int, z: float) -> float:
    return z * math.sqrt(rate * (1.0 - rate) / n + z * z / (4.0 * n * n)) / (1.0 + z * z / n)


def _reach(confidence: float, power: float) -> float:
    if not (0.0 < confidence < 1.0 and 0.0 < power < 1.0):
        message = f"`confidence` and `power` must be fractions between 0 and 1; got {confidence!r}, {power!r}"
        raise InputError(message)
    return normal_quantile(confidence) + float(ndtri(power))


_FEWEST_FLIPS = 2


def compare_sides(
    first: ComparedSide, second: ComparedSide, *, mitigation: str = "", confidence: float = 0.95
) -> Comparison:
    """Compare the defect rates of two sides on the pairs that both have.

    Two dialogues are a pair if the tester's side saw the same. Labels of
    different versions of a judge or guideline cannot be paired: such
    rates are reported side by side without a difference. Pairs of one cluster change
    together, so the interval and the test are those for clusters. P-values
    are adjusted by Holm for all rates of one annotator.

    Args:
        first: The baseline side.
        second: The side compared with it.
        mitigation: Name of the mitigation that the second side adds, if the sides differ in it.
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
    """Compare all pairs of variants in which the second has one more mitigation than the first.

    Applications that are not variants of one differ by more than their declared mitigations.

    Args:
        sides: Applications of one run.
        confidence: Coverage of the intervals; fraction in (0, 1).

    Returns:
        One comparison for each such pair, in order of the study; empty if no two applications differ this way.
    """
    result = []
    for first, second in permutations(sides, 2):
        added = set(second.mitigations) - set(first.mitigations)
        is_more = len(added) == 1 and set(first.mitigations) < set(second.mitigations)
        if is_more and first.family == second.family:
            result.append(compare_sides(first, second, mitigation=added.pop(), confidence=confidence))
    return tuple(result)


def _paired_rate(first: Ruling, second: Ruling, confidence: float) -> PairedRate:
    common = [pair for pair in first.verdicts if pair in second.verdicts]
    both = [pair for pair in common if _measured(first, pair) and _measured(second, pair)]
    defects = [[float(bool(ruling.verdicts[pair].is_defect)) for pair in both] for ruling in (first, second)]
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
        n_wanted=_required_pairs(rate, difference),
    )


def _test(
    rate: PairedRate, first: Sequence[float], second: Sequence[float], clusters: Sequence[str] | None
) -> Significance | None:
    """Return McNemar's exact test, or the permutation of whole clusters if pairs share clusters."""
    if clusters is None:
        return mcnemar(len(rate.fixed), len(rate.regressed))
    permuted = cluster_permutation(first, second, clusters)
    return None if isinstance(permuted, Undefined) else permuted


def _measured(ruling: Ruling, pair: str) -> bool:
    return ruling.verdicts[pair].is_defect is not None


def _clusters(ruling: Ruling, pairs: Sequence[str]) -> list[str] | None:
    """Return the cluster of each pair; None if no two pairs share one."""
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


def _required_pairs(rate: PairedRate, difference: Estimate | Undefined) -> int | None:
    """Return the number of pairs that would detect a difference of this size, if the current ones do not."""
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


ASSUMED: Final = 0.1
"""Assumed share of answers that change without a cause, if no two people answered about the same; fraction."""

FEWEST_PAIRS: Final = 20
"""Smallest number of pairs for estimating that share from people's answers; count."""


ALIKE: Final = "fraction of pairs of answers, dialogue by dialogue"

_GRID = 1_000

IsDefect = Callable[[str], bool]


def sample_plan(answered: Sequence[DialogueAnswers], wish: SampleWish) -> SamplePlan:
    """Return the number of dialogues to annotate again with the new wording.

    Two people also differ about the same words; the same share is expected to change, equally in both
    directions, whether the words matter or not. For a shift of `d`, the shares that change to a defect and
    back are then (changing + d) / 2 and (changing - d) / 2, each dialogue counting as one pair of a
    yes or no, independent of the others. For agreement, the unchanged share is 1 - changing.

    Args:
        answered: People's answers to the old wording.
        wish: Purpose and required precision of the sample.

    Returns:
        The plan; with too few dialogues also the precision with all of them.

    Source:
        Shift: Connor (1987), Biometrics 43:207-211, the sample size of McNemar's test.
        Agreement: Wilson's interval solved for n, Wilson (1927), Journal of the American
        Statistical Association 22:209-212.
    """
    share, n_pairs = differing(answered)
    is_assumed = n_pairs < FEWEST_PAIRS
    changing = ASSUMED if is_assumed else share
    n_there = sum(any(value is not None for _, _, value in answer.said) for answer in answered)
    n_needed = _needed(wish, changing, wish.size)
    plan = SamplePlan(
        wish=wish, n_needed=n_needed, n_there=n_there, changing=changing, is_assumed=is_assumed, n_pairs=n_pairs
    )
    return plan if n_needed <= n_there else replace(plan, reached=_reached(wish, changing, n_there))


def _needed(wish: SampleWish, changing: float, size: float) -> int:
    if wish.aim is SampleAim.AGREEMENT:
        return n_for_rate(1.0 - changing, size, confidence=wish.confidence)
    together = min(1.0, max(changing, size))
    up, down = (together + size) / 2, (together - size) / 2
    return n_for_flips(up, down, confidence=wish.confidence, power=wish.power)


def _reached(wish: SampleWish, changing: float, n: int) -> float | None:
    """Return the smallest size, in steps of a thousandth, for a number of dialogues; None for none."""
    sizes = (step / _GRID for step in range(math.ceil(wish.size * _GRID), _GRID // 2))
    return next((size for size in sizes if _needed(wish, changing, size) <= n), None)


def differing(answered: Sequence[DialogueAnswers]) -> tuple[float, int]:
    """Return the share of pairs of two people's answers about the same that differ, and the number of pairs."""
    n_pairs = n_apart = 0
    for answer in answered:
        by_turn: dict[int | None, dict[str, str]] = {}
        for annotator, turn, value in answer.said:
            if value is not None:
                by_turn.setdefault(turn, {})[annotator] = value
        for values in by_turn.values():
            for a, b in combinations(values.values(), 2):
                n_pairs, n_apart = n_pairs + 1, n_apart + (a != b)
    return (n_apart / n_pairs if n_pairs else 0.0), n_pairs


def measured_shift(
    question: str,
    before: Sequence[DialogueAnswers],
    after: Sequence[DialogueAnswers],
    *,
    sample: Collection[str],
    rules: tuple[IsDefect | None, IsDefect | None],
    confidence: float = 0.95,
) -> MeasuredShift:
    """Return the effect of the new wording, on the dialogues answered in both versions.

    Each dialogue has equal weight, and so has each answer about it: no
    label is merged from several. Dialogues of one tester resemble each other and are clusters.

    Args:
        question: Name of the question.
        before: People's answers to the old wording.
        after: People's answers to the new wording.
        sample: Keys of the dialogues selected for annotation.
        rules: The defect rules of the old and of the new version; None if not stated.
        confidence: Coverage; fraction.

    Returns:
        The difference of defect rates with its interval, and the share of pairs of an old and a new
        answer that are the same.

    Source:
        Rates: `paired_difference`, with Newcombe's interval for yes and no, otherwise Student's t over clusters.
        Agreement: `mean_fraction`, Korn, Graubard (1998), Survey Methodology 24:193-201.
    """
    old = {answer.dialogue: answer for answer in before}
    new = {answer.dialogue: answer for answer in after}
    both = [key for key in old if key in new and _has_value(old[key]) and _has_value(new[key])]
    clusters = [old[key].cluster or key for key in both]
    was, now = rules
    shift: Estimate | Undefined = Undefined(reason=NO_DEFECT_RULE, n=len(both), unit=RATE_DIFFERENCE)
    if was is not None and now is not None:
        shares = [[_share(side[key], rule) for key in both] for side, rule in ((old, was), (new, now))]
        shift = paired_difference(
            shares[0], shares[1], clusters=shared_clusters(clusters), scale=(0.0, 1.0), confidence=confidence
        )
    return MeasuredShift(
        question=question,
        shift=shift if both else Undefined(reason=NO_DIALOGUE_OF_BOTH_VERSIONS, unit=RATE_DIFFERENCE),
        alike=_alike(old, new, both, clusters, confidence),
        n_both=len(both),
        n_missing=sum(1 for key in sample if key not in new or not _has_value(new[key])),
    )


def _has_value(answer: DialogueAnswers) -> bool:
    return any(value is not None for _, _, value in answer.said)


def _share(answer: DialogueAnswers, is_defect: IsDefect) -> float:
    values = [value for _, _, value in answer.said if value is not None]
    return sum(map(is_defect, values)) / len(values)


def _alike(
    old: Mapping[str, DialogueAnswers],
    new: Mapping[str, DialogueAnswers],
    both: Sequence[str],
    clusters: Sequence[str],
    confidence: float,
) -> Estimate | Undefined:
    shares = {key: share for key in both if (share := _same(old[key], new[key])) is not None}
    selected = [cluster for key, cluster in zip(both, clusters, strict=True) if key in shares]
    return mean_fraction(
        list(shares.values()),
        clusters=shared_clusters(selected),
        unit=ALIKE,
        confidence=confidence,
        otherwise=NO_DIALOGUE_OF_BOTH_VERSIONS,
    )


def _same(old: DialogueAnswers, new: DialogueAnswers) -> float | None:
    """Return the share of equal pairs of an old and a new answer about the same; None without a pair."""
    pairs = [
        a == b
        for _, turn, a in old.said
        for _, other, b in new.said
        if turn == other and a is not None and b is not None
    ]
    return sum(pairs) / len(pairs) if pairs else None
