"""Applications that are a class written for NIST's dialogue interface."""

from __future__ import annotations

import asyncio

from theodolite.domain.application import AriaClass
from theodolite.domain.errors import Rejected
from theodolite.domain.flow import Reply, SayToApplication
from theodolite.gateways.applications.aria_contract import check_class
from theodolite.gateways.applications.aria_form import prompt_template
from theodolite.gateways.applications.aria_instance import AriaClassOf, AriaInstance
from theodolite.gateways.applications.slots import Slots
from theodolite.gateways.repair import repaired
from theodolite.gateways.secrecy import Credentials
from theodolite.ports.application import OnChunk
from theodolite.ports.clock import Clock
from theodolite.ports.endpoint import Knock


class AriaApplication:
    """A class with ARIA's dialogue interface: one instance a session, each on a thread of its own.

    A session that goes on after an interruption meets a fresh instance, to which
    its earlier prompts are said again first (ADR-0011); they count as attempts,
    not as calls.
    """

    def __init__(self, name: str, connection: AriaClass, kind: type, *, credentials: Credentials, clock: Clock) -> None:
        """Look at what the class has; no instance is made yet.

        Args:
            name: Name of the application in the study.
            connection: How the study names it.
            kind: The loaded class.
            credentials: What `OpenConnection` is given.
            clock: Tells the time.

        Raises:
            InputError: If the class lacks a method, or the template of its prompts cannot be filled.
        """
        check_class(kind, what=f"application `{name}`")
        self._name = name
        self._target = connection.target
        self._credentials = credentials
        self._prompt = prompt_template(connection.prompt, name)
        self._of = AriaClassOf(name=name, kind=kind, credentials=credentials, timeout_s=connection.timeout_s)
        self._clock = clock
        self._slots = Slots(connection.parallel)
        self._instances: dict[str, AriaInstance] = {}

    def __repr__(self) -> str:
        return f"AriaApplication({self._name!r}, {self._target!r})"

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was let pass although the interface asks for something else, each once."""
        return tuple(self._of.remarks)

    async def reply(self, request: SayToApplication, *, session: str, on_chunk: OnChunk | None = None) -> Reply:
        """Return what the session's instance answers.

        Raises:
            GatewayError: If it failed, returned no text or took too long.
        """
        del on_chunk  # the interface returns a response in one piece
        async with self._slots.take():
            instance, n_again = await self._at_turn(request, session)
            begun = self._clock.monotonic_s()
            text = await instance.say(self._prompt(request.prompt, request.known_turn, request.context))
            took_s = self._clock.monotonic_s() - begun
        kept, n_repaired = repaired(self._credentials.strike(text))
        return Reply(
            text=kept,
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
        if instance is not None and instance.has_begun:
            await instance.restart()

    async def end(self, session: str) -> None:
        """Close a session's connection and forget its instance."""
        instance = self._instances.pop(session, None)
        if instance is not None:
            await instance.close()

    async def close(self) -> None:
        """End all sessions."""
        await asyncio.gather(*(self.end(session) for session in tuple(self._instances)))

    async def knock(self) -> Knock:
        """Say that the class is there; no instance is made, since that could cost something."""
        if self._credentials.is_missing:
            hint = f"put the credentials, a JSON object, into the environment variable {self._credentials.variable}"
            return Knock(name=self._name, host="", alive=False, answer=self._unset(), hint=hint)
        return Knock(name=self._name, host="", alive=True, answer=f"ok, loaded {self._target}")

    async def _at_turn(self, request: SayToApplication, session: str) -> tuple[AriaInstance, int]:
        """Return the session's instance where the dialogue stands, and how many prompts had to be said again."""
        instance = self._instances.get(session)
        if instance is not None and instance.turns == len(request.history):
            return instance, 0
        await self.end(session)
        if self._credentials.is_missing:
            raise Rejected(self._unset(), endpoint=self._name, tries=0)
        instance = self._instances[session] = AriaInstance(self._of)
        await instance.begin()
        for said in request.before():
            await instance.say(self._prompt(said.prompt, said.known_turn, said.context))
        return instance, len(request.history)

    def _unset(self) -> str:
        return f"the environment variable `{self._credentials.variable}` is not set"
