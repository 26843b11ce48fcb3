"""From a study's records to open gateways."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import assert_never

from theodolite.domain.application import (
    Application,
    AriaClass,
    HttpEndpoint,
    PromptedModel,
    PythonCallable,
    RecordedFile,
)
from theodolite.domain.errors import InputError
from theodolite.domain.model import ModelEndpoint, ModelKind
from theodolite.domain.recording import RecordedDialogue
from theodolite.gateways.anthropic_messages import MESSAGES
from theodolite.gateways.aria_application import AriaApplication
from theodolite.gateways.callable_application import CallableApplication
from theodolite.gateways.chat_form import CHAT_COMPLETIONS
from theodolite.gateways.chat_model import ChatModel
from theodolite.gateways.dialect import Dialect
from theodolite.gateways.http_application import HttpApplication
from theodolite.gateways.loading import load_callable, load_class
from theodolite.gateways.prompted import PromptedModelApplication
from theodolite.gateways.recorded import RecordedApplication
from theodolite.gateways.scripted import ScriptedModel
from theodolite.gateways.secrecy import Credentials
from theodolite.ports.clock import Clock
from theodolite.ports.model import Model

LiveApplication = PromptedModelApplication | HttpApplication | CallableApplication | AriaApplication
"""An application that is called, and not read from a file."""

ARIA_AUTH = "ARIA_AUTH_JSON"
"""Environment variable in which ARIA's harness handed credentials over."""

_DIALECTS: Mapping[ModelKind, Dialect] = {ModelKind.OPENAI: CHAT_COMPLETIONS, ModelKind.ANTHROPIC: MESSAGES}


def open_model(endpoint: ModelEndpoint, *, environ: Mapping[str, str], clock: Clock) -> ChatModel | ScriptedModel:
    """Return the gateway to a model; nothing is sent yet.

    A key that is not set is no fault here, since not every run needs every model:
    the knock says so, and so does every call.

    Args:
        endpoint: What the study says about it.
        environ: Environment variables, for the key.
        clock: Tells the time and waits between tries.

    Raises:
        InputError: If address or key cannot be used.
    """
    if endpoint.is_scripted or not endpoint.url:
        return ScriptedModel(endpoint)
    return ChatModel(endpoint, key=environ.get(endpoint.key), clock=clock, dialect=_DIALECTS[endpoint.kind])


def open_application(
    application: Application,
    *,
    models: Mapping[str, Model],
    recordings: Iterable[RecordedDialogue],
    folder: Path,
    environ: Mapping[str, str],
    clock: Clock,
) -> LiveApplication | RecordedApplication:
    """Return the gateway to an application under test; nothing is sent yet.

    Args:
        application: What the study says about it.
        models: Open models by name; they stay the caller's to close.
        recordings: Recorded dialogues of all applications.
        folder: The study's folder.
        environ: Environment variables, for the key.
        clock: Tells the time and waits between tries.

    Raises:
        InputError: If the application cannot be reached in the way that the study says.
    """
    name, connection = application.name, application.connection
    what = f"application `{name}`"
    match connection:
        case RecordedFile():
            return RecordedApplication(name, recordings)
        case PromptedModel():
            return PromptedModelApplication(name, connection, model=_model(connection.model, models, what))
        case HttpEndpoint():
            return HttpApplication(name, connection, key=environ.get(connection.key), clock=clock)
        case PythonCallable():
            function = load_callable(connection.target, folder=folder, what=what)
            return CallableApplication(name, connection, function, clock=clock)
        case AriaClass():
            kind = load_class(connection.target, folder=folder, what=what)
            credentials = _credentials(connection, environ)
            return AriaApplication(name, connection, kind, credentials=credentials, clock=clock)
        case _:
            assert_never(connection)


def _credentials(connection: AriaClass, environ: Mapping[str, str]) -> Credentials:
    if connection.auth:
        return Credentials(environ.get(connection.auth, ""), variable=connection.auth)
    text = environ.get(ARIA_AUTH, "")
    return Credentials(text, variable=ARIA_AUTH if text.strip() else "")


def _model(name: str, models: Mapping[str, Model], what: str) -> Model:
    if name not in models:
        message = f"{what} needs the model `{name}`, which is not open; there are {', '.join(sorted(models)) or 'none'}"
        raise InputError(message)
    return models[name]
