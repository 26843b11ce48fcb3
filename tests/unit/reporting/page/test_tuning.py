"""The sections for organisers: recruitment against the plan, blinding, and the data card."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.fakes.evidence import facts
from tests.fakes.evidence_variants import grouped_evidence, split
from tests.unit.reporting.page.testers.test_event import EVENT
from theodolite.domain.dialogue import Level
from theodolite.domain.event import LevelPlan
from theodolite.domain.event_record import EventRecord
from theodolite.domain.identity import digest
from theodolite.domain.session import Session, SessionState
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.citations import CitedResults
from theodolite.reporting.page.tuning import organiser_sections
from theodolite.reporting.results.document import results_document


def session(who: str, number: int, state: SessionState, level: Level = Level.RED_TEAMING) -> Session:
    return Session(
        key=digest(who, str(number)), study="s", study_version=digest("s"), run=digest("r"), participant=who,
        level=level, scenario="a", scenario_version=digest("a"), application="bot", application_version=digest("b"),
        slot=0, place=number, alias="Application K", state=state,
    )  # fmt: skip


SESSIONS = (
    session("p1", 0, SessionState.COMPLETE),
    session("p1", 1, SessionState.INTERRUPTED),
    session("p2", 0, SessionState.COMPLETE),
    session("p3", 0, SessionState.WITHDRAWN),
    session("f1", 0, SessionState.FAILED, Level.FIELD_TESTING),
)


@pytest.fixture(scope="module")
def evidence():
    known = grouped_evidence(split)
    levels = (LevelPlan(level=Level.RED_TEAMING, people=4, sessions=2),)
    return replace(known, study=replace(known.study, levels=levels), event=EventRecord(sessions=SESSIONS))


def sections(evidence, event=EVENT, consents=()):
    findings = replace(measure_study(evidence), event=event)
    document = json.loads(json.dumps(results_document(evidence, findings, facts())))
    return organiser_sections(evidence, findings, CitedResults(document), set(consents))


def test_people_and_sessions_are_counted_by_level_against_the_plan(evidence):
    recruitment = sections(evidence)[0]
    table = recruitment.tables[0]
    titles = [column.title for column in table.columns]

    assert dict(zip(titles, table.rows[0], strict=True)) == {
        "Level": "red teaming", "People planned": "4", "People with a session": "3", "Sessions planned": "8",
        "Sessions": "4", "Complete": "2", "Left early": "1", "Without a reply": "0", "Withdrawn": "1",
    }  # fmt: skip
    assert table.rows[1] == ("field testing", "0", "1", "0", "1", "0", "0", "1", "0")


def test_agreement_counts_people_who_have_not_withdrawn(evidence):
    recruitment = sections(evidence, consents=("p1", "p3", "somebody without a session"))[0]

    assert recruitment.paragraphs[0] == "1 of 3 people with a session agreed to public releases."
    assert recruitment.paragraphs[1].startswith("1 person withdrew")


def test_blinding_is_shown_as_a_table_or_a_sentence(evidence):
    with_guesses, without = sections(evidence)[0], sections(evidence, event=None)[0]

    assert [table.title for table in with_guesses.tables] == ["Recruitment", "Blinding"]
    assert [table.title for table in without.tables] == ["Recruitment"]
    assert without.paragraphs[-1] == "Blinding: nobody has guessed the application or the level."


def test_the_data_card_has_the_numbers_of_the_results_file(evidence):
    *_, card = sections(evidence)
    facts_on_it = dict(card.tables[0].rows)

    assert card.name == "data-card"
    assert facts_on_it["Dialogues"] == f"{evidence.answers.n_completed} of {len(evidence.sessions)}"
    assert facts_on_it["Levels of testing"] == "red teaming"


def test_a_study_without_people_has_the_data_card_only():
    assert [one.name for one in sections(grouped_evidence(split), event=None)] == ["data-card"]
