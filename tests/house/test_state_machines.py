"""One module decides what a tester does next, and one what an annotator does next."""

from __future__ import annotations

import ast
from itertools import product

import pytest
from tests.house.tree import PACKAGE, modules, parsed

from theodolite.events.rules import ScreeningResult, SessionProgress, Step, TesterProgress, next_step

DECISIONS = {"NextStep": "events/rules.py", "StepStatus": "annotation/rules.py"}
"""The record that carries a decision to the module that makes it."""

NO_DATABASE = {"django", "theodolite.store"}

FLAGS = (
    "has_consented",
    "has_chosen_topics",
    "has_profile",
    "has_time_slot",
    "has_capacity",
    "limit_reached",
    "has_guessed",
)

SESSIONS = (
    (),
    (SessionProgress(),),
    (SessionProgress(is_read=True), SessionProgress()),
    (SessionProgress(is_read=True, is_over=True, to_answer=1), SessionProgress()),
    (SessionProgress(is_read=True, is_over=True), SessionProgress()),
    (SessionProgress(is_read=True, is_over=True),),
)
"""Sessions of a tester: none, not started, active, with an open questionnaire, between two sessions, complete."""


def every_progress() -> list[TesterProgress]:
    """Return all combinations of what the state machine of a tester looks at."""
    return [
        TesterProgress(
            screening=screening, sessions=sessions, next_session_no=number, **dict(zip(FLAGS, flags, strict=True))
        )
        for flags in product((False, True), repeat=len(FLAGS))
        for screening, sessions, number in product(ScreeningResult, SESSIONS, (None, 0))
    ]


@pytest.mark.parametrize("record", DECISIONS)
def test_one_module_makes_the_decisions(record):
    makers = {
        str(path.relative_to(PACKAGE))
        for path in modules()
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == record
    }

    assert makers == {DECISIONS[record]}


@pytest.mark.parametrize("record", DECISIONS)
def test_the_module_that_decides_needs_no_database(record):
    imported = {
        node.module or "" for node in ast.walk(parsed(PACKAGE / DECISIONS[record])) if isinstance(node, ast.ImportFrom)
    }

    assert [name for name in imported for root in NO_DATABASE if name == root or name.startswith(f"{root}.")] == []


def test_each_step_of_a_tester_is_reached():
    assert {next_step(progress).step for progress in every_progress()} == set(Step)


def test_a_started_session_precedes_every_other_step():
    in_session = [one for one in every_progress() if one.sessions and one.sessions[0] == SESSIONS[2][0]]

    assert {next_step(progress).step for progress in in_session} == {Step.CHAT}


def test_a_session_requires_consent():
    without = [one for one in every_progress() if not one.has_consented]

    assert Step.INSTRUCTIONS not in {next_step(progress).step for progress in without}
