"""Applications that are a class written for NIST's dialogue interface."""

from __future__ import annotations

import asyncio

from theodolite.domain.application import AriaClass
from theodolite.domain.errors import Rejected
from theodolite.domain.flow import Reply, SayToApplication
from theodolite.domain.network import NetworkUse
from theodolite.gateways.applications.aria_contract import check_class
from theodolite.gateways.applications.aria_form import init_arguments, prompt_template
from theodolite.gateways.applications.aria_instance import AriaClassOf, AriaInstance
from theodolite.gateways.applications.connections import Connections
from theodolite.gateways.applications.open_sessions import OpenSessions
from theodolite.gateways.applications.template_variables import Slots
from theodolite.gateways.applications.workers import Workers
from theodolite.gateways.attempt_error import empty
from theodolite.gateways.markup import readable
from theodolite.gateways.sanitize import repaired
from theodolite.gateways.secret_redaction import Credentials
from theodolite.ports.application import OnChunk
from theodolite.ports.clock import Clock
from theodolite.ports.endpoint import Knock


class AriaApplication:
    """A class with ARIA's dialogue interface: one instance a session, in the application's own process.

    A session that goes on after an interruption, or after its process has ended,
    meets a fresh instance, to which its earlier prompts are said again first
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
        """Load the class and look at what it has; no instance is made yet.

        Args:
            name: Name of the application in the study.
            connection: How the study names it.
            workers: Processes that run it.
            credentials: What `OpenConnection` is given.
            clock: Tells the time.
            connections: What its processes do on the network.

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
        """What was let pass although the interface asks for something else, and how processes ended, each once."""
        return (*self._of.remarks, *self._workers.remarks)

    async def reply(self, request: SayToApplication, *, session: str, on_chunk: OnChunk | None = None) -> Reply:
        """Return what the session's instance answers.

        Raises:
            GatewayError: If it failed, returned no text or took too long.
        """
        del on_chunk  # the interface returns a response in one piece
        async with self._sessions.call(session), self._slots.take():
            instance, n_again = await self._at_turn(request, session)
            begun = self._clock.monotonic_s()
            text = await instance.say(self._prompt(request.prompt, request.known_turn, request.context))
            took_s = self._clock.monotonic_s() - begun
        came, n_repaired = repaired(self._credentials.strike(text))
        kept, original = readable(came, self._markup)
        if not kept.strip():
            raise empty("`response` of `GetResponse` holds tags and no text").error(endpoint=self._name)
        return Reply(
            text=kept,
            original=original,
            answered_as=self._credentials.strike(instance.version),
            latency_s=took_s,
            attempts=1 + n_again,
            repaired=n_repaired,
        )

    async def restart(self, session: str) -> None:
        """Begin a new dialogue on a session's instance, as a tester does who resets the page.

        Raises:
            GatewayError: If the instance does not let itself be reset.
        """
        instance = self._instances.get(session)
        if instance is not None and instance.has_begun and instance.is_alive:
            await instance.restart()

    async def begin(self, session: str) -> None:
        """Wait until one more session may be open, and hold it open until its end."""
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
        """End its processes at once."""
        self._workers.stop()

    async def close(self) -> None:
        """End all sessions and all processes."""
        await asyncio.gather(*(self.end(session) for session in tuple(self._instances)))
        await self._sessions.close()
        await self._workers.close()

    @property
    def network(self) -> NetworkUse:
        """What its code has done on the network so far."""
        return self._connections.use(self._name, self._allowed)

    async def knock(self) -> Knock:
        """Say that the class is there; no instance is made, since that could cost something."""
        if self._credentials.is_missing:
            hint = f"put the credentials, a JSON object, into the environment variable {self._credentials.variable}"
            return Knock(name=self._name, host="", alive=False, answer=self._unset(), hint=hint)
        return Knock(name=self._name, host="", alive=True, answer=f"ok, loaded {self._target}")

    async def _at_turn(self, request: SayToApplication, session: str) -> tuple[AriaInstance, int]:
        """Return the session's instance where the dialogue stands, and how many prompts had to be said again."""
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
