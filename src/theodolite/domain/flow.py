"""Flows as generators without I/O, and the replay of stored replies into a fresh flow."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Generic, TypeAlias, TypeVar

from theodolite.domain.errors import ReplayError
from theodolite.domain.identity import version_of
from theodolite.domain.run import FailureSource


class Speaker(StrEnum):
    """Roles of a chat message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


CONTENT_FILTER = "content_filter"
"""Stop reason of a model whose endpoint's own filter withheld the reply."""


FILTERED_TEXT = "(The application's own filter withheld this reply.)"
"""Record of a reply that a filter withheld: a refusal, not a failure."""


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
        party: Party on whose behalf the model is called.
        replicate: Number of the repetition, from 1; equal requests with other numbers differ.
        answer_schema: JSON Schema of the answer; None for free text.
            Providers accept different parts of the language. All of them accept
            closed objects with every property required, `enum`, arrays and plain types.
            The messages must also state the format in words, since not every endpoint supports a schema.
        may_be_cached: Whether the response cache may store the reply. False if a person's texts are sent: the person
            may withdraw them, and no one maintains a cache. It does not affect whether two requests are equal.
    """

    model: str
    messages: tuple[Message, ...]
    party: FailureSource
    replicate: int = 1
    answer_schema: Mapping[str, object] | None = None
    may_be_cached: bool = field(default=True, compare=False)


class SchemaUse(StrEnum):
    """Outcome of a request's answer schema."""

    NONE = ""
    """The request had no schema."""
    SENT = "sent"
    """The endpoint accepted the schema; parsing shows whether the answer follows it."""
    REFUSED = "refused"
    """The endpoint supports no schema: the messages state the format in words only."""
    OFF = "off"
    """The study switches schemas off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """An earlier prompt and response of the same dialogue.

    Attributes:
        prompt: The tester's prompt.
        response: The application's answer.
        context: Source material that the application received with the prompt, for those to
            which it must be repeated; None if it was that of the current turn. It follows
            from the prompt, and is not part of a request's identity.
    """

    prompt: str
    response: str
    context: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SayToApplication:
    """A prompt to the application under test.

    Attributes:
        application: Name of the application in the study.
        prompt: The tester's prompt.
        turn: Number of the turn in the dialogue, from 1.
        item: Key of the persona or script, which identifies recorded replies.
        repeat: Number of the repetition, from 1.
        history: Earlier turns of the dialogue that the application continues.
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
        """Number of the turn from the application's view, from 1; less than `turn` after going back."""
        return len(self.history) + 1

    def before(self) -> Iterator[SayToApplication]:
        """Yield the texts of earlier turns for a reader without memory of them."""
        for position, exchange in enumerate(self.history):
            context = self.context if exchange.context is None else exchange.context
            yield replace(
                self, prompt=exchange.prompt, turn=position + 1, history=self.history[:position], context=context
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class AskFunction:
    """A request to a Python function that labels dialogues.

    Attributes:
        annotator: Name of the annotator in the study.
        turns: The turns, in order.
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
    """A reply, with its cost and duration.

    Attributes:
        text: The text; empty if withheld.
        withheld: Reason why the text is missing; empty if it is not.
        answered_as: Name that the endpoint gave itself.
        finish: Why a model stopped, in the endpoint's word, e.g. `stop` or `length`.
        tokens_in: Tokens read; count, 0 if unknown.
        tokens_out: Tokens written; count, 0 if unknown.
        cost_microusd: Cost in millionths of a US dollar; None if no price is known.
        latency_s: Time from the last attempt's start to its end; seconds.
        attempts: Attempts made; count, 0 if none was needed.
        scripted: Whether a script answered instead of a model.
        recorded: Whether it was read from a file without a call.
        repaired: Replaced characters that no database can store; count.
        schema_use: How the request's answer schema was used.
        context: Source material of the answer, for recorded replies; empty for none.
        original: The unchanged reply if it is HTML and `text` is its visible text; else empty.
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
        """Whether it comes from the response cache, without a call and without cost."""
        return self.attempts == 0 and not self.recorded


Result = TypeVar("Result")


Flow: TypeAlias = Generator[Request, Reply, Result]
"""Yields requests, is sent replies, returns a record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry:
    """One reply as it was stored.

    Attributes:
        position: Index among the unit's replies, from 0.
        request_hash: Content hash of the request; 64 hexadecimal digits.
        reply: The reply.
        estimated_tokens: Estimated tokens if it reports none; count.
        estimated_microusd: Cost of calls with a known price; millionths of a US dollar.
    """

    position: int
    request_hash: str
    reply: Reply
    estimated_tokens: int = 0
    estimated_microusd: int = 0


@dataclass(frozen=True, slots=True)
class Waiting:
    """A flow that has used up its journal and waits for a reply.

    Attributes:
        position: Index of the awaited reply, from 0.
        request: Content of the request.
    """

    position: int
    request: Request


@dataclass(frozen=True, slots=True)
class Returned(Generic[Result]):
    """A finished flow."""

    result: Result


def begin(flow: Flow[Result]) -> Waiting | Returned[Result]:
    """Start a flow and return its first request, or its result."""
    return _step(flow, None, -1)


def advance(flow: Flow[Result], waiting: Waiting, reply: Reply) -> Waiting | Returned[Result]:
    """Send a flow its awaited reply and return its next step."""
    return _step(flow, reply, waiting.position)


def replay(flow: Flow[Result], journal: Sequence[JournalEntry]) -> Waiting | Returned[Result]:
    """Replay a journal into a new flow.

    Args:
        flow: A flow that has not been started.
        journal: The unit's replies in order of position.

    Raises:
        ReplayError: If an entry answers another request than the flow makes.
    """
    state = begin(flow)
    for entry in journal:
        state = advance(flow, answered_by(entry, state), entry.reply)
    return state


def answered_by(entry: JournalEntry, state: Waiting | Returned[Result]) -> Waiting:
    """Return the state of a flow if a journal entry contains its awaited reply.

    Raises:
        ReplayError: If the entry answers another request, or the flow has ended.
    """
    if isinstance(state, Returned):
        message = f"the journal holds a reply at position {entry.position}, but the flow has ended"
        raise ReplayError(message)
    if entry.position != state.position or entry.request_hash != version_of(state.request):
        message = (
            f"the journal's reply at position {entry.position} answers another request than the one made now; "
            "the study or the program changed in between"
        )
        raise ReplayError(message)
    return state


def _step(flow: Flow[Result], reply: Reply | None, position: int) -> Waiting | Returned[Result]:
    try:
        request = next(flow) if reply is None else flow.send(reply)
    except StopIteration as end:
        return Returned(end.value)
    return Waiting(position + 1, request)
