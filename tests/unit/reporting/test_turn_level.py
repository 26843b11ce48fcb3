"""Estimate, account, label distribution and reading list agree where questions are asked at each turn."""

from __future__ import annotations

import pytest

from tests.fakes.evidence import facts
from tests.fakes.report import assets
from tests.unit.measurement.study.small_study import SmallStudy, polite
from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.instrument import QuestionLevel
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.page.rates import spreads
from theodolite.reporting.page.review import chips_of, first_reads
from theodolite.reporting.page.subject import subject_of
from theodolite.reporting.queries.cases import cases_of
from theodolite.reporting.queries.dispositions import account_text, accounts_of
from theodolite.reporting.terminal.show import verdict_text
from theodolite.reporting.words.reading_aids import read_words


def subject(*dialogues):
    """Return the run of a rule that judged two turns of each dialogue; `no` is a defect."""
    study = SmallStudy(guideline=polite(level=QuestionLevel.TURN))
    study.annotator("rule", AnnotatorKind.RULE)
    for number, answers in enumerate(dialogues, 1):
        study.session(f"d{number}")
        study.answer("rule", f"d{number}", *answers)
    evidence = study.evidence()
    return subject_of(evidence, measure_study(evidence), facts(), read_words(assets()["words.yaml"]))


def chip(found, name):
    (one,) = (chip for chip in chips_of(found) if chip.name == name)
    return one.n


@pytest.fixture(scope="module")
def defects():
    return subject(("yes", "no"), ("yes", "no"), ("no", "yes"))


@pytest.fixture(scope="module")
def half_read():
    return subject((Outcome.UNPARSEABLE, "no"), ("no", Outcome.UNPARSEABLE))


@pytest.mark.parametrize(("name", "n"), [("defects", 3), ("half_read", 2)])
def test_the_rate_counts_each_dialogue_with_a_defective_turn(request, name, n):
    (rate,) = request.getfixturevalue(name).rates

    assert (rate.measurement.result.count, rate.measurement.outcomes.used) == (n, n)


@pytest.mark.parametrize(("name", "n"), [("defects", 3), ("half_read", 2)])
def test_the_label_distribution_of_dialogues_matches_the_rate(request, name, n):
    (spread,) = spreads(request.getfixturevalue(name))
    ((_, _, bars),) = spread.rows

    assert [(bar.label, bar.n) for bar in bars] == [("no", str(n))]


@pytest.mark.parametrize("name", ["defects", "half_read"])
def test_a_defect_to_review_first_is_labelled_as_a_defect(request, name):
    first = first_reads(request.getfixturevalue(name))[0]

    assert (first.why, first.labels) == ("Defect, best evidence", "no: rule")


@pytest.mark.parametrize(("name", "n"), [("defects", 3), ("half_read", 2)])
def test_the_disposition_counts_the_dialogues_of_the_rate(request, name, n):
    found = request.getfixturevalue(name)
    (account,) = accounts_of(found.study, cases_of(found.evidence.answers))

    assert account.labelled.n == n
    assert account_text(account).startswith(f"{n} planned: {n} judged, 0 failed")


def test_a_dialogue_with_a_parseable_label_is_not_listed_as_unparseable(half_read):
    assert (chip(half_read, "unparseable"), chip(half_read, "defect")) == (0, 2)


def test_a_dialogue_without_a_deciding_turn_is_unparseable_everywhere():
    found = subject(("yes", Outcome.UNPARSEABLE))
    (rate,) = found.rates
    (account,) = found.accounts

    assert (rate.measurement.outcomes.unparseable, account.n(Outcome.UNPARSEABLE), chip(found, "unparseable")) == (
        1,
    ) * 3


def test_a_value_outside_the_scale_is_unparseable_everywhere():
    found = subject(("perhaps", "yes"))
    (rate,) = found.rates
    (account,) = found.accounts
    (spread,) = spreads(found)

    assert (rate.measurement.outcomes.unparseable, account.n(Outcome.UNPARSEABLE), chip(found, "unparseable")) == (
        1,
    ) * 3
    assert [bar.label for bar in spread.rows[0][2]] == ["unparseable"]


def test_annotators_disagree_on_a_dialogue_if_different_turns_decide():
    study = SmallStudy(guideline=polite(level=QuestionLevel.TURN))
    for name in ("first", "second"):
        study.annotator(name)
    study.session("d1")
    study.answer("first", "d1", "yes", "yes")
    study.answer("second", "d1", "yes", "no")
    evidence = study.evidence()
    found = subject_of(evidence, measure_study(evidence), facts(), read_words(assets()["words.yaml"]))

    assert chip(found, "disagreement") == 1


def test_a_displayed_dialogue_has_the_verdict_of_its_rate():
    study = SmallStudy(guideline=polite(level=QuestionLevel.TURN))
    study.annotator("rule", AnnotatorKind.RULE)
    study.session("d1")
    study.answer("rule", "d1", Outcome.UNPARSEABLE, "no")
    evidence = study.evidence()

    assert verdict_text(evidence.study, study.annotations, {}) == "polite no: defect (label == no)"
