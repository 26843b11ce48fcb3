"""Laws of the measures. Every exported measure is listed under the laws that it obeys."""

from __future__ import annotations

from dataclasses import astuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import theodolite.measurement as door
from tests.property.measurement.test_classification_laws import OF_CLASSIFICATION
from tests.property.measurement.test_comparison_laws import OF_COMPARISON
from tests.property.measurement.test_correction_laws import OF_CORRECTION
from tests.property.measurement.test_monitoring_laws import OF_MONITORING
from tests.property.measurement.test_order_laws import OF_ORDER
from tests.property.measurement.test_questionnaire_laws import OF_QUESTIONNAIRES
from tests.property.measurement.test_rater_laws import OF_RATERS
from tests.property.measurement.test_score_laws import OF_SCORES
from theodolite.domain.estimate import ConfusionMatrix, Estimate, Undefined
from theodolite.measurement.agreement import exact_agreement, relaxed_agreement
from theodolite.measurement.alpha import krippendorff_alpha
from theodolite.measurement.kappa import brennan_prediger, cohen_kappa, conger_kappa, fleiss_kappa, gwet_ac
from theodolite.measurement.labels import confusion_matrix
from theodolite.measurement.proportion import defect_rate, zero_defect_bound

SCALE = (1, 2, 3, 4)
LABELS = st.sampled_from((*SCALE, None))
PAIRS = st.lists(st.tuples(LABELS, LABELS), max_size=25)
NAN = float("nan")


def columns(pairs):
    return [first for first, _ in pairs], [second for _, second in pairs]


def table(pairs):
    return [[NAN if label is None else label for label in row] for row in columns(pairs)]


def counts(pairs):
    return [[unit.count(point) for point in SCALE] for unit in pairs if None not in unit]


def sizes(pairs):
    """Read the pairs as clusters: defects first, sound dialogues second."""
    return [(first or 0, (first or 0) + (second or 0)) for first, second in pairs]


def clustered(pairs):
    clusters = sizes(pairs)
    return defect_rate(sum(d for d, _ in clusters), sum(n for _, n in clusters), clusters=clusters)


def bound(pairs):
    labelled = [n for _, n in sizes(pairs)]
    return zero_defect_bound(sum(labelled), clusters=labelled)


MEASURES = {
    "exact_agreement": lambda pairs: exact_agreement(*columns(pairs)),
    "relaxed_agreement": lambda pairs: relaxed_agreement(*columns(pairs), categories=SCALE),
    "cohen_kappa": lambda pairs: cohen_kappa(*columns(pairs), categories=SCALE),
    "cohen_kappa, linear": lambda pairs: cohen_kappa(*columns(pairs), categories=SCALE, weights="linear"),
    "cohen_kappa, quadratic": lambda pairs: cohen_kappa(*columns(pairs), categories=SCALE, weights="quadratic"),
    "confusion_matrix": lambda pairs: confusion_matrix(*columns(pairs), categories=SCALE),
    "fleiss_kappa": lambda pairs: fleiss_kappa(counts(pairs)),
    "krippendorff_alpha": lambda pairs: krippendorff_alpha(table(pairs)),
    "krippendorff_alpha, ordinal": lambda pairs: krippendorff_alpha(table(pairs), scale="ordinal"),
    "krippendorff_alpha, interval": lambda pairs: krippendorff_alpha(table(pairs), scale="interval"),
    "krippendorff_alpha, ratio": lambda pairs: krippendorff_alpha(table(pairs), scale="ratio"),
    "gwet_ac": lambda pairs: gwet_ac(columns(pairs), categories=SCALE),
    "gwet_ac, quadratic": lambda pairs: gwet_ac(columns(pairs), categories=SCALE, weights="quadratic"),
    "brennan_prediger": lambda pairs: brennan_prediger(columns(pairs), categories=SCALE),
    "conger_kappa": lambda pairs: conger_kappa(columns([p for p in pairs if None not in p]), categories=SCALE),
    "defect_rate": clustered,
    "zero_defect_bound": bound,
}
LAWS_ELSEWHERE = (
    OF_CLASSIFICATION,
    OF_COMPARISON,
    OF_CORRECTION,
    OF_MONITORING,
    OF_ORDER,
    OF_SCORES,
    OF_QUESTIONNAIRES,
    OF_RATERS,
)
"""Measures whose laws stand in other files beside this one."""

LISTED = {"measure_study", "MeasurementTree"}.union(*LAWS_ELSEWHERE)


def obeyed_by(*names):
    """List measures under a law; a name stands for all its variants after a comma."""
    LISTED.update(names)
    variants = [name for name in MEASURES if name.split(",")[0] in {n.split(",")[0] for n in names if "," not in n}]
    return pytest.mark.parametrize("measure", [*variants, *(name for name in names if "," in name)])


def same(one, other):
    """Tell whether two results are the same but for rounding."""
    if isinstance(one, Estimate) and isinstance(other, Estimate):
        return all(x == y or x == pytest.approx(y, abs=1e-9) for x, y in zip(astuple(one), astuple(other), strict=True))
    return one == other


def swapped(result):
    if isinstance(result, ConfusionMatrix):
        return ConfusionMatrix(categories=result.categories, counts=tuple(zip(*result.counts, strict=True)))
    return result


ALL = (
    "exact_agreement",
    "relaxed_agreement",
    "cohen_kappa",
    "confusion_matrix",
    "fleiss_kappa",
    "krippendorff_alpha",
    "gwet_ac",
    "brennan_prediger",
    "conger_kappa",
    "defect_rate",
    "zero_defect_bound",
)
OF_ANNOTATORS = tuple(name for name in ALL if name not in {"defect_rate", "zero_defect_bound"})
PAIRS_ALONE = tuple(name for name in OF_ANNOTATORS if name not in {"gwet_ac", "brennan_prediger"})
EVEN = ("gwet_ac", "brennan_prediger")
UNKNOWN_AT_ONE_LABEL = ("cohen_kappa", "fleiss_kappa", "krippendorff_alpha", "conger_kappa")
BEYOND_CHANCE = (*UNKNOWN_AT_ONE_LABEL, *EVEN)


@obeyed_by(*ALL)
@given(data=st.data())
@settings(deadline=None, max_examples=40)
def test_the_order_of_units_does_not_matter(measure, data):
    pairs = data.draw(PAIRS)
    shuffled = data.draw(st.permutations(pairs))

    assert same(MEASURES[measure](pairs), MEASURES[measure](shuffled))


@obeyed_by(*OF_ANNOTATORS)
@given(pairs=PAIRS)
@settings(deadline=None, max_examples=40)
def test_the_order_of_annotators_does_not_matter(measure, pairs):
    reverse = [(second, first) for first, second in pairs]

    assert same(MEASURES[measure](pairs), swapped(MEASURES[measure](reverse)))


@obeyed_by(*PAIRS_ALONE)
@given(pairs=PAIRS, lonely=st.lists(st.sampled_from([(None, 1), (2, None), (None, None)]), max_size=4))
@settings(deadline=None, max_examples=40)
def test_units_skipped_by_one_annotator_do_not_matter(measure, pairs, lonely):
    assert same(MEASURES[measure](pairs), MEASURES[measure](pairs + lonely))


@obeyed_by("exact_agreement", "cohen_kappa, unweighted", "fleiss_kappa", "krippendorff_alpha, nominal")
@given(data=st.data())
@settings(deadline=None, max_examples=40)
def test_the_names_of_unordered_labels_do_not_matter(measure, data):
    pairs = data.draw(PAIRS)
    renamed = dict(zip(SCALE, data.draw(st.permutations(SCALE)), strict=True)) | {None: None}
    plain = measure.split(",")[0]

    other = [(renamed[first], renamed[second]) for first, second in pairs]

    assert same(MEASURES[plain](pairs), MEASURES[plain](other))


@obeyed_by(
    "relaxed_agreement",
    "cohen_kappa, linear",
    "cohen_kappa, quadratic",
    "krippendorff_alpha, ordinal",
    "krippendorff_alpha, interval",
)
@given(pairs=PAIRS)
@settings(deadline=None, max_examples=40)
def test_a_scale_may_be_reversed(measure, pairs):
    turned = {point: 5 - point for point in SCALE} | {None: None}

    other = [(turned[first], turned[second]) for first, second in pairs]

    assert same(MEASURES[measure](pairs), MEASURES[measure](other))


@obeyed_by(*(name for name in ALL if name != "confusion_matrix"))
@given(pairs=PAIRS)
@settings(deadline=None, max_examples=60)
def test_the_value_is_in_its_interval_and_the_interval_in_its_range(measure, pairs):
    result = MEASURES[measure](pairs)

    lowest = min(-1.0, getattr(result, "value", 0.0)) if measure.split(",")[0] in BEYOND_CHANCE else 0.0
    assert isinstance(result, Undefined) or lowest <= result.low <= result.value <= result.high <= 1.0


@obeyed_by("exact_agreement", "relaxed_agreement", *BEYOND_CHANCE)
@given(labels=st.lists(st.sampled_from(SCALE), min_size=2, max_size=25).filter(lambda labels: len(set(labels)) > 1))
@settings(deadline=None, max_examples=40)
def test_perfect_agreement_has_the_value_1_without_certainty(measure, labels):
    result = MEASURES[measure]([(label, label) for label in labels])

    assert result.value == pytest.approx(1.0, abs=1e-12)
    assert result.low < 1.0


@obeyed_by(*UNKNOWN_AT_ONE_LABEL)
@given(label=st.sampled_from(SCALE), n=st.integers(1, 20))
@settings(deadline=None, max_examples=20)
def test_a_single_answer_everywhere_is_neither_perfect_nor_poor(measure, label, n):
    result = MEASURES[measure]([(label, label)] * n)

    assert isinstance(result, Undefined)
    assert "unknown" in result.reason


@obeyed_by("exact_agreement", "relaxed_agreement")
@given(data=st.data())
@settings(deadline=None, max_examples=40)
def test_agreement_grows_with_the_permitted_distance(measure, data):
    pairs = data.draw(PAIRS.filter(lambda pairs: any(None not in pair for pair in pairs)))

    reached = [relaxed_agreement(*columns(pairs), within=within) for within in (0, 1, 2, 3)]

    assert [result.count for result in reached] == sorted(result.count for result in reached)
    assert same(reached[0], exact_agreement(*columns(pairs)))
    assert reached[-1].value == 1.0


METHODS = st.sampled_from(["wilson", "clopper-pearson"])


@obeyed_by("defect_rate")
@given(method=METHODS, n=st.integers(1, 300), data=st.data())
@settings(deadline=None, max_examples=60)
def test_more_defects_raise_the_whole_interval(measure, method, n, data):
    fewer = data.draw(st.integers(0, n - 1))

    one, other = defect_rate(fewer, n, method=method), defect_rate(fewer + 1, n, method=method)

    assert one.low <= other.low
    assert one.high <= other.high


@obeyed_by("defect_rate")
@given(method=METHODS, n=st.integers(1, 300), data=st.data())
@settings(deadline=None, max_examples=60)
def test_non_defects_mirror_defects(measure, method, n, data):
    defects = data.draw(st.integers(0, n))

    one, other = defect_rate(defects, n, method=method), defect_rate(n - defects, n, method=method)

    assert (one.low, one.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-9)


@obeyed_by("defect_rate", "zero_defect_bound")
@given(pairs=PAIRS.map(sizes).filter(lambda clusters: sum(n for _, n in clusters) > 0))
@settings(deadline=None, max_examples=30)
def test_more_confidence_widens_the_interval(measure, pairs):
    sums = sum(d for d, _ in pairs), sum(n for _, n in pairs)

    ends = [defect_rate(*sums, clusters=pairs, confidence=confidence) for confidence in (0.8, 0.9, 0.99)]
    bounds = [zero_defect_bound(sums[1], confidence=confidence).value for confidence in (0.8, 0.9, 0.99)]

    assert [end.low for end in ends] == sorted((end.low for end in ends), reverse=True)
    assert [end.high for end in ends] == sorted(end.high for end in ends)
    assert bounds == sorted(bounds)


@obeyed_by("zero_defect_bound")
@given(n=st.integers(1, 10_000))
@settings(deadline=None, max_examples=60)
def test_more_dialogues_without_a_defect_lower_the_bound(measure, n):
    assert zero_defect_bound(n + 1).value < zero_defect_bound(n).value <= 3 / n


def test_every_exported_measure_is_listed_under_a_law():
    assert {name.split(",")[0] for name in LISTED} == set(door.__all__)
