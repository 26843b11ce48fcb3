"""Connects to applications, models and judges and examines them; provides the clock of the machine."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theodolite.bootstrap.observers import process_observer
from theodolite.bootstrap.permission import require_code_permission, require_key_permission
from theodolite.config.loading import LoadedStudy
from theodolite.config.permissions import workspace_for
from theodolite.domain.annotator import Annotator, PythonLabeller
from theodolite.domain.application import (
    Application,
    AriaClass,
    ModelEndpoint,
    PromptedModel,
    PythonCallable,
    RecordedFile,
)
from theodolite.domain.errors import InputError, TheodoliteError, did_you_mean
from theodolite.domain.flow import Reply, SayToApplication
from theodolite.execution.clients import Clients
from theodolite.execution.stop_conditions import CostEstimator, StopConditions
from theodolite.gateways.applications.workers import USUAL_VARIABLES
from theodolite.gateways.factory import Caching, PluginModel, open_application, open_labeller, open_model
from theodolite.gateways.models.chat_model import ChatModel
from theodolite.gateways.rate_limiter import SlotPools
from theodolite.plugins.discovery import part_named
from theodolite.ports.application import ApplicationClient, Labeller, Model, Stoppable
from theodolite.ports.progress import Clock
from theodolite.usecases.conformance import Examination, examine, greet

if TYPE_CHECKING:
    from theodolite.plugins import ModelProvider
    from theodolite.ports.limits import SharedLimits

LIMITS_NAME = "limits"
"""Folder within a workspace that stores the number of calls in flight that each account supports."""


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
"""No passed functions: all applications and judges are those that the study's files name."""


def open_clients(
    loaded: LoadedStudy,
    *,
    workspace: Path,
    environ: Mapping[str, str],
    clock: Clock,
    caching: Caching | None = None,
    passed: Passed = NOTHING_PASSED,
    limits: SharedLimits | None = None,
) -> Clients:
    """Return connections to all models and applications of a study.

    Args:
        loaded: The study.
        workspace: Folder of the workspace.
        environ: Environment variables, the only source of keys.
        clock: Returns the current time.
        caching: Cache of replies; None for none.
        passed: Functions that run in this process instead of files of the study.
        limits: Shares limits with other processes on the same database; None for limits of this process only.

    Raises:
        InputError: If the study runs code, or sends keys, that the operator has not allowed.
    """
    require_code_permission(loaded)
    require_key_permission(loaded, environ)
    study, accounts = loaded.study, SlotPools(clock, folder=workspace / LIMITS_NAME, limits=limits)
    models: dict[str, Model] = {
        endpoint.name: model_client(
            endpoint,
            environ=environ,
            clock=clock,
            accounts=accounts,
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
    stop_conditions = StopConditions(budget=study.budget, cost_estimator=CostEstimator(study), limits=limits)
    return Clients(
        models=models,
        applications=applications,
        labellers=labellers,
        stop_conditions=stop_conditions,
        shares=accounts,
        observer=process_observer(study.models),
    )


def model_client(
    endpoint: ModelEndpoint,
    *,
    environ: Mapping[str, str],
    clock: Clock,
    folder: Path,
    accounts: SlotPools | None = None,
    caching: Caching | None = None,
    public_only: bool = False,
) -> Model:
    """Return the client of a model of a study, by its plugin or by its address.

    Args:
        endpoint: The model.
        environ: Environment variables with the keys.
        clock: Returns the current time.
        folder: The study's folder.
        accounts: Limits shared with other models; default: separate limits.
        caching: Cache of replies; None for none.
        public_only: Whether to connect only to addresses of the public Internet.

    Raises:
        InputError: If the plugin is not installed, or the model cannot be opened.
    """
    return _plugin_model(endpoint, environ) or open_model(
        endpoint,
        environ=environ,
        clock=clock,
        accounts=accounts,
        caching=caching,
        folder=folder,
        public_only=public_only,
    )


def _plugin_model(endpoint: ModelEndpoint, environ: Mapping[str, str]) -> Model | None:
    """Return the client of a model that a plugin reaches; None for others.

    Raises:
        InputError: If the plugin is not installed or cannot open the model.
    """
    if not endpoint.plugin:
        return None
    from theodolite.bootstrap.plugins import model_providers

    provider: ModelProvider = part_named(model_providers().values(), endpoint.plugin, "model provider")
    try:
        client = provider.open(endpoint, environ.get(endpoint.key) if endpoint.key else None)
    except TheodoliteError:
        raise
    except Exception as error:  # the code of a plugin may raise anything; this is the boundary
        message = f"model provider `{endpoint.plugin}` cannot open `{endpoint.name}`: {type(error).__name__}: {error}"
        raise InputError(message) from error
    return PluginModel(endpoint, client)


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
        models: Open models by name; the caller closes them.
        workspace: Folder of the workspace.
        environ: Environment variables, the only source of keys.
        clock: Returns the current time.
        accounts: Limits shared with models; default: separate limits.
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
    """Return the models that an OpenAI-compatible address offers; empty if it lists none.

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


class SystemClock:
    """Returns the machine's time."""

    def now(self) -> datetime:
        """Return the present moment; UTC, aware."""
        return datetime.now(UTC)  # noqa: TID251 - this is the clock for all other modules

    def monotonic_s(self) -> float:
        """Return the seconds since a fixed moment; monotonic."""
        return time.monotonic()

    async def sleep(self, duration_s: float) -> None:
        """Wait for some seconds."""
        await asyncio.sleep(duration_s)


def chosen_applications(loaded: LoadedStudy, name: str) -> tuple[Application, ...]:
    """Return the live applications of a study, or the named one.

    Raises:
        InputError: If there is none of that name, or it is a recording.
    """
    live = {app.name: app for app in loaded.study.applications if not isinstance(app.connection, RecordedFile)}
    if name in live:
        return (live[name],)
    names = ", ".join(f"`{known}`" for known in live)
    if not live:
        message = f"study `{loaded.study.name}` has recorded applications only; there is nothing to call"
    elif name:
        message = f"no application `{name}` can be called; there is {names}{did_you_mean(name, live)}"
    else:
        return tuple(live.values())
    raise InputError(message)


async def examine_application(
    loaded: LoadedStudy, application: Application, *, environ: Mapping[str, str], once: bool = False
) -> Examination:
    """Open one application, call it a few times or once, and close it.

    Raises:
        InputError: If the study runs code, or sends keys, that the operator has not allowed.
    """
    require_code_permission(loaded)
    require_key_permission(loaded, environ)
    clock, connection = SystemClock(), application.connection
    needed = connection.model if isinstance(connection, PromptedModel) else ""
    models = {
        endpoint.name: model_client(endpoint, environ=environ, clock=clock, folder=loaded.folder)
        for endpoint in loaded.study.models
        if endpoint.name == needed
    }

    def opened() -> ApplicationClient:
        workspace = workspace_for(loaded.folder)
        return open_one(loaded, application, models=models, workspace=workspace, environ=environ, clock=clock)

    try:
        return await _examined(application.name, opened, greet if once else examine)
    finally:
        for model in models.values():
            await model.close()


async def examine_alone(application: Application, *, folder: Path, environ: Mapping[str, str]) -> Examination:
    """Examine an application that needs no model of a study.

    Args:
        application: Access to the application.
        folder: Base folder of the files that it names.
        environ: Its credentials by variable.
    """
    return await _examined(application.name, lambda: _open_alone(application, folder, environ))


async def answer_alone(
    application: Application, said: SayToApplication, *, session: str, folder: Path, environ: Mapping[str, str]
) -> Reply:
    """Call an application that needs no model of a study once, and close it.

    Args:
        application: Access to the application.
        said: The prompt and the earlier turns.
        session: Opaque key of the conversation.
        folder: Base folder of the files that it names.
        environ: Its credentials by variable.

    Raises:
        InputError: If it cannot be reached as configured.
        GatewayError: If the call returned no reply.
    """
    opened = _open_alone(application, folder, environ)
    try:
        return await opened.reply(said, session=session)
    finally:
        await opened.close()


def connection_fault(application: Application, *, folder: Path, environ: Mapping[str, str]) -> str:
    """Return the reason why an application cannot be reached as configured; empty if it can. Nothing is sent.

    Args:
        application: Access to the application.
        folder: Base folder of the files that it names.
        environ: Its credentials by variable.
    """
    try:
        opened = _open_alone(application, folder, environ)
    except InputError as error:
        return str(error)
    if isinstance(opened, Stoppable):
        opened.stop()
    return ""


def _open_alone(application: Application, folder: Path, credentials: Mapping[str, str]) -> ApplicationClient:
    """Open an application as an event does: its code sees the usual variables, named ones and its credentials."""
    connection = application.connection
    named = connection.runtime.env if isinstance(connection, AriaClass) else ()
    usual = {key: value for key, value in os.environ.items() if key.upper() in USUAL_VARIABLES or key in named}
    environ = {**usual, **credentials}
    return open_application(application, models={}, recordings=(), folder=folder, environ=environ, clock=SystemClock())


async def _examined(
    name: str,
    open_it: Callable[[], ApplicationClient],
    calls: Callable[[str, ApplicationClient], Awaitable[Examination]] = examine,
) -> Examination:
    try:
        return await calls(name, open_it())
    except InputError as error:
        result = Examination(name=name)
        result.note(str(error))
        return result
