"""Models as domain records: addresses, keys by name, prices."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from theodolite.config.lookup import Desk, Entry
from theodolite.config.prices import PriceBook, day_problem
from theodolite.config.shapes.study import ModelShape, PriceShape
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
    entry: Entry[ModelShape],
    desk: Desk,
    environ: Mapping[str, str] | None,
    prices: PriceBook,
    *,
    network: NetworkSettings,
) -> ModelEndpoint:
    """Return the model that an entry describes; what is wrong with it becomes faults.

    Args:
        entry: The entry.
        desk: Takes the faults.
        environ: The environment, to see which keys are there; None where nobody asks.
        prices: What models cost where the entry does not say it.
        network: Proxy and certificates of its calls.
    """
    shape = entry.shape
    problem = (url_problem(shape.url) or _call_problem(shape.url)) if shape.url else ""
    if problem:
        desk.complaints.add(entry.fault("url", message=problem))
    check_key(entry, key=shape.key, desk=desk, environ=environ)
    _look_for_inspect(entry, desk)
    return ModelEndpoint(
        name=entry.name,
        url=without_userinfo(shape.url).rstrip("/"),
        model=shape.name,
        key=shape.key,
        params=_params(entry, desk),
        script=tuple(str(line) for line in shape.script),
        price=_price(entry, shape.price, desk) if shape.price else prices.price_of(shape.url, shape.name),
        parallel=shape.parallel,
        timeout_s=shape.timeout,
        deadline_s=shape.deadline,
        attempts=shape.attempts,
        kind=_kind(shape),
        rpm=shape.rpm,
        tpm=shape.tpm,
        cache=shape.cache,
        structured=shape.structured,
        stream=shape.stream,
        key_header=_key_header(entry, desk),
        network=network,
    )


def _look_for_inspect(entry: Entry[ModelShape], desk: Desk) -> None:
    """Add a note where a model is reached through a package that is not there; nothing of it is loaded."""
    if desk.looks_at_code and _kind(entry.shape) is ModelKind.INSPECT and find_spec("inspect_ai") is None:
        message = "Inspect is not installed here; it is needed before a run: pip install 'theodolite[inspect]'"
        desk.complaints.add(entry.fault("kind", message=message, severity=Severity.NOTE))


def _call_problem(url: str) -> str:
    """Return what is wrong with an address that leads to one kind of call instead of to where all of them begin."""
    called = next((end for end in _CALLS if urlsplit(url).path.rstrip("/").endswith(end)), "")
    return f"`url` is the base address of all calls; leave `{called}` out, it is added to it" if called else ""


def _key_header(entry: Entry[ModelShape], desk: Desk) -> str:
    """Return the header that carries a model's key, which Azure's addresses tell; empty for the usual one."""
    shape = entry.shape
    problem = header_problem(shape.key_header) if shape.key_header else ""
    if shape.key_header and not shape.key:
        problem = problem or "`key_header` needs `key`: the name of the environment variable that holds the key"
    if problem:
        desk.complaints.add(entry.fault("key_header", message=problem))
    host = "" if url_problem(shape.url) else urlsplit(shape.url).hostname or ""
    return shape.key_header or (_AZURE_HEADER if host.endswith(_AZURE_HOSTS) else "")


def _kind(shape: ModelShape) -> ModelKind:
    """Return the form in which a model wants to be asked; a maker's own address tells."""
    if shape.kind is not None:
        return shape.kind
    # A wrong address has a fault of its own and must not be split here.
    known = not url_problem(shape.url) and urlsplit(shape.url).hostname == _ANTHROPIC_HOST
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
    desk: Desk,
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
        desk.complaints.add(entry.fault(*keys, message=message))
    elif environ is not None and not environ.get(key):
        message = f"variable `{key}` is not set in this environment; it is needed before a run"
        desk.complaints.add(entry.fault(*keys, message=message, severity=Severity.NOTE))


def _params(entry: Entry[ModelShape], desk: Desk) -> dict[str, Param]:
    kept: dict[str, Param] = {}
    for name, value in entry.shape.params.items():
        if isinstance(value, Scalar) and value.tag == "null" and not str(value):
            message = f"`{name}` of `params` is empty; expected a value, or `null` where the field is not to be sent"
            desk.complaints.add(entry.fault("params", name, message=message))
        else:
            kept[name] = typed(value)
    return kept


def _price(entry: Entry[ModelShape], shape: PriceShape, desk: Desk) -> Price:
    if shape.as_of and (problem := day_problem(shape.as_of)):
        desk.complaints.add(entry.fault("price", "as_of", message=problem))
    return Price(input_usd=shape.input, output_usd=shape.output, as_of=shape.as_of)
