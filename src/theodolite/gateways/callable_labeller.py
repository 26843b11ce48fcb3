"""Labellers that are a Python function, sync or async: classifiers, rules of a study's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from theodolite.domain.annotator import PythonLabeller
from theodolite.domain.errors import MalformedReply
from theodolite.domain.flow import AskFunction, Reply
from theodolite.gateways.applications.slots import Slots
from theodolite.gateways.foreign_function import ForeignFunction
from theodolite.gateways.repair import repaired
from theodolite.gateways.signatures import keywords_of
from theodolite.ports.clock import Clock
from theodolite.ports.endpoint import Knock

PARALLEL = 8
"""Calls in flight at most to one function; count."""

OFFERED = ("context", "guideline", "questions")
"""Keywords that a function is given beside the turns if it takes them."""


class CallableLabeller:
    """A function from the turns of a dialogue to labels, called once a dialogue."""

    def __init__(self, name: str, labelling: PythonLabeller, function: Callable[..., Any], *, clock: Clock) -> None:
        """Look at what the function takes; it is not called yet.

        Args:
            name: Name of the annotator in the study.
            labelling: How the study names the function.
            function: The loaded function; its first argument is the list of turns,
                each with `turn`, `prompt` and `response`.
            clock: Tells the time.
        """
        self._name = name
        self._labelling = labelling
        self._function = ForeignFunction(function, owner=name, patience_s=labelling.timeout_s, wanted="label")
        self._clock = clock
        self._keywords = keywords_of(function, OFFERED)
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
            begun = self._clock.monotonic_s()
            returned = await self._function.call(turns, {name: offered[name] for name in self._keywords})
            took_s = self._clock.monotonic_s() - begun
        kept, n_repaired = repaired(self._text(returned))
        return Reply(text=kept, latency_s=took_s, repaired=n_repaired)

    async def knock(self) -> Knock:
        """Say that the function is there; it is not called, since that could cost something."""
        return Knock(name=self._name, host="", alive=True, answer=f"ok, loaded {self._labelling.target}")

    async def close(self) -> None:
        """Let go of the loop on which coroutines ran; a later call takes another one."""
        self._function.leave()

    def _text(self, returned: Any) -> str:
        try:
            return json.dumps(returned, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            kind = type(returned).__name__
            message = f"the function returned a {kind}; expected a label or a mapping of labels ({error})"
            raise MalformedReply(message, endpoint=self._name) from error
