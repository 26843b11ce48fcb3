"""Clients of a run: the models, applications and functions that answer the requests of its flows."""

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
from theodolite.execution.failures import paid_reply
from theodolite.execution.stop_conditions import StopConditions
from theodolite.ports.application import Admitting, Application, Conversing, Lenient, Networked
from theodolite.ports.labeller import Labeller
from theodolite.ports.model import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class Clients:
    """Clients by name, with the stop conditions that every call passes.

    Attributes:
        models: Models by name.
        applications: Applications by name.
        stop_conditions: Checked before each call and updated after it.
        labellers: Labelling functions by the name of their annotator.
        slots: Limits the calls in flight; no limit by default.
    """

    models: Mapping[str, Model]
    applications: Mapping[str, Application]
    stop_conditions: StopConditions
    labellers: Mapping[str, Labeller] = field(default_factory=dict)
    slots: AbstractAsyncContextManager[None] = field(default_factory=nullcontext)

    def within(self, parallel: int) -> Clients:
        """Return the same clients with at most `parallel` calls in flight; count."""
        return replace(self, slots=asyncio.Semaphore(parallel))

    async def answer(self, request: Request, unit: str) -> Reply:
        """Return the reply to a request.

        A reply that the content filter of an endpoint withheld counts as a reply:
        the refusal is the observed behaviour, not missing data.

        Args:
            request: The request of a flow.
            unit: Key of its unit; applications identify sessions by it.

        Raises:
            GatewayError: If the call fails.
            RunStopped: If a stop condition holds.
        """
        async with self.slots:
            reserved, reply = await self.stop_conditions.reserve(request), None
            try:
                reply = await self._call_and_record(request, unit)
            finally:
                self.stop_conditions.settle(request, reserved, reply)
            return reply

    async def _call_and_record(self, request: Request, unit: str) -> Reply:
        """Return the reply to a request and record its cost."""
        endpoint = _endpoint(request)
        try:
            reply = await self._call(request, unit)
        except ContentRefused as refusal:
            reply = paid_reply(refusal, FILTERED_TEXT, finish=CONTENT_FILTER)
        except GatewayError as error:
            error.endpoint = error.endpoint or endpoint
            self.stop_conditions.record_failure(endpoint, error, unit)
            raise
        self.stop_conditions.record_reply(endpoint, reply)
        return reply

    async def _call(self, request: Request, unit: str) -> Reply:
        if isinstance(request, AskModel):
            return await self.models[request.model].reply(request)
        if isinstance(request, AskFunction):
            return await self.labellers[request.annotator].reply(request)
        return await self.applications[request.application].reply(request, session=unit)

    async def begin_session(self, application: str, unit: str) -> None:
        """Wait until an application can bear one more session; no call's place is held meanwhile."""
        line = self.applications.get(application)
        if line is not None and _admits(type(line)):
            await cast("Admitting", line).begin(unit)

    async def end_session(self, application: str, unit: str) -> None:
        """Notify a stateful application that a session ended."""
        client = self.applications.get(application)
        if client is not None and _is_stateful(type(client)):
            await cast("Conversing", client).end(unit)

    def tolerated_deviations(self) -> dict[str, tuple[str, ...]]:
        """Return the tolerated deviations from an interface, by application."""
        lenient = {name: client.remarks for name, client in self.applications.items() if isinstance(client, Lenient)}
        return {name: remarks for name, remarks in lenient.items() if remarks}

    def network_uses(self) -> tuple[NetworkUse, ...]:
        """Return the network use of each application whose code used the network."""
        uses = (client.network for client in self.applications.values() if isinstance(client, Networked))
        return tuple(use for use in uses if use.connections or use.refused or use.programs)

    async def close(self) -> None:
        """Close all clients."""
        for application in self.applications.values():
            await application.close()
        for labeller in self.labellers.values():
            await labeller.close()
        for model in self.models.values():
            await model.close()


@cache
def _is_stateful(kind: type) -> bool:
    """Return whether a type of application is stateful; cached because the check costs as much as the notification."""
    return issubclass(kind, Conversing)


@cache
def _admits(kind: type) -> bool:
    """Tell whether applications of a type bound their sessions."""
    return issubclass(kind, Admitting)


def _endpoint(request: Request) -> str:
    """Return the name of the endpoint that a request addresses."""
    if isinstance(request, AskModel):
        return request.model
    return request.annotator if isinstance(request, AskFunction) else request.application
