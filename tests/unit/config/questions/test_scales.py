"""Scales as study files write them."""

from __future__ import annotations

import pytest

from theodolite.config.assembly import expanded
from theodolite.config.loading import load_study
from theodolite.config.questions import scale_to_domain
from theodolite.domain.errors import InputError
from theodolite.domain.instrument import Orientation, ScaleKind

STUDY = """study: a
applications: {rec: {kind: recorded, file: rows.csv, id: id, prompt: p, response: r}}
guidelines: {g: {ask: Which one?, scale: "1 = the first | 2 = the second", defect: "== 2"}}
annotators: {ann: {who: person, column: label}}
"""


def test_numbers_in_a_list_of_labels_are_names():
    scale = scale_to_domain("1 | 2", Orientation.UNSTATED)

    assert (scale.kind, scale.categories) == (ScaleKind.CATEGORIES, ("1", "2"))
    assert scale_to_domain(["1", "2"], Orientation.UNSTATED).kind is ScaleKind.NUMBERS


def test_labels_in_a_list_may_have_meanings():
    (first, second) = scale_to_domain("1 = refuses | 2 = complies", Orientation.UNSTATED).labels

    assert ((first.value, first.meaning), second.meaning) == (("1", "refuses"), "complies")


@pytest.mark.parametrize(("form", "words"), [("1 |", "an empty label"), ("1 | 1", "names `1` twice")])
def test_labels_in_a_list_must_be_distinct_and_not_empty(form, words):
    with pytest.raises(InputError, match=words):
        scale_to_domain(form, Orientation.UNSTATED)


def test_numbers_remain_names_in_the_long_form(folder):
    loaded = load_study(folder(study_yaml=STUDY, rows_csv="id,p,r,label\nx,a,b,2.0\n"))
    again = load_study(folder(study_yaml=expanded(loaded.study)))

    assert again.study.guideline("g") == loaded.study.guideline("g")
    assert loaded.notes == ()
