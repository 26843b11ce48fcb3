"""Applications that are a Python function, sync or async, that returns its reply or yields it in pieces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from theodolite.domain.application import PythonCallable
from theodolite.domain.errors import ServerFault
from theodolite.domain.flow import Reply, SayToApplication
from theodolite.gateways.applications.slots import Slots
from theodolite.gateways.foreign_function import ForeignFunction
from theodolite.gateways.repair import repaired
from theodolite.gateways.secrecy import Secret
from theodolite.gateways.signatures import keywords_of
from theodolite.gateways.trouble import Trouble, empty, malformed
from theodolite.ports.application import OnChunk
from theodolite.ports.clock import Clock
from theodolite.ports.endpoint import Knock

OFFERED = ("history", "session", "context", "turn")
"""Keywords that a function is given beside the prompt if it takes them."""


class CallableApplication:
    """A function from prompt to reply, called once a turn."""

    def __init__(self, name: str, connection: PythonCallable, function: Callable[..., Any], *, clock: Clock) -> None:
        """Look at what the function takes; it is not called yet.

        Args:
            name: Name of the application in the study.
            connection: How the study names it.
            function: The loaded function; its first argument is the prompt.
            clock: Tells the time.
        """
        self._name = name
        self._connection = connection
        self._function = ForeignFunction(function, owner=name, patience_s=connection.timeout_s)
        self._clock = clock
        self._keywords = keywords_of(function, OFFERED)
        self._slots = Slots(connection.parallel)

    async def reply(self, request: SayToApplication, *, session: str, on_chunk: OnChunk | None = None) -> Reply:
        """Return what the function returns, or the sum of what it yields.

        Raises:
            GatewayError: If it raised, returned no text or took too long.
        """
        offered = {
            "history": request.history,
            "session": session,
            "context": request.context,
            "turn": request.known_turn,
        }
        keywords = {name: offered[name] for name in self._keywords}
        async with self._slots.take():
            begun = self._clock.monotonic_s()
            returned = await self._function.call(request.prompt, keywords, hear=on_chunk or (lambda _: None))
            took_s = self._clock.monotonic_s() - begun
        text = _text(returned)
        if isinstance(text, Trouble):
            raise text.error(endpoint=self._name)
        kept, n_repaired = repaired(text)
        return Reply(text=kept, latency_s=took_s, repaired=n_repaired)

    async def knock(self) -> Knock:
        """Say that the function is there; it is not called, since that could cost something."""
        return Knock(name=self._name, host="", alive=True, answer=f"ok, loaded {self._connection.target}")

    async def close(self) -> None:
        """Let go of the loop on which coroutines ran; a later call takes another one."""
        self._function.leave()


def _text(returned: Any) -> str | Trouble:
    """Return the reply that a function returned, or what is wrong with it."""
    if isinstance(returned, Trouble):
        return returned
    if isinstance(returned, Mapping):
        if returned.get("success", True) is False:
            words = Secret().scrub(str(returned.get("response") or ""))
            return Trouble(kind=ServerFault, words=f"it says that it failed: {words}".removesuffix(": "))
        returned = returned.get("response")
    if returned is None or (isinstance(returned, str) and not returned.strip()):
        return empty("the function returned no text")
    if not isinstance(returned, str):
        return malformed(f"the function returned a {type(returned).__name__}; expected text")
    return returned
