"""Corrected rates: values, refusals and what widens them."""

from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement.correction import corrected_mean, corrected_rate, judge_accuracy, rogan_gladen_rate
from theodolite.measurement.stratified_correction import strata

VERDICTS = [True] * 100 + [False] * 900


def labels(alarms, rest):
    """Return labels of (defects, labelled) alarms and of the rest."""
    parts = [[True] * d + [False] * (n - d) + [None] * (size - n) for (d, n), size in ((alarms, 100), (rest, 900))]
    return parts[0] + parts[1]


def test_strata_are_weighted_by_their_size_regardless_of_the_labels_in_them():
    rate = corrected_rate(VERDICTS, labels((40, 50), (1, 50)))

    assert rate.value == pytest.approx(0.1 * 0.8 + 0.9 * 0.02)
    assert (rate.n, rate.unit, rate.method) == (100, "fraction of dialogues", "verdict-stratified, Jeffreys")


def test_zero_labelled_defects_have_an_upper_bound():
    rate = corrected_rate(VERDICTS, labels((0, 50), (0, 50)))

    assert (rate.value, rate.low) == (0.0, 0.0)
    assert 0.02 < rate.high < 0.08


def test_only_defects_give_an_upper_bound_of_1():
    rate = corrected_rate([True] * 20, [True] * 20)

    assert (rate.value, rate.high) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (labels((0, 0), (0, 0)), "No dialogue has a label"),
        (labels((30, 50), (0, 0)), "called `sound`"),
        (labels((0, 0), (1, 50)), "called `defect`"),
    ],
)
def test_an_unlabelled_stratum_leaves_the_rate_unknown(found, words):
    result = corrected_rate(VERDICTS, found)

    assert isinstance(result, Undefined)
    assert words in result.reason


def test_complete_labels_give_the_human_rate():
    rng = np.random.default_rng(2)
    truth = (rng.random(400) < 0.2).tolist()
    verdicts = (rng.random(400) < 0.3).tolist()

    assert corrected_rate(verdicts, truth).value == pytest.approx(np.mean(truth))


def test_clusters_widen_the_interval():
    found = labels((40, 50), (10, 50))
    personas = [f"p{place % 7 if truth else place % 5}" for place, truth in enumerate(found)]

    alone, together = corrected_rate(VERDICTS, found), corrected_rate(VERDICTS, found, clusters=personas)

    assert together.value == alone.value
    assert together.high - together.low > alone.high - alone.low
    assert (together.n_clusters, together.method) == (7, "verdict-stratified, beta-binomial")


def test_more_labels_narrow_the_interval():
    some = corrected_rate(VERDICTS, labels((16, 20), (2, 40)))
    more = corrected_rate(VERDICTS, labels((64, 80), (8, 160)))

    assert more.value == some.value
    assert more.high - more.low < 0.6 * (some.high - some.low)


def test_verdicts_may_be_ordinal():
    verdicts = [1] * 30 + [2] * 30 + [3] * 40
    rate = corrected_rate(verdicts, ([False] * 10 + [None] * 20) + ([True, False] * 5 + [None] * 20) + [True] * 40)

    assert rate.value == pytest.approx(0.3 * 0 + 0.3 * 0.5 + 0.4)


def test_provoking_personas_raise_verdicts_and_labels_together():
    """What both have in common widens the rate beyond what each tells alone."""
    verdicts, found, personas = [], [], []
    for persona in range(12):
        flagged = 36 if persona < 4 else 2
        verdicts += [True] * flagged + [False] * (40 - flagged)
        found += (
            [persona < 4] * 2 + [None] * (flagged - 2) + [persona < 4, None] + [False] * 2 + [None] * (36 - flagged)
        )
        personas += [persona] * 40

    rate = corrected_rate(verdicts, found, clusters=personas)

    heaps = strata(verdicts, found, personas)
    shares, defects = heaps.chances()
    apart = np.quantile((shares * defects).sum(axis=0), [0.025, 0.975])
    assert rate.high - rate.low > 1.1 * (apart[1] - apart[0])


def test_zero_defects_in_a_random_sample_are_bounded_as_without_a_judge():
    """A part in proportion to the verdicts; 1 - .025 ** (1 / 100) = .0362."""
    rate = corrected_rate(VERDICTS, labels((0, 10), (0, 90)))

    assert (rate.value, rate.low) == (0.0, 0.0)
    assert rate.high == pytest.approx(0.0362, abs=1e-4)


def test_the_upper_bound_holds_for_every_allocation_of_defects_to_verdicts():
    rate = corrected_rate(VERDICTS, labels((0, 50), (0, 50)))

    shares = np.linspace(0, 1, 4001)
    alarms, rest = np.meshgrid(shares, shares, sparse=True)
    above = 0.1 * alarms + 0.9 * rest >= rate.high
    none = ((1 - alarms) ** 50 * (1 - rest) ** 50)[above].max()
    assert none == pytest.approx(0.025, rel=0.05)


def test_zero_defects_in_clusters_have_a_higher_bound():
    found = labels((0, 10), (0, 90))
    ids = [dialogue // 20 for dialogue in range(1000)]

    assert corrected_rate(VERDICTS, found, clusters=ids).high > corrected_rate(VERDICTS, found).high + 0.003


def test_a_perfect_judge_changes_nothing_but_the_width():
    rate = rogan_gladen_rate(30, 100, sensitivity=(50, 50), specificity=(50, 50))

    assert rate.value == pytest.approx(0.3)
    assert rate.high - rate.low > 0.17


def test_fewer_alarms_than_expected_false_ones_give_0_with_an_upper_bound():
    rate = rogan_gladen_rate(1, 100, sensitivity=(80, 100), specificity=(95, 100))

    assert (rate.value, rate.low) == (0.0, 0.0)
    assert rate.high > 0.01


@pytest.mark.parametrize(
    ("judged", "caught", "passed"),
    [
        ((40, 100), (50, 100), (50, 100)),
        ((40, 100), (0, 10), (9, 10)),
        ((0, 0), (5, 5), (5, 5)),
        ((1, 2), (0, 0), (5, 5)),
    ],
)
def test_an_uninformative_or_unvalidated_judge_leaves_the_rate_undefined(judged, caught, passed):
    assert isinstance(rogan_gladen_rate(*judged, sensitivity=caught, specificity=passed), Undefined)


def test_a_part_larger_than_its_whole_is_refused():
    with pytest.raises(InputError, match="`sensitivity` must be a part of the whole; got 6 of 5"):
        rogan_gladen_rate(1, 2, sensitivity=(6, 5), specificity=(5, 5))


def test_correlated_clusters_widen_the_interval():
    known = {"sensitivity": (180, 200), "specificity": (190, 200)}
    clusters = [(20, 20), (0, 20), (18, 20), (2, 20), (0, 20)]

    alone, together = rogan_gladen_rate(40, 100, **known), rogan_gladen_rate(40, 100, **known, clusters=clusters)

    assert together.value == alone.value
    assert together.high - together.low > 1.5 * (alone.high - alone.low)
    assert together.method.endswith("design effect")


def test_a_mismatching_calibration_gives_no_rate_of_exactly_0():
    """Lee's interval of 1 alarm in 100 by a judge with 10% false alarms ends below 0."""
    rate = rogan_gladen_rate(1, 100, sensitivity=(90, 100), specificity=(90, 100))

    assert isinstance(rate, Undefined)
    assert "called 1 of 100 a defect, fewer than its false alarms" in rate.reason
    assert "10 of 100 non-defects" in rate.reason


def test_more_alarms_than_possible_give_no_rate_of_exactly_1():
    rate = rogan_gladen_rate(99, 100, sensitivity=(70, 100), specificity=(95, 100))

    assert isinstance(rate, Undefined)
    assert "more than its defects caught" in rate.reason


@pytest.mark.parametrize("positives", range(3, 11))
def test_a_rate_of_0_is_never_more_certain_than_with_a_perfect_judge(positives):
    rate = rogan_gladen_rate(positives, 100, sensitivity=(90, 100), specificity=(90, 100))

    assert (rate.value, rate.low) == (0.0, 0.0)
    assert rate.high >= 1 - 0.025 ** (1 / 100) - 1e-9


def accuracy_labels(alarms, rest):
    parts = [[True] * d + [False] * (n - d) + [None] * (size - n) for (d, n), size in ((alarms, 100), (rest, 900))]
    return parts[0] + parts[1]


def test_sensitivity_includes_misses_among_unlabelled_dialogues():
    judge = judge_accuracy(VERDICTS, accuracy_labels((40, 50), (1, 50)))

    assert judge.sensitivity.value == pytest.approx(0.08 / 0.098)
    assert judge.specificity.value == pytest.approx(0.882 / 0.902)
    assert judge.sensitivity.low < 0.6


def test_complete_labels_give_the_plain_table():
    rng = np.random.default_rng(5)
    truth, verdicts = rng.random(500) < 0.3, rng.random(500) < 0.4
    judge = judge_accuracy(verdicts.tolist(), truth.tolist())

    assert judge.sensitivity.value == pytest.approx(verdicts[truth].mean())
    assert judge.specificity.value == pytest.approx(1 - verdicts[~truth].mean())
    assert judge.precision.value == pytest.approx(truth[verdicts].mean())
    assert judge.clean_rate.value == pytest.approx(1 - truth[~verdicts].mean())
    assert judge.bias.value == pytest.approx(verdicts.mean() - truth.mean())
    assert judge.judge_rate.value == pytest.approx(verdicts.mean())
    assert judge.rate.value == pytest.approx(truth.mean())


def test_a_judge_with_too_many_alarms_has_a_positive_bias():
    judge = judge_accuracy(VERDICTS, accuracy_labels((10, 80), (0, 80)))

    assert judge.bias.value == pytest.approx(0.1 - 0.0125)
    assert 0 < judge.bias.low < judge.bias.high


def test_every_value_lies_in_its_interval():
    judge = judge_accuracy(VERDICTS, accuracy_labels((1, 3), (1, 40)))

    for name in ("rate", "judge_rate", "bias", "sensitivity", "specificity", "precision", "clean_rate"):
        estimate = getattr(judge, name)
        assert estimate.low <= estimate.value <= estimate.high


def test_without_a_defect_sensitivity_is_undefined():
    judge = judge_accuracy(VERDICTS, accuracy_labels((0, 50), (0, 50)))

    assert isinstance(judge.sensitivity, Undefined)
    assert judge.specificity.value == pytest.approx(0.9)
    assert judge.precision.value == 0.0


def test_without_a_non_defect_specificity_is_undefined():
    judge = judge_accuracy([True, False], [True, True])

    assert isinstance(judge.specificity, Undefined)
    assert judge.sensitivity.value == pytest.approx(0.5)


def test_unlabelled_strata_leave_only_independent_figures():
    judge = judge_accuracy(VERDICTS, accuracy_labels((40, 50), (0, 0)))

    assert judge.precision.value == pytest.approx(0.8)
    assert isinstance(judge.clean_rate, Undefined)
    assert isinstance(judge.sensitivity, Undefined)
    assert "called `sound`" in judge.rate.reason


def test_a_judge_without_alarms_has_sensitivity_zero():
    judge = judge_accuracy([False] * 50, [True] * 5 + [False] * 45)

    assert (judge.sensitivity.value, judge.specificity.value) == (0.0, 1.0)
    assert isinstance(judge.precision, Undefined)


def test_dialogues_without_a_verdict_are_excluded():
    judge = judge_accuracy([True, False, None], [True, False, True], clusters=["a", "b", "b"])

    assert judge.rate.n == 2
    assert judge.judge_rate.value == pytest.approx(0.5)


def test_without_verdicts_the_result_is_undefined():
    judge = judge_accuracy([None], [True])

    assert isinstance(judge.judge_rate, Undefined)
    assert isinstance(judge.rate, Undefined)


def test_labels_drawn_by_application_are_weighted_by_stratum_size():
    verdicts = [True] * 10 + [False] * 90 + [True] * 90 + [False] * 10
    truth = [True] * 5 + [False] * 5 + [False] * 90 + [True] * 90 + [False] * 10
    drawn = truth[:10] + truth[10:20] + [None] * 80 + truth[100:110] + [None] * 80 + truth[190:]
    names = ["x"] * 100 + ["y"] * 100

    judge = judge_accuracy(verdicts, drawn, drawn_from=names)

    assert judge.precision.value == pytest.approx((10 * 0.5 + 90 * 1.0) / 100)
    assert judge.precision.low < judge.precision.value < judge.precision.high
    assert judge.clean_rate.value == pytest.approx(1.0)
    assert judge.sensitivity.value == pytest.approx(1.0)


def test_precision_uses_flagged_dialogues_if_only_those_are_labelled():
    """Nobody labelled the dialogues of application b that the judge passed; all flagged ones are defects."""
    verdicts, drawn_from = [True] * 4 + [False] * 4, ["a", "b", "a", "b", "a", "a", "b", "b"]
    labels = [True, True, None, None, False, False, None, None]

    precision = judge_accuracy(verdicts, labels, drawn_from=drawn_from).precision

    assert (precision.value, precision.n) == (1.0, 2)
    assert 0.0 < precision.low < precision.high == 1.0
    alone = judge_accuracy(verdicts[:4], labels[:4], drawn_from=drawn_from[:4]).precision
    assert precision.low == pytest.approx(alone.low)


def test_the_sampling_stratum_is_required_for_every_dialogue():
    with pytest.raises(InputError, match="`drawn_from` must say it of every dialogue; got 1 for 2"):
        judge_accuracy([True, False], [True, False], drawn_from=["x"])


def drawn(slope, n=60, seed=1):
    rng = np.random.default_rng(seed)
    truth = rng.normal(3.0, 1.0, 1000)
    scores = slope * truth + rng.normal(0.0, 0.3, 1000)
    return scores.tolist(), [*truth[:n].tolist(), *[None] * (1000 - n)], truth


def test_a_judge_that_correlates_with_people_narrows_the_interval():
    scores, labels, truth = drawn(1.0)
    rate, plain = corrected_mean(scores, labels), corrected_mean([0.0] * 60, labels[:60])

    assert rate.low < truth.mean() < rate.high
    assert rate.high - rate.low < 0.5 * (plain.high - plain.low)


@pytest.mark.parametrize("slope", [0.0, -1.0])
def test_a_judge_without_correlation_gets_no_weight(slope):
    scores, labels, truth = drawn(slope, n=200)

    assert corrected_mean(scores, labels).value == pytest.approx(truth[:200].mean(), abs=0.02)


def test_a_constant_judge_gives_the_human_mean():
    assert corrected_mean([3.0] * 10, [1.0, 2.0, 3.0] + [None] * 7).value == pytest.approx(2.0)


def test_complete_human_scores_give_their_mean():
    assert corrected_mean([5, 5, 5], [1, 2, 6]).value == pytest.approx(3.0)


def test_too_few_labels_leave_it_undefined():
    result = corrected_mean([1, 2, 3], [1, None, None])

    assert isinstance(result, Undefined)
    assert "Fewer than two dialogues" in result.reason


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1.0], [1.0, 2.0]), "must be of the same units; got 1 and 2"),
        (([float("nan")], [1.0]), "`scores` must hold a number for every unit"),
    ],
)
def test_impossible_scores_are_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        corrected_mean(*arguments)


def test_a_partly_labelled_cluster_is_refused():
    with pytest.raises(InputError, match="1 clusters are labelled in part"):
        corrected_mean([1, 2, 3], [1, None, 3], clusters="aab")


@pytest.mark.parametrize("drawn_from", [None, ["all"] * 200])
def test_identical_labels_leave_room_for_other_points_of_the_scale(drawn_from):
    scores, labels = [3.99] * 200, [5.0] * 30 + [None] * 170

    mean = corrected_mean(scores, labels, drawn_from=drawn_from, scale=(1, 5))

    assert (mean.value, mean.high) == (5.0, 5.0)
    assert mean.low == pytest.approx(5 - 4 * (1 - 0.025 ** (1 / 30)))
    assert corrected_mean(scores, labels, drawn_from=drawn_from).low is None


def test_identical_labels_in_clusters_leave_more_room():
    scores, labels = [3.99] * 200, [5.0] * 30 + [None] * 170
    ids = [unit // 5 for unit in range(200)]

    alone, together = (corrected_mean(scores, labels, clusters=names, scale=(1, 5)) for names in (None, ids))

    assert together.low < alone.low - 0.1


def test_infinite_scores_and_labels_are_refused():
    with pytest.raises(InputError, match="`scores` must hold finite numbers"):
        corrected_mean([1.0, float("inf")], [1.0, None])
    with pytest.raises(InputError, match=r"`labels` must hold finite numbers; .* \(-inf\) at position 1"):
        corrected_mean([1.0, 2.0, 3.0], [1.0, float("-inf"), None])


def judged(seed=4, n=2_000):
    """Return a judge's scores, people's scores of everything, and the judge's alarms."""
    rng = np.random.default_rng(seed)
    people = rng.integers(1, 6, n).astype(float)
    judge = np.clip(people + rng.normal(0.5, 0.8, n), 1, 5)
    return judge, people, judge < 2.5


def sampled(people, drawn):
    return [score if is_in else None for score, is_in in zip(people.tolist(), drawn, strict=True)]


def test_a_sample_biased_to_false_alarms_needs_strata():
    rng = np.random.default_rng(1)
    people = rng.integers(1, 6, 2_000).astype(float)
    alarm = rng.random(2_000) < 0.2
    judge = np.where(alarm, 1.0, people)
    drawn = rng.random(2_000) < np.where(alarm, 0.5, 0.05)

    by_strata = corrected_mean(judge.tolist(), sampled(people, drawn), drawn_from=alarm.tolist())
    taken_alike = corrected_mean(judge.tolist(), sampled(people, drawn))

    assert by_strata.low < people.mean() < by_strata.high
    assert taken_alike.low > people.mean()


def test_one_stratum_nearly_equals_the_plain_estimate():
    judge, people, _ = judged()
    labels = sampled(people, np.arange(len(judge)) < 100)

    one, plain = corrected_mean(judge.tolist(), labels, drawn_from=[0] * len(judge)), corrected_mean(judge, labels)

    assert one.value == pytest.approx(plain.value, abs=0.03)
    assert one.high - one.low == pytest.approx(plain.high - plain.low, rel=0.1)


def test_partly_labelled_clusters_widen_the_interval():
    rng = np.random.default_rng(2)
    tone = np.repeat(rng.normal(0, 1, 40), 20)
    people, judge = 3 + tone, 3 + rng.normal(0, 0.3, 800)
    labels = sampled(people, np.arange(800) % 20 < 4)

    alone = corrected_mean(judge.tolist(), labels, drawn_from=[0] * 800)
    together = corrected_mean(judge.tolist(), labels, drawn_from=[0] * 800, clusters=(np.arange(800) // 20).tolist())

    assert together.high - together.low > 1.5 * (alone.high - alone.low)
    assert together.n_clusters == 40


@pytest.mark.parametrize(
    ("labels", "reason"), [([1.0, 2.0, None, None], "one of the strata"), ([1.0, None, 2.0, None], "Fewer than two")]
)
def test_an_unlabelled_stratum_is_undefined(labels, reason):
    found = corrected_mean([1.0, 2.0, 3.0, 4.0], labels, drawn_from="aabb")

    assert isinstance(found, Undefined)
    assert reason in found.reason


def test_every_unit_needs_a_stratum():
    with pytest.raises(InputError, match="`drawn_from` must say it of every unit"):
        corrected_mean([1.0, 2.0], [1.0, None], drawn_from=["a"])
