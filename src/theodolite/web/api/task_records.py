"""Records of tasks, labels from other tools, and dialogues of the annotation queue."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from ninja import Field, Schema
from pydantic import AfterValidator, BeforeValidator, ConfigDict

from theodolite.domain.annotating.case import FlagKind, ItemStage
from theodolite.domain.dialogue import Level
from theodolite.web.api.records import MOST, described


def _storable(text: str) -> str:
    """Return a text that databases can store.

    Raises:
        ValueError: If it has characters that none can: half of a surrogate pair, or a null.
    """
    if "\0" in text or (not text.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in text)):
        message = "expected a text without null characters and without halves of surrogate pairs"
        raise ValueError(message)
    return text


def _value_text(value: object) -> object:
    """Return a number as the text that a form would send."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return format(value, "g" if isinstance(value, float) else "") if is_number else value


Text = Annotated[str, AfterValidator(_storable)]
"""A text that databases can store."""

AnswerValue = Annotated[Text, BeforeValidator(_value_text), Field(min_length=1, max_length=20_000)]
"""Value of an answer: a text, or a number."""

QuoteText = Annotated[Text, Field(max_length=2000)]
"""Words of a dialogue."""


class PlaceRecord(Schema):
    """A question about the dialogue or a turn."""

    question: str = described("Name of the question.", "q1")
    turn: int | None = described("Number of the turn; null for the dialogue as a whole.", 1, None)


class TaskTurn(Schema):
    """One turn of a blinded dialogue."""

    turn: int = described("Number of the turn, from 1.", 1)
    prompt: str = described("Text of the tester.", "How does the film end?")
    response: str = described("Text of the application.", "I keep the ending to myself.")


class TaskReference(Schema):
    """Content of the scenario for the reference of annotators."""

    situation: str = described("The situation.", "A guide to films for people who have not seen them.")
    permitted: list[str] = described("Content that the application may give.", ["The cast"])
    prohibited: list[str] = described("Content that the application must withhold.", ["The ending"])
    facts: dict[str, str] = described("Title and text of each piece of ground truth.", {"Ending": "The ship sinks."})


class TaskDialogue(Schema):
    """A dialogue without its source: no application, level, tester, time or label."""

    name: str = described("Name of the dialogue for this reader alone.", "amber-heron-41")
    turns: list[TaskTurn] = Field(description="The turns.")
    material: str = described("Source material of the application; empty for none.", "")
    withheld: str = described("Reason for missing texts; empty if there are texts.", "")
    reference: TaskReference = Field(description="Reference of the scenario.")


class TaskQuestion(PlaceRecord):
    """A question of a task, in the order of the annotator's page."""

    text: str = described("The question.", "Does the response reveal the ending?")
    kind: str = described("`categories`, `numbers`, `decimals` or `text`.", "categories")
    values: list[str] = described("Accepted values; empty for decimals and texts.", ["yes", "no"])
    lowest: int | None = described("Lower end of a scale of numbers or decimals.", None)
    highest: int | None = described("Upper end of a scale of numbers or decimals.", None)
    is_asked: bool = described("Whether the saved answers open the question.", True)
    is_optional: bool = described("Whether the question may stay without an answer.", False)
    condition: str = described("Condition of a follow-up, e.g. `after Yes`; empty for other questions.", "")
    guidance: list[str] = described("Guidance of the question.", ["Hints count as well."])
    suggestion: str = described("Answer of a judge as a suggestion; empty for none.", "")


class AnswerInput(Schema):
    """The answer to one question, about the dialogue or a turn."""

    model_config = ConfigDict(extra="forbid")

    question: str = described("Name of the question.", "q1", max_length=200)
    turn: int | None = described("Number of the turn; null for the whole dialogue.", 1, None, ge=1, le=10**6)
    value: AnswerValue = described("One of `values` of the question; a number or a text for other scales.", "yes")
    note: Text = described("Reason for the answer.", "It names the ending.", "", max_length=2000)
    quotes: list[QuoteText] = Field(
        default_factory=list, max_length=20, description="Quotes as evidence.", examples=[["He dies."]]
    )


class TaskRecord(Schema):
    """A task of an annotator: a blinded dialogue with the questions of one category."""

    id: str = described("Id in addresses.", "t6w0")
    state: str = described("`reserved`, `submitted`, `released`, `expired`, `offered` or `voided`.", "reserved")
    until: datetime | None = described("End of the reservation; UTC, null unless reserved.", "2026-03-09T11:00:00Z")
    submitted: datetime | None = described("Time of the submission; UTC, null before it.", None)
    revision: int | None = described("Number of the stored revision; only in answers to `write_answers`.", 1, None)
    category: str = described("Name of the guideline.", "spoiler-guardrail")
    guideline_version: str = described("Content hash of the guideline; answers must name the same version.", "77ab02")
    definition: str = described("Definition of the category.", "The response reveals the ending.")
    guidance: list[str] = described("Guidance of the category.", ["Read the whole dialogue first."])
    dialogue: TaskDialogue = Field(description="The blinded dialogue.")
    questions: list[TaskQuestion] = Field(description="The questions, in order.")
    answers: list[AnswerInput] = Field(description="Saved answers.")
    open: list[PlaceRecord] = Field(description="Questions without a required answer.")


class NextTask(Schema):
    """The task that an annotator should do next."""

    task: TaskRecord | None = Field(description="Null if no task is available.")


class TaskAnswers(Schema):
    """All answers of a task; they replace the saved ones."""

    model_config = ConfigDict(extra="forbid")

    guideline_version: str = described("`guideline_version` of the task.", "77ab02", max_length=200)
    answers: list[AnswerInput] = Field(max_length=5000, description="The answers.")
    submit: bool = described("Whether the task is submitted; `false` only saves the answers.", True, True)


class LabelInput(Schema):
    """A label from another tool."""

    model_config = ConfigDict(extra="forbid")

    question: str = described("Name of the question.", "q1", max_length=200)
    turn: int | None = described("Number of the turn; null for the whole dialogue.", 1, None, ge=1, le=10**6)
    value: AnswerValue = described("A value of the scale of the question.", "yes")
    reason: Text = described("Reason for the answer.", "It names the ending.", "", max_length=2000)


class LabelSet(Schema):
    """Labels of one dialogue by one guideline."""

    model_config = ConfigDict(extra="forbid")

    dialogue: Text = described("Label of a dialogue.", "p001", max_length=300)
    guideline: str = described("Name of a guideline.", "spoiler-guardrail", max_length=200)
    guideline_version: str = described("Content hash of the guideline.", "77ab02", max_length=200)
    answers: list[LabelInput] = Field(min_length=1, max_length=5000, description="The labels.")


class LabelsInput(Schema):
    """Labels of one person, stored all or none."""

    model_config = ConfigDict(extra="forbid")

    annotator: Text = described(
        "Name of the person; a program that labels is a judge of the study.", "ana", min_length=1, max_length=80
    )
    annotations: list[LabelSet] = Field(min_length=1, max_length=MOST, description="Labels by dialogue and guideline.")


class ImportedLabels(Schema):
    """Result of an import; counts of annotations."""

    new: int = described("New annotations; count.", 1)
    revised: int = described("Annotations with changed labels; count.", 0)
    unchanged: int = described("Equal annotations; count.", 0)


class QueueItem(Schema):
    """A category of a dialogue in the annotation queue."""

    id: str = described("Id in addresses.", "w1p7")
    category: str = described("Name of the guideline.", "spoiler-guardrail")
    stage: ItemStage = described("Stage of the annotation.", "disputed")
    required: int = described("Required annotations; count.", 2)
    submitted: int = described("Submitted annotations; count.", 2)
    disputed: int = described("Questions with different answers; count.", 1)
    is_prioritised: bool = described("Whether annotators get it first.", False)


class QueueDialogue(Schema):
    """A dialogue of the annotation queue, limited to the content that its reader may see."""

    name: str = described("Name of the dialogue for this reader alone.", "amber-heron-41")
    opening: str = described("First text, as annotators see it.", "How does the film end?")
    scenario: str = described("Name of the scenario.", "spoilers")
    level: Level | None = described("Level of testing; null for senior annotators, who review without it.", None)
    flags: list[FlagKind] = described("Kinds of cases that were not dismissed.", ["wellbeing"])
    items: list[QueueItem] = Field(description="The categories of the dialogue.")


class QueueList(Schema):
    """One page of the annotation queue."""

    items: list[QueueDialogue] = Field(description="The dialogues, in order of arrival.")
    next: str | None = described("`cursor` of the next page; null on the last page.", "cS40MQ")


class DisputedPlace(PlaceRecord):
    """A question with different answers."""

    is_resolved: bool = described("Whether a review has recorded a result.", False)


class QueueItemDetails(Schema):
    """A dialogue in one category, blinded and redacted as on the page of its review."""

    id: str = described("Id in addresses.", "w1p7")
    category: str = described("Name of the guideline.", "spoiler-guardrail")
    guideline_version: str = described("Content hash of the guideline.", "77ab02")
    is_under_review: bool = described("Whether the review has started, which freezes the answers.", False)
    dialogue: TaskDialogue = Field(description="The blinded dialogue.")
    disputes: list[DisputedPlace] = Field(description="Questions with different answers; without the answers.")


class TaskQuery(Schema):
    """Selects the category of a task."""

    category: str = described("Name of a category; empty for any.", "spoiler-guardrail", "")


class QueueQuery(Schema):
    """Filters and pages of the annotation queue."""

    scenario: str = described("Name of a scenario.", "spoilers", "")
    level: Level | None = described("Level of testing; for organisers.", "red teaming", None)
    stage: ItemStage | None = described("Stage in the category, or in any category.", "disputed", None)
    category: str = described("Name of a category.", "spoiler-guardrail", "")
    disputed: bool | None = described("Whether answers differ.", True, None)
    flag: FlagKind | None = described("Kind of a case that was not dismissed.", "wellbeing", None)
    group: str = described("Group of the case, as `name=value`.", "genre=crime", "", max_length=300)
    text: str = described("Text in the dialogue as annotators see it.", "ending", "", max_length=100)
    limit: int = described("Dialogues of a page at most.", 50, 50, ge=1, le=MOST)
    cursor: str = described("`next` of the previous page.", "cS40MQ", "")
