"""What authors of models and applications see: never run, only type-checked."""

from __future__ import annotations

from typing import assert_type

from theodolite.domain.annotation import Annotation
from theodolite.domain.flow import AskModel, Flow, Message, Reply, Returned, SayToApplication, Speaker, Waiting, begin
from theodolite.domain.run import Failure, FailureSource
from theodolite.ports.application import ApplicationClient, Model, OnChunk


class Echo:
    """A model that repeats what it was told."""

    async def reply(self, request: AskModel, *, on_chunk: OnChunk | None = None) -> Reply:
        """Return the last message, at once where somebody listens."""
        if on_chunk is not None:
            on_chunk(request.messages[-1].text)
        return Reply(text=request.messages[-1].text)

    async def close(self) -> None:
        """Hold nothing open."""


class Parrot:
    """An application that repeats its prompt."""

    async def reply(self, request: SayToApplication, *, session: str, on_chunk: OnChunk | None = None) -> Reply:
        """Return the prompt, piece by piece where somebody listens."""
        if on_chunk is not None:
            on_chunk(request.prompt)
        return Reply(text=f"{session}: {request.prompt}")

    async def close(self) -> None:
        """Hold nothing open."""


model: Model = Echo()
application: ApplicationClient = Parrot()


def ask_once(text: str) -> Flow[str]:
    """Ask a model one thing: a flow yields requests and returns what it found."""
    request = AskModel(model="judge", messages=(Message(speaker=Speaker.USER, text=text),), party=FailureSource.JUDGE)
    reply = yield request
    assert_type(reply, Reply)
    return reply.text


assert_type(begin(ask_once("Is it polite?")), Waiting | Returned[str])


def tell(outcome: Annotation | Failure) -> str:
    """Use both outcomes of a unit; a third would not pass the type check."""
    match outcome:
        case Annotation():
            return outcome.annotator
        case Failure():
            return outcome.party.value
