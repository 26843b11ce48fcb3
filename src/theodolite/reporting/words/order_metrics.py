"""Order metrics and order effects as text, the same in summary, report, monitor and web pages."""

from __future__ import annotations

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.findings.order import Chance, OrderEffect, OrderProfile, OrderSide, OrderValue, RankingAgreement
from theodolite.domain.undefined_reasons import undefined_text
from theodolite.reporting.words import figures
from theodolite.reporting.words.estimates import coefficient_text


def profile_text(profile: OrderProfile | Undefined) -> str:
    """Return the metrics of a sequence on one line, PEN both in nats and normalised.

    Example:
        >>> profile_text(Undefined(reason="Order metrics need 8 scores; there are 3."))
        'undefined: order metrics need 8 scores; there are 3'
    """
    if isinstance(profile, Undefined):
        return undefined_text(profile)
    text = f"{pen_text(profile)}, {cin_text(profile)}, {lis_text(profile)}, {lnds_text(profile)}"
    return f"{text}; all scores are equal, so their order says nothing" if profile.lis.band is None else text


def pen_text(profile: OrderProfile) -> str:
    """Return permutation entropy in both units, with band and chance."""
    where = f", order {profile.order}, delay {profile.delay}" if (profile.order, profile.delay) != (3, 1) else ""
    return f"PEN {pen_value(profile)}{where}{_comparison(profile.pen)}"


def pen_value(profile: OrderProfile) -> str:
    """Return permutation entropy in both units, each named."""
    return f"{profile.pen.value:.4f} nats, {profile.pen_normalized:.2f} normalised"


def cin_text(profile: OrderProfile) -> str:
    """Return the inversions, with band and chance."""
    return f"CIN {profile.cin.value:,.0f}{_comparison(profile.cin)}"


def lis_text(profile: OrderProfile) -> str:
    """Return the longest increasing subsequence, with band and chance."""
    return f"LIS {profile.lis.value:,.0f}{_comparison(profile.lis)}"


def lnds_text(profile: OrderProfile) -> str:
    """Return the longest subsequence that does not fall, with its chance level."""
    return f"LNDS {profile.lnds.value:,.0f}{_comparison(profile.lnds)}"


def _comparison(found: OrderValue) -> str:
    parts = [band_text(found)] if found.band else []
    parts += [chance_text(found.chance)] if not isinstance(found.chance, Undefined) else []
    return f" ({'; '.join(parts)})" if parts else ""


def band_text(found: OrderValue) -> str:
    """Return the band of a value; a dash if there is none."""
    if found.band is None:
        return "-"
    return f"{found.band.value}, in a gap of the published table" if found.in_gap else found.band.value


def chance_text(chance: Chance | Undefined) -> str:
    """Return how a value compares with the same scores in random order."""
    if isinstance(chance, Undefined):
        return "no chance level"
    return f"{chance.verdict()}, {p_text(chance.p_value)}"


def p_text(p_value: float) -> str:
    """Return a p value, e.g. `p = .043`."""
    if p_value < 0.001:
        return "p < .001"
    return f"p = {p_value:.3f}".replace("0.", ".", 1) if p_value < 1 else "p = 1"


def ranking_text(ranking: RankingAgreement | Undefined, unit: str = "score") -> str:
    """Return a judge's agreement with people's ranking, on one line; `unit` is the ranked unit."""
    if isinstance(ranking, Undefined):
        return undefined_text(ranking)
    parts = [f"tau {coefficient_text(ranking.tau)}", f"rho {coefficient_text(ranking.spearman)}"]
    parts += [f"CIN {opposed_text(ranking)}", f"LIS {chain_text(ranking)}"]
    return f"{', '.join(parts)}; {figures.number_of(ranking.n, unit)}"


def opposed_text(ranking: RankingAgreement) -> str:
    """Return the pairs in opposite order as a count of all pairs, with the interval of their share."""
    pairs = ranking.n * (ranking.n - 1) // 2
    text, share = f"{ranking.cin:,} of {pairs:,} pairs", ranking.opposed_pairs
    if isinstance(share, Undefined) or share.low is None or share.high is None:
        return text
    return f"{text} ({figures.span(share.low, share.high)}%)"


def chain_text(ranking: RankingAgreement) -> str:
    """Return the longest common chain with the interval of its expected length."""
    chain = ranking.common_chain
    ends = f" ({chain.low:.1f} to {chain.high:.1f})" if chain.low is not None and chain.high is not None else ""
    return f"{ranking.lis:,}{ends}"


RANKED = "ordinal shift"

"""Prefix for the name of a shift of numbers and ordered answers; all others are shifts of shares."""


SUGGESTION_NOTE = (
    "Labels with suggestions do not validate a judge: the validation of judges and all agreement use only labels "
    "without suggestions."
)
"""Limit of labels whose annotator saw the answers of a judge."""


def side_text(side: OrderSide) -> str:
    """Return the answers in one order, e.g. `asked earlier: 12 yes, 48 no (60), 2 without a value`."""
    counts = ", ".join(f"{figures.count(n)} {label}" for label, n in side.given if n) or "no answer"
    lacking = f", {figures.count(side.n_without_value)} without a value" if side.n_without_value else ""
    return f"{side.shown}: {counts} ({figures.count(side.n)}{lacking})"


def shift_text(effect: OrderEffect) -> str:
    """Return the shift of answers with interval and counts, or why it is undefined.

    Example: `share of "yes": +8.3 points (-2.1 to +18.8), 120 answers, 6 annotators, 60 dialogues`.
    """
    shift = effect.shift
    if isinstance(shift, Undefined):
        return undefined_text(shift)
    rests = (
        f"{figures.number_of(shift.n, 'answer')}, {figures.number_of(effect.n_annotators, 'annotator')}, "
        f"{figures.number_of(effect.n_dialogues, 'dialogue')}"
    )
    return f"{effect.measured}: {_number(shift, ranked=effect.measured.startswith(RANKED))}, {rests}"


def moved_text(effect: OrderEffect) -> str:
    """Return the effect of an order, e.g. `asked later, beside asked earlier: share of "yes": +8.3 points`."""
    return f"{effect.second.shown}, beside {effect.first.shown}: {shift_text(effect)}"


def _number(shift: Estimate, *, ranked: bool) -> str:
    def formatted(value: float) -> str:
        sign = "-" if value < 0 else "+"
        return sign + (figures.coefficient(abs(value)) if ranked else figures.points(abs(value)))

    unit = "" if ranked else " points"
    if shift.low is None or shift.high is None:
        return f"{formatted(shift.value)}{unit}"
    return f"{formatted(shift.value)}{unit} ({formatted(shift.low)} to {formatted(shift.high)})"
