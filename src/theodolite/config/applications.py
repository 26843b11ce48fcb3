"""The `applications` section: applications under test, by kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from theodolite.config.application_spec import ApplicationSpec, check_template, named, shared_from_domain
from theodolite.config.code_applications import (
    AriaSpec,
    PythonSpec,
    aria_from_domain,
    aria_to_domain,
    python_from_domain,
    python_to_domain,
)
from theodolite.config.connections import network_settings
from theodolite.config.http_applications import (
    HttpSpec,
    http_from_domain,
    http_to_domain,
)
from theodolite.config.load_context import Entry, LoadContext
from theodolite.config.recordings import RecordedSpec
from theodolite.config.spec import KIND, Filled, without_empty
from theodolite.domain.application import (
    Application,
    Connection,
    HttpEndpoint,
    PromptedModel,
    PythonCallable,
    RecordedFile,
)
from theodolite.domain.fault import did_you_mean
from theodolite.domain.network_settings import NetworkSettings


class PromptedModelSpec(ApplicationSpec):
    """A model with a system prompt and, optionally, context files."""

    kind: Literal["model"]
    """`model`: a language model of the study."""
    model: Filled
    """Name of the model under `models`."""
    system: str = ""
    """System prompt; `{{ context }}` is the scenario's source material."""
    context: list[Filled] = Field(default_factory=list)
    """Files with source material for the model."""


def _kind_of(value: Any) -> str:
    kind = value.get("kind", "") if isinstance(value, dict) else getattr(value, "kind", "")
    return f"{KIND}{kind}"


AnyApplication: TypeAlias = Annotated[
    Annotated[RecordedSpec, Tag(KIND + "recorded")]
    | Annotated[PromptedModelSpec, Tag(KIND + "model")]
    | Annotated[HttpSpec, Tag(KIND + "http")]
    | Annotated[PythonSpec, Tag(KIND + "python")]
    | Annotated[AriaSpec, Tag(KIND + "aria")],
    Discriminator(_kind_of),
]
"""One application of any kind."""


def application_to_domain(
    entry: Entry[Any],
    context: LoadContext,
    *,
    models: tuple[str, ...],
    environ: Mapping[str, str] | None,
    network: NetworkSettings | None = None,
) -> Application | None:
    """Return a live application; None for a recorded one, which its file describes.

    Args:
        entry: The entry, of any kind.
        context: Takes the faults.
        models: Names of the study's models.
        environ: The environment, to see which keys are there.
        network: Proxy and certificates of the study's calls; none unless given.
    """
    spec = entry.spec
    connection: Connection | None = None
    if isinstance(spec, PromptedModelSpec):
        connection = _prompted(entry, spec, context, models)
    elif isinstance(spec, HttpSpec):
        settings = network_settings(entry, context, environ, network)
        connection = replace(http_to_domain(entry, spec, context, environ), network=settings)
    elif isinstance(spec, PythonSpec):
        connection = python_to_domain(entry, spec, context)
    elif isinstance(spec, AriaSpec):
        connection = aria_to_domain(entry, spec, context, environ)
    return None if connection is None else named(entry, entry.name, connection)


def is_recorded(entry: Entry[Any]) -> bool:
    """Tell whether an application's replies come from a file."""
    return isinstance(entry.spec, RecordedSpec)


def _prompted(
    entry: Entry[Any], spec: PromptedModelSpec, context: LoadContext, models: tuple[str, ...]
) -> PromptedModel:
    if spec.model not in models:
        words = f"application `{entry.name}` names a model `{spec.model}` that the study does not have"
        message = words + (did_you_mean(spec.model, models) or _offers("models", models))
        context.diagnostics.add(entry.fault("model", message=message))
    check_template(entry, ("system",), spec.system, ("context",), context)
    texts = {name: context.text(entry, "context", place, name=name) for place, name in enumerate(spec.context)}
    return PromptedModel(
        model=spec.model,
        system=spec.system,
        context={name: text for name, text in texts.items() if text is not None},
    )


def _offers(section: str, names: tuple[str, ...]) -> str:
    return f"; `{section}` has {', '.join(names)}" if names else f"; `{section}` is empty"


def applications_from_domain(applications: Iterable[Application]) -> dict[str, Any]:
    """Return the applications; those that one recorded file was split into become one again."""
    kept: dict[str, Any] = {}
    for application in applications:
        connection = application.connection
        if isinstance(connection, RecordedFile) and connection.where:
            name = f"recorded in {connection.file}"
        else:
            name = application.name
        kept.setdefault(name, _connection_from_domain(application) | shared_from_domain(application))
    return kept


def _connection_from_domain(application: Application) -> dict[str, Any]:
    connection = application.connection
    if isinstance(connection, RecordedFile):
        split_by = next(iter(connection.where), "")
        return without_empty(kind="recorded", file=connection.file, **connection.columns, application=split_by)
    if isinstance(connection, PromptedModel):
        context = list(connection.context)
        return without_empty(kind="model", model=connection.model, system=connection.system, context=context)
    if isinstance(connection, HttpEndpoint):
        return http_from_domain(connection)
    if isinstance(connection, PythonCallable):
        return python_from_domain(connection)
    return aria_from_domain(connection)
