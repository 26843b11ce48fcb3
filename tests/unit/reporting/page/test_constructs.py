from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.evidence import facts
from tests.fakes.report import words
from tests.fakes.responses import AFTER, BOTH, STUDY, evidence, said
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import Construct
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.page.constructs import construct_blocks
from theodolite.reporting.page.subject import subject_of

MARKED = replace(
    AFTER,
    instrument=replace(
        AFTER.instrument,
        questions=tuple(
            replace(one, construct=Construct.ACT if one.name == "bad" else Construct.PERCEIVE)
            for one in AFTER.instrument.questions
        ),
    ),
)


@pytest.fixture(scope="module")
def blocks():
    told = [
        replace(one, instrument_version=version_of(MARKED), answers=(*one.answers, said("seen", "yes"))) for one in BOTH
    ]
    known = evidence(*told, of=replace(STUDY, questionnaires=(MARKED,)))
    return construct_blocks(subject_of(known, measure_study(known), facts(), words()))


def test_constructs_are_listed_in_order_with_their_questions(blocks):
    assert [block.title for block in blocks] == ["Perceive", "Act"]
    assert [column.title for column in blocks[1].table.columns][:3] == ["Question", "Application", "Answers"]


def test_a_question_has_distribution_share_median_n_and_missing(blocks):
    (blue, green) = blocks[1].table.rows

    assert blue[0].details == ("testers, field testing",)
    assert blue[1:] == ("blue", "2: 4", "6 or 7: 0 of 4", "2 (quartiles 2 and 2)", "4 from 4 testers", "none")
    assert green[1:4] == ("green", "6: 4", "6 or 7: 4 of 4")


def test_questions_with_ordered_labels_have_a_chart_and_others_have_none(blocks):
    assert [chart.title for chart in blocks[1].charts] == ["Was it bad? (field testing, testers)"]
    assert blocks[0].charts == ()


def test_an_unanswered_question_has_no_share(blocks):
    rows = [row for row in blocks[0].table.rows if row[0].value == "Which?"]

    assert [row[2:4] for row in rows] == [("none", ""), ("none", "")]
    assert rows[0][-1] == "4 not applicable"
