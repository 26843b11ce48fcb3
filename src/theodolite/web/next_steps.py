"""The card with the next step of a role: one sentence and one button, at the head of its home page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.urls import reverse

from theodolite.events.next_steps import RoleStep


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStepCard:
    """The next step of a person.

    Attributes:
        text: The step, in one sentence.
        button: Label of the button; empty on the page of the step itself.
        address: Target of the button.
        is_post: Whether the button sends a form.
        is_waiting: Whether the person waits for another person.
        is_secondary: Whether the page has a primary button of its own.
    """

    text: str
    button: str
    address: str
    is_post: bool = False
    is_waiting: bool = False
    is_secondary: bool = False


CARDS: Mapping[RoleStep, tuple[str, str, str, str]] = {
    RoleStep.RESUME_EVENT: (
        "The event is paused: resume it when testers may continue.", "", "Operations", "organiser:operations",
    ),
    RoleStep.ANSWER_TESTERS: (
        "1 tester waits for an answer.", "{n} testers wait for an answer.", "Answer", "organiser:messages",
    ),
    RoleStep.DECIDE_SUBMISSIONS: (
        "Decide on the submitted application.", "Decide on {n} submitted applications.", "Decide",
        "organiser:submissions",
    ),
    RoleStep.PUBLISH: (
        "Check the files, and publish them as the first version.", "", "Publish", "organiser:editions",
    ),
    RoleStep.MEASURE: (
        "The event is closed: measure its dialogues and answers.", "", "Results", "organiser:results",
    ),
    RoleStep.RECORD_APPROVAL: (
        "No ethics approval is valid today: record one before you invite testers.", "", "Record approval",
        "organiser:ethics",
    ),
    RoleStep.INVITE_TESTERS: (
        "Invite testers by address, list, printed access code or open link.", "", "Invite", "organiser:people",
    ),
    RoleStep.OPEN_EVENT: ("Open the event, so that sessions can start.", "", "Open event", "organiser:operations"),
    RoleStep.WATCH_EVENT: (
        "The event is open: check active sessions, waiting replies and errors.", "", "Operations",
        "organiser:operations",
    ),
    RoleStep.OPEN_QUEUE: (
        "Open the queue with all completed dialogues, so that annotators can start.", "", "Open queue",
        "senior:fill_queue",
    ),
    RoleStep.DECIDE_CASES: (
        "1 case of sensitive content waits for a decision.", "{n} cases of sensitive content wait for a decision.",
        "Decide", "senior:cases",
    ),
    RoleStep.ANSWER_ANNOTATORS: (
        "1 question of an annotator waits for an answer.", "{n} questions of annotators wait for an answer.",
        "Answer", "senior:questions",
    ),
    RoleStep.ADJUDICATE: (
        "1 annotation has a dispute to settle.", "{n} annotations have disputes to settle.", "Adjudicate", "",
    ),
    RoleStep.CHECK_ANNOTATIONS: (
        "1 annotation waits for a quality check.", "{n} annotations wait for a quality check.", "Check", "",
    ),
    RoleStep.SEE_PROGRESS: (
        "No question, case or dispute is open: check progress and agreement.", "", "Agreement", "senior:agreement",
    ),
    RoleStep.AWAIT_QUEUE: (
        "No dialogue is ready yet: a senior annotator opens the queue.", "", "Refresh", "annotator:home",
    ),
    RoleStep.REVISE_ANNOTATION: (
        "A senior annotator returned 1 annotation to you.", "A senior annotator returned {n} annotations to you.",
        "Revise", "",
    ),
    RoleStep.RESUME_DIALOGUE: ("You have started a dialogue.", "", "Resume your dialogue", "annotator:take"),
    RoleStep.VOTE: (
        "A calibration session waits for your vote.", "{n} calibration sessions wait for your vote.", "Vote", "",
    ),
    RoleStep.QUALIFY: (
        "Complete 1 step before you annotate.", "Complete {n} steps before you annotate.", "Continue", "",
    ),
    RoleStep.ANNOTATE: (
        "1 dialogue is ready for you.", "{n} dialogues are ready for you.", "Take the next dialogue", "annotator:take",
    ),
    RoleStep.AWAIT_DIALOGUES: (
        "No dialogue is available for you now: new ones appear here.", "", "Refresh", "annotator:home",
    ),
    RoleStep.SUBMIT_APPLICATION: ("Submit an application to the event.", "", "Submit an application", "teams:new"),
    RoleStep.REVISE_APPLICATION: (
        "The organisers returned {name}: correct it, then submit it again.", "", "Correct", "",
    ),
    RoleStep.CHECK_APPLICATION: ("Run the conformance check of {name}.", "", "Open {name}", ""),
    RoleStep.CORRECT_APPLICATION: (
        "The conformance check of {name} found errors: correct them, then run the check again.", "", "See errors", "",
    ),
    RoleStep.SIGN_APPLICATION: (
        "{name} passed the conformance check: sign the terms and submit it.", "", "Sign and submit", "",
    ),
    RoleStep.READ_RESULTS: ("The results of {name} are ready.", "", "Read report", ""),
    RoleStep.AWAIT_DECISION: ("The organisers decide on {name}.", "", "See submission", ""),
    RoleStep.AWAIT_RESULTS: (
        "{name} is accepted: its report appears here after the event.", "", "See submission", "",
    ),
    RoleStep.FIND_TASK: (
        "Find the reviews, codes and disagreements that wait for you.",
        "",
        "Find next task",
        "organiser:results",
    ),
    RoleStep.AWAIT_ANSWERS: ("No tester has submitted a questionnaire yet.", "", "Refresh", "organiser:results"),
    RoleStep.REVIEW_RISKS: (
        "1 session waits for a combined review.", "{n} sessions wait for a combined review.", "Review",
        "analyst:reviews",
    ),
    RoleStep.CODE_ANSWERS: (
        "1 free-text answer waits for your codes.", "{n} free-text answers wait for your codes.", "Code answers",
        "analyst:next",
    ),
    RoleStep.SETTLE_CODES: (
        "Coders disagree about 1 answer.", "Coders disagree about {n} answers.", "Settle", "analyst:disagreements",
    ),
    RoleStep.WRITE_CODEBOOK: (
        "1 question with free-text answers has no codebook.", "{n} questions with free-text answers have no codebook.",
        "Write codebook", "analyst:new_codebook",
    ),
    RoleStep.READ_RESPONSES: (
        "No answer waits for codes: compare the answers of testers.", "", "Compare answers", "analyst:home",
    ),
}  # fmt: skip
"""Sentence for one, sentence for several, label of the button, and page; an empty page needs an address."""

_BY_POST = frozenset({RoleStep.OPEN_QUEUE, RoleStep.RESUME_DIALOGUE, RoleStep.ANNOTATE})

_WAITING = frozenset(
    {
        RoleStep.AWAIT_QUEUE,
        RoleStep.AWAIT_DIALOGUES,
        RoleStep.AWAIT_DECISION,
        RoleStep.AWAIT_RESULTS,
        RoleStep.AWAIT_ANSWERS,
    }
)


def next_step_card(step: RoleStep, study: str, *, n: int = 1, name: str = "", address: str = "") -> NextStepCard:
    """Return the card of a step.

    Args:
        step: The step.
        study: Token of the study.
        n: Items that wait; count.
        name: Name of the item, for steps that name it.
        address: Target of the button; empty for the page of the step.
    """
    for_one, for_several, button, page = CARDS[step]
    return NextStepCard(
        text=(for_several if n > 1 and for_several else for_one).format(n=n, name=name),
        button=button.format(name=name),
        address=address or reverse(page, args=[study]),
        is_post=step in _BY_POST,
        is_waiting=step in _WAITING,
    )
