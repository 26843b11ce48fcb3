"""Models as domain records: addresses, keys by name, prices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.prices import PriceBook, day_problem
from theodolite.config.specs.study import ModelSpec, PriceSpec
from theodolite.config.yaml_source import Scalar, typed
from theodolite.domain.address import HEADER_NAME, WORDS, userinfo_of, without_userinfo
from theodolite.domain.fault import Severity
from theodolite.domain.model import ModelEndpoint, ModelKind, Param, Price
from theodolite.domain.network_settings import NetworkSettings
from theodolite.domain.secret_shapes import is_variable_name

_TEMPLATE = re.compile(r"\{\{.*?\}\}")
_ANTHROPIC_HOST = "api.anthropic.com"
_AZURE_HOSTS = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
_AZURE_HEADER = "api-key"
_CALLS = ("/chat/completions", "/completions", "/messages", "/responses", "/models")


def endpoint_of(
    entry: Entry[ModelSpec],
    context: LoadContext,
    environ: Mapping[str, str] | None,
    prices: PriceBook,
    *,
    network: NetworkSettings,
) -> ModelEndpoint:
    """Return the model that an entry describes; what is wrong with it becomes faults.

    Args:
        entry: The entry.
        context: Takes the faults.
        environ: The environment, to see which keys are there; None where nobody asks.
        prices: What models cost where the entry does not say it.
        network: Proxy and certificates of its calls.
    """
    spec = entry.spec
    problem = (url_problem(spec.url) or _call_problem(spec.url)) if spec.url else ""
    if problem:
        context.diagnostics.add(entry.fault("url", message=problem))
    check_key(entry, key=spec.key, context=context, environ=environ)
    _look_for_inspect(entry, context)
    return ModelEndpoint(
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
        network=network,
    )


def _look_for_inspect(entry: Entry[ModelSpec], context: LoadContext) -> None:
    """Add a note where a model is reached through a package that is not there; nothing of it is loaded."""
    if context.looks_at_code and _kind(entry.spec) is ModelKind.INSPECT and find_spec("inspect_ai") is None:
        message = "Inspect is not installed here; it is needed before a run: pip install 'theodolite[inspect]'"
        context.diagnostics.add(entry.fault("kind", message=message, severity=Severity.NOTE))


def _call_problem(url: str) -> str:
    """Return what is wrong with an address that leads to one kind of call instead of to where all of them begin."""
    called = next((end for end in _CALLS if urlsplit(url).path.rstrip("/").endswith(end)), "")
    return f"`url` is the base address of all calls; leave `{called}` out, it is added to it" if called else ""


def _key_header(entry: Entry[ModelSpec], context: LoadContext) -> str:
    """Return the header that carries a model's key, which Azure's addresses tell; empty for the usual one."""
    spec = entry.spec
    problem = header_problem(spec.key_header) if spec.key_header else ""
    if spec.key_header and not spec.key:
        problem = problem or "`key_header` needs `key`: the name of the environment variable that holds the key"
    if problem:
        context.diagnostics.add(entry.fault("key_header", message=problem))
    host = "" if url_problem(spec.url) else urlsplit(spec.url).hostname or ""
    return spec.key_header or (_AZURE_HEADER if host.endswith(_AZURE_HOSTS) else "")


def _kind(spec: ModelSpec) -> ModelKind:
    """Return the form in which a model wants to be asked; a maker's own address tells."""
    if spec.kind is not None:
        return spec.kind
    # A wrong address has a fault of its own and must not be split here.
    known = not url_problem(spec.url) and urlsplit(spec.url).hostname == _ANTHROPIC_HOST
    return ModelKind.ANTHROPIC if known else ModelKind.OPENAI


def url_problem(url: str) -> str:
    """Return what is wrong with an address; templates in it may stand for anything."""
    if userinfo_of(url):
        return WORDS
    plain = _TEMPLATE.sub("x", url)
    try:
        parts = urlsplit(plain)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return f"`{url}` is no address: the port must be a number up to 65535"
    if parts.scheme not in {"http", "https"}:
        return f"`{url}` is no address; it must begin with http:// or https://"
    if not host or re.search(r"\s", plain):
        return f"`{url}` is no address: {'it names no host' if not host else 'it holds a space'}"
    return ""


def header_problem(name: str, said: str = "`key_header` is") -> str:
    """Return what is wrong with the name of a header; empty where nothing is.

    Args:
        name: The name.
        said: How the message begins, up to the name.
    """
    return "" if HEADER_NAME.fullmatch(name) else f"{said} `{name}`; expected the name of a header: `X-Api-Key`"


def check_key(
    entry: Entry[Any],
    *,
    key: str,
    context: LoadContext,
    environ: Mapping[str, str] | None,
    at: str | tuple[str, ...] = "key",
) -> None:
    """Add a fault where a key was pasted, and a note where its variable is not set; `at` is the entry's key."""
    keys = (at,) if isinstance(at, str) else at
    if not key or getattr(key, "tag", "") == "secret" or set(key) == {"*"}:
        return
    if not is_variable_name(key):
        message = (
            f"`{keys[-1]}` must be the name of an environment variable, e.g. OPENAI_API_KEY; what stands here"
            " may be the key itself and is not repeated"
        )
        context.diagnostics.add(entry.fault(*keys, message=message))
    elif environ is not None and not environ.get(key):
        message = f"variable `{key}` is not set in this environment; it is needed before a run"
        context.diagnostics.add(entry.fault(*keys, message=message, severity=Severity.NOTE))


def _params(entry: Entry[ModelSpec], context: LoadContext) -> dict[str, Param]:
    kept: dict[str, Param] = {}
    for name, value in entry.spec.params.items():
        if isinstance(value, Scalar) and value.tag == "null" and not str(value):
            message = f"`{name}` of `params` is empty; expected a value, or `null` where the field is not to be sent"
            context.diagnostics.add(entry.fault("params", name, message=message))
        else:
            kept[name] = typed(value)
    return kept


def _price(entry: Entry[ModelSpec], spec: PriceSpec, context: LoadContext) -> Price:
    if spec.as_of and (problem := day_problem(spec.as_of)):
        context.diagnostics.add(entry.fault("price", "as_of", message=problem))
    return Price(input_usd=spec.input, output_usd=spec.output, as_of=spec.as_of)
