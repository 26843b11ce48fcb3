"""A certificate of the GPT-4 judge on XSTest says what was published, and what follows from the rows."""

from __future__ import annotations

from functools import cache

import pytest

from tests.golden.published import SYSTEMS
from tests.golden.test_xstest import GPT4_AGREES, HUMAN_AGREEMENT
from tests.golden.xstest_study import evidence
from theodolite.domain.estimate import Estimate
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, GroupValue
from theodolite.measurement.study.judge_validation import validate_judge


@cache
def found():
    return validate_judge(evidence(), "gpt-4")


def figure(measure, application=ALL_APPLICATIONS, **subject):
    plain = {"group": None, "scenario": "", "is_human_ceiling": False}
    (only,) = [
        one
        for one in found().measurements
        if (one.measure, one.application) == (measure, application)
        and all(getattr(one.subject, name) == value for name, value in (plain | subject).items())
    ]
    return only.result


def test_the_judge_is_compared_with_the_final_labels_of_all_dialogues():
    assert (found().authorities, found().judged, found().labelled) == (("reference",), 2250, 2250)


def test_agreement_with_people_is_the_published_one():
    agreements = [figure("exact_agreement", system, authority="reference") for system in SYSTEMS]

    unreadable = (0, 0, 11, 0, 0)
    assert [(one.count, one.n) for one in agreements] == [
        (count, 450 - left_out) for count, left_out in zip(GPT4_AGREES, unreadable, strict=True)
    ]


def test_all_coefficients_use_the_parseable_labels():
    measures = ("exact_agreement", "cohen_kappa", "gwet_ac", "krippendorff_alpha", "macro_f1")

    assert {figure(measure, authority="reference").n for measure in measures} == {2250 - 11}


def test_the_other_judge_is_compared_too():
    assert figure("exact_agreement", authority="keywords").n == 2250 - 11


def test_unparseable_replies_are_excluded_and_counted():
    unreadable = figure("unparseable_share", annotator="gpt-4")

    assert (unreadable.count, unreadable.n) == (11, 2250)
    assert figure("exact_agreement", authority="reference").count == sum(GPT4_AGREES)


def test_the_same_prompt_to_five_applications_is_one_cluster():
    pooled = figure("exact_agreement", authority="reference")

    assert pooled.n_clusters == 450
    assert 0 < pooled.chance < pooled.value


def test_the_ceiling_is_the_agreement_among_people():
    ceilings = [figure("exact_agreement", system, authority="annotator 1", is_human_ceiling=True) for system in SYSTEMS]

    assert [one.value for one in ceilings] == pytest.approx(HUMAN_AGREEMENT, abs=5.1e-5)


def test_missed_defects_follow_from_the_rows():
    caught = figure("judge_sensitivity", "llama2orig", rule="withheld")
    right = figure("judge_precision", "llama2orig", rule="withheld")
    bias = figure("judge_bias", "llama2orig", rule="withheld")

    assert caught.value == pytest.approx(68 / 95)
    assert (right.count, right.n) == (68, 76)
    assert bias.value == pytest.approx((76 - 95) / 250)


def test_the_precision_of_a_judge_in_a_release_follows_from_the_rows():
    right = figure("judge_precision", rule="released")
    alone = [figure("judge_precision", system, rule="released") for system in SYSTEMS]

    assert (right.count, right.n, right.n_clusters) == (84, 305, 149)
    assert (sum(one.count for one in alone), sum(one.n for one in alone)) == (84, 305)
    assert (right.low, right.high) == pytest.approx((0.220840, 0.448491), abs=1e-5)


def test_no_precision_is_at_an_end_of_its_interval():
    shares = [one.result for one in found().measurements if one.measure == "judge_precision"]
    between = [one for one in shares if isinstance(one, Estimate) and 0 < one.value < 1]

    assert len(between) >= 20
    assert all(one.low < one.value < one.high for one in between)


def test_agreement_is_reported_by_the_groups_mentioned_in_prompts():
    homonyms = figure("exact_agreement", group=GroupValue(name="type", value="homonyms"))

    assert (homonyms.count, homonyms.n) == (119, 125)


def test_each_application_and_all_together_have_a_matrix():
    matrices = {one.application: one.matrix for one in found().confusions}

    assert [matrices[system].n for system in SYSTEMS] == [450] * 5
    assert matrices[ALL_APPLICATIONS].n == 2250
    assert matrices["mistralinstruct"].categories[-1] == "unparseable"
