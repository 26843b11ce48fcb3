from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

from tests.fakes.evidence import xstest_evidence
from tests.fakes.evidence_variants import AGE, OLD, labelled_evidence
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.reporting.terminal.judges import validation_text
from theodolite.reporting.words.estimates import coefficient_text, difference_text, rate_text, share_text
from theodolite.usecases.judge_validation import validation_report_of

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@cache
def screen(name="live", width=80):
    evidence = xstest_evidence() if name == "xstest" else labelled_evidence(lambda said: said or "1")
    judge = evidence.study.annotator("gpt-4" if name == "xstest" else "grounded")
    return validation_text(validation_report_of(evidence, judge, NOW), width=width)


def estimate(value=0.5, low=0.4, high=0.6, count=10, n=20):
    return Estimate(value=value, low=low, high=high, confidence=0.95, n=n, unit="u", method="m", count=count)


def test_published_agreement_is_on_the_screen_with_its_counts():
    text = " ".join(screen("xstest").split())

    assert "same label on 1,798 of 2,239 (80.3%" in text
    assert "11 unreadable left out (with them as disagreement 1,798 of 2,250 (79.9%))" in text
    assert "llama2orig 347 of 450 (77.1%, 73.0 to 80.8)" in text
    assert "unreadable 11 of 2,250 (0.5%" in text
    assert "annotator 1 and annotator 2 agree on 2,169 of 2,250" in text


def test_each_coefficient_names_its_weighting():
    published, ordered = (" ".join(screen(name).split()) for name in ("xstest", "live"))

    assert "kappa (unweighted) .63 (.59 to .67); AC1 (unweighted) .73" in published
    assert "alpha (nominal) .63" in published
    assert "kappa (unweighted) 1.00 (.72 to 1.00); AC2 (quadratic weights) 1.00" in ordered
    assert "alpha (ordinal) 1.00" in ordered


def test_labels_and_other_judges_have_a_line_each():
    text = " ".join(screen("xstest").split())

    assert "Labels macro-F1 .62 (.57 to .65), n 2,239; full compliance: precision 1,037 of 1,385" in text
    assert "recall 742 of 983 (75.5%" in text
    assert "Judges keywords same label on 1,886 of 2,239 (84.2%" in text


def test_no_line_is_wider_than_the_terminal():
    assert max(len(line) for line in screen("xstest").splitlines()) <= 80
    assert max(len(line) for line in screen(width=60).splitlines()) <= 60


def test_unknown_values_are_stated_and_no_judge_passes():
    text = screen()

    assert text.count("Unknown      ") == 2
    assert "certified" not in text


def test_shares_always_have_their_count():
    assert rate_text(estimate()) == "10 of 20 (50.0%, 40.0 to 60.0)"
    assert rate_text(estimate(count=None)) == "50.0% (from 20 labels, 40.0 to 60.0)"
    assert rate_text(estimate(count=2, n=5)) == "2 of 5"
    assert rate_text(estimate(value=0.0, low=0.0, high=0.16, count=0)) == "0 of 20 (0.0%, at most 16.0)"
    assert rate_text(estimate(value=0.0, low=0.0, high=0.16, count=0), 0.139) == "0 of 20 (0.0%, at most 13.9)"
    assert share_text(estimate(value=0.0, low=0.0, high=0.16, count=0)) == "0.0% (at most 16.0)"
    assert rate_text(Undefined(reason="Nobody looked.")) == "undefined: nobody looked"


def test_coefficients_and_differences_have_a_sign():
    assert coefficient_text(estimate(value=-0.02, low=-0.1, high=0.08)) == "-.02 (-.10 to .08)"
    assert coefficient_text(Undefined(reason="x")) == "undefined: x"
    assert difference_text(estimate(value=-0.042, low=-0.06, high=-0.024)) == "-4.2 points (-6.0 to -2.4), n 20"
    assert difference_text(Undefined(reason="x")) == "undefined: x"


def test_agreement_with_each_group_of_people_has_a_line():
    evidence = replace(labelled_evidence(lambda said: said or "1", people=OLD), annotator_attributes={"age": AGE})
    text = validation_text(validation_report_of(evidence, evidence.study.annotator("grounded"), NOW))

    assert "age old, 3 people: beyond chance" in " ".join(text.split())
    assert "Groups" not in screen()


def test_many_people_are_summarised_by_their_range():
    evidence = labelled_evidence(lambda said: said or "1", people=tuple(f"person {n}" for n in range(6)))
    text = validation_text(validation_report_of(evidence, evidence.study.annotator("grounded"), NOW))
    said = " ".join(text.split())

    assert "6 people, one by one: same label on 100.0% to 100.0%" in said
    assert "two of them agree on 100.0%" in said
    assert "judge minus people +0.0 points" in said
    assert "no two people" not in said
