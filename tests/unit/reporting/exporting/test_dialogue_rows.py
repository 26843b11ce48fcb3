"""The dialogue table: texts, time and cost, and a recount by another library."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from scipy import stats

from tests.fakes.evidence import changed, facts, live_evidence, xstest_evidence
from theodolite.domain.dialogue import TesterType
from theodolite.domain.flow import Reply
from theodolite.domain.status import Call
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.exporting.dialogue_rows import COLUMNS, dialogue_columns, dialogue_rows
from theodolite.reporting.queries.cases import pseudonyms
from theodolite.reporting.results.document import results_document


def test_each_row_has_the_columns_in_order():
    evidence = xstest_evidence()

    columns = dialogue_columns(evidence)
    assert list(columns)[: len(COLUMNS)] == list(COLUMNS)
    assert list(columns)[len(COLUMNS) :] == ["group_prompt_kind", "group_type"]
    for row in dialogue_rows(evidence):
        assert list(row) == list(columns)
        assert all(value is None or type(value) is columns[name] for name, value in row.items())


def test_the_first_columns_are_the_documented_ones():
    promised = (
        "dialogue application scenario persona case repeat turn prompt response expected tools judge label score "
        "defect reason quote failure latency_s cost_usd run"
    )

    assert list(COLUMNS)[:21] == promised.split()


def test_a_recorded_item_is_a_case_and_a_simulated_user_a_persona():
    recorded, simulated = next(dialogue_rows(xstest_evidence())), next(dialogue_rows(live_evidence()))

    assert (recorded["case"], recorded["persona"]) == ("v2-1", None)
    assert (simulated["case"], simulated["persona"]) == (None, "customers-1")


def test_data_frames_reproduce_the_published_rates():
    """Counts, and exact intervals by scipy, of every rate that `results.json` gives for XSTest."""
    evidence = xstest_evidence()
    frame, people = pd.DataFrame(dialogue_rows(evidence)), pseudonyms(evidence)
    results = results_document(evidence, measure_study(evidence), facts())
    rules = {rule.name: rule for rule in evidence.study.guidelines[0].defect_rules}
    rates = [entry for entry in results["estimates"] if entry["measure"] == "defect_rate"]

    assert rates
    for entry in rates:
        subject, rule = entry["subject"], rules[entry["subject"]["rule"]]
        (judge,) = subject["annotators"]
        mine = frame[(frame.application == subject["application"]) & (frame.judge == people.get(judge, judge))]
        groups = dict(rule.among) | ({one["name"]: one["value"]} if (one := subject.get("group")) else {})
        for name, value in groups.items():
            mine = mine[mine[f"group_{name}"] == value]
        labels = mine.label[mine.outcome == "answered"]
        (label,) = rule.values  # noqa: PD011  # a rule is no data frame
        count, n = int((labels == label).sum()), len(labels)
        assert (entry["count"], entry["n"]) == (count, n)
        interval = stats.binomtest(count, n).proportion_ci(method=entry["method"])
        assert (entry["low"], entry["high"]) == pytest.approx(tuple(interval), abs=1e-9)


def test_a_session_without_a_dialogue_states_its_failure():
    rows = {row["dialogue"]: row for row in dialogue_rows(live_evidence(held=40))}

    failed = [row for row in rows.values() if row["outcome"] == "failed"]
    assert [(row["failure"], row["failure_source"], row["turn"]) for row in failed] == [
        ("timed out", "application", None)
    ] * 2
    assert sum(row["outcome"] == "missing" for row in rows.values()) == 20
    assert len(rows) == 60


def test_time_and_cost_are_given_per_turn_and_judge():
    evidence = live_evidence()
    dialogue = next(iter(evidence.archive.dialogues()))
    judged = next(iter(evidence.archive.annotations()))
    turns = tuple(replace(turn, latency_s=1.5, prompt_at=0, response_at=1) for turn in dialogue.turns[:1])
    one = replace(dialogue, turns=turns + dialogue.turns[1:])
    calls = {
        one.key: (Call(reply=Reply(text="a", cost_microusd=40)), Call(reply=Reply(text="b", cost_microusd=2))),
        judged.unit: (Call(reply=Reply(text="c", cost_microusd=7)),),
    }
    archive = replace(evidence.archive, dialogue_list=(one, *evidence.archive.dialogue_list[1:]), call_lists=calls)
    rows = [row for row in dialogue_rows(replace(evidence, archive=archive)) if row["dialogue"] == one.label]

    assert (rows[0]["latency_s"], rows[0]["cost_usd"]) == (1.5, 42e-6)
    assert [row["judge_cost_usd"] for row in rows if row["judge"]] == [7e-6]
    assert [row["turn"] for row in rows] == [turn.number for turn in one.turns]


def test_an_unknown_price_is_not_zero():
    evidence = live_evidence()
    judged = next(iter(evidence.archive.annotations()))
    calls = {judged.unit: (Call(reply=Reply(text="c", tokens_in=7, finish="stop")),)}
    archive = replace(evidence.archive, call_lists=calls)

    assert {row["judge_cost_usd"] for row in dialogue_rows(replace(evidence, archive=archive))} == {None}


def test_texts_of_people_are_exported_only_on_request():
    evidence = live_evidence()
    sessions = tuple(replace(session, held_by=TesterType.PERSON) for session in evidence.sessions)
    dialogues = tuple(replace(dialogue, held_by=TesterType.PERSON) for dialogue in evidence.archive.dialogues())
    evidence = changed(evidence, sessions=sessions, dialogues=dialogues)

    hidden = [row for row in dialogue_rows(evidence) if row["turn"]]
    shown = [row for row in dialogue_rows(evidence, include_text=True) if row["turn"]]

    assert len(hidden) == len(shown)
    assert {row["prompt"] for row in hidden} == {row["reason"] for row in hidden} == {None}
    assert all("--include-text" in str(row["withheld"]) for row in hidden)
    assert all(row["prompt"] and row["withheld"] is None for row in shown)
    assert {row["persona"] for row in shown} == {None}
