"""How many dialogues show what other words move, and what they moved."""

from __future__ import annotations

import math

import pytest

from theodolite.domain.annotating.rewording import DialogueAnswers, SampleAim, SampleWish
from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Undefined
from theodolite.domain.undefined_reasons import NO_DEFECT_RULE, NO_DIALOGUE_OF_BOTH_VERSIONS
from theodolite.measurement.comparison import newcombe_difference
from theodolite.measurement.sample_size import ASSUMED, differing, measured_shift, n_for_flips, n_for_rate, sample_plan

AGREEMENT = SampleWish(aim=SampleAim.AGREEMENT, size=0.05)


def answers(dialogue, *values, cluster="", turn=None):
    said = tuple((f"a{n}", turn, value) for n, value in enumerate(values))
    return DialogueAnswers(dialogue=str(dialogue), scenario="s", cluster=cluster, said=said)


def is_yes(value):
    return value == "yes"


def pairs(n_same, n_apart):
    return [answers(n, "yes", "yes" if n < n_same else "no") for n in range(n_same + n_apart)]


def test_the_sample_size_for_a_shift_follows_mcnemars_test():
    plan = sample_plan(pairs(800, 200), SampleWish(size=0.1))

    assert (plan.changing, plan.n_pairs, plan.is_assumed) == (0.2, 1000, False)
    assert plan.n_needed == plan.n_drawn == n_for_flips(0.15, 0.05)
    assert plan.reached is None


def test_the_sample_size_for_agreement_follows_wilsons_interval():
    assert sample_plan(pairs(800, 200), AGREEMENT).n_needed == n_for_rate(0.8, 0.05)


def test_without_overlap_the_share_of_changes_is_an_assumption_and_marked_as_such():
    plan = sample_plan([answers(n, "yes") for n in range(500)], SampleWish(size=0.1))

    assert (plan.changing, plan.is_assumed, plan.n_pairs) == (ASSUMED, True, 0)
    assert plan.n_needed == n_for_flips(0.1, 0.0)


@pytest.mark.parametrize("wish", [SampleWish(size=0.05), AGREEMENT], ids=["shift", "agreement"])
def test_if_there_are_too_few_dialogues_all_are_drawn_and_the_power_is_stated(wish):
    plan = sample_plan(pairs(30, 10), wish)

    assert plan.n_drawn == plan.n_there == 40 < plan.n_needed
    assert plan.reached
    again = SampleWish(aim=wish.aim, size=plan.reached)
    assert sample_plan(pairs(30, 10), again).n_needed <= 40


def test_dialogues_without_a_value_are_ignored():
    assert sample_plan([answers(1, None), answers(2, "yes", None)], SampleWish()).n_there == 1


def test_people_are_compared_turn_by_turn():
    first, second = answers(1, "yes", "no", turn=1), answers(1, "yes", "yes", turn=2)
    both = DialogueAnswers(dialogue="1", scenario="s", cluster="", said=(*first.said, *second.said))

    assert differing([both]) == (0.5, 2)


def test_one_answer_per_dialogue_gives_newcombes_difference():
    before = [answers(n, "yes" if n < 30 else "no") for n in range(100)]
    after = [answers(n, "yes" if n < 10 else "no") for n in range(100)]

    found = measured_shift("q", before, after, sample=[str(n) for n in range(120)], rules=(is_yes, is_yes))

    wanted = newcombe_difference(10, 20, 0, 70)
    assert (found.shift.value, found.shift.low, found.shift.high) == (wanted.value, wanted.low, wanted.high)
    assert (found.n_both, found.n_missing, found.alike.value, found.alike.n) == (100, 20, 0.8, 100)
    assert found.alike.low < 0.8 < found.alike.high


def test_several_answers_are_weighted_equally_per_dialogue():
    before = [answers(n, "yes", "no") for n in range(10)]
    after = [answers(n, "no", "no") if n % 2 else answers(n, "yes", "no") for n in range(10)]

    found = measured_shift("q", before, after, sample=(), rules=(is_yes, is_yes))

    assert math.isclose(found.shift.value, -0.25)
    assert math.isclose(found.alike.value, 0.5)


def test_correlated_dialogues_of_a_tester_form_a_cluster():
    before = [answers(n, "yes" if n < 5 else "no", cluster=f"t{n % 4}") for n in range(20)]
    after = [answers(n, "no", cluster=f"t{n % 4}") for n in range(20)]

    found = measured_shift("q", before, after, sample=(), rules=(is_yes, is_yes))

    assert (found.shift.n_clusters, found.alike.n_clusters) == (4, 4)


def test_identical_changes_leave_uncertainty():
    found = measured_shift(
        "q",
        [answers(n, "no") for n in range(8)],
        [answers(n, "no") for n in range(8)],
        sample=(),
        rules=(is_yes, is_yes),
    )

    assert found.shift.low < 0 < found.shift.high
    assert (found.alike.value, found.alike.high) == (1.0, 1.0)
    assert found.alike.low < 0.7


@pytest.mark.parametrize(
    ("after", "rules", "reason"),
    [([], (is_yes, is_yes), NO_DIALOGUE_OF_BOTH_VERSIONS), ([answers(1, "yes")], (is_yes, None), NO_DEFECT_RULE)],
    ids=["not yet", "no rule"],
)
def test_an_undefined_result_states_its_reason(after, rules, reason):
    found = measured_shift("q", [answers(1, "yes")], after, sample=["1"], rules=rules)

    assert isinstance(found.shift, Undefined)
    assert (found.shift.reason, found.n_missing) == (reason, 1 - len(after))


@pytest.mark.parametrize("changed", [{"size": 0}, {"size": 0.5}, {"power": 1}, {"confidence": 0}])
def test_an_invalid_request_is_refused(changed):
    with pytest.raises(InputError, match="a sample needs a size"):
        SampleWish(**changed)
