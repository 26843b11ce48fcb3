from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tests.fakes.pooled import GIVEN, pooled_evidence
from tests.fakes.responses import AFTER, BOTH, STUDY, evidence, response, said
from theodolite.domain.annotation import Outcome
from theodolite.domain.annotator import PEOPLE as POOL
from theodolite.domain.dialogue import Level
from theodolite.domain.estimate import Undefined
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import Construct, Orientation
from theodolite.domain.tree import AnswersNode, Edge, SummaryNode, TreeDesign, ValueRange
from theodolite.measurement.ordinal import ordinal_model
from theodolite.measurement.rank_tests import brunner_munzel_test, friedman, kruskal_wallis, signed_rank_test
from theodolite.measurement.study.responses import compare_sides, construct_answers, response_findings, side_model
from theodolite.measurement.study.trees import tree_findings


def test_answers_are_described_by_application_and_levels_are_separate():
    red = response("x", "blue", 7, level=Level.RED_TEAMING)
    first, second = response_findings(evidence(*BOTH, red))

    assert (first.level, first.n, first.n_people) == (Level.RED_TEAMING, 1, 1)
    assert (second.level, second.n, second.n_people) == (Level.FIELD_TESTING, 8, 4)
    spread = next(one for one in second.spreads if (one.question, one.application) == ("bad", "green"))
    assert (spread.counts["6"], spread.quartiles, spread.top.value) == (4, ("6", "6", "6"), 1.0)
    assert spread.top_labels == ("6", "7")


def test_drafts_and_other_versions_are_counted_and_excluded():
    (found,) = response_findings(
        evidence(BOTH[0], response("y", "blue", 7, submitted=False), response("z", "blue", 7, version="0" * 64))
    )

    assert (found.n, found.n_drafts, found.n_other) == (1, 1, 1)


def test_applications_are_compared_within_testers_with_adjusted_p_values():
    (found,) = response_findings(evidence(*BOTH))
    contrast = next(one for one in found.contrasts if one.question == "bad")

    assert (contrast.first, contrast.second, contrast.test.effect) == ("blue", "green", 1.0)
    assert contrast.test.p_value == pytest.approx(2 / 16)
    assert contrast.adjusted_p_value >= contrast.test.p_value


def test_an_unopened_follow_up_does_not_apply_and_each_selected_label_counts():
    chosen = (said("seen", "yes"), said("kinds", "rude"), said("kinds", "slow"))
    (found,) = response_findings(evidence(response("p", "blue", 1, more=chosen), response("q", "blue", 1)))
    spread = next(one for one in found.spreads if one.question == "kinds")

    assert spread.counts == {"rude": 1, "wrong": 0, "slow": 1}
    assert (spread.n, spread.outcomes, spread.quartiles) == (1, {Outcome.NOT_APPLICABLE: 1}, None)


def test_groups_of_testers_are_described_and_compared():
    groups = [response(str(n), "blue", 1 + 5 * (n % 2), groups={"age": "old" if n % 2 else "young"}) for n in range(8)]
    (found,) = response_findings(evidence(*groups))

    assert {one.group for one in found.spreads} == {(), ("age", "old"), ("age", "young")}
    contrast = next(one for one in found.contrasts if (one.by, one.question) == ("age", "bad"))
    assert contrast.test.p_value == pytest.approx(2 / 70)


def test_trees_use_real_responses_as_leaves():
    leaf = AnswersNode(
        name="leaf",
        question="after.bad",
        by=("tester",),
        range=ValueRange(lowest=1, highest=7),
        orientation=Orientation.HIGHER_IS_WORSE,
    )
    top = SummaryNode(name="top", summary="median", edges=(Edge(child="leaf"),))
    design = TreeDesign(name="t", nodes=(top, leaf))
    findings = tree_findings(evidence(*BOTH, of=replace(STUDY, trees=(design,))))
    values = {finding.application: finding.node("top").value for finding in findings}

    assert {name: float(str(value)) for name, value in values.items()} == {"blue": 2.0, "green": 6.0}


BAD = AFTER.instrument.question("bad")


PEOPLE = [f"p{number:02}" for number in range(12)]


BLUE = [2, 3, 1, 4, 3, 2, 5, 3, 2, 4, 3, 1]


GREEN = [4, 3, 3, 6, 5, 2, 7, 5, 3, 4, 5, 3]


def given(blue=BLUE, green=GREEN, people=PEOPLE):
    sides = (("blue", blue), ("green", green))
    return [response(who, side, bad) for side, answers in sides for who, bad in zip(people, answers, strict=True)]


def by_application(one):
    return one.application


def test_odds_are_those_of_the_ordinal_model_with_a_random_effect_per_tester():
    found = side_model(BAD, given(), by_application)
    fit = ordinal_model(
        [*BLUE, *GREEN], {"green": [0.0] * 12 + [1.0] * 12}, categories=range(1, 8), people=[*PEOPLE, *PEOPLE]
    )

    assert (found.against, list(found.odds), found.n, found.n_people) == ("blue", ["green"], 24, 12)
    assert found.odds["green"].value == pytest.approx(math.exp(fit.coefficients["green"].value))
    assert found.odds["green"].low == pytest.approx(math.exp(fit.coefficients["green"].low))
    assert found.odds["green"].low > 1


def test_single_answers_need_no_random_effect():
    one_each = [*given()[:12], *given(people=[f"q{number:02}" for number in range(12)])[12:]]

    assert side_model(BAD, one_each, by_application).odds["green"].method == "proportional odds, Wald"


def test_covariates_are_held_constant_and_named():
    half = [replace(one, scenario="other") if one.participant < "p06" else one for one in given()]
    found = side_model(BAD, half, by_application, {"scenario": lambda one: one.scenario, "none": lambda one: "x"})

    assert (found.held_equal, list(found.odds)) == (("scenario",), ["green"])


def test_an_effect_on_some_thresholds_only_is_reported():
    blue, green = [1, *[3, 4] * 19, 7], [1, 2, 6, 7] * 10
    many = given(blue, green, [f"p{number:02}" for number in range(40)])

    assert not side_model(BAD, many, by_application).is_even
    assert side_model(BAD, given(), by_application).is_even


@pytest.mark.parametrize(
    ("responses", "words"),
    [
        (given()[:12], "one side"),
        (given(BLUE[:9], GREEN[:9], PEOPLE[:9]), "Fewer than 10 testers"),
        (given([1] * 12, [1] * 12), "one point"),
        (given([1] * 12, [7] * 12), "determines"),
    ],
    ids=["one side", "few testers", "one answer", "settled"],
)
def test_an_impossible_model_states_why(responses, words):
    found = side_model(BAD, responses, by_application)

    assert isinstance(found, Undefined)
    assert words in found.reason


QUESTIONS = AFTER.instrument.questions


def compared(responses, by=lambda one: one.application, *, small=False, adjustment="holm"):
    found = compare_sides(QUESTIONS, responses, by, small_are_withheld=small, adjustment=adjustment)
    return {one.question.name: one for one in found}


def of_group(one):
    return one.groups.get("age", "")


def test_testers_of_both_applications_are_compared_within_person():
    found = compared(BOTH)["bad"]

    assert found.is_within
    assert found.test == signed_rank_test([1.0] * 4, [5.0] * 4)
    assert [(side.name, side.n_people) for side in found.sides] == [("blue", 4), ("green", 4)]


def test_three_conditions_with_common_testers_are_tested_jointly_and_pairwise():
    places = [[1, 4, 6], [2, 4, 7], [1, 5, 6], [2, 6, 5]]
    told = [response(str(n), name, bad) for n, row in enumerate(places) for name, bad in zip("abc", row, strict=True)]
    found = compared(told)["bad"]

    assert found.test == friedman([[bad - 1.0 for bad in row] for row in places])
    assert [(pair.first, pair.second) for pair in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert all(pair.adjusted_p_value >= pair.test.p_value for pair in found.pairs)


def test_two_groups_of_testers_are_compared_without_assuming_equal_variance():
    old, young = [1, 2, 2, 3, 1], [4, 6, 5, 7, 6]
    told = [response(f"{age}{n}", "blue", bad, groups={"age": age}) for age, row in (("old", old), ("young", young))
            for n, bad in enumerate(row)]  # fmt: skip
    found = compared(told, of_group, small=True)["bad"]

    assert not found.is_within
    assert found.test == brunner_munzel_test([bad - 1.0 for bad in old], [bad - 1.0 for bad in young])
    assert found.effect.value == 1.0


def test_three_groups_are_compared_by_ranks_with_dunn():
    rows = {"a": [1, 2, 1, 2, 3], "b": [3, 4, 4, 3, 5], "c": [6, 7, 6, 5, 7]}
    told = [response(f"{age}{n}", "blue", bad, groups={"age": age}) for age, row in rows.items()
            for n, bad in enumerate(row)]  # fmt: skip
    found = compared(told, of_group)["bad"]

    assert found.test == kruskal_wallis({age: [bad - 1.0 for bad in row] for age, row in rows.items()})
    assert {pair.test.method for pair in found.pairs} == {"Dunn"}


def test_small_groups_are_counted_and_neither_described_nor_tested():
    told = [response(str(n), "blue", 1 + n % 7, groups={"age": "old" if n < 3 else "young"}) for n in range(9)]
    found = compared(told, of_group, small=True)["bad"]

    assert [(side.name, side.n_people, side.spread is None) for side in found.sides] == [
        ("old", 3, True),
        ("young", 6, False),
    ]
    assert found.test is None


def test_a_tester_counts_once_regardless_of_the_number_of_answers():
    told = [*BOTH, response("p", "blue", 2), response("p", "blue", 2)]

    assert compared(told)["bad"].test.n == compared(BOTH)["bad"].test.n


def test_testers_of_two_conditions_count_on_the_smaller_side_if_few_are_common():
    told = [response(str(n), "blue", 1 + n % 3) for n in range(6)]
    told += [response(str(n), "green", 5 + n % 2) for n in (0, 8, 9)]
    found = compared(told)["bad"]

    assert not found.is_within
    assert found.test.n == 8


@pytest.mark.parametrize("adjustment", ["holm", "bh"])
def test_p_values_are_adjusted_for_all_questions(adjustment):
    more = [said("seen", "yes"), said("seen", "no")]
    told = [response(p, a, bad, more=(more[bad > 3],)) for p in "pqrs" for a, bad in (("blue", 2), ("green", 6))]
    found = compared(told, adjustment=adjustment)

    factor = 2 if adjustment == "holm" else 1
    assert found["bad"].adjusted_p_value == pytest.approx(factor * found["bad"].test.p_value)


def test_unordered_answers_are_only_described():
    found = compared(BOTH)

    assert found["kinds"].test is None
    assert found["open"].sides[0].spread is not None


def test_a_comparison_without_variation_is_undefined():
    told = [response(p, a, 3) for p in "pqrs" for a in ("blue", "green")]

    assert isinstance(compared(told)["bad"].test, Undefined)


def marked(construct: Construct, *names: str):
    """Return the study whose questions of these names show a construct."""
    questions = tuple(
        replace(one, construct=construct) if one.name in names else one for one in AFTER.instrument.questions
    )
    return replace(STUDY, questionnaires=(replace(AFTER, instrument=replace(AFTER.instrument, questions=questions)),))


def test_answers_of_testers_are_counted_by_construct_application_and_scenario():
    study = marked(Construct.MAKE_SENSE, "bad")
    version = version_of(study.questionnaires[0])
    elsewhere = [replace(one, scenario="t", session=f"{one.session}-t") for one in BOTH[:2]]
    told = [replace(one, instrument_version=version) for one in (*BOTH, *elsewhere)]
    found = list(construct_answers(evidence(*told, of=study)))

    assert {(one.construct, one.annotator, one.instrument) for one in found} == {(Construct.MAKE_SENSE, "", "after")}
    assert [(one.scenario, one.application, one.spread.n, one.n_clusters) for one in found] == [
        ("", "blue", 5, 4),
        ("", "green", 5, 4),
        ("s", "blue", 4, 4),
        ("s", "green", 4, 4),
        ("t", "blue", 1, 1),
        ("t", "green", 1, 1),
    ]
    assert (found[1].spread.top.count, found[1].spread.top.n, found[1].spread.top.n_clusters) == (5, 5, 4)


def test_unanswered_questions_are_missing_from_a_construct():
    study = marked(Construct.ACT, "seen")
    version = version_of(study.questionnaires[0])
    told = [replace(one, instrument_version=version) for one in BOTH[:3]]
    told.append(replace(told[2], session="z", answers=(*told[2].answers, said("seen", "yes"))))
    (blue, green) = construct_answers(evidence(*told, of=study))

    assert (blue.spread.n, blue.spread.outcomes) == (1, {Outcome.MISSING: 2})
    assert (blue.spread.top_labels, blue.spread.top.value) == (("yes",), 1.0)
    assert (green.spread.n, green.spread.outcomes, green.spread.top) == (0, {Outcome.MISSING: 1}, green.spread.top)
    assert isinstance(green.spread.top, Undefined)


def test_labels_of_a_pool_all_count_and_dialogues_are_the_clusters():
    known = pooled_evidence()
    guideline = known.study.guidelines[0]
    questions = tuple(replace(one, construct=Construct.ADAPT) for one in guideline.instrument.questions[:1])
    changed = replace(guideline, instrument=replace(guideline.instrument, questions=questions))
    study = replace(known.study, guidelines=(changed,))
    found = [one for one in construct_answers(replace(known, study=study)) if not one.scenario]

    labels = [value for values in GIVEN.values() for value in values.values() if value]
    (people,) = (one for one in found if one.annotator == POOL)
    assert people.spread.counts == {name: labels.count(name) for name in people.spread.counts}
    assert (people.spread.n, people.n_clusters) == (len(labels), 5)
    assert (people.spread.top_labels, people.spread.top.count) == (("yes",), labels.count("yes"))
