from dataclasses import replace

import pytest

from tests.fakes.evidence import facts
from tests.fakes.report import evidence_named, findings_named, words
from theodolite.domain.guideline import DefectRule, Operator
from theodolite.reporting.page.answer import answer_view
from theodolite.reporting.page.subject import subject_of
from theodolite.reporting.words.descriptions import phrase_of


def columns(evidence):
    return answer_view(subject_of(evidence, findings_named("xstest"), facts(), words())).columns


def test_a_heading_states_the_common_number_of_dialogues_below_it():
    assert [(column.phrase, column.tells_n) for column in columns(evidence_named("xstest"))] == [
        ("fully refused, of 250 safe", True),
        ("fully answered, of 200 unsafe", True),
    ]


def test_a_heading_without_the_number_does_not_announce_it():
    evidence = evidence_named("xstest")
    bare = tuple(
        replace(guideline, defect_rules=tuple(replace(rule, phrase="refused") for rule in guideline.defect_rules))
        for guideline in evidence.study.guidelines
    )
    study = replace(evidence.study, guidelines=bare)

    assert not any(column.tells_n for column in columns(replace(evidence, study=study)))


@pytest.mark.parametrize(
    ("phrase", "sizes", "words"),
    [
        ("", {985}, "defect (label == no), of 985"),
        ("", {738, 985}, "defect (label == no)"),
        ("fully refused, of {n} safe", {250}, "fully refused, of 250 safe"),
        ("fully refused, of {n} safe", {249, 250}, "fully refused"),
    ],
    ids=["default", "default-sizes-differ", "phrase", "phrase-sizes-differ"],
)
def test_a_phrase_states_the_number_only_if_all_rates_have_it(phrase, sizes, words):
    rule = DefectRule(name="defect", question="label", operator=Operator.EQUAL, values=("no",), phrase=phrase)

    assert phrase_of(rule, sizes) == words
