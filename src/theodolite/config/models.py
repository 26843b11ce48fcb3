"""The `models` section: endpoints of language models and their prices."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator
from ruamel.yaml import YAML

from theodolite.config.connections import ConnectionSpec, check_key, connection_from_domain, header_problem, url_problem
from theodolite.config.load_context import Entry, LoadContext, no_plugin_part, shipped_text
from theodolite.config.permissions import RefusedPath
from theodolite.config.validation import Filled, Spec, YesNo, validated, without_empty
from theodolite.config.yaml_source import LocatedDiagnostic, Scalar, read_yaml, typed
from theodolite.domain.application import CacheUse, ModelEndpoint, ModelKind, Param, Price, cloud_host_problem
from theodolite.domain.errors import Severity
from theodolite.domain.network import NetworkSettings, without_userinfo


class ListedPriceSpec(Spec):
    """Prices of models of one host."""

    host: str = ""
    """Host, e.g. `api.openai.com`; default: any."""
    models: list[Filled] = Field(min_length=1)
    """Names of the models at the endpoint."""
    input: float = Field(ge=0)
    """US dollars per million input tokens."""
    output: float = Field(ge=0)
    """US dollars per million output tokens."""
    as_of: Filled
    """Day of the price list, `YYYY-MM-DD`."""
    source: str = ""
    """Source of the price."""


class PriceListSpec(Spec):
    """A price list: `prices.yaml` beside a study, which has priority over the shipped one."""

    prices: list[ListedPriceSpec] = Field(default_factory=list)
    """Prices, one entry for models that cost the same."""


class PriceSpec(Spec):
    """Price of a model."""

    input: float = Field(ge=0)
    """US dollars per million input tokens."""
    output: float = Field(ge=0)
    """US dollars per million output tokens."""
    as_of: str = ""
    """Day of the price list, `YYYY-MM-DD`."""


class ModelSpec(Spec):
    """A language model at an address, or a script in its place."""

    kind: ModelKind | None = None
    """API: `openai` (Chat Completions), `responses` (OpenAI's Responses), `anthropic` (Messages), `gemini`, `bedrock`
    (Converse), `vertex`; default by address; or `inspect` (any provider of Inspect)."""
    url: str = ""
    """Base address, up to and including `/v1`, with a query string for all calls, e.g. `?api-version=...`."""
    name: str = ""
    """Name of the model at the endpoint."""
    key: str = ""
    """Name of the environment variable with the key; never the key itself."""
    key_header: str = ""
    """Header for the key, e.g. `api-key`; default: by address for Anthropic and Azure, else a bearer token in
    `Authorization`."""
    params: dict[str, Any] = Field(default_factory=dict)
    """Further fields of every request, e.g. `temperature: 0`; `null` removes a field."""
    price: PriceSpec | None = None
    """US dollars per million tokens; known prices are filled in."""
    parallel: int = Field(default=256, ge=1)
    """Maximum number of concurrent calls; the actual number adapts to the endpoint."""
    rpm: int | None = Field(default=None, ge=1)
    """Maximum number of requests per minute."""
    tpm: int | None = Field(default=None, ge=1)
    """Maximum number of input and output tokens per minute."""
    timeout: float = Field(default=60.0, gt=0)
    """Timeout of one attempt; seconds."""
    deadline: float = Field(default=600.0, gt=0)
    """Time limit for all attempts of a call including pauses; seconds."""
    attempts: int = Field(default=5, ge=1)
    """Maximum number of attempts; "too many requests" does not count, up to eight times per attempt, within
    `deadline`."""
    structured: YesNo | None = None
    """Structured output by JSON Schema: `no`, or `yes` and fail if rejected; default: if the endpoint supports it."""
    stream: YesNo = False
    """Whether replies are streamed, for endpoints that require it."""
    cache: CacheUse = CacheUse.NO
    """Whether identical requests use the cache: `yes`, `no`, or `all` (also as an application under test)."""
    connection: ConnectionSpec | None = None
    """Proxy and certificates of its calls; replaces the study's `connection`."""
    plugin: str = ""
    """Model provider of a plugin, e.g. `our-house/gateway`, in place of an address."""
    script: list[Filled] = Field(default_factory=list)
    """Fixed replies instead of a model, used in turn; results are labelled as stubbed."""

    @field_validator("cache", mode="before")
    @classmethod
    def _cache_in_words(cls, value: Any) -> Any:
        return {"true": "yes", "false": "no"}.get(str(value).lower(), value)

    @model_validator(mode="after")
    def _one_form(self) -> ModelSpec:
        if self.script and self.url:
            message = "has a `url` and a `script`; keep one of them"
            raise ValueError(message)
        if self.plugin and (self.kind or self.script):
            message = "is reached through a plugin; leave `kind` and `script` out"
            raise ValueError(message)
        if self.plugin:
            return self
        if self.kind is ModelKind.INSPECT and not self.script:
            return self._named_for_inspect()
        if not self.script and not (self.url and self.name):
            message = "needs `url` and `name` (or `script`, replies that stand in for a model)"
            raise ValueError(message)
        return self

    def _named_for_inspect(self) -> ModelSpec:
        provider, _, name = self.name.partition("/")
        if not (provider and name):
            message = "is asked through Inspect and needs a `name` with its provider, e.g. `google/gemini-2.5-pro`"
            raise ValueError(message)
        if self.connection:
            message = (
                "is asked through Inspect, which makes its own connections; leave `connection` out, and set"
                " `HTTPS_PROXY` or `SSL_CERT_FILE` in the environment"
            )
            raise ValueError(message)
        if self.key_header:
            message = "is asked through Inspect, which chooses the header of the key; leave `key_header` out"
            raise ValueError(message)
        return self


OWN = "prices.yaml"
"""Name of a study's own price list, in its folder."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")

Prices = Mapping[tuple[str, str], Price]
"""Price by host and name of a model; without a host, for every host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceBook:
    """Prices of a study's own list, with the shipped list as fallback.

    Attributes:
        own: Prices of the study's own list.
    """

    own: Prices = field(default_factory=dict)

    def price_of(self, url: str, model: str) -> Price | None:
        """Return the price of a model, or None if it is not listed."""
        host = _host(url)
        return self.own.get((host, model)) or self.own.get(("", model)) or known_price(url, model)


def price_book(context: LoadContext) -> PriceBook:
    """Return the prices of a study; errors in its own list are reported."""
    path = context.find(OWN)
    if isinstance(path, RefusedPath):
        context.diagnostics.add(LocatedDiagnostic(file=OWN, message=path.message))
    if not isinstance(path, Path):
        return PriceBook()
    source = read_yaml(context.bytes_of(path), OWN)
    spec = validated(source, PriceListSpec, owner=f"`{OWN}`") if source.content else None
    context.diagnostics.add(*source.faults)
    if spec is None:
        return PriceBook()
    return PriceBook(own=_own_prices(Entry(name=OWN, spec=spec, source=source, path=()), context))


def _own_prices(entry: Entry[PriceListSpec], context: LoadContext) -> Prices:
    result: dict[tuple[str, str], Price] = {}
    for index, listed in enumerate(entry.spec.prices):
        if problem := day_problem(listed.as_of):
            context.diagnostics.add(entry.diagnostic("prices", index, "as_of", message=problem))
        for number, key in enumerate(_keys(listed)):
            if key in result:
                message = f"`{key[1]}` is listed twice{f' for {key[0]}' if key[0] else ''}"
                context.diagnostics.add(entry.diagnostic("prices", index, "models", number, message=message))
            result[key] = Price(input_usd=listed.input, output_usd=listed.output, as_of=listed.as_of)
    return result


def day_problem(text: str) -> str:
    """Return the error in the date of a price list; empty if there is none."""
    try:
        is_day = _DAY.fullmatch(text) is not None and bool(date.fromisoformat(text))
    except ValueError:
        is_day = False
    return "" if is_day else f"`as_of` is `{text}`; expected a day, e.g. 2026-10-01"


def known_price(url: str, model: str) -> Price | None:
    """Return the shipped price of a model at its maker's address; None if there is none."""
    host, listed = _host(url), shipped_text(OWN)
    # Reading the list takes a while, and most studies name other hosts.
    return _shipped_prices(listed).get((host, model)) if host and host in listed else None


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


@cache
def _shipped_prices(text: str) -> Prices:
    listed = PriceListSpec.model_validate(YAML(typ="safe", pure=True).load(text))
    return {
        key: Price(input_usd=entry.input, output_usd=entry.output, as_of=entry.as_of)
        for entry in listed.prices
        for key in _keys(entry)
    }


def _keys(listed: ListedPriceSpec) -> Iterator[tuple[str, str]]:
    yield from ((listed.host, model) for model in listed.models)


_ANTHROPIC_HOST = "api.anthropic.com"

_GEMINI_HOST = "generativelanguage.googleapis.com"

_BEDROCK_MARK, _AWS_HOSTS = "bedrock-runtime", (".amazonaws.com", ".amazonaws.com.cn")

_VERTEX_HOST = "aiplatform.googleapis.com"

_AZURE_HOSTS = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")

_AZURE_HEADER = "api-key"

_CALLS = ("/chat/completions", "/completions", "/messages", "/responses", "/models", ":generateContent", "/converse")


def model_to_domain(
    entry: Entry[ModelSpec],
    context: LoadContext,
    environ: Mapping[str, str] | None,
    prices: PriceBook,
    *,
    network: NetworkSettings,
) -> ModelEndpoint:
    """Return the model of an entry; its errors are reported.

    Args:
        entry: The entry.
        context: Collects the errors.
        environ: The environment, to check which keys are set; None for no check.
        prices: Prices of models whose entry states none.
        network: Proxy and certificates of its calls.
    """
    spec = entry.spec
    problem = (url_problem(spec.url) or _call_problem(spec.url)) if spec.url else ""
    if problem:
        context.diagnostics.add(entry.diagnostic("url", message=problem))
    check_key(entry, key=spec.key, context=context, environ=environ)
    _look_for_inspect(entry, context)
    if spec.plugin and spec.plugin not in context.resolver.model_providers:
        message = no_plugin_part("model provider", spec.plugin, context.resolver.model_providers)
        context.diagnostics.add(entry.diagnostic("plugin", message=message))
    endpoint = ModelEndpoint(
        name=entry.name,
        url=without_userinfo(spec.url).rstrip("/"),
        model=spec.name,
        key=spec.key,
        params=_params(entry, context),
        script=tuple(str(line) for line in spec.script),
        price=_price(entry, spec.price, context) if spec.price else prices.price_of(spec.url, spec.name),
        parallel=spec.parallel,
        timeout_s=spec.timeout,
        deadline_s=spec.deadline,
        attempts=spec.attempts,
        kind=_kind(spec),
        rpm=spec.rpm,
        tpm=spec.tpm,
        cache=spec.cache,
        structured=spec.structured,
        stream=spec.stream,
        key_header=_key_header(entry, context),
        plugin=spec.plugin,
        network=network,
    )
    if not problem and (refused := cloud_host_problem(endpoint)):
        context.diagnostics.add(entry.diagnostic("url", message=refused))
    return endpoint


def _look_for_inspect(entry: Entry[ModelSpec], context: LoadContext) -> None:
    """Add a note if the package for a model is not installed, without loading it."""
    if context.looks_at_code and _kind(entry.spec) is ModelKind.INSPECT and find_spec("inspect_ai") is None:
        message = "Inspect is not installed here; it is needed before a run: pip install 'theodolite[inspect]'"
        context.diagnostics.add(entry.diagnostic("kind", message=message, severity=Severity.NOTE))


def _call_problem(url: str) -> str:
    """Return the error of an address for one kind of call instead of the base address."""
    called = next((end for end in _CALLS if urlsplit(url).path.rstrip("/").endswith(end)), "")
    return f"`url` is the base address of all calls; leave `{called}` out, it is added to it" if called else ""


def _key_header(entry: Entry[ModelSpec], context: LoadContext) -> str:
    """Return the header of a model's key, derived from an Azure address; empty for the default."""
    spec = entry.spec
    problem = header_problem(spec.key_header) if spec.key_header else ""
    if spec.key_header and not spec.key:
        problem = problem or "`key_header` needs `key`: the name of the environment variable that holds the key"
    if problem:
        context.diagnostics.add(entry.diagnostic("key_header", message=problem))
    host = "" if url_problem(spec.url) else urlsplit(spec.url).hostname or ""
    return spec.key_header or (_AZURE_HEADER if host.endswith(_AZURE_HOSTS) else "")


def _kind(spec: ModelSpec) -> ModelKind:
    """Return the request format of a model, derived from a maker's own address."""
    if spec.kind is not None:
        return spec.kind
    if url_problem(spec.url):  # it has its own fault and must not be split here
        return ModelKind.OPENAI
    parts = urlsplit(spec.url)
    host, is_compatible = parts.hostname or "", "/openai" in parts.path  # some makers offer Chat Completions as well
    if host == _ANTHROPIC_HOST:
        return ModelKind.ANTHROPIC
    if host == _GEMINI_HOST and not is_compatible:
        return ModelKind.GEMINI
    if _BEDROCK_MARK in host and host.endswith(_AWS_HOSTS) and not is_compatible:
        return ModelKind.BEDROCK
    return ModelKind.VERTEX if host.endswith(_VERTEX_HOST) and "/publishers/" in parts.path else ModelKind.OPENAI


def _params(entry: Entry[ModelSpec], context: LoadContext) -> dict[str, Param]:
    stored: dict[str, Param] = {}
    for name, value in entry.spec.params.items():
        if isinstance(value, Scalar) and value.tag == "null" and not str(value):
            message = f"`{name}` of `params` is empty; expected a value, or `null` where the field is not to be sent"
            context.diagnostics.add(entry.diagnostic("params", name, message=message))
        else:
            stored[name] = typed(value)
    return stored


def _price(entry: Entry[ModelSpec], spec: PriceSpec, context: LoadContext) -> Price:
    if spec.as_of and (problem := day_problem(spec.as_of)):
        context.diagnostics.add(entry.diagnostic("price", "as_of", message=problem))
    return Price(input_usd=spec.input, output_usd=spec.output, as_of=spec.as_of)


def model_from_domain(model: ModelEndpoint) -> dict[str, Any]:
    """Return an entry of `models`."""
    price = model.price
    return without_empty(
        kind="" if model.kind is ModelKind.OPENAI else model.kind.value,
        url=model.url,
        name=model.model,
        key=model.key,
        key_header=model.key_header,
        params=dict(model.params),
        price=without_empty(input=price.input_usd, output=price.output_usd, as_of=price.as_of) if price else None,
        parallel=model.parallel,
        rpm=model.rpm,
        tpm=model.tpm,
        timeout=model.timeout_s,
        deadline=model.deadline_s,
        attempts=model.attempts,
        cache=model.cache.value,
        structured=model.structured,
        stream=model.stream or None,
        connection=connection_from_domain(model.network),
        plugin=model.plugin,
        script=list(model.script),
    )
