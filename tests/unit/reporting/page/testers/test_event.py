"""The event in the results file and on the page."""

from __future__ import annotations

from dataclasses import replace

import jsonschema
import pytest

from tests.fakes.evidence import facts
from tests.fakes.evidence_variants import grouped_evidence, split
from tests.fakes.report import assets, words
from tests.unit.reporting.results.document.test_document import schema
from theodolite.domain.dialogue import Level
from theodolite.domain.event_record import (
    BlindingAssessment,
    EventFinding,
    ExposureTally,
    GuessedThing,
    LanguageTally,
    Withdrawal,
    WithdrawalTally,
)
from theodolite.domain.findings.number import Undefined
from theodolite.measurement.proportion import defect_rate
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.page.report import report_html
from theodolite.reporting.page.subject import subject_of
from theodolite.reporting.page.testers import event_view
from theodolite.reporting.results.document import results_document

EVENT = EventFinding(
    leaks=(
        BlindingAssessment(about=GuessedThing.APPLICATION, level=None, rate=defect_rate(8, 12), chance=0.5,
             p_value=0.194, n_unknown=2),
        BlindingAssessment(about=GuessedThing.LEVEL, level=Level.RED_TEAMING,
             rate=Undefined(reason="No tester has guessed."), chance=0.5),
    ),
    exposures=(
        ExposureTally(level=Level.RED_TEAMING, n_people=2, n_sessions=3, minutes_median=12, minutes_most=18, turns=20,
                      severe=4, severe_most=3, n_enough=1),
    ),
    withdrawals=(WithdrawalTally(kind=Withdrawal.REMOVE, n_people=1, sessions=1, dialogues=2, answers=0),),
    languages=(
        LanguageTally(language="en", n_sessions=3, n_dialogues=4),
        LanguageTally(language="de", n_sessions=1, n_dialogues=1),
        LanguageTally(language="", n_sessions=2, n_dialogues=0),
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def evidence():
    return grouped_evidence(split)


@pytest.fixture(scope="module")
def findings(evidence):
    return replace(measure_study(evidence), event=EVENT)


def test_the_results_file_conforms_to_its_schema(evidence, findings):
    document = results_document(evidence, findings, facts())
    without = results_document(evidence, replace(findings, event=None), facts())

    jsonschema.Draft202012Validator(schema()).validate(document)
    assert document["event"]["blinding"][0]["right"]["count"] == 8
    assert document["event"]["blinding"][1]["right"]["undefined_reason"] == "No tester has guessed."
    assert document["event"]["exposure"][0]["severe_most"] == 3
    assert document["event"]["languages"][1:] == [
        {"language": "de", "sessions": 1, "dialogues": 1},
        {"language": None, "sessions": 2, "dialogues": 0},
    ]
    assert without["event"] is None


def test_the_page_describes_it_in_words(evidence, findings):
    view = event_view(subject_of(evidence, findings, facts(), words()))

    blinding, exposure = view.tables
    assert blinding.rows[0][0] == "application, all levels"
    assert blinding.rows[0][1].details == ("2 did not know",)
    assert blinding.texts[1][1:] == ("undefined: no tester has guessed", "50.0%", "")
    assert exposure.rows[0][3].endswith("at most 3 per person; 1 reached the limit of the study")
    assert view.withdrawals == ("1 person withdrew (remove): 1 session, 2 dialogues, 0 answers.",)


def test_languages_are_listed_if_more_than_one_is_known(evidence, findings):
    one = replace(findings, event=replace(EVENT, languages=(EVENT.languages[0], EVENT.languages[2])))
    told = "People read the study in en (3 sessions, 4 dialogues), de (1 session, 1 dialogue); not known for"

    assert f"<p>{told} 2 sessions, 0 dialogues.</p>" in report_html(evidence, findings, facts(), assets())
    assert event_view(subject_of(evidence, one, facts(), words())).languages == ""


def test_the_report_has_the_section_only_with_participants(evidence, findings):
    without = replace(findings, event=None)

    assert "Did testers see through the blinding?" in report_html(evidence, findings, facts(), assets())
    assert 'id="event"' not in report_html(evidence, without, facts(), assets())
