"""Labellers that are a Python function, sync or async: classifiers, rules of a study's own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from theodolite.domain.annotator import PythonLabeller
from theodolite.domain.errors import MalformedReply
from theodolite.domain.flow import AskFunction, Reply
from theodolite.gateways.applications.template_variables import Slots
from theodolite.gateways.applications.worker_answers import decode, type_of
from theodolite.gateways.applications.workers import Workers
from theodolite.gateways.sanitize import repaired
from theodolite.ports.clock import Clock
from theodolite.ports.endpoint import Knock

PARALLEL = 8
"""Calls in flight at most to one function; count."""

OFFERED = ("context", "guideline", "questions")
"""Keywords that a function is given beside the turns if it takes them."""


class CallableLabeller:
    """A function from the turns of a dialogue to labels, called once a dialogue in the judge's own process."""

    def __init__(self, name: str, labelling: PythonLabeller, workers: Workers, *, clock: Clock) -> None:
        """Load the function and look at what it takes; it is not called yet.

        Args:
            name: Name of the annotator in the study.
            labelling: How the study names the function.
            workers: Processes that run it; the function's first argument is the list of
                turns, each with `turn`, `prompt` and `response`.
            clock: Tells the time.

        Raises:
            InputError: If the function cannot be loaded.
        """
        self._name = name
        self._labelling = labelling
        self._workers = workers
        self._clock = clock
        self._keywords = tuple(workers.load()["keywords"])
        self._slots = Slots(PARALLEL)

    async def reply(self, request: AskFunction) -> Reply:
        """Return what the function returns, as JSON.

        Raises:
            GatewayError: If it raised, took too long or returned what JSON cannot hold.
        """
        offered = {
            "context": request.context,
            "guideline": request.guideline,
            "questions": list(request.questions),
        }
        turns = [
            {"turn": number, "prompt": turn.prompt, "response": turn.response}
            for number, turn in enumerate(request.turns, start=1)
        ]
        async with self._slots.take():
            channel = await self._workers.channel("")
            begun = self._clock.monotonic_s()
            answer = await self._workers.ask(
                channel,
                "call",
                what="",
                limit_s=self._labelling.timeout_s,
                prompt=turns,
                keywords={name: offered[name] for name in self._keywords},
                stream=False,
            )
            took_s = self._clock.monotonic_s() - begun
        kept, n_repaired = repaired(self._text(answer))
        return Reply(text=kept, latency_s=took_s, repaired=n_repaired)

    async def knock(self) -> Knock:
        """Say that the function is there; it is not called, since that could cost something."""
        return Knock(name=self._name, host="", alive=True, answer=f"ok, loaded {self._labelling.target}")

    async def close(self) -> None:
        """End its processes; a later call starts new ones."""
        await self._workers.close()

    def _text(self, answer: Mapping[str, Any]) -> str:
        if "odd_piece" in answer:
            message = f"the function yielded a {answer['odd_piece']}; expected a label or a mapping of labels"
            raise MalformedReply(message, endpoint=self._name)
        returned = decode(answer["returned"])
        try:
            return json.dumps(returned, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            message = f"the function returned a {type_of(returned)}; expected a label or a mapping of labels ({error})"
            raise MalformedReply(message, endpoint=self._name) from error
