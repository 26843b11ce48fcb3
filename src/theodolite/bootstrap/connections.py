"""Connections to the models and applications of a study."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from theodolite.bootstrap.clock import SystemClock
from theodolite.bootstrap.permission import require_code_permission, require_key_permission
from theodolite.config.loading import LoadedStudy
from theodolite.domain.annotator import Annotator, PythonLabeller
from theodolite.domain.application import Application, PythonCallable
from theodolite.domain.model import ModelEndpoint
from theodolite.execution.clients import Clients
from theodolite.execution.stop_conditions import CostEstimator, StopConditions
from theodolite.gateways.factory import Caching, open_application, open_labeller, open_model
from theodolite.gateways.limits.rate_limiter import SlotPools
from theodolite.gateways.models.chat_model import ChatModel
from theodolite.ports.application import ApplicationClient, Labeller, Model
from theodolite.ports.progress import Clock

STARTS_NAME = "starts"
"""Folder within a workspace that remembers starts for limits per minute."""

LIMITS_NAME = "limits"
"""Folder within a workspace that remembers how many calls in flight each account bore."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """Functions that the caller of `theodolite.run` passed; they run in the caller's process.

    Attributes:
        applications: Applications by name.
        judges: Labelling functions by name of their annotator.
    """

    applications: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    judges: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

    def application(self, application: Application, clock: Clock) -> ApplicationClient | None:
        """Return the client of a passed application; None for others."""
        function, connection = self.applications.get(application.name), application.connection
        if function is None or not isinstance(connection, PythonCallable):
            return None
        from theodolite.gateways.applications.callable_application import PassedFunction

        return PassedFunction(application.name, function, connection, clock=clock)

    def labeller(self, annotator: Annotator, clock: Clock) -> Labeller | None:
        """Return the client of a passed labelling function; None for others."""
        function, labelling = self.judges.get(annotator.name), annotator.labelling
        if function is None or not isinstance(labelling, PythonLabeller):
            return None
        from theodolite.gateways.applications.callable_application import PassedLabeller

        return PassedLabeller(annotator.name, function, labelling, clock=clock)


NOTHING_PASSED = Passed()
"""All applications and judges are those that the study's files name."""


def open_clients(
    loaded: LoadedStudy,
    *,
    workspace: Path,
    environ: Mapping[str, str],
    clock: Clock,
    caching: Caching | None = None,
    passed: Passed = NOTHING_PASSED,
) -> Clients:
    """Return connections to all models and applications of a study.

    Args:
        loaded: The study.
        workspace: Folder of the workspace.
        environ: Environment variables; keys are taken from it and from nowhere else.
        clock: Tells the time.
        caching: How replies are kept; None for not at all.
        passed: Functions that run in this process in place of files of the study.

    Raises:
        InputError: If the study runs code, or sends keys, that the operator has not allowed.
    """
    require_code_permission(loaded)
    require_key_permission(loaded, environ)
    study, accounts = loaded.study, SlotPools(clock, folder=workspace / LIMITS_NAME)
    models: dict[str, Model] = {
        endpoint.name: open_model(
            endpoint,
            environ=environ,
            clock=clock,
            accounts=accounts,
            starts=workspace / STARTS_NAME,
            caching=caching,
            folder=loaded.folder,
        )
        for endpoint in study.models
    }
    applications: dict[str, ApplicationClient] = {
        application.name: passed.application(application, clock)
        or open_one(
            loaded, application, models=models, workspace=workspace, environ=environ, clock=clock, accounts=accounts
        )
        for application in study.applications
    }
    opened = {
        a.name: passed.labeller(a, clock)
        or open_labeller(a, folder=loaded.folder, environ=environ, clock=clock, workspace=workspace)
        for a in study.annotators
    }
    labellers: dict[str, Labeller] = {name: line for name, line in opened.items() if line is not None}
    stop_conditions = StopConditions(budget=study.budget, cost_estimator=CostEstimator(study))
    return Clients(models=models, applications=applications, labellers=labellers, stop_conditions=stop_conditions)


def open_one(
    loaded: LoadedStudy,
    application: Application,
    *,
    models: Mapping[str, Model],
    workspace: Path,
    environ: Mapping[str, str],
    clock: Clock,
    accounts: SlotPools | None = None,
) -> ApplicationClient:
    """Return the connection to one application of a study: the same for a run, an event and an examination.

    Args:
        loaded: The study.
        application: The application.
        models: Open models by name; they stay the caller's to close.
        workspace: Folder of the workspace.
        environ: Environment variables; keys are taken from it and from nowhere else.
        clock: Tells the time.
        accounts: Shared with models; one of its own unless given.
    """
    reader = loaded.code
    return open_application(
        application,
        models=models,
        recordings=loaded.recordings,
        folder=loaded.folder,
        environ=environ,
        clock=clock,
        accounts=accounts,
        workspace=workspace,
        changed=(lambda: "") if reader is None else partial(reader.change, application),
    )


def offered_models(url: str) -> tuple[str, ...]:
    """Return the models that an OpenAI-compatible address offers; empty where it says nothing.

    Raises:
        InputError: If the address cannot be used at all.
    """
    return asyncio.run(_ask(ModelEndpoint(name="app", url=url, model="")))


async def _ask(endpoint: ModelEndpoint) -> tuple[str, ...]:
    model = ChatModel(endpoint, clock=SystemClock())
    try:
        return await model.model_names()
    finally:
        await model.close()
