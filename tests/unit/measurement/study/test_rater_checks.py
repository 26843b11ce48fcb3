from __future__ import annotations

import pytest

from tests.fakes.labelled import labelled_evidence
from theodolite.measurement import measure_study


@pytest.fixture(scope="module")
def found():
    evidence = labelled_evidence(lambda said: said or "1", people=("anna", "ben"))
    (only,) = measure_study(evidence).raters
    return only


def test_judges_and_people_are_raters_alike(found):
    assert [one.annotator for one in found.raters] == ["grounded", "anna", "ben"]
    assert (found.guideline, found.question) == ("groundedness", "score")
    assert found.raters[1].labels == 30
    assert found.dialogues == 30


def test_those_who_always_agree_fit_and_do_not_guess(found):
    assert all(one.fit > 0.9 and one.looks > 0.8 for one in found.raters)


def test_of_two_annotators_nobody_can_tell_who_errs():
    assert measure_study(labelled_evidence(lambda said: said or "1", people=("anna",))).raters == ()
