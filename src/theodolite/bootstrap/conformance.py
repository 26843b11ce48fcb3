"""Conformance tests of applications with their connections."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from theodolite.bootstrap.clock import SystemClock
from theodolite.bootstrap.connections import open_one
from theodolite.bootstrap.permission import require_code_permission, require_key_permission
from theodolite.config.loading import LoadedStudy
from theodolite.config.permissions import workspace_for
from theodolite.domain.application import Application, AriaClass, PromptedModel, RecordedFile
from theodolite.domain.errors import InputError, did_you_mean
from theodolite.domain.flow import Reply, SayToApplication
from theodolite.gateways.applications.runtime import USUAL_VARIABLES
from theodolite.gateways.factory import open_application, open_model
from theodolite.ports.application import ApplicationClient, Stoppable
from theodolite.usecases.conformance import Examination, examine


def chosen_applications(loaded: LoadedStudy, name: str) -> tuple[Application, ...]:
    """Return the live applications of a study, or the one that is named.

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
    loaded: LoadedStudy, application: Application, *, environ: Mapping[str, str]
) -> Examination:
    """Open one application, call it a few times, and let go of everything again.

    Raises:
        InputError: If the study runs code, or sends keys, that the operator has not allowed.
    """
    require_code_permission(loaded)
    require_key_permission(loaded, environ)
    clock, connection = SystemClock(), application.connection
    needed = connection.model if isinstance(connection, PromptedModel) else ""
    models = {
        endpoint.name: open_model(endpoint, environ=environ, clock=clock, folder=loaded.folder)
        for endpoint in loaded.study.models
        if endpoint.name == needed
    }

    def opened() -> ApplicationClient:
        workspace = workspace_for(loaded.folder)
        return open_one(loaded, application, models=models, workspace=workspace, environ=environ, clock=clock)

    try:
        return await _examined(application.name, opened)
    finally:
        for model in models.values():
            await model.close()


async def examine_alone(application: Application, *, folder: Path, environ: Mapping[str, str]) -> Examination:
    """Examine an application that needs no model of a study.

    Args:
        application: How it is reached.
        folder: Where files that it names would stand.
        environ: Its credentials by variable.
    """
    return await _examined(application.name, lambda: _open_alone(application, folder, environ))


async def answer_alone(
    application: Application, said: SayToApplication, *, session: str, folder: Path, environ: Mapping[str, str]
) -> Reply:
    """Ask an application that needs no model of a study once, and let go of it again.

    Args:
        application: How it is reached.
        said: The prompt, with all that was said before.
        session: Opaque key of the conversation.
        folder: Where files that it names would stand.
        environ: Its credentials by variable.

    Raises:
        InputError: If it cannot be reached in the way that is written.
        GatewayError: If no reply came.
    """
    opened = _open_alone(application, folder, environ)
    try:
        return await opened.reply(said, session=session)
    finally:
        await opened.close()


def connection_fault(application: Application, *, folder: Path, environ: Mapping[str, str]) -> str:
    """Return why an application cannot be reached in the way that is written; empty where it could. Nothing is sent.

    Args:
        application: How it is reached.
        folder: Where files that it names would stand.
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
    """Open an application as an event does: its code sees the usual variables, those that it names, its credentials."""
    connection = application.connection
    named = connection.runtime.env if isinstance(connection, AriaClass) else ()
    usual = {key: value for key, value in os.environ.items() if key.upper() in USUAL_VARIABLES or key in named}
    environ = {**usual, **credentials}
    return open_application(application, models={}, recordings=(), folder=folder, environ=environ, clock=SystemClock())


async def _examined(name: str, open_it: Callable[[], ApplicationClient]) -> Examination:
    try:
        return await examine(name, open_it())
    except InputError as error:
        found = Examination(name=name)
        found.note(str(error))
        return found
