"""Pages of dialogues and annotations: complete, in order, and with the names and texts of exports."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.evidence import changed, live_evidence, xstest_evidence
from theodolite.domain.dialogue import TesterType
from theodolite.domain.errors import NotFound
from theodolite.reporting.exporting.dialogue_rows import dialogue_rows
from theodolite.reporting.exporting.record_pages import (
    WITHHELD,
    RecordFilter,
    RunRecords,
    annotation_at,
    annotation_page,
    dialogue_at,
    dialogue_page,
)

EVERYTHING = RecordFilter()


def records_of(evidence, *, include_text=False) -> RunRecords:
    return RunRecords(
        study=evidence.study,
        run=evidence.run,
        sessions=evidence.sessions,
        archive=evidence.archive,
        include_text=include_text,
    )


@cache
def xstest():
    return records_of(xstest_evidence())


@cache
def exported():
    """Return the exported rows by dialogue."""
    rows = defaultdict(list)
    for row in dialogue_rows(xstest_evidence()):
        rows[row["dialogue"]].append(row)
    return rows


def pages(list_page, wanted, limit):
    """Return the pages of a list in order."""
    found, start = [], 0
    while start is not None:
        page = list_page(xstest(), wanted, start=start, limit=limit)
        found.append(page.records)
        start = page.after
    return found


@settings(max_examples=12, deadline=None)
@given(limit=st.integers(40, 2500), application=st.sampled_from(["", "gpt4", "mistralguard"]))
def test_pages_of_any_length_contain_each_dialogue_once_and_in_order(limit, application):
    listed = pages(dialogue_page, RecordFilter(application=application), limit)
    expected = [name for name, rows in exported().items() if application in {"", rows[0]["application"]}]

    assert [one["dialogue"] for page in listed for one in page] == expected
    assert {len(page) for page in listed[:-1]} <= {limit}
    assert listed[-1]


def test_a_dialogue_has_the_values_of_the_exported_table():
    same = ("id", "application", "application_version", "scenario", "level", "tester_type", "persona", "case", "repeat")
    for one in dialogue_page(xstest(), EVERYTHING, start=0, limit=100).records:
        row = exported()[one["dialogue"]][0]

        assert {name: one[name] for name in same} == {name: row[name] for name in same}
        (turn,) = dialogue_at(xstest(), one["dialogue"])["turns"]
        shared = ("turn", "prompt", "response", "context", "withheld", "latency_s")
        assert {name: turn[name] for name in shared} == {name: row[name] for name in shared}


def test_annotations_have_the_names_and_labels_of_the_exported_table():
    listed = [one for page in pages(annotation_page, EVERYTHING, 500) for one in page]
    labels = {(one["dialogue"], one["annotator"], answer["value"]) for one in listed for answer in one["answers"]}

    assert len({one["id"] for one in listed}) == len(listed)
    assert labels == {
        (row["dialogue"], row["judge"], row["label"])
        for rows in exported().values()
        for row in rows
        if row["judge_kind"] not in {None, "final label"}
    }
    assert annotation_at(xstest(), listed[7]["id"]) == listed[7]


def test_a_page_of_annotations_ends_with_a_whole_dialogue():
    first, second, *_ = pages(annotation_page, EVERYTHING, 3)

    assert not {one["dialogue"] for one in first} & {one["dialogue"] for one in second}


@pytest.mark.parametrize("include_text", [False, True])
def test_texts_of_people_are_withheld_without_a_review(include_text):
    evidence = live_evidence()
    by_people = changed(
        evidence,
        dialogues=[replace(one, held_by=TesterType.PERSON) for one in evidence.archive.dialogues()],
    )
    source = records_of(by_people, include_text=include_text)
    sessions = source.sessions
    if all(sessions.setting(place).held_by is not TesterType.PERSON for place in range(len(sessions))):
        source = replace(source, sessions=_ByPeople(sessions))
    label = dialogue_page(source, EVERYTHING, start=0, limit=1).records[0]["dialogue"]
    turns = dialogue_at(source, label)["turns"]
    answers = [
        answer for one in annotation_page(source, EVERYTHING, start=0, limit=9).records for answer in one["answers"]
    ]

    assert all((turn["prompt"] is None) is not include_text for turn in turns)
    assert all((turn["withheld"] == WITHHELD) is not include_text for turn in turns)
    assert any(answer["reason"] or answer["evidence"] for answer in answers) is include_text


class _ByPeople:
    """Sessions as if people had held them."""

    def __init__(self, sessions):
        self._sessions = sessions

    def __len__(self):
        return len(self._sessions)

    def __getitem__(self, position):
        return self._sessions[position]

    def find(self, label):
        return self._sessions.find(label)

    def setting(self, position):
        return replace(self._sessions.setting(position), held_by=TesterType.PERSON)


@pytest.mark.parametrize("name", ["", "x", "1-2", "99999999-0", "٣-1"])
def test_unknown_names_are_refused(name):
    with pytest.raises(NotFound, match="has no annotation"):
        annotation_at(xstest(), name)
    with pytest.raises(NotFound, match="has no completed dialogue"):
        dialogue_at(xstest(), name)
