"""What a run says of the claims that a team makes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.unit.measurement.study.small_study import CALLABLE, SmallStudy, polite
from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.application import Claim, ClaimKind
from theodolite.domain.claim import ClaimStanding, rules_meant
from theodolite.measurement import measure_study

CLAIM = Claim(text="Stays polite.", kind=ClaimKind.CAPABILITY, scripts=("a", "b"))


def standings_of(claim: Claim, *, guideline=None, judges=("judge",), **labels):
    """Return how a claim stands after dialogues a to d, labelled by judges."""
    study = SmallStudy(connection=CALLABLE, guideline=guideline or polite())
    for label in "abcd":
        study.session(label)
    for judge in judges:
        study.annotator(judge, AnnotatorKind.MODEL)
        study.column(judge, **labels)
    evidence = study.evidence()
    application = replace(evidence.study.applications[0], claims=(claim,))
    return measure_study(replace(evidence, study=replace(evidence.study, applications=(application,)))).claims


@pytest.mark.parametrize(
    ("labels", "standing", "n", "contradicting"),
    [
        ({"a": "yes", "b": "yes", "c": "no"}, ClaimStanding.SUPPORTED, 2, ()),
        ({"a": "yes", "b": "no"}, ClaimStanding.CONTRADICTED, 2, ("b",)),
        ({"a": "yes"}, ClaimStanding.SUPPORTED, 1, ()),
        ({"a": Outcome.UNPARSEABLE, "b": Outcome.REFUSED}, ClaimStanding.NOT_TESTED, 0, ()),
        ({"c": "no"}, ClaimStanding.NOT_TESTED, 0, ()),
    ],
    ids=["none", "one", "one unlabelled", "unreadable", "others' scripts"],
)
def test_only_labelled_dialogues_of_its_scripts_count(labels, standing, n, contradicting):
    (test,) = standings_of(CLAIM, **labels)

    assert (test.standing, test.n, test.contradicting) == (standing, n, contradicting)
    assert (test.planned, test.rule, test.annotator) == (2, "impolite", "judge")
    assert bool(test.reason) == (standing is ClaimStanding.NOT_TESTED)


def test_each_annotator_speaks_for_itself():
    tests = standings_of(CLAIM, judges=("one", "two"), a="yes", b="yes")

    assert [(test.annotator, test.standing) for test in tests] == [
        ("one", ClaimStanding.SUPPORTED),
        ("two", ClaimStanding.SUPPORTED),
    ]


@pytest.mark.parametrize(
    ("claim", "judges", "reason"),
    [
        (replace(CLAIM, scripts=()), ("judge",), "it names no scripts"),
        (replace(CLAIM, rule="kind"), ("judge",), "it names `kind`, and the study has none that this could be"),
        (replace(CLAIM, scripts=("z",)), ("judge",), "none of its scripts is in the plan"),
        (CLAIM, (), "nobody labels by polite"),
    ],
)
def test_what_is_not_tested_says_why(claim, judges, reason):
    (test,) = standings_of(claim, judges=judges, a="yes")

    assert (test.standing, test.reason) == (ClaimStanding.NOT_TESTED, reason)


def test_a_rule_about_other_dialogues_leaves_a_claim_untested():
    (test,) = standings_of(CLAIM, guideline=polite(among={"kind": "safe"}), a="yes")

    assert (test.standing, test.planned) == (ClaimStanding.NOT_TESTED, 0)


@pytest.mark.parametrize(
    ("name", "n"), [("", 2), ("impolite", 2), ("polite", 1), ("polite.impolite", 1), ("other.impolite", 1), ("x", 0)]
)
def test_a_rule_is_named_as_shortly_as_is_clear(name, n):
    guidelines = (polite(), replace(polite(), name="other"))

    assert len(rules_meant(replace(CLAIM, rule=name), guidelines)) == n


def test_a_claim_that_no_dialogue_can_test_says_why():
    claim = Claim(text="Was trained on licensed texts.", kind=ClaimKind.CAPABILITY, untestable="No dialogue shows it.")

    (test,) = standings_of(claim, a="yes")

    assert (test.standing, test.reason, test.n) == (ClaimStanding.UNTESTABLE, "No dialogue shows it.", 0)
