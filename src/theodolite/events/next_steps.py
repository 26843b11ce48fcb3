"""The next step of each role of an event, as its home page shows it; testers follow `rules.next_step`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class RoleStep(StrEnum):
    """The next step of a person with a role."""

    RESUME_EVENT = "resume event"
    DECIDE_SUBMISSIONS = "decide submissions"
    PUBLISH = "publish"
    MEASURE = "measure"
    RECORD_APPROVAL = "record approval"
    INVITE_TESTERS = "invite testers"
    OPEN_EVENT = "open event"
    ANSWER_TESTERS = "answer testers"
    WATCH_EVENT = "watch event"

    OPEN_QUEUE = "open queue"
    DECIDE_CASES = "decide cases"
    ANSWER_ANNOTATORS = "answer annotators"
    ADJUDICATE = "adjudicate"
    CHECK_ANNOTATIONS = "check annotations"
    SEE_PROGRESS = "see progress"

    AWAIT_QUEUE = "await queue"
    REVISE_ANNOTATION = "revise annotation"
    RESUME_DIALOGUE = "resume dialogue"
    VOTE = "vote"
    QUALIFY = "qualify"
    ANNOTATE = "annotate"
    AWAIT_DIALOGUES = "await dialogues"

    SUBMIT_APPLICATION = "submit application"
    REVISE_APPLICATION = "revise application"
    CHECK_APPLICATION = "check application"
    CORRECT_APPLICATION = "correct application"
    SIGN_APPLICATION = "sign application"
    READ_RESULTS = "read results"
    AWAIT_DECISION = "await decision"
    AWAIT_RESULTS = "await results"

    FIND_TASK = "find task"
    """An analyst's tasks are counted from all answers, so they are looked for only on request."""
    WRITE_CODEBOOK = "write codebook"
    CODE_ANSWERS = "code answers"
    SETTLE_CODES = "settle codes"
    REVIEW_RISKS = "review risks"
    READ_RESPONSES = "read responses"
    AWAIT_ANSWERS = "await answers"


def step_of_organiser(
    state: str, *, n_submissions: int, is_approved: bool, has_testers: bool, n_questions: int
) -> RoleStep:
    """Return the first action that an event waits for.

    Args:
        state: State of the event: draft, published, open, paused or closed.
        n_submissions: Applications of teams without a decision; count.
        is_approved: Whether an ethics approval is valid today.
        has_testers: Whether a tester was invited or has joined.
        n_questions: Questions of testers without an answer; count.
    """
    steps = (
        (state == "paused", RoleStep.RESUME_EVENT),
        (state == "open" and n_questions > 0, RoleStep.ANSWER_TESTERS),
        (n_submissions > 0, RoleStep.DECIDE_SUBMISSIONS),
        (state == "draft", RoleStep.PUBLISH),
        (state == "closed", RoleStep.MEASURE),
        (not is_approved, RoleStep.RECORD_APPROVAL),
        (not has_testers, RoleStep.INVITE_TESTERS),
        (state != "open", RoleStep.OPEN_EVENT),
    )
    return _first(steps, RoleStep.WATCH_EVENT)


def step_of_senior(*, has_queue: bool, n_cases: int, n_questions: int, n_disputed: int, n_to_check: int) -> RoleStep:
    """Return the first action of a senior annotator: people who wait come before data that waits.

    Args:
        has_queue: Whether the study has a queue of dialogues.
        n_cases: Open cases of sensitive content; count.
        n_questions: Questions from annotators without an answer; count.
        n_disputed: Annotations with a dispute; count.
        n_to_check: Annotations to check; count.
    """
    steps = (
        (not has_queue, RoleStep.OPEN_QUEUE),
        (n_cases > 0, RoleStep.DECIDE_CASES),
        (n_questions > 0, RoleStep.ANSWER_ANNOTATORS),
        (n_disputed > 0, RoleStep.ADJUDICATE),
        (n_to_check > 0, RoleStep.CHECK_ANNOTATIONS),
    )
    return _first(steps, RoleStep.SEE_PROGRESS)


def step_of_annotator(
    *, has_queue: bool, n_returned: int, has_open: bool, n_rooms: int, is_cleared: bool, n_left: int
) -> RoleStep:
    """Return the first action of an annotator; started work comes before new work.

    Args:
        has_queue: Whether the study has a queue of dialogues.
        n_returned: Annotations that came back for a revision; count.
        has_open: Whether the annotator has started a dialogue.
        n_rooms: Open calibration sessions; count.
        is_cleared: Whether the annotator has completed the steps before the work.
        n_left: Dialogues that the annotator may take now; count.
    """
    steps = (
        (not has_queue, RoleStep.AWAIT_QUEUE),
        (n_returned > 0, RoleStep.REVISE_ANNOTATION),
        (has_open, RoleStep.RESUME_DIALOGUE),
        (n_rooms > 0, RoleStep.VOTE),
        (not is_cleared and n_left == 0, RoleStep.QUALIFY),
        (n_left > 0, RoleStep.ANNOTATE),
    )
    return _first(steps, RoleStep.AWAIT_DIALOGUES)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmittedApplication:
    """The progress of one application of a team.

    Attributes:
        state: Its state: draft, submitted, returned, accepted, declined or withdrawn.
        is_checked: Whether a conformance check has finished since the last change.
        conforms: Whether that check found no error.
        has_results: Whether the organisers have shared results.
    """

    state: str
    is_checked: bool = False
    conforms: bool = False
    has_results: bool = False

    @property
    def step(self) -> RoleStep | None:
        """The next step of its team; None for an application that has left the event."""
        if self.state == "accepted":
            return RoleStep.READ_RESULTS if self.has_results else RoleStep.AWAIT_RESULTS
        if self.state == "draft":
            checked = RoleStep.SIGN_APPLICATION if self.conforms else RoleStep.CORRECT_APPLICATION
            return checked if self.is_checked else RoleStep.CHECK_APPLICATION
        return {"returned": RoleStep.REVISE_APPLICATION, "submitted": RoleStep.AWAIT_DECISION}.get(self.state)


_ORDER_OF_TEAM = (
    RoleStep.REVISE_APPLICATION,
    RoleStep.CORRECT_APPLICATION,
    RoleStep.SIGN_APPLICATION,
    RoleStep.CHECK_APPLICATION,
    RoleStep.READ_RESULTS,
    RoleStep.AWAIT_DECISION,
    RoleStep.AWAIT_RESULTS,
)


def step_of_team(applications: Sequence[SubmittedApplication]) -> tuple[RoleStep, int]:
    """Return the most urgent step of a team, and the index of its application; 0 if there is none."""
    steps = [(application.step, index) for index, application in enumerate(applications)]
    urgent = [(step, index) for step, index in steps if step is not None]
    if not urgent:
        return RoleStep.SUBMIT_APPLICATION, 0
    return min(urgent, key=lambda one: (_ORDER_OF_TEAM.index(one[0]), one[1]))


def step_of_analyst(*, n_submitted: int, n_uncovered: int, n_to_code: int, n_disputed: int, n_reviews: int) -> RoleStep:
    """Return the first action of an analyst.

    Args:
        n_submitted: Submitted questionnaires; count.
        n_uncovered: Questions with open answers and no codebook; count.
        n_to_code: Answers that wait for codes of this analyst; count.
        n_disputed: Answers that coders coded differently; count.
        n_reviews: Combined reviews of risks that are due; count.
    """
    steps = (
        (n_submitted == 0, RoleStep.AWAIT_ANSWERS),
        (n_reviews > 0, RoleStep.REVIEW_RISKS),
        (n_to_code > 0, RoleStep.CODE_ANSWERS),
        (n_disputed > 0, RoleStep.SETTLE_CODES),
        (n_uncovered > 0, RoleStep.WRITE_CODEBOOK),
    )
    return _first(steps, RoleStep.READ_RESPONSES)


def _first(steps: Sequence[tuple[bool, RoleStep]], otherwise: RoleStep) -> RoleStep:
    return next((step for holds, step in steps if holds), otherwise)
