"""Examining a study's applications without a run and without a database."""

from __future__ import annotations

from collections.abc import Mapping

from theodolite.bootstrap.clock import SystemClock
from theodolite.config.loading import LoadedStudy
from theodolite.domain.application import Application, PromptedModel, RecordedFile
from theodolite.domain.errors import InputError
from theodolite.domain.fault import did_you_mean
from theodolite.gateways.factory import open_application, open_model
from theodolite.usecases.examining import Examination, examine


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
        message = f"no application `{name}` can be called{did_you_mean(name, live)}; there is {names}"
    else:
        return tuple(live.values())
    raise InputError(message)


async def examine_application(
    loaded: LoadedStudy, application: Application, *, environ: Mapping[str, str]
) -> Examination:
    """Open one application, call it a few times, and let go of everything again."""
    clock, connection = SystemClock(), application.connection
    needed = connection.model if isinstance(connection, PromptedModel) else ""
    models = {
        endpoint.name: open_model(endpoint, environ=environ, clock=clock)
        for endpoint in loaded.study.models
        if endpoint.name == needed
    }
    try:
        opened = open_application(
            application, models=models, recordings=(), folder=loaded.folder, environ=environ, clock=clock
        )
        return await examine(application.name, opened)
    except InputError as error:
        found = Examination(name=application.name)
        found.note(str(error))
        return found
    finally:
        for model in models.values():
            await model.close()
