"""Flows: conversations and judgements as generators without I/O.

A flow yields a request, is sent the reply, and returns a record. Whoever drives
it decides how a request is answered: by a model, by a journal, by a test.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias, TypeVar

from theodolite.domain.failure import FailureSource


class Speaker(StrEnum):
    """Roles of a chat message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


CONTENT_FILTER = "content_filter"
"""Why a model stopped when its endpoint's own filter withheld the reply."""

FILTERED_TEXT = "(The application's own filter withheld this reply.)"
"""What stands in a dialogue in place of a reply that a filter withheld: a refusal, not a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a chat request."""

    speaker: Speaker
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AskModel:
    """A request to a language model.

    Attributes:
        model: Name of the model in the study.
        messages: The chat so far.
        party: On whose behalf the model is asked.
        replicate: Number of the repetition, from 1; equal requests with other numbers differ.
        answer_schema: JSON Schema that the answer is to keep; None where any words will do.
            Makers accept different parts of the language. What all of them take are
            closed objects with every property required, `enum`, arrays and plain types.
            The messages must ask for the same in words, since not every endpoint takes a schema.
        may_be_cached: Whether the response cache may keep the reply. Not where a person's words are sent:
            the person may take them back, and a cache is looked after by nobody. Plays no part in
            whether two requests are equal.
    """

    model: str
    messages: tuple[Message, ...]
    party: FailureSource
    replicate: int = 1
    answer_schema: Mapping[str, object] | None = None
    may_be_cached: bool = field(default=True, compare=False)


class SchemaUse(StrEnum):
    """What became of the answer schema of a request."""

    NONE = ""
    """The request had none."""
    SENT = "sent"
    """The endpoint took the request with it; whether the answer keeps it, reading shows."""
    REFUSED = "refused"
    """The endpoint takes none: the answer was asked for in words alone."""
    OFF = "off"
    """The study says that none is to be sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """An earlier prompt and response of the same dialogue.

    Attributes:
        prompt: What the tester said.
        response: What the application answered.
        context: Source material that the application was given with the prompt, for those to
            whom it must be said again; None where it was that of the present turn. It follows
            from the prompt, and is no part of what a request is.
    """

    prompt: str
    response: str
    context: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SayToApplication:
    """A prompt to the application under test.

    Attributes:
        application: Name of the application in the study.
        prompt: What the tester says.
        turn: Number of the turn in the dialogue, from 1.
        item: Key of the persona or script, by which recorded replies are found.
        repeat: Number of the repetition, from 1.
        history: Earlier turns of the dialogue that the application goes on from.
        context: Source material of the scenario.
    """

    application: str
    prompt: str
    turn: int
    item: str = ""
    repeat: int = 1
    history: tuple[Exchange, ...] = ()
    context: str = ""

    @property
    def known_turn(self) -> int:
        """Number of the turn as the application knows the dialogue, from 1; less than `turn` where it went back."""
        return len(self.history) + 1

    def before(self) -> Iterator[SayToApplication]:
        """Yield what was said in earlier turns, as somebody must hear it who has forgotten."""
        for place, one in enumerate(self.history):
            context = self.context if one.context is None else one.context
            yield replace(self, prompt=one.prompt, turn=place + 1, history=self.history[:place], context=context)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskFunction:
    """A request to a Python function that labels dialogues.

    Attributes:
        annotator: Name of the annotator in the study.
        turns: What was said, in order.
        guideline: Name of the guideline.
        questions: Names of its questions.
        context: Source material of the dialogue.
    """

    annotator: str
    turns: tuple[Exchange, ...]
    guideline: str
    questions: tuple[str, ...]
    context: str = ""


Request = AskModel | SayToApplication | AskFunction


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back, and what it took.

    Attributes:
        text: The words; empty where they are withheld.
        withheld: Why the words are not there; empty where they are.
        answered_as: Name that the endpoint gave itself.
        finish: Why a model stopped, in the endpoint's word, e.g. `stop` or `length`.
        tokens_in: Tokens read; count, 0 where unknown.
        tokens_out: Tokens written; count, 0 where unknown.
        cost_microusd: Cost in millionths of a US dollar; None where no price is known.
        latency_s: Time from the last attempt's start to its end; seconds.
        attempts: Attempts made; count, 0 where none was needed.
        scripted: Whether a script answered in place of a model.
        recorded: Whether it was given long ago and read from a file: no call was made.
        repaired: Letters that no database can hold and that were replaced; count.
        schema_use: What became of the request's answer schema.
        context: Source material that the answer came with, for recorded replies; empty for none.
        original: The reply as it came, where it came as HTML and `text` is what a reader sees of it; else empty.
    """

    text: str
    withheld: str = ""
    answered_as: str = ""
    finish: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost_microusd: int | None = None
    latency_s: float = 0.0
    attempts: int = 1
    scripted: bool = False
    recorded: bool = False
    repaired: int = 0
    schema_use: SchemaUse = SchemaUse.NONE
    context: str = ""
    original: str = ""

    @property
    def cached(self) -> bool:
        """Whether the response cache gave it: no call was made, and nothing was spent."""
        return self.attempts == 0 and not self.recorded


Result = TypeVar("Result")

Flow: TypeAlias = Generator[Request, Reply, Result]
"""Yields requests, is sent replies, returns a record."""
