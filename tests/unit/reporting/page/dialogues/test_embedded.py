"""A report too large for one file holds the telling dialogues, a drawn sample, and says so."""

from __future__ import annotations

import functools
import json
import re

import pytest

from tests.fakes.evidence import facts
from tests.fakes.report import assets, data_of, evidence_named, findings_named, report_named
from theodolite.reporting.page.report import report_pieces

LETTERS = 60_000


@functools.cache
def page(name="xstest", letters=LETTERS):
    made = facts(show_command="theodolite show demo")
    pieces = report_pieces(evidence_named(name), findings_named(name), made, assets(), letters=letters)
    return "".join(pieces)


@pytest.fixture
def data():
    return data_of(page())


def test_up_to_the_limit_the_file_contains_all_dialogues():
    whole = data_of(report_named("xstest"))

    assert len(whole["cases"]) == 2250
    assert "planned" not in whole
    assert all("n" not in kept for kept in whole["sets"].values())


def test_beyond_the_limit_the_file_is_bounded_and_states_its_content(data):
    n = len(data["cases"])

    assert 20 < n < 200
    assert sum(len(json.dumps(case)) for case in data["cases"]) < 1.5 * LETTERS
    assert f"{n} of 2,250 dialogues stand in this file" in page()
    assert "theodolite show demo LABEL" in page()
    assert data["planned"] == 2250


def test_counts_cover_all_dialogues_and_links_those_in_the_file(data):
    whole = data_of(report_named("xstest"))

    assert [chip["n"] for chip in data["chips"]] == [chip["n"] for chip in whole["chips"]]
    for name, kept in data["sets"].items():
        assert kept.get("n", len(kept["cases"])) == len(whole["sets"][name]["cases"])
        there = {whole["cases"][place]["label"] for place in whole["sets"][name]["cases"]}
        assert {data["cases"][place]["label"] for place in kept["cases"]} <= there


def test_the_dialogues_to_review_first_are_always_included(data):
    first = re.findall(r'<a href="#d/([^"]+)">', page())

    assert first
    assert {label.replace("%2F", "/") for label in first} <= {case["label"] for case in data["cases"]}


def test_selected_dialogues_leave_room_for_others(data):
    telling = {place for name in ("defect", "disagreement") for place in data["sets"][name]["cases"]}

    assert 0.5 * len(data["cases"]) < len(telling) < 0.95 * len(data["cases"])


def test_dialogues_are_in_plan_order(data):
    sessions = evidence_named("xstest").sessions
    places = [sessions.find(case["label"]) for case in data["cases"]]

    assert places == sorted(places)
