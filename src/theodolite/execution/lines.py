"""Lines: the connections of a run, through which its flows' requests are answered."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache
from typing import cast

from theodolite.domain.errors import ContentRefused, GatewayError
from theodolite.domain.flow import CONTENT_FILTER, FILTERED_TEXT, AskFunction, AskModel, Reply, Request
from theodolite.domain.network import NetworkUse
from theodolite.execution.brakes import Brakes
from theodolite.execution.failing import paid_reply
from theodolite.ports.application import Application, Conversing, Lenient, Networked
from theodolite.ports.labeller import Labeller
from theodolite.ports.model import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """Models, applications and labelling functions by name, and the brakes that watch their calls.

    Attributes:
        models: Models by name.
        applications: Applications by name.
        brakes: What may stop the run.
        labellers: Labelling functions by the name of their annotator.
        places: What a call is made within; lets so many through at a time, or all.
    """

    models: Mapping[str, Model]
    applications: Mapping[str, Application]
    brakes: Brakes
    labellers: Mapping[str, Labeller] = field(default_factory=dict)
    places: AbstractAsyncContextManager[None] = field(default_factory=nullcontext)

    def within(self, parallel: int) -> Lines:
        """Return the same lines for calls of which so many may be in flight; count."""
        return replace(self, places=asyncio.Semaphore(parallel))

    async def answer(self, request: Request, unit: str) -> Reply:
        """Return the reply to a request.

        A reply that an endpoint's own filter withheld is a reply: a refusal is
        what happened, not a lack of information about it.

        Args:
            request: What a flow asks for.
            unit: Key of its unit; applications know their sessions by it.

        Raises:
            GatewayError: If no reply came.
            RunStopped: If no call is to be made any more.
        """
        async with self.places:
            reserved, reply = await self.brakes.reserve(request), None
            try:
                reply = await self._counted(request, unit)
            finally:
                self.brakes.settle(request, reserved, reply)
            return reply

    async def _counted(self, request: Request, unit: str) -> Reply:
        """Return the reply to a request, its cost entered."""
        endpoint = _endpoint(request)
        try:
            reply = await self._call(request, unit)
        except ContentRefused as refusal:
            reply = paid_reply(refusal, FILTERED_TEXT, finish=CONTENT_FILTER)
        except GatewayError as error:
            error.endpoint = error.endpoint or endpoint
            self.brakes.refused(endpoint, error, unit)
            raise
        self.brakes.answered(endpoint, reply)
        return reply

    async def _call(self, request: Request, unit: str) -> Reply:
        if isinstance(request, AskModel):
            return await self.models[request.model].reply(request)
        if isinstance(request, AskFunction):
            return await self.labellers[request.annotator].reply(request)
        return await self.applications[request.application].reply(request, session=unit)

    async def end_session(self, application: str, unit: str) -> None:
        """Tell an application that a session is over, where it wants to know."""
        line = self.applications.get(application)
        if line is not None and _converses(type(line)):
            await cast("Conversing", line).end(unit)

    def let_pass(self) -> dict[str, tuple[str, ...]]:
        """Return what was let pass although an interface asks for something else, by application."""
        lenient = {name: line.remarks for name, line in self.applications.items() if isinstance(line, Lenient)}
        return {name: remarks for name, remarks in lenient.items() if remarks}

    def network_uses(self) -> tuple[NetworkUse, ...]:
        """Return what the code of applications has done on the network, of those that did anything there."""
        uses = (line.network for line in self.applications.values() if isinstance(line, Networked))
        return tuple(use for use in uses if use.connections or use.refused or use.programs)

    async def close(self) -> None:
        """Let go of all connections."""
        for application in self.applications.values():
            await application.close()
        for labeller in self.labellers.values():
            await labeller.close()
        for model in self.models.values():
            await model.close()


@cache
def _converses(kind: type) -> bool:
    """Tell whether applications of a type keep something for each session; looking takes as long as telling them."""
    return issubclass(kind, Conversing)


def _endpoint(request: Request) -> str:
    """Return the name of what a request is made to."""
    if isinstance(request, AskModel):
        return request.model
    return request.annotator if isinstance(request, AskFunction) else request.application
