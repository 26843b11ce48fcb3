from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.unit.measurement.test_sample_size import ruling, side
from theodolite.domain.guideline import Violation
from theodolite.measurement.sample_size import compare_by_mitigation, compare_sides
from theodolite.reporting.comparing.document import comparison_document
from theodolite.reporting.comparing.text import comparison_html, comparison_text
from theodolite.reporting.words.estimates import leading


def compared(first=None, second=None):
    first = first or side("bot-1.4", ruling(set(range(9)), missing={57, 58, 59}))
    return compare_sides(first, second or side("bot-1.5", ruling({7, 8, 20, 21})))


def limited(one, *, instruments=None, **subject):
    changed = replace(one, subject=replace(one.subject, **subject))
    return changed if instruments is None else replace(changed, instruments=instruments)


def flat(*comparisons, **more):
    return " ".join(comparison_text(comparisons, **more).split())


def test_the_screen_counts_fixed_and_regressed_pairs():
    text = flat(compared())

    assert "9 -> 4 defects of 57: fixed 7, regressed 2, unchanged 48" in text
    assert "(3 of 60 not measured in one of the two)" in text
    assert "difference -8.8 points" in text
    assert "not statistically significant" in text
    assert "detecting a difference of 9 points needs about" in text
    assert text.endswith("Next review the 2 regressed pairs: theodolite compare ... --browser")


@pytest.mark.parametrize(
    ("p_value", "words"),
    [
        (0.25, "too few personas or scripts changed for a test over clusters"),
        (0.01, "not after correction for all comparisons"),
    ],
)
def test_an_interval_that_excludes_zero_without_significance_states_why(p_value, words):
    comparison = compared(side("a", ruling(set(range(30)))), side("b", ruling({1})))
    (rate,) = comparison.rates
    unsure = replace(rate, test=replace(rate.test, p_value=p_value), adjusted=0.25)

    text = flat(replace(comparison, rates=(unsure,)))

    assert words in text
    assert "clear of 0" not in text
    assert "not statistically significant (p = 0.25" in text


def test_few_pairs_are_counted_without_percentages():
    small = compared(side("a", ruling({1}, n=6)), side("b", ruling({2}, n=6)))

    assert "too few pairs for more than counts" in flat(small)


def test_equal_runs_report_no_change():
    text = flat(compared(side("a", ruling({1})), side("b", ruling({1}))))

    assert "no pair changed" in text
    assert "nothing changed; more pairs would show smaller differences" in text


def test_the_reference_is_shown_first_and_others_are_in_the_data():
    judge, final = ruling({1}), limited(ruling({1, 2}), annotators=("reference",), instruments={})
    comparison = compared(side("a", final, judge), side("b", final, judge))

    assert "1 rate by annotators beside the reference, in the data" in flat(comparison)
    assert len(comparison_document([comparison])["comparisons"][0]["rates"]) == 2


def single(one, name):
    return replace(limited(one, annotators=(name,), instruments={f"annotator {name}": "0"}), is_single=True)


def pool(one):
    return limited(one, annotators=("all people",), instruments={"annotator all people": "0"})


def test_single_people_are_in_the_data_if_their_pool_is_shown():
    first = [pool(ruling({1})), *(single(ruling(set(), n=0), f"p{number}") for number in range(26))]
    comparison = compared(side("a", *first), side("b", *first))

    text = flat(comparison)

    assert "g, defects by at least one person" not in text  # one annotator of one rule needs no name
    assert "Also 26 rates by single people, in the data" in text
    assert "p7" not in text
    assert "Same plan p, people, run 1" in text
    assert [rate.ruling.subject.annotator for rate in leading(comparison)] == ["all people"]


def test_rates_without_pairs_share_one_line_with_the_reason():
    one = [ruling(set(), n=6, missing=set(range(6)), rule=f"r{number}") for number in range(7)]
    comparison = compared(side("a", *one), side("b", *one))

    text = flat(comparison)

    assert "No pairs 7 rates: none of 6 pairs has a label on both sides" in text
    assert text.endswith("Next nothing could be compared: none of 6 pairs has a label on both sides")
    assert "0 -> 0" not in text


def test_runs_without_a_common_rate_cannot_be_compared():
    text = flat(compared(side("a", ruling({1})), side("b", ruling({1}, rule="other"))))

    assert text.endswith("Next nothing could be compared: no rule and annotator is on both sides")


def test_people_are_named_without_hashes():
    named = [
        limited(ruling({1}), annotators=(name,), instruments={f"annotator {name}": "5eea"}) for name in ("h-g", "i")
    ]
    people = {"people": ("h-g", "i"), "titles": {"h-g": "h"}}
    comparison = compared(replace(side("a", *named), **people), replace(side("b", *named), **people))

    text = flat(comparison)

    assert "Same plan p, h, i, run 1" in text
    assert "g, h 1 -> 1 defects" in text


def test_mitigations_are_reported_by_side_of_the_guardrail():
    released = limited(ruling({1, 2}), violation=Violation.PROHIBITED_RELEASED)
    withheld = limited(ruling(set(), rule="w"), violation=Violation.PERMITTED_WITHHELD)
    utility = limited(ruling({5}, rule="u"), violation=Violation.NOT_A_GUARDRAIL)
    (comparison,) = compare_by_mitigation(
        [
            side("plain", released, withheld, utility),
            side("guarded", released, withheld, utility, mitigations=("filter",)),
        ]
    )

    text = comparison_text([comparison])

    order = [text.index(title) for title in ("PROHIBITED CONTENT", "PERMITTED CONTENT", "UTILITY")]
    assert order == sorted(order)
    assert text.startswith("filter: plain -> guarded")


def test_a_changed_judge_is_reported_and_is_the_first_recommendation():
    text = flat(compared(side("a", ruling({1})), side("b", ruling({2}, judge="2"))))

    assert "1 and 1 defects of 60, not compared" in text
    assert "judge both sides with one version" in text


@pytest.mark.parametrize("width", [80, 60])
def test_no_line_is_wider_than_the_terminal(width):
    text = comparison_text([compared()], width=width, command="theodolite compare a b", page="compare.html")

    assert max(map(len, text.split("\n"))) <= width


def test_the_document_is_strict_json_with_every_flip():
    document = json.loads(json.dumps(comparison_document([compared()]), allow_nan=False))

    (rate,) = document["comparisons"][0]["rates"]
    assert (len(rate["fixed"]), len(rate["regressed"]), rate["defects"]) == (7, 2, [9, 4])


def test_the_page_escapes_names_and_shows_flips_without_texts():
    page = comparison_html([compared(side("<i>a</i>", ruling({1})), side("b", ruling(set())))], {})

    assert "<i>a</i>" not in page
    assert page.count("<summary>Fixed") == 1
    assert "Its words stand in the study" in page
