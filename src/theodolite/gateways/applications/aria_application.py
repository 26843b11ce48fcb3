"""Applications that are a class written for NIST's dialogue interface."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from theodolite.domain.application import ARIA_SLOTS, AriaClass
from theodolite.domain.errors import (
    GatewayError,
    InputError,
    Rejected,
    ServerFault,
    TemplateError,
    TimedOut,
    did_you_mean,
)
from theodolite.domain.flow import Reply, SayToApplication
from theodolite.domain.network import NetworkUse
from theodolite.gateways.applications.connections import Connections, OpenSessions
from theodolite.gateways.applications.worker_process import ForeignObject, WorkerChannel, decode, type_of
from theodolite.gateways.applications.workers import Slots, Workers
from theodolite.gateways.errors import AttemptError, empty, malformed
from theodolite.gateways.secret_redaction import ARIA_AUTH, Credentials, readable, repaired
from theodolite.gateways.templates import text_template
from theodolite.ports.application import EndpointCheck, OnChunk
from theodolite.ports.progress import Clock

PromptForm: TypeAlias = Callable[[str, int, str], str]
"""From a prompt, the number of its turn and the source material to the input of `GetResponse`."""


def prompt_template(source: str, name: str) -> PromptForm:
    """Return how an application receives a prompt.

    The interface has no field for source material, so a study states where in the
    text it belongs; without a template the prompt is passed unchanged.

    Args:
        source: The template; empty for only the prompt.
        name: Name of the application in the study.

    Raises:
        InputError: If it is not a template, or uses unknown names.
    """
    if not source:
        return lambda prompt, _turn, _context: prompt
    fill = text_template(source, what=f"`prompt` of application `{name}`", slots=ARIA_SLOTS)
    return lambda prompt, turn, context: fill({"prompt": prompt, "turn": turn, "context": context})


INIT_SLOTS = ("auth",)
"""Names that templates of a constructor's arguments may use."""

_WHOLE = re.compile(r"\s*\{\{\s*auth((?:\.\w+)*)\s*\}\}\s*")


def init_arguments(source: str, credentials: Credentials, *, what: str) -> dict[str, Any]:
    """Return the arguments of a class's constructor, with credentials inserted for `{{ auth... }}`.

    A text that consists only of such a placeholder keeps the type of the credential.

    Args:
        source: JSON object of arguments, as in the study.
        credentials: Credentials of the application; while they are missing, placeholders stay empty.
        what: Name of the arguments in messages.

    Raises:
        InputError: If a slot names a credential that is not there.
    """
    auth = credentials.auth
    arguments: dict[str, Any] = json.loads(source)
    if auth is None and credentials.is_missing:
        return arguments  # no call is made without them
    return {name: _filled(value, auth or {}, what) for name, value in arguments.items()}


def _filled(value: Any, auth: Mapping[str, Any], what: str) -> Any:
    if isinstance(value, dict):
        return {key: _filled(member, auth, what) for key, member in value.items()}
    if isinstance(value, list):
        return [_filled(item, auth, what) for item in value]
    if not isinstance(value, str) or "{" not in value:
        return value
    whole = _WHOLE.fullmatch(value)
    try:
        return (
            _credential(auth, whole[1], what)
            if whole
            else text_template(value, what=what, slots=INIT_SLOTS)({"auth": dict(auth)})
        )
    except TemplateError as error:
        raise InputError(str(error)) from None


def _credential(auth: Mapping[str, Any], path: str, what: str) -> Any:
    result: Any = dict(auth)
    for part in path.split(".")[1:]:
        if not isinstance(result, Mapping) or part not in result:
            there = ", ".join(f"`{name}`" for name in auth) or "none"
            message = f"{what} names the credential `auth{path}`, which is not set; the credentials are: {there}"
            if not auth:
                message += ". Put a JSON object into the environment variable `ARIA_AUTH_JSON`, or name another one:"
                message += " `auth: NAME`"
            raise InputError(message)
        result = result[part]
    return result


@dataclass(frozen=True, slots=True)
class Tolerated:
    """A value that breaks the contract and is still unambiguous.

    Attributes:
        value: The intended value.
        remark: The breach of the contract.
    """

    value: Any
    remark: str


def check_class(described: Mapping[str, Any], *, what: str) -> None:
    """Reject a class that cannot run a dialogue, and list everything that it lacks.

    Args:
        described: The worker's description of the class.
        what: Name of the application in messages.

    Raises:
        InputError: If a required method is missing or still abstract, or the study lacks what the
            constructor takes.
    """
    kind = f"{what}: class `{described['name']}`"
    if described["lacking"]:
        message = f"{kind} does not define {_listed(described['lacking'])}, which ARIA's dialogue interface asks for"
        raise InputError(message)
    if described["wanted"]:
        first = described["wanted"][0]
        message = (
            f"{kind} cannot be made without {_listed(described['wanted'])}; ARIA's dialogue interface makes instances"
            f' without arguments. Give them in the study: `init: {{{first}: "{{{{ auth.{first} }}}}"}}`, where `auth`'
            " is the JSON object in the environment variable `ARIA_AUTH_JSON`, or in the one that `auth: NAME` names"
        )
        raise InputError(message)
    if described["unknown"]:
        message = f"{kind} takes no {_listed(described['unknown'])}, which `init` gives" + did_you_mean(
            described["unknown"][0], described["takes"]
        )
        raise InputError(message)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def read_truth(returned: Any, method: str, credentials: Credentials) -> bool | Tolerated | AttemptError:
    """Return the success that a method reports.

    A pair such as `(False, "no key")` is always true in Python, so its
    first member is read, as real classes intend. NIST's own programs
    treated any other true value as success.
    """
    if isinstance(returned, bool):
        return returned
    if isinstance(returned, tuple | list) and returned and isinstance(returned[0], bool):
        kind = type_of(returned)
        remark = f"`{method}` returned a {kind} that begins with {returned[0]}; expected {returned[0]} alone"
        if returned[0]:
            return Tolerated(True, remark)
        words = credentials.scrub(" ".join(str(item) for item in returned[1:]))
        return AttemptError(kind=ServerFault, words=f"`{method}` returned False: {words}".removesuffix(": "))
    is_true = returned.is_true if isinstance(returned, ForeignObject) else bool(returned)
    if is_true and not (isinstance(returned, ForeignObject) and returned.type_name == "coroutine"):
        return Tolerated(True, f"`{method}` returned {_named(returned)}, taken as True; expected True or False")
    return malformed(f"`{method}` returned {_named(returned)}; expected True or False: return True where it succeeded")


def read_response(returned: Any, credentials: Credentials) -> str | Tolerated | AttemptError:
    """Return the text of a response, or its error."""
    if not isinstance(returned, Mapping):
        return malformed(f'`GetResponse` returned {_named(returned)}; expected {{"success": ..., "response": ...}}')
    lacking = [key for key in ("success", "response") if key not in returned]
    if lacking:
        keys = ", ".join(f"`{key}`" for key in lacking)
        there = ", ".join(sorted(map(str, returned))[:6]) or "nothing"
        return malformed(f"`GetResponse` returned no {keys}; there is {credentials.scrub(there)}")
    success = read_truth(returned["success"], "success` of `GetResponse", credentials)
    if isinstance(success, AttemptError):
        return success
    if success is False:
        words = credentials.scrub(str(returned["response"] or ""))
        return AttemptError(kind=ServerFault, words=f"it says that it failed: {words}".removesuffix(": "))
    text = _text_in(returned["response"])
    return Tolerated(text, success.remark) if isinstance(success, Tolerated) and isinstance(text, str) else text


def _text_in(response: Any) -> str | AttemptError:
    if response is None or (isinstance(response, str) and not response.strip()):
        return empty("`response` of `GetResponse` holds no text")
    return response if isinstance(response, str) else malformed(f"`response` is {_named(response)}; expected text")


def read_version(returned: Any) -> str | Tolerated:
    """Return the version that an application states."""
    if isinstance(returned, str) and returned.strip():
        return returned.strip()
    text = returned.text if isinstance(returned, ForeignObject) else str(returned)
    version = "" if returned is None else text.strip()
    return Tolerated(version, f"`GetVersion` returned {_named(returned)}; expected text")


def _named(value: Any) -> str:
    """Return the type of a value, never its content, which may contain a key."""
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return "a text" if value else "an empty text"
    kind = type_of(value)
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"


T = TypeVar("T")

CLOSE_S = 5.0
"""Time for `CloseConnection`; seconds."""

ON_CLASS = "on class"
"""First member of a version that the worker requested from the class itself."""

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class AriaClassOf:
    """Shared data of all instances of one application.

    Attributes:
        name: Name of the application in the study.
        kind: Name of the class.
        workers: Processes that run it.
        init: Arguments of the constructor.
        credentials: Credentials passed to `OpenConnection`.
        timeout_s: Time limit of each call; seconds.
        remarks: Collects tolerated deviations from the interface.
        in_use: The instances of open sessions, by process and identity.
    """

    name: str
    kind: str
    workers: Workers
    init: Mapping[str, Any]
    credentials: Credentials
    timeout_s: float
    remarks: dict[str, None] = field(default_factory=dict)
    in_use: dict[tuple[WorkerChannel, int], AriaInstance] = field(default_factory=dict)


class AriaInstance:
    """An instance, its process and thread, and the position in its dialogue.

    All calls come from one thread of the process, because objects of `OpenConnection` may be bound to it.
    """

    def __init__(self, of: AriaClassOf, channel: WorkerChannel) -> None:
        """Store the class and the process; nothing is created yet."""
        self._of = of
        self._channel = channel
        self._number = next(_numbers)
        self._identity: int | None = None
        self._is_stuck = False
        self.is_shared = False
        self.turns = 0
        self.version = ""

    async def begin(self) -> None:
        """Make the instance, open its connection and start a dialogue.

        Raises:
            GatewayError: If one of these fails.
        """
        answer = await self._ask("new", f"`{self._of.kind}()`", init=dict(self._of.init))
        self._own(answer["identity"])
        await self._open_connection()
        self.version = self._tolerated(await self._stated())
        await self.restart()

    @property
    def has_begun(self) -> bool:
        """Whether there is an instance."""
        return self._identity is not None

    @property
    def is_alive(self) -> bool:
        """Whether its process still runs."""
        return not self._channel.ended

    async def restart(self) -> None:
        """Start a dialogue that must not share state with the previous one.

        Raises:
            GatewayError: If the instance does not support it.
        """
        await self._must("StartSession")
        self.turns = 0

    def _own(self, identity: int) -> None:
        """Store the class's session; reject one of another open session, which then fails as well."""
        self._identity = identity
        holder = self._of.in_use.setdefault((self._channel, identity), self)
        if holder is not self:
            holder.is_shared = True
            raise self._mixed()

    def _mixed(self) -> ServerFault:
        message = (
            f"`{self._of.kind}()` gave two open sessions one and the same instance; each needs one of its own, or words"
            " of one get into the other. Set `isolation: session` for this application: each session then has a"
            " process of its own; or `sessions: 1`: sessions then take turns"
        )
        return ServerFault(message, endpoint=self._of.name)

    async def _open_connection(self) -> None:
        auth = self._of.credentials.auth
        try:
            await self._must("OpenConnection", auth or {})
        except ServerFault as error:
            if auth is not None or not self.is_alive:
                raise
            message = f"{error}; it was given no credentials, since the environment variable `{ARIA_AUTH}` is not set"
            raise ServerFault(message, endpoint=self._of.name) from None

    async def say(self, prompt: str) -> str:
        """Return the response to a prompt.

        Raises:
            GatewayError: If there is none.
        """
        returned = await self._call("GetResponse", prompt)
        if self.is_shared:
            raise self._mixed()
        text = self._tolerated(read_response(returned, self._of.credentials))
        self.turns += 1
        return text

    async def close(self) -> None:
        """Close the connection; errors become remarks, and a stuck thread is left alone."""
        try:
            if self.has_begun and self.is_alive and not self._is_stuck:
                await self._must("CloseConnection", limit_s=min(CLOSE_S, self._of.timeout_s))
        except TimedOut:
            self._of.remarks[f"`CloseConnection` took longer than {CLOSE_S:g} s"] = None
        except GatewayError as error:
            self._of.remarks[f"closing the connection failed: {error}"] = None
        finally:
            self._channel.tell("forget", instance=self._number)
            if not self._is_stuck and self._identity is not None:
                self._of.in_use.pop((self._channel, self._identity), None)

    async def _must(self, method: str, *arguments: Any, limit_s: float | None = None) -> None:
        returned = await self._call(method, *arguments, limit_s=limit_s)
        if not self._tolerated(read_truth(returned, method, self._of.credentials)):
            message = f"`{method}` returned False"
            raise ServerFault(message, endpoint=self._of.name)

    async def _stated(self) -> str | Tolerated:
        """Return the version that the class states, as attribute or method."""
        try:
            returned = await self._call("GetVersion")
        except TimedOut:
            raise
        except ServerFault as error:
            if not self.is_alive:
                raise
            return Tolerated("", str(error))
        if isinstance(returned, tuple) and len(returned) == 2 and returned[0] == ON_CLASS:
            version = read_version(returned[1])
            text = version.value if isinstance(version, Tolerated) else version
            return Tolerated(text, "`GetVersion` takes no `self` and is no `@staticmethod`")
        return "" if returned == "" else read_version(returned)

    def _tolerated(self, read: T | Tolerated | AttemptError) -> T:
        if isinstance(read, AttemptError):
            raise read.error(endpoint=self._of.name)
        if isinstance(read, Tolerated):
            self._of.remarks[read.remark] = None
            value: T = read.value
            return value
        return read

    async def _call(self, method: str, *arguments: Any, limit_s: float | None = None) -> Any:
        answer = await self._ask("method", f"`{method}`", limit_s=limit_s, method=method, arguments=list(arguments))
        return decode(answer["returned"])

    async def _ask(self, operation: str, what: str, *, limit_s: float | None = None, **fields: Any) -> dict[str, Any]:
        self._is_stuck = True  # until it answers: a caller that stops waiting leaves the thread in the call
        limit = self._of.timeout_s if limit_s is None else limit_s
        try:
            answer = await self._of.workers.ask(
                self._channel, operation, what=what, limit_s=limit, instance=self._number, **fields
            )
        except GatewayError as error:
            self._is_stuck = isinstance(error, TimedOut)
            raise
        self._is_stuck = False
        return answer


class AriaApplication:
    """A class with ARIA's dialogue interface: one instance per session, in the application's own process.

    A session that continues after an interruption, or after its process has ended,
    gets a new instance, to which its earlier prompts are sent again first
    (ADR-0011); they count as attempts, not as calls.
    """

    def __init__(
        self,
        name: str,
        connection: AriaClass,
        workers: Workers,
        *,
        credentials: Credentials,
        clock: Clock,
        connections: Connections | None = None,
    ) -> None:
        """Load the class and inspect its methods; no instance is made yet.

        Args:
            name: Name of the application in the study.
            connection: Its name in the study.
            workers: Processes that run it.
            credentials: Credentials passed to `OpenConnection`.
            clock: Returns the current time.
            connections: Network permissions of its processes.

        Raises:
            InputError: If the class cannot be loaded or lacks a method, or a template cannot be filled.
        """
        self._prompt = prompt_template(connection.prompt, name)
        init = init_arguments(connection.init, credentials, what=f"`init` of application `{name}`")
        described = workers.load()
        check_class(described, what=f"application `{name}`")
        self._name = name
        self._target = connection.target
        self._credentials = credentials
        self._workers = workers
        self._of = AriaClassOf(
            name=name,
            kind=described["name"],
            workers=workers,
            init=init,
            credentials=credentials,
            timeout_s=connection.timeout_s,
        )
        self._clock = clock
        self._connections = connections or Connections()
        self._markup = connection.markup
        self._allowed = connection.runtime.network
        self._slots = Slots(connection.parallel)
        self._sessions = OpenSessions(self._let_go, most=connection.most_sessions)
        self._instances: dict[str, AriaInstance] = {}

    def __repr__(self) -> str:
        return f"AriaApplication({self._name!r}, {self._target!r})"

    @property
    def remarks(self) -> tuple[str, ...]:
        """Tolerated deviations from the interface and terminations of processes, each once."""
        return (*self._of.remarks, *self._workers.remarks)

    async def reply(self, request: SayToApplication, *, session: str, on_chunk: OnChunk | None = None) -> Reply:
        """Return the reply of the session's instance.

        Raises:
            GatewayError: If it failed, returned no text or took too long.
        """
        del on_chunk  # the interface returns a response in one piece
        async with self._sessions.call(session), self._slots.take():
            instance, n_again = await self._at_turn(request, session)
            started_s = self._clock.monotonic_s()
            text = await instance.say(self._prompt(request.prompt, request.known_turn, request.context))
            took_s = self._clock.monotonic_s() - started_s
        came, n_repaired = repaired(self._credentials.strike(text))
        stored, original = readable(came, self._markup)
        if not stored.strip():
            raise empty("`response` of `GetResponse` holds tags and no text").error(endpoint=self._name)
        return Reply(
            text=stored,
            original=original,
            answered_as=self._credentials.strike(instance.version),
            latency_s=took_s,
            attempts=1 + n_again,
            repaired=n_repaired,
        )

    async def restart(self, session: str) -> None:
        """Start a new dialogue on a session's instance, like a tester who resets the page.

        Raises:
            GatewayError: If the instance cannot be reset.
        """
        instance = self._instances.get(session)
        if instance is not None and instance.has_begun and instance.is_alive:
            await instance.restart()

    async def begin(self, session: str) -> None:
        """Wait until one more session may be open, and keep it open until its end."""
        await self._sessions.begin(session)

    async def end(self, session: str) -> None:
        """Close a session's connection and forget its instance."""
        try:
            await self._let_go(session)
        finally:
            self._sessions.end(session)

    async def _let_go(self, session: str) -> None:
        instance = self._instances.pop(session, None)
        if instance is not None:
            await instance.close()
        await self._workers.end(session)

    def stop(self) -> None:
        """Terminate its processes immediately."""
        self._workers.stop()

    async def close(self) -> None:
        """End all sessions and all processes."""
        await asyncio.gather(*(self.end(session) for session in tuple(self._instances)))
        await self._sessions.close()
        await self._workers.close()

    @property
    def network(self) -> NetworkUse:
        """Network use of its code so far."""
        return self._connections.use(self._name, self._allowed)

    async def check_endpoint(self) -> EndpointCheck:
        """Report that the class exists; no instance is made, because that could cost something."""
        if self._credentials.is_missing:
            hint = f"put the credentials, a JSON object, into the environment variable {self._credentials.variable}"
            return EndpointCheck(name=self._name, host="", alive=False, answer=self._unset(), hint=hint)
        return EndpointCheck(name=self._name, host="", alive=True, answer=f"ok, loaded {self._target}")

    async def _at_turn(self, request: SayToApplication, session: str) -> tuple[AriaInstance, int]:
        """Return the session's instance at the dialogue's position, and the number of prompts that were sent again."""
        instance = self._instances.get(session)
        if instance is not None and instance.is_alive and instance.turns == len(request.history):
            return instance, 0
        await self._let_go(session)
        if self._credentials.is_missing:
            raise Rejected(self._unset(), endpoint=self._name, tries=0)
        instance = self._instances[session] = AriaInstance(self._of, await self._workers.channel(session))
        await instance.begin()
        for said in request.before():
            await instance.say(self._prompt(said.prompt, said.known_turn, said.context))
        return instance, len(request.history)

    def _unset(self) -> str:
        return f"the environment variable `{self._credentials.variable}` is not set"
