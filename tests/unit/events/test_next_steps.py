"""The next step of each role: the first action that somebody waits for."""

import pytest

from theodolite.events.next_steps import (
    RoleStep,
    SubmittedApplication,
    step_of_analyst,
    step_of_annotator,
    step_of_organiser,
    step_of_senior,
    step_of_team,
)
from theodolite.web.next_steps import CARDS

ORGANISER = {"state": "open", "n_submissions": 0, "is_approved": True, "has_testers": True, "n_questions": 0}
SENIOR = {"has_queue": True, "n_cases": 0, "n_questions": 0, "n_disputed": 0, "n_to_check": 0}
ANNOTATOR = {"has_queue": True, "n_returned": 0, "has_open": False, "n_rooms": 0, "is_cleared": True, "n_left": 0}
ANALYST = {"n_submitted": 1, "n_uncovered": 0, "n_to_code": 0, "n_disputed": 0, "n_reviews": 0}


@pytest.mark.parametrize(
    ("changes", "step"),
    [
        ({}, RoleStep.WATCH_EVENT),
        ({"state": "paused", "n_questions": 1}, RoleStep.RESUME_EVENT),
        ({"n_questions": 2, "n_submissions": 1}, RoleStep.ANSWER_TESTERS),
        ({"state": "draft", "n_submissions": 1}, RoleStep.DECIDE_SUBMISSIONS),
        ({"state": "draft", "is_approved": False}, RoleStep.PUBLISH),
        ({"state": "closed", "is_approved": False}, RoleStep.MEASURE),
        ({"state": "published", "is_approved": False}, RoleStep.RECORD_APPROVAL),
        ({"state": "published", "has_testers": False}, RoleStep.INVITE_TESTERS),
        ({"state": "published"}, RoleStep.OPEN_EVENT),
    ],
)
def test_the_step_of_an_organiser(changes, step):
    assert step_of_organiser(**{**ORGANISER, **changes}) is step


@pytest.mark.parametrize(
    ("changes", "step"),
    [
        ({"has_queue": False}, RoleStep.OPEN_QUEUE),
        ({"n_cases": 1, "n_questions": 1, "n_disputed": 9}, RoleStep.DECIDE_CASES),
        ({"n_questions": 1, "n_disputed": 9}, RoleStep.ANSWER_ANNOTATORS),
        ({"n_disputed": 1, "n_to_check": 4}, RoleStep.ADJUDICATE),
        ({"n_to_check": 4}, RoleStep.CHECK_ANNOTATIONS),
        ({}, RoleStep.SEE_PROGRESS),
    ],
)
def test_the_step_of_a_senior_annotator_puts_people_before_data(changes, step):
    assert step_of_senior(**{**SENIOR, **changes}) is step


@pytest.mark.parametrize(
    ("changes", "step"),
    [
        ({"has_queue": False}, RoleStep.AWAIT_QUEUE),
        ({"n_returned": 1, "has_open": True, "n_left": 3}, RoleStep.REVISE_ANNOTATION),
        ({"has_open": True, "n_rooms": 1, "n_left": 3}, RoleStep.RESUME_DIALOGUE),
        ({"n_rooms": 1, "n_left": 3}, RoleStep.VOTE),
        ({"is_cleared": False}, RoleStep.QUALIFY),
        ({"is_cleared": False, "n_left": 2}, RoleStep.ANNOTATE),
        ({"n_left": 3}, RoleStep.ANNOTATE),
        ({}, RoleStep.AWAIT_DIALOGUES),
    ],
)
def test_the_step_of_an_annotator_puts_started_work_first(changes, step):
    assert step_of_annotator(**{**ANNOTATOR, **changes}) is step


@pytest.mark.parametrize(
    ("applications", "step"),
    [
        ([], (RoleStep.SUBMIT_APPLICATION, 0)),
        ([("withdrawn", False, False, False)], (RoleStep.SUBMIT_APPLICATION, 0)),
        ([("draft", False, False, False)], (RoleStep.CHECK_APPLICATION, 0)),
        ([("draft", True, False, False)], (RoleStep.CORRECT_APPLICATION, 0)),
        ([("submitted", True, True, False), ("draft", True, True, False)], (RoleStep.SIGN_APPLICATION, 1)),
        ([("draft", False, False, False), ("returned", True, True, False)], (RoleStep.REVISE_APPLICATION, 1)),
        ([("accepted", True, True, False), ("submitted", True, True, False)], (RoleStep.AWAIT_DECISION, 1)),
        ([("accepted", True, True, True)], (RoleStep.READ_RESULTS, 0)),
        ([("accepted", True, True, False)], (RoleStep.AWAIT_RESULTS, 0)),
    ],
    ids=["none", "withdrawn", "new", "errors", "sign", "returned", "waiting", "results", "accepted"],
)
def test_the_step_of_a_team_is_the_most_urgent_of_its_applications(applications, step):
    made = [
        SubmittedApplication(state=state, is_checked=checked, conforms=conforms, has_results=results)
        for state, checked, conforms, results in applications
    ]

    assert step_of_team(made) == step


@pytest.mark.parametrize(
    ("changes", "step"),
    [
        ({"n_submitted": 0, "n_uncovered": 2}, RoleStep.AWAIT_ANSWERS),
        ({"n_reviews": 1, "n_to_code": 5}, RoleStep.REVIEW_RISKS),
        ({"n_to_code": 5, "n_disputed": 1}, RoleStep.CODE_ANSWERS),
        ({"n_disputed": 1, "n_uncovered": 2}, RoleStep.SETTLE_CODES),
        ({"n_uncovered": 2}, RoleStep.WRITE_CODEBOOK),
        ({}, RoleStep.READ_RESPONSES),
    ],
)
def test_the_step_of_an_analyst(changes, step):
    assert step_of_analyst(**{**ANALYST, **changes}) is step


def test_each_step_has_a_card_that_ends_its_sentence():
    assert set(CARDS) == set(RoleStep)
    assert all(text.endswith(".") for one, several, _, _ in CARDS.values() for text in (one, several) if text)
    assert all(button for _, _, button, _ in CARDS.values())
