"""From a study's records to open gateways."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, assert_never

from theodolite.domain.annotator import Annotator, PythonLabeller
from theodolite.domain.application import (
    Application,
    AriaClass,
    CacheUse,
    HttpEndpoint,
    ModelEndpoint,
    ModelKind,
    PromptedModel,
    PythonCallable,
    RecordedFile,
    cloud_host_problem,
)
from theodolite.domain.errors import EmptyReply, GatewayError, InputError, MalformedReply, TimedOut
from theodolite.domain.flow import AskModel, Reply
from theodolite.domain.identity import digest
from theodolite.gateways.applications.connections import Connections
from theodolite.gateways.applications.workers import Surroundings, Workers, code_of, labeller_code
from theodolite.gateways.http_client import Authorise, checked_address, host_of
from theodolite.gateways.models.chat_format import CHAT_COMPLETIONS, Dialect
from theodolite.gateways.models.chat_model import ChatModel
from theodolite.gateways.proxies import NetworkContext, require_public_host, route_of
from theodolite.gateways.rate_limiter import RateLimiter, SlotPools
from theodolite.gateways.secret_redaction import ARIA_AUTH, Credentials
from theodolite.ports.application import Model, OnChunk
from theodolite.ports.progress import Cache, Clock

if TYPE_CHECKING:
    from theodolite.domain.live import RecordedDialogue
    from theodolite.gateways.applications.aria_application import AriaApplication
    from theodolite.gateways.applications.callable_application import CallableApplication, CallableLabeller
    from theodolite.gateways.applications.http_application import HttpApplication
    from theodolite.gateways.models.cached_model import CachedModel
    from theodolite.gateways.models.inspect_model import InspectModel
    from theodolite.gateways.templates import PromptedModelApplication, RecordedApplication, ScriptedModel

LiveApplication: TypeAlias = "PromptedModelApplication | HttpApplication | CallableApplication | AriaApplication"
"""An application that is called, and not read from a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caching:
    """Caching of replies during a run.

    Attributes:
        cache: The cache.
        always: Whether the cache also serves models that do not enable it.
        refresh: Ignore replies that were cached before.
    """

    cache: Cache
    always: bool = False
    refresh: bool = False


def open_model(
    endpoint: ModelEndpoint,
    *,
    environ: Mapping[str, str],
    clock: Clock,
    accounts: SlotPools | None = None,
    caching: Caching | None = None,
    folder: Path = Path(),
    public_only: bool = False,
) -> ChatModel | InspectModel | CachedModel | ScriptedModel:
    """Return the gateway to a model; nothing is sent yet.

    A key that is not set is not an error here, since not every run needs every model:
    the endpoint check reports it, and so does every call.

    Args:
        endpoint: Its entry in the study.
        environ: Environment variables, for the key.
        clock: Returns the current time and waits between tries.
        accounts: Limits shared with other models; default: separate limits.
        caching: Cache of replies; None for none.
        folder: The study's folder, for files of certificates.
        public_only: Whether to connect only to addresses of the public Internet.

    Raises:
        InputError: If address, key, proxy or certificates cannot be used.
    """
    if endpoint.is_scripted or not (endpoint.url or endpoint.kind is ModelKind.INSPECT):
        from theodolite.gateways.templates import ScriptedModel

        return ScriptedModel(endpoint)
    context = NetworkContext(environ=environ, folder=folder)
    model = _live(endpoint, context, clock, accounts or SlotPools(clock), public_only=public_only)
    if caching is None or not (caching.always or endpoint.cache is not CacheUse.NO):
        return model
    from theodolite.gateways.models.cached_model import CachedModel

    return CachedModel(
        model, caching.cache, clock, refresh=caching.refresh, applications=endpoint.cache is CacheUse.ALL
    )


def _live(
    endpoint: ModelEndpoint, context: NetworkContext, clock: Clock, accounts: SlotPools, *, public_only: bool
) -> ChatModel | InspectModel:
    key = context.environ.get(endpoint.key)
    if endpoint.url:
        checked_address(endpoint.url, what=f"model `{endpoint.name}`")
    if public_only:
        require_public_host(endpoint.url, what=f"model `{endpoint.name}`")
    if endpoint.kind is ModelKind.INSPECT:
        if public_only:
            message = f"model `{endpoint.name}`: Inspect chooses the connection, so its address cannot be checked"
            raise InputError(message)
        from theodolite.gateways.models.inspect_model import InspectModel

        return InspectModel(endpoint, key=key, clock=clock, rate_limiter=_rate_limiter(endpoint, accounts, clock))
    return ChatModel(
        endpoint,
        key=key,
        clock=clock,
        dialect=_dialect_of(endpoint),
        authorise=_authorise(endpoint),
        rate_limiter=_rate_limiter(endpoint, accounts, clock),
        route=route_of(endpoint.network, context, what=f"model `{endpoint.name}`", public_only=public_only),
    )


def _dialect_of(endpoint: ModelEndpoint) -> Dialect:
    match endpoint.kind:
        case ModelKind.OPENAI | ModelKind.INSPECT:
            return CHAT_COMPLETIONS
        case ModelKind.ANTHROPIC:
            from theodolite.gateways.models.anthropic_messages import MESSAGES

            return MESSAGES
        case _:
            from theodolite.gateways.models import provider_formats

            is_anthropic = "/publishers/anthropic" in endpoint.url
            vertex = provider_formats.VERTEX_MESSAGES if is_anthropic else provider_formats.VERTEX_GEMINI
            return {
                ModelKind.RESPONSES: provider_formats.RESPONSES,
                ModelKind.GEMINI: provider_formats.GEMINI,
                ModelKind.BEDROCK: provider_formats.CONVERSE,
                ModelKind.VERTEX: vertex,
            }[endpoint.kind]


def _authorise(endpoint: ModelEndpoint) -> Authorise | None:
    """Return the signer of calls of a model without a key in the study; None if a key suffices.

    Raises:
        InputError: If credentials of this machine would go to a host that is not the cloud's own.
    """
    if not endpoint.uses_cloud_credentials:
        return None
    if problem := cloud_host_problem(endpoint):
        message = f"model `{endpoint.name}`: {problem}"
        raise InputError(message)
    from theodolite.gateways.models.provider_formats import AwsSignature, GoogleToken

    return (AwsSignature() if endpoint.kind is ModelKind.BEDROCK else GoogleToken()).headers


def _rate_limiter(endpoint: ModelEndpoint, accounts: SlotPools, clock: Clock) -> RateLimiter:
    """Return a model's rate limiter: its account's slots, and the per-minute limits of all its names in the study."""
    host = host_of(endpoint.url) if endpoint.url else f"inspect:{endpoint.model.partition('/')[0]}"
    is_priced = endpoint.price is not None
    account = accounts.of(host, endpoint.key, parallel=endpoint.parallel, is_priced=is_priced)
    if endpoint.rpm is None and endpoint.tpm is None:
        return RateLimiter(account, clock)
    from theodolite.gateways.rate_window import SharedWindow, Window

    model = host, endpoint.key, endpoint.model
    shared = accounts.limits and SharedWindow(accounts.limits, clock, digest("limit", *model))
    window = accounts.windows.setdefault(model, shared or Window())
    window.keep_to(requests=endpoint.rpm, tokens=endpoint.tpm)
    return RateLimiter(account, clock, window=window)


def open_application(
    application: Application,
    *,
    models: Mapping[str, Model],
    recordings: Iterable[RecordedDialogue],
    folder: Path,
    environ: Mapping[str, str],
    clock: Clock,
    accounts: SlotPools | None = None,
    workspace: Path | None = None,
    changed: Callable[[], str] = lambda: "",
) -> LiveApplication | RecordedApplication:
    """Return the gateway to an application under test; nothing is sent yet.

    Args:
        application: Its entry in the study.
        models: Open models by name; the caller closes them.
        recordings: Recorded dialogues of all applications.
        folder: The study's folder.
        environ: Environment variables, for the key.
        clock: Returns the current time and waits between tries.
        accounts: Limits shared with models; default: separate limits.
        workspace: Folder of the workspace, for logs and environments of applications that are code.
        changed: Returns which file of the application's code differs from the version that the study
            describes; empty for none. Asked whenever a process starts.

    Raises:
        InputError: If the application cannot be reached as the study states.
    """
    name, connection = application.name, application.connection
    what = f"application `{name}`"
    match connection:
        case RecordedFile():
            from theodolite.gateways.templates import RecordedApplication

            return RecordedApplication(name, recordings)
        case PromptedModel():
            from theodolite.gateways.templates import PromptedModelApplication

            return PromptedModelApplication(name, connection, model=_model(connection.model, models, what))
        case HttpEndpoint():
            return _http(name, connection, NetworkContext(environ=environ, folder=folder), clock, accounts)
        case PythonCallable():
            around = Surroundings(study=folder, environ=environ, workspace=workspace, changed=changed)
            return _callable(application, connection, around, clock)
        case AriaClass():
            around = Surroundings(study=folder, environ=environ, workspace=workspace, changed=changed)
            return _aria(application, connection, around, clock)
        case _:
            assert_never(connection)


def open_labeller(
    annotator: Annotator, *, folder: Path, environ: Mapping[str, str], clock: Clock, workspace: Path | None = None
) -> CallableLabeller | None:
    """Return the gateway to a function that labels; None for annotators of another kind.

    Args:
        annotator: Its entry in the study.
        folder: The study's folder.
        environ: Environment variables; the function gets the usual ones and those that it names.
        clock: Returns the current time.
        workspace: Folder of the workspace, for the log; None for no log.

    Raises:
        InputError: If there is no such function.
    """
    labelling = annotator.labelling
    if not isinstance(labelling, PythonLabeller):
        return None
    from theodolite.gateways.applications.callable_application import OFFERED, CallableLabeller

    around = Surroundings(study=folder, environ=environ, workspace=workspace)
    code = labeller_code(annotator.name, labelling, around, offered=OFFERED)
    return CallableLabeller(annotator.name, labelling, Workers(code, credentials=Credentials()), clock=clock)


def _callable(
    application: Application, connection: PythonCallable, around: Surroundings, clock: Clock
) -> CallableApplication:
    from theodolite.gateways.applications.callable_application import CallableApplication

    name, connections = application.name, Connections(application, around.workspace)
    code = code_of(name, connection, around, observe=connections.observe, init=())
    workers = Workers(code, credentials=Credentials())
    return CallableApplication(name, connection, workers, connections=connections, clock=clock)


def _aria(application: Application, connection: AriaClass, around: Surroundings, clock: Clock) -> AriaApplication:
    from theodolite.gateways.applications.aria_application import AriaApplication

    name, connections = application.name, Connections(application, around.workspace)
    credentials = _credentials(connection, around.environ)
    code = code_of(name, connection, around, observe=connections.observe, init=tuple(json.loads(connection.init)))
    workers = Workers(code, credentials=credentials)
    return AriaApplication(name, connection, workers, credentials=credentials, connections=connections, clock=clock)


def _credentials(connection: AriaClass, environ: Mapping[str, str]) -> Credentials:
    if connection.auth:
        return Credentials(environ.get(connection.auth, ""), variable=connection.auth)
    text = environ.get(ARIA_AUTH, "")
    return Credentials(text, variable=ARIA_AUTH if text.strip() else "")


def _http(
    name: str, connection: HttpEndpoint, context: NetworkContext, clock: Clock, accounts: SlotPools | None
) -> HttpApplication:
    from theodolite.gateways.applications.http_application import HttpApplication, checked_template

    checked_template(connection.url, what=f"application `{name}`")
    account = (accounts or SlotPools(clock)).of(
        host_of(connection.url.partition("{")[0]), connection.key, parallel=connection.parallel
    )
    what = f"application `{name}`"
    return HttpApplication(
        name,
        connection,
        key=context.environ.get(connection.key),
        clock=clock,
        rate_limiter=RateLimiter(account, clock),
        route=route_of(connection.network, context, what=what, public_only=connection.public_only),
    )


def _model(name: str, models: Mapping[str, Model], what: str) -> Model:
    if name not in models:
        message = f"{what} needs the model `{name}`, which is not open; there are {', '.join(sorted(models)) or 'none'}"
        raise InputError(message)
    return models[name]


class PluginModel:
    """A model behind the client of a plugin.

    Calls in flight are limited to `parallel` and last `timeout` seconds at most. An exception of the client becomes a
    failure of the call, like the failure of any other model, and stays in the denominator.
    """

    def __init__(self, endpoint: ModelEndpoint, client: Model) -> None:
        """Store the client; nothing is sent.

        Args:
            endpoint: The model's entry in the study.
            client: Client that the plugin has opened for it.
        """
        self._endpoint, self._client = endpoint, client
        self._slots = asyncio.Semaphore(endpoint.parallel)

    async def reply(self, request: AskModel, *, on_chunk: OnChunk | None = None) -> Reply:
        """Return the reply of the model.

        Raises:
            GatewayError: If there was no reply; the subclass states why.
        """
        name, limit = self._endpoint.name, self._endpoint.timeout_s
        async with self._slots:
            try:
                async with asyncio.timeout(limit):
                    reply = await self._client.reply(request, on_chunk=on_chunk)
            except GatewayError:
                raise
            except TimeoutError as error:
                message = f"model `{name}` ({self._endpoint.plugin}) gave no reply within {limit:g} s"
                raise TimedOut(message, endpoint=name) from error
            except Exception as error:  # the code of a plugin may raise anything; this is the boundary
                message = f"model `{name}` ({self._endpoint.plugin}) raised {type(error).__name__}: {error}"
                raise MalformedReply(message, endpoint=name) from error
        if not isinstance(reply, Reply):
            message = f"model `{name}` ({self._endpoint.plugin}) returned {reply!r:.60}; expected a `Reply`"
            raise MalformedReply(message, endpoint=name)
        if not reply.text.strip():
            message = f"model `{name}` ({self._endpoint.plugin}) returned an empty reply"
            raise EmptyReply(message, endpoint=name)
        return reply

    async def close(self) -> None:
        """Close the client."""
        await self._client.close()
