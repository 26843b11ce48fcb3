"""Accuracy of a judge, when people looked at its alarms more often than at the rest."""

from __future__ import annotations

import numpy as np
import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.measurement import judge_accuracy

VERDICTS = [True] * 100 + [False] * 900


def labels(alarms, rest):
    parts = [[True] * d + [False] * (n - d) + [None] * (size - n) for (d, n), size in ((alarms, 100), (rest, 900))]
    return parts[0] + parts[1]


def test_sensitivity_counts_the_misses_that_nobody_looked_at():
    judge = judge_accuracy(VERDICTS, labels((40, 50), (1, 50)))

    assert judge.sensitivity.value == pytest.approx(0.08 / 0.098)
    assert judge.specificity.value == pytest.approx(0.882 / 0.902)
    assert judge.sensitivity.low < 0.6


def test_fully_labelled_it_is_the_plain_table():
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


def test_a_judge_that_sees_too_much_has_a_bias_above_0():
    judge = judge_accuracy(VERDICTS, labels((10, 80), (0, 80)))

    assert judge.bias.value == pytest.approx(0.1 - 0.0125)
    assert 0 < judge.bias.low < judge.bias.high


def test_every_value_lies_in_its_interval():
    judge = judge_accuracy(VERDICTS, labels((1, 3), (1, 40)))

    for name in ("rate", "judge_rate", "bias", "sensitivity", "specificity", "precision", "clean_rate"):
        estimate = getattr(judge, name)
        assert estimate.low <= estimate.value <= estimate.high


def test_without_a_defect_nothing_is_known_of_sensitivity():
    judge = judge_accuracy(VERDICTS, labels((0, 50), (0, 50)))

    assert isinstance(judge.sensitivity, Undefined)
    assert judge.specificity.value == pytest.approx(0.9)
    assert judge.precision.value == 0.0


def test_without_a_sound_dialogue_nothing_is_known_of_specificity():
    judge = judge_accuracy([True, False], [True, True])

    assert isinstance(judge.specificity, Undefined)
    assert judge.sensitivity.value == pytest.approx(0.5)


def test_unseen_heaps_leave_only_what_does_not_need_them():
    judge = judge_accuracy(VERDICTS, labels((40, 50), (0, 0)))

    assert judge.precision.value == pytest.approx(0.8)
    assert isinstance(judge.clean_rate, Undefined)
    assert isinstance(judge.sensitivity, Undefined)
    assert "called `sound`" in judge.rate.reason


def test_a_judge_that_never_raises_an_alarm_catches_nothing():
    judge = judge_accuracy([False] * 50, [True] * 5 + [False] * 45)

    assert (judge.sensitivity.value, judge.specificity.value) == (0.0, 1.0)
    assert isinstance(judge.precision, Undefined)


def test_dialogues_without_a_verdict_are_left_out_here():
    judge = judge_accuracy([True, False, None], [True, False, True], clusters=["a", "b", "b"])

    assert judge.rate.n == 2
    assert judge.judge_rate.value == pytest.approx(0.5)


def test_no_verdict_at_all_is_undefined():
    judge = judge_accuracy([None], [True])

    assert isinstance(judge.judge_rate, Undefined)
    assert isinstance(judge.rate, Undefined)


def test_labels_drawn_by_application_count_by_the_size_of_its_heaps():
    verdicts = [True] * 10 + [False] * 90 + [True] * 90 + [False] * 10
    truth = [True] * 5 + [False] * 5 + [False] * 90 + [True] * 90 + [False] * 10
    drawn = truth[:10] + truth[10:20] + [None] * 80 + truth[100:110] + [None] * 80 + truth[190:]
    names = ["x"] * 100 + ["y"] * 100

    judge = judge_accuracy(verdicts, drawn, drawn_from=names)

    assert judge.precision.value == pytest.approx((10 * 0.5 + 90 * 1.0) / 100)
    assert judge.precision.low < judge.precision.value < judge.precision.high
    assert judge.clean_rate.value == pytest.approx(1.0)
    assert judge.sensitivity.value == pytest.approx(1.0)


def test_what_labels_were_drawn_from_must_be_said_of_every_dialogue():
    with pytest.raises(InputError, match="`drawn_from` must say it of every dialogue; got 1 for 2"):
        judge_accuracy([True, False], [True, False], drawn_from=["x"])
