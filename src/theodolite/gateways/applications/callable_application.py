"""Applications that are a Python function, sync or async, that returns its reply or yields it in pieces."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from theodolite.domain.annotator import PythonLabeller
from theodolite.domain.application import Isolation, Markup, PythonCallable
from theodolite.domain.errors import MalformedReply, ServerFault, TimedOut
from theodolite.domain.flow import AskFunction, Reply, SayToApplication
from theodolite.domain.network import NetworkUse
from theodolite.gateways.applications.connections import Connections, OpenSessions
from theodolite.gateways.applications.worker import keywords_of
from theodolite.gateways.applications.worker_process import decode, type_of
from theodolite.gateways.applications.workers import Slots, Workers
from theodolite.gateways.errors import AttemptError, empty, malformed
from theodolite.gateways.secret_redaction import Secret, readable, repaired
from theodolite.ports.application import EndpointCheck, OnChunk
from theodolite.ports.progress import Clock

_LOG = logging.getLogger(__name__)


class CallableApplication:
    """A function from prompt to reply, called once a turn in the application's own process."""

    def __init__(
        self,
        name: str,
        connection: PythonCallable,
        workers: Workers,
        *,
        clock: Clock,
        connections: Connections | None = None,
    ) -> None:
        """Load the function and inspect its arguments; it is not called yet.

        Args:
            name: Name of the application in the study.
            connection: Its name in the study.
            workers: Processes that run it; the function's first argument is the prompt.
            clock: Returns the current time.
            connections: Network permissions of its processes.

        Raises:
            InputError: If the function cannot be loaded.
        """
        self._name = name
        self._connection = connection
        self._workers = workers
        self._clock = clock
        self._connections = connections or Connections()
        self._allowed = connection.runtime.network
        self._keywords = tuple(workers.load()["keywords"])
        self._slots = Slots(connection.parallel)
        runtime = connection.runtime
        is_apart = runtime.isolation is Isolation.SESSION
        # A function without `history` loses its state with its process.
        can_resume = is_apart and "history" in self._keywords
        self._sessions = OpenSessions(workers.end, most=runtime.sessions, can_resume=can_resume)

    @property
    def remarks(self) -> tuple[str, ...]:
        """How its processes ended early."""
        return self._workers.remarks

    async def reply(self, request: SayToApplication, *, session: str, on_chunk: OnChunk | None = None) -> Reply:
        """Return the function's result, or the concatenation of the pieces that it yields.

        Raises:
            GatewayError: If it raised, returned no text or took too long.
        """
        keywords = self._offered(request, session)
        hear = None if self._connection.markup is Markup.HTML else on_chunk  # incomplete tags are never shown
        async with self._sessions.call(session), self._slots.take():
            channel = await self._workers.channel(session)
            started_s = self._clock.monotonic_s()
            answer = await self._workers.ask(
                channel,
                "call",
                what="",
                limit_s=self._connection.timeout_s,
                hear=hear,
                prompt=request.prompt,
                keywords=keywords,
                stream=hear is not None,
            )
            took_s = self._clock.monotonic_s() - started_s
        text = _text(answer)
        if isinstance(text, AttemptError):
            raise text.error(endpoint=self._name)
        came, n_repaired = repaired(text)
        stored, original = readable(came, self._connection.markup)
        if not stored.strip():
            raise empty("the function returned tags and no text").error(endpoint=self._name)
        return Reply(text=stored, original=original, latency_s=took_s, repaired=n_repaired)

    def _offered(self, request: SayToApplication, session: str) -> dict[str, Any]:
        """Return the keyword arguments of the function."""
        offered = {
            "history": [(exchange.prompt, exchange.response, exchange.context) for exchange in request.history],
            "session": session,
            "context": request.context,
            "turn": request.known_turn,
        }
        return {name: offered[name] for name in self._keywords}

    async def begin(self, session: str) -> None:
        """Wait until one more session may be open, and keep it open until its end."""
        await self._sessions.begin(session)

    async def end(self, session: str) -> None:
        """Release a session's process, if it has its own."""
        try:
            await self._workers.end(session)
        finally:
            self._sessions.end(session)

    @property
    def network(self) -> NetworkUse:
        """Network use of its code so far."""
        return self._connections.use(self._name, self._allowed)

    async def check_endpoint(self) -> EndpointCheck:
        """Report that the function exists; it is not called, because that could cost something."""
        return EndpointCheck(name=self._name, host="", alive=True, answer=f"ok, loaded {self._connection.target}")

    def stop(self) -> None:
        """Terminate its processes immediately."""
        self._workers.stop()

    async def close(self) -> None:
        """Terminate its processes; a later call starts new ones."""
        await self._sessions.close()
        await self._workers.close()


def _text(answer: Mapping[str, Any]) -> str | AttemptError:
    """Return the reply that a function returned, or its error."""
    if "odd_piece" in answer:
        return malformed(f"the function yielded a {answer['odd_piece']}; expected text")
    return _text_of(decode(answer["returned"]))


def _text_of(returned: Any) -> str | AttemptError:
    """Return the reply that a function returned, or its error."""
    if isinstance(returned, Mapping):
        if returned.get("success", True) is False:
            words = Secret().scrub(str(returned.get("response") or ""))
            return AttemptError(kind=ServerFault, words=f"it says that it failed: {words}".removesuffix(": "))
        if "response" not in returned:
            keys = ", ".join(f"`{key}`" for key in list(returned)[:4])
            form = f"with {keys}" if keys else "without keys"
            return malformed(f"the function returned a dict {form}; accepted: text, or a dict with `response`")
        returned = returned["response"]
    if returned is None or (isinstance(returned, str) and not returned.strip()):
        return empty("the function returned no text")
    if not isinstance(returned, str):
        return malformed(f"the function returned a {type_of(returned)}; expected text")
    return returned


class PassedFunction:
    """A function, sync or async, that the caller of `theodolite.run` passed; it runs in the caller's process."""

    def __init__(self, name: str, function: Callable[..., Any], connection: PythonCallable, *, clock: Clock) -> None:
        """Inspect the function's arguments; it is not called yet.

        Args:
            name: Name of the application in the study.
            function: The function; its first argument is the prompt.
            connection: Its limits.
            clock: Returns the current time.
        """
        self._name = name
        self._function = function
        self._connection = connection
        self._keywords = keywords_of(function)
        self._clock = clock
        self._slots = Slots(connection.parallel)

    async def reply(self, request: SayToApplication, *, session: str, on_chunk: OnChunk | None = None) -> Reply:  # noqa: ARG002  # the port's form
        """Return the result of the function.

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
            started_s = self._clock.monotonic_s()
            returned = await _called(
                self._function, request.prompt, keywords, limit_s=self._connection.timeout_s, endpoint=self._name
            )
            took_s = self._clock.monotonic_s() - started_s
        text = _text_of(returned)
        if isinstance(text, AttemptError):
            raise text.error(endpoint=self._name)
        stored, n_repaired = repaired(text)
        return Reply(text=stored, latency_s=took_s, repaired=n_repaired)

    async def check_endpoint(self) -> EndpointCheck:
        """Report that the function exists; it is not called, because that could cost something."""
        return EndpointCheck(name=self._name, host="", alive=True, answer="ok, passed from Python")

    async def close(self) -> None:
        """Nothing to release."""


async def _called(
    function: Callable[..., Any], first: object, keywords: Mapping[str, Any], *, limit_s: float, endpoint: str
) -> Any:
    """Return the result of a passed function; a synchronous function runs on a thread.

    Raises:
        GatewayError: If it raised or took too long.
    """
    try:
        async with asyncio.timeout(limit_s):
            returned = (
                function(first, **keywords)
                if inspect.iscoroutinefunction(function)
                else await asyncio.to_thread(function, first, **keywords)
            )
            return await returned if inspect.isawaitable(returned) else returned
    except TimeoutError as error:
        message = f"the function took longer than {limit_s:g} s"
        raise TimedOut(message, endpoint=endpoint) from error
    except Exception as error:
        message = f"{type(error).__name__}: {Secret().scrub(str(error))}{_last_frame(error)}"
        _LOG.debug("`%s` raised\n%s", endpoint, Secret().scrub_lines("".join(traceback.format_exception(error))))
        raise ServerFault(message, endpoint=endpoint) from error


def _last_frame(error: BaseException) -> str:
    """Return the line in the caller's own code that raised, e.g. ` (bot.py:14 in answer)`."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    own = [frame for frame in frames if not frame.filename.endswith(("/concurrent/futures/thread.py", "/threads.py"))]
    if not own:
        return ""
    last = own[-1]
    return f" ({last.filename.rpartition('/')[2]}:{last.lineno} in {last.name})"


PARALLEL = 8
"""Maximum number of calls in flight to one function; count."""

OFFERED = ("context", "guideline", "questions")
"""Keyword arguments that a function may take besides the turns."""


class CallableLabeller:
    """A function from the turns of a dialogue to labels, called once a dialogue in the judge's own process."""

    def __init__(self, name: str, labelling: PythonLabeller, workers: Workers, *, clock: Clock) -> None:
        """Load the function and inspect its arguments; it is not called yet.

        Args:
            name: Name of the annotator in the study.
            labelling: How the study names the function.
            workers: Processes that run it; the function's first argument is the list of
                turns, each with `turn`, `prompt` and `response`.
            clock: Returns the current time.

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
        """Return the result of the function, as JSON.

        Raises:
            GatewayError: If it raised, took too long or returned a value that JSON cannot represent.
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
            started_s = self._clock.monotonic_s()
            answer = await self._workers.ask(
                channel,
                "call",
                what="",
                limit_s=self._labelling.timeout_s,
                prompt=turns,
                keywords={name: offered[name] for name in self._keywords},
                stream=False,
            )
            took_s = self._clock.monotonic_s() - started_s
        stored, n_repaired = repaired(self._text(answer))
        return Reply(text=stored, latency_s=took_s, repaired=n_repaired)

    async def check_endpoint(self) -> EndpointCheck:
        """Report that the function exists; it is not called, because that could cost something."""
        return EndpointCheck(name=self._name, host="", alive=True, answer=f"ok, loaded {self._labelling.target}")

    async def close(self) -> None:
        """Terminate its processes; a later call starts new ones."""
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


class PassedLabeller:
    """A labelling function that the caller of `theodolite.run` passed; it runs in the caller's process."""

    def __init__(self, name: str, function: Callable[..., Any], labelling: PythonLabeller, *, clock: Clock) -> None:
        """Inspect the function's arguments; it is not called yet.

        Args:
            name: Name of the annotator in the study.
            function: The function; its first argument is the list of turns.
            labelling: Its limits.
            clock: Returns the current time.
        """
        self._name = name
        self._function = function
        self._limit_s = labelling.timeout_s
        self._keywords = keywords_of(function, OFFERED)
        self._clock = clock
        self._slots = Slots(PARALLEL)

    async def reply(self, request: AskFunction) -> Reply:
        """Return the result of the function, as JSON.

        Raises:
            GatewayError: If it raised, took too long or returned a value that JSON cannot represent.
        """
        offered = {"context": request.context, "guideline": request.guideline, "questions": list(request.questions)}
        keywords = {name: offered[name] for name in self._keywords}
        turns = [
            {"turn": number, "prompt": turn.prompt, "response": turn.response}
            for number, turn in enumerate(request.turns, start=1)
        ]
        async with self._slots.take():
            started_s = self._clock.monotonic_s()
            returned = await _called(self._function, turns, keywords, limit_s=self._limit_s, endpoint=self._name)
            took_s = self._clock.monotonic_s() - started_s
        try:
            text = json.dumps(returned, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            message = f"the function returned a {type(returned).__name__}; expected a label or a mapping of labels"
            raise MalformedReply(message, endpoint=self._name) from error
        stored, n_repaired = repaired(text)
        return Reply(text=stored, latency_s=took_s, repaired=n_repaired)

    async def close(self) -> None:
        """Nothing to release."""
