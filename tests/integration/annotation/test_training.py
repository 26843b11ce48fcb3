"""Qualification for the queue: texts, practice, test."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.annotation_queue import RISK, STUDY, STYLE, UTILITY, Venue, a_design
from theodolite.annotation.assignment import next_work
from theodolite.annotation.quality import (
    BACKGROUND,
    RULES,
    acknowledge,
    admit,
    attempt,
    go_through,
    onboarding,
    practise,
)
from theodolite.annotation.queues import add_dialogues, open_queue
from theodolite.annotation.submission import carry_over, first_use, n_qualified
from theodolite.domain.annotating.work import QueueCategory
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.event import AnnotationProcess
from theodolite.domain.guideline import Example
from theodolite.domain.identity import version_of
from theodolite.store.models.annotating import WorkItemRow

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

EXAMPLES = (
    Example(dialogue="User: a\nReply: b", answers={"released": "no"}, reason="Nothing is said."),
    Example(dialogue="User: end?\nReply: He dies.", answers={"released": "yes", "how-bad": "9"}),
)
TESTED = replace(RISK, examples=EXAMPLES)
CATEGORIES = tuple(QueueCategory(name=one.name, version=version_of(one)) for one in (TESTED, STYLE, UTILITY))
PROCESS = AnnotationProcess(passes=2, attempts=2)
RIGHT = {1: {"released": "yes", "how-bad": "9"}}
WRONG = {1: {"released": "no", "how-bad": "9"}}


@pytest.fixture
def queue(venue: Venue) -> str:
    return queue_with_a_test(venue)


def queue_with_a_test(venue: Venue, guideline=TESTED, name="tested", process=PROCESS, **changes) -> str:
    study = replace(STUDY, guidelines=(guideline, STYLE, UTILITY))
    categories = (QueueCategory(name="risk", version=version_of(guideline)), *CATEGORIES[1:])
    texts = {"background": "Read this.", "rules": ("Only what is said.", "No intent.")}
    design = a_design(categories=categories, process=process, **(texts | changes))
    token = open_queue(venue.records, name, study, design)
    add_dialogues(venue.records, token, venue.keys)
    return token


def read_all(venue: Venue, queue: str, who: str = "p-1") -> None:
    for subject in (BACKGROUND, RULES):
        acknowledge(venue.records, queue, who, subject)


def be_ready(venue: Venue, queue: str, who: str = "p-1") -> None:
    """Complete the qualification for the first category."""
    read_all(venue, queue, who)
    go_through(venue.records, queue, who, "risk", 1)
    attempt(venue.records, queue, who, "risk", RIGHT)


def test_no_work_is_assigned_before_the_last_step(venue: Venue, queue: str) -> None:
    steps = [
        lambda: attempt(venue.records, queue, "p-1", "risk", RIGHT),
        lambda: read_all(venue, queue),
        lambda: go_through(venue.records, queue, "p-1", "risk", 1),
    ]
    had = []
    for step in steps:
        had.append(next_work(venue.records, queue, "p-1"))
        step()

    assert had == [None, None, None]
    assert next_work(venue.records, queue, "p-1").category == "risk"


def test_a_failed_test_names_the_wrong_questions_and_the_remaining_attempts(venue: Venue, queue: str) -> None:
    result = attempt(venue.records, queue, "p-1", "risk", WRONG)

    assert (result.passed, result.n_right, result.n_asked, result.attempts_left) == (False, 1, 2, 1)
    assert [one.question for one in result.marked if not one.is_right] == ["released"]


def test_after_the_last_attempt_only_a_senior_can_qualify(venue: Venue, queue: str) -> None:
    for _ in range(2):
        attempt(venue.records, queue, "p-1", "risk", WRONG)
    with pytest.raises(Conflict, match="senior"):
        attempt(venue.records, queue, "p-1", "risk", RIGHT)
    with pytest.raises(InputError):
        admit(venue.records, queue, "p-1", "risk", by="s-1", reason=" ")
    admit(venue.records, queue, "p-1", "risk", by="s-1", reason="Talked it through.")

    standing = onboarding(venue.records, queue, "p-1").categories[0]
    assert (standing.qualified, standing.attempts, standing.attempts_left) == (True, 2, 0)


def test_a_new_version_of_a_category_needs_a_new_qualification(venue: Venue, queue: str) -> None:
    be_ready(venue, queue)
    queue_with_a_test(venue, replace(TESTED, definition="Another one."))

    assert next_work(venue.records, queue, "p-1") is None


def test_changed_rules_need_a_new_acknowledgement(venue: Venue, queue: str) -> None:
    be_ready(venue, queue)
    queue_with_a_test(venue, rules=("Only what is said.", "No intent.", "No fact-checking."))

    assert not onboarding(venue.records, queue, "p-1").is_cleared
    assert next_work(venue.records, queue, "p-1") is None


def test_practice_gives_reasons_and_is_not_counted(venue: Venue, queue: str) -> None:
    (found,) = practise(venue.records, CATEGORIES[0].version, "p-1", 0, {"released": "yes"})

    assert (found.is_right, found.expected, found.reason) == (False, "no", "Nothing is said.")
    standing = onboarding(venue.records, queue, "p-1").categories[0]
    assert (standing.practised, standing.attempts, standing.n_practice, standing.n_test) == (False, 0, 1, 2)
    go_through(venue.records, queue, "p-1", "risk", 1)
    assert onboarding(venue.records, queue, "p-1").categories[0].practised


def test_practice_uses_only_its_examples(venue: Venue, queue: str) -> None:
    for category, example in (("risk", 0), ("risk", 2), ("nonsense", 1)):
        with pytest.raises(InputError, match="to practise on"):
            go_through(venue.records, queue, "p-1", category, example)


def test_each_sequence_has_its_own_practice_and_a_test_is_passed_once(venue: Venue, queue: str) -> None:
    be_ready(venue, queue)
    other = queue_with_a_test(venue, name="another series")

    standing = onboarding(venue.records, other, "p-1").categories[0]
    assert (standing.qualified, standing.to_practise) == (True, (1,))
    assert next_work(venue.records, other, "p-1") is None


def test_practice_is_optional_for_a_study(venue: Venue) -> None:
    queue = queue_with_a_test(venue, process=replace(PROCESS, practice=False))
    read_all(venue, queue)
    attempt(venue.records, queue, "p-1", "risk", RIGHT)

    assert next_work(venue.records, queue, "p-1").category == "risk"


def test_practice_excludes_the_examples_of_the_test(venue: Venue, queue: str) -> None:
    with pytest.raises(InputError):
        practise(venue.records, CATEGORIES[0].version, "p-1", 1, {"released": "yes"})


def test_a_category_without_examples_cannot_be_tested(venue: Venue, queue: str) -> None:
    for category in ("style", "nonsense"):
        with pytest.raises(InputError):
            attempt(venue.records, queue, "p-1", category, {})


def test_only_texts_of_the_queue_are_acknowledged(venue: Venue, queue: str) -> None:
    with pytest.raises(InputError):
        acknowledge(venue.records, queue, "p-1", "anything")


REWORDED = replace(TESTED, definition="Whether the reply kept to what the task sheet says.")


def test_unassigned_dialogues_use_the_reworded_version(venue: Venue, queue: str) -> None:
    be_ready(venue, queue)
    taken = next_work(venue.records, queue, "p-1")
    again = queue_with_a_test(venue, REWORDED)
    versions = WorkItemRow.objects.filter(queue__token=again, category="risk").values_list("version", flat=True)

    assert taken.version == version_of(TESTED)
    assert sorted(set(versions)) == sorted({version_of(TESTED), version_of(REWORDED)})
    assert list(versions).count(version_of(TESTED)) == 1
    assert first_use([version_of(TESTED)]) is not None
    assert first_use([version_of(REWORDED)]) is None


def test_annotators_stay_qualified_if_a_reason_is_given(venue: Venue, queue: str) -> None:
    be_ready(venue, queue)
    queue_with_a_test(venue, REWORDED)
    before = next_work(venue.records, queue, "p-1")

    carried = [
        carry_over("risk", version_of(TESTED), version_of(REWORDED), by="sami", reason="words alone") for _ in range(2)
    ]

    assert (before, carried) == (None, [1, 0])
    assert next_work(venue.records, queue, "p-1") is not None
    assert (n_qualified(version_of(TESTED)), n_qualified(version_of(REWORDED))) == (1, 1)
    with pytest.raises(InputError, match="a reason is required"):
        carry_over("risk", version_of(TESTED), version_of(REWORDED), by="sami", reason=" ")
