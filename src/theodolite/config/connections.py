"""Endpoints of applications: addresses, proxy, certificates, headers and keys, and applications behind HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TypeAlias, TypeVar
from urllib.parse import urlsplit

from pydantic import Discriminator, Field, Tag

from theodolite.config.load_context import Entry, LoadContext
from theodolite.config.permissions import RefusedPath
from theodolite.config.validation import (
    KIND,
    Filled,
    Spec,
    YesNo,
    form_of,
    place_of,
    syntax_problem,
    unfilled,
    variables,
    without_empty,
)
from theodolite.config.yaml_source import typed
from theodolite.domain.application import (
    HTTP_SLOTS,
    Application,
    BodyFormat,
    Claim,
    ClaimKind,
    Connection,
    GuardrailSite,
    HttpEndpoint,
    Mitigation,
)
from theodolite.domain.errors import Severity, did_you_mean
from theodolite.domain.network import (
    HEADER_NAME,
    NO_PROXY,
    WORDS,
    NetworkSettings,
    is_variable_name,
    userinfo_of,
    without_userinfo,
)


class ConnectionSpec(Spec):
    """Proxy and certificates of calls."""

    proxy: str = ""
    """Address of the HTTP proxy, e.g. `http://proxy.example:3128`, or `none`; default: `HTTPS_PROXY`, `HTTP_PROXY`
    and `NO_PROXY` of the environment."""
    no_proxy: list[Filled] = Field(default_factory=list)
    """Hosts to call directly without `proxy`: names including subdomains, addresses, `10.0.0.0/8`."""
    ca: str = ""
    """PEM file with further trusted certificate authorities."""
    client_cert: str = ""
    """PEM file with the client certificate (mutual TLS)."""
    client_key: str = ""
    """PEM file with its private key; omit it if `client_cert` contains the key."""
    client_key_password: str = ""
    """Name of the environment variable with the passphrase of the private key."""


_TEMPLATE = re.compile(r"\{\{.*?\}\}")


def url_problem(url: str) -> str:
    """Return the error in an address; templates in it may have any value."""
    if userinfo_of(url):
        return WORDS
    plain = _TEMPLATE.sub("x", url)
    try:
        parts = urlsplit(plain)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return f"`{url}` is not an address: the port must be a number up to 65535"
    if parts.scheme not in {"http", "https"}:
        return f"`{url}` is not an address; it must begin with http:// or https://"
    if not host or re.search(r"\s", plain):
        return f"`{url}` is not an address: {'it names no host' if not host else 'it holds a space'}"
    return ""


def header_problem(name: str, subject: str = "`key_header` is") -> str:
    """Return the error in the name of a header; empty if there is none.

    Args:
        name: The name.
        subject: Start of the message, up to the name.
    """
    return "" if HEADER_NAME.fullmatch(name) else f"{subject} `{name}`; expected the name of a header: `X-Api-Key`"


def check_key(
    entry: Entry[Spec],
    *,
    key: str,
    context: LoadContext,
    environ: Mapping[str, str] | None,
    at: str | tuple[str, ...] = "key",
) -> None:
    """Add an error if a key was pasted, and a note if its variable is not set; `at` is the entry's key."""
    keys = (at,) if isinstance(at, str) else at
    if not key or getattr(key, "tag", "") == "secret" or set(key) == {"*"}:
        return
    if not is_variable_name(key):
        message = (
            f"`{keys[-1]}` must be the name of an environment variable, e.g. OPENAI_API_KEY; what stands here"
            " may be the key itself and is not repeated"
        )
        context.diagnostics.add(entry.diagnostic(*keys, message=message))
    elif environ is not None and not environ.get(key):
        message = f"variable `{key}` is not set in this environment; it is needed before a run"
        context.diagnostics.add(entry.diagnostic(*keys, message=message, severity=Severity.NOTE))


KEY = "connection"
"""Key of a study, a model or an HTTP application that contains the settings."""

_FILES = ("ca", "client_cert", "client_key")


def network_settings(
    entry: Entry[Spec],
    spec: ConnectionSpec | None,
    context: LoadContext,
    environ: Mapping[str, str] | None,
    shared: NetworkSettings | None = None,
) -> NetworkSettings:
    """Return the settings of an entry; invalid ones become errors.

    Args:
        entry: The study, or an entry of its models or applications.
        spec: Its settings; None if it has none.
        context: Collects the errors, and finds the files.
        environ: The environment, to check which variables are set; None for no check.
        shared: The settings of the study, which apply to entries without their own.
    """
    if spec is None:
        return shared or NetworkSettings()
    problem = _proxy_problem(spec.proxy)
    if problem:
        context.diagnostics.add(entry.diagnostic(KEY, "proxy", message=problem))
    if spec.no_proxy and spec.proxy in {"", NO_PROXY}:
        message = "`no_proxy` needs `proxy`; hosts that the proxy of the environment leaves out stand in `NO_PROXY`"
        context.diagnostics.add(entry.diagnostic(KEY, "no_proxy", message=message))
    for key in _FILES:
        _check_file(entry, key, str(getattr(spec, key)), context)
    for key in ("client_key", "client_key_password"):
        if getattr(spec, key) and not spec.client_cert:
            message = f"`{key}` needs `client_cert`: the PEM file with the certificate that the key belongs to"
            context.diagnostics.add(entry.diagnostic(KEY, key, message=message))
    if spec.client_key_password:
        _check_password(entry, spec.client_key_password, context, environ)
    return NetworkSettings(
        proxy="" if problem else without_userinfo(spec.proxy).rstrip("/"),
        no_proxy=tuple(spec.no_proxy),
        ca=spec.ca,
        client_cert=spec.client_cert,
        client_key=spec.client_key,
        client_key_password=spec.client_key_password,
    )


def _check_password(entry: Entry[Spec], variable: str, context: LoadContext, environ: Mapping[str, str] | None) -> None:
    check_key(entry, key=variable, context=context, environ=environ, at=(KEY, "client_key_password"))


def _check_file(entry: Entry[Spec], key: str, name: str, context: LoadContext) -> None:
    """Add an error if a file does not exist or must not be read."""
    if not name:
        return
    path = context.find(name)
    if path is None:
        message = f"there is no file `{name}`; expected a PEM file, named relative to the study's folder"
        context.diagnostics.add(entry.diagnostic(KEY, key, message=message))
    elif isinstance(path, RefusedPath):
        context.diagnostics.add(entry.diagnostic(KEY, key, message=path.message))


def _proxy_problem(proxy: str) -> str:
    """Return the error in the address of a proxy, without the address if it contains a password."""
    if proxy in {"", NO_PROXY}:
        return ""
    if userinfo_of(proxy):
        return (
            "`proxy` holds a user or a password; keep them out of the study:"
            " set `HTTPS_PROXY` to the whole address in the environment, and leave `proxy` out"
        )
    expected = "expected `http://HOST:PORT`, or `none` for no proxy"
    try:
        parts = urlsplit(proxy)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return f"`{proxy}` is not an address of a proxy; {expected}"
    if parts.scheme.startswith("socks"):
        return f"`{proxy}` is a SOCKS proxy, and only HTTP proxies are supported; {expected}"
    if parts.scheme not in {"http", "https"} or not host or parts.path.strip("/"):
        return f"`{proxy}` is not an address of a proxy; {expected}"
    return ""


def connection_from_domain(network: NetworkSettings) -> dict[str, Any]:
    """Return the value of a `connection` key."""
    return without_empty(
        proxy=network.proxy,
        no_proxy=list(network.no_proxy),
        ca=network.ca,
        client_cert=network.client_cert,
        client_key=network.client_key,
        client_key_password=network.client_key_password,
    )


class ClaimSpec(Spec):
    """A claim of a team about its application."""

    text: Filled
    """The claim as text."""
    kind: ClaimKind = ClaimKind.CAPABILITY
    """`capability` or `limitation`."""
    scripts: list[Filled] = Field(default_factory=list)
    """Keys of the scripts that test it."""
    rule: str = ""
    """Defect rule for dialogues that contradict it: a rule, a guideline or `guideline.rule`."""
    untestable: str = ""
    """Instead of scripts: reason why no dialogue can test it."""


Mitigations: TypeAlias = Annotated[
    Annotated[dict[str, str], Tag(KIND + "mapping")] | Annotated[list[Filled], Tag(KIND + "list")],
    Discriminator(form_of),
]


class ApplicationSpec(Spec):
    """Keys of every application."""

    description: str = ""
    """Description in one sentence."""
    guardrails: GuardrailSite = GuardrailSite.NOT_DECLARED
    """Location of its guardrails: `not declared`, `none`, `in the application` or `at the team's site`."""
    claims: list[ClaimSpec] = Field(default_factory=list)
    """Claims of its team, with the scripts that test them."""
    mitigations: Mitigations | None = None
    """Declared guardrails and other measures: names, or names with a description."""
    scenarios: list[Filled] = Field(default_factory=list)
    """Names of its scenarios; default: all."""
    variant_of: str = ""
    """Name of the base application; mitigations are then compared only among its variants."""


A = TypeVar("A", bound=ApplicationSpec)


def named(entry: Entry[A], name: str, connection: Connection) -> Application:
    """Return an application with the keys of every application."""
    spec = entry.spec
    declared = spec.mitigations or {}
    pairs = declared.items() if isinstance(declared, dict) else ((item, "") for item in declared)
    return Application(
        name=name,
        connection=connection,
        description=spec.description,
        claims=tuple(
            Claim(
                text=claim.text,
                kind=claim.kind,
                scripts=tuple(claim.scripts),
                rule=claim.rule,
                untestable=claim.untestable,
            )
            for claim in spec.claims
        ),
        mitigations=tuple(Mitigation(name=key, description=text) for key, text in pairs),
        guardrails=spec.guardrails,
        variant_of=spec.variant_of,
        scenarios=tuple(spec.scenarios),
    )


def check_template(
    entry: Entry[Spec], keys: tuple[str | int, ...], text: str, known: tuple[str, ...], context: LoadContext
) -> None:
    """Report a template with invalid syntax or a variable without a value."""
    problem = syntax_problem(text)
    if problem:
        context.diagnostics.add(entry.diagnostic(*keys, message=problem))
    for variable in unfilled(text, known):
        tail = did_you_mean(variable, known) or f"; known here: {', '.join(known)}"
        message = f"{{{{ {variable} }}}} is filled by nothing{tail}"
        context.diagnostics.add(entry.diagnostic(*keys, message=message, words=place_of(variable, text)))


Keys = tuple[str | int, ...]
"""Path of a value below its entry."""


def texts_in(value: Any, keys: Keys) -> Iterator[tuple[Keys, str]]:
    """Yield the texts of a body with the keys that lead to them."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from texts_in(member, (*keys, key))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from texts_in(member, (*keys, index))
    elif isinstance(value, str):
        yield keys, value


def shared_from_domain(application: Application) -> dict[str, Any]:
    """Return the keys that all kinds of applications share."""
    claims = [
        without_empty(
            text=item.text, kind=item.kind.value, scripts=list(item.scripts), rule=item.rule, untestable=item.untestable
        )
        for item in application.claims
    ]
    return without_empty(
        description=application.description,
        guardrails=application.guardrails.value,
        claims=claims,
        mitigations={item.name: item.description for item in application.mitigations},
        variant_of=application.variant_of,
        scenarios=list(application.scenarios),
    )


class PatternSpec(Spec):
    """A regular expression that finds the reply."""

    regex: Filled
    """Regular expression applied to the whole response body; its first group, or else the whole match, is the reply."""


ReplyPlace: TypeAlias = Annotated[
    Annotated[Filled, Tag(KIND + "text")] | Annotated[PatternSpec, Tag(KIND + "mapping")],
    Discriminator(form_of),
]


class HttpSpec(ApplicationSpec):
    """An HTTP endpoint that takes a prompt and returns a reply."""

    kind: Literal["http"]
    """`http`: any HTTP endpoint."""
    url: Filled
    """Address; may contain `{{ prompt }}`, `{{ session }}`, `{{ turn }}`."""
    method: Literal["GET", "POST", "PUT", "PATCH"] = "POST"
    """HTTP method."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Headers by name; the values may be templates."""
    body: Any = None
    """JSON body; its texts are templates with the variables `prompt`, `session`, `turn`, `context`, `history`."""
    body_as: BodyFormat = BodyFormat.JSON
    """`json`, or `form` for form data: `body` is then a mapping of fields to texts, sent as `a=1&b=2`."""
    reply: ReplyPlace = "$.text"
    """Location of the reply: `$.a.b[0]`, `text` for the whole body, or `{regex: "..."}` with the reply as first
    group."""
    stream: YesNo = False
    """Whether the response is an event stream (SSE) whose events contain parts of the reply at `reply`."""
    session: str = ""
    """Location of the endpoint's session id in its first response, e.g. `$.id`; `{{ session }}` is empty until then."""
    key: str = ""
    """Name of the environment variable with the token."""
    key_header: str = ""
    """Header for the bare token, e.g. `X-Api-Key`; default: `Authorization: Bearer`."""
    timeout: float = Field(default=60.0, gt=0)
    """Timeout of one reply; seconds."""
    public_only: YesNo = False
    """Whether calls to private networks and this machine are blocked, regardless of the address."""
    connection: ConnectionSpec | None = None
    """Proxy and certificates of its calls; replaces the study's `connection`."""
    parallel: int = Field(default=256, ge=1)
    """Maximum number of concurrent calls; the actual number adapts to the host."""


_REPLY = re.compile(r"\$(?:\.[A-Za-z_][\w-]*|\[\d+\]|\['[^']+'\]|\[\"[^\"]+\"\])*")


def http_to_domain(
    entry: Entry[Spec], spec: HttpSpec, context: LoadContext, environ: Mapping[str, str] | None
) -> HttpEndpoint:
    """Return the endpoint of an application of kind `http`."""
    problem = url_problem(spec.url)
    fixed, slot, _ = spec.url.partition("{")
    if slot and not problem and "/" not in fixed.partition("//")[2]:
        problem = "`url` has a template before its path; host and port must be fixed, so that no prompt chooses them"
    if problem:
        context.diagnostics.add(entry.diagnostic("url", message=problem))
    body = said_body(spec)
    headers = ((("headers", key), value) for key, value in spec.headers.items())
    texts = [*texts_in(spec.url, ("url",)), *headers, *texts_in(body, ("body",))]
    for keys, text in texts:
        check_template(entry, keys, text, HTTP_SLOTS, context)
    check_body(entry, spec, context)
    _check_hearing(entry, spec, [text for _, text in texts], context)
    _check_places(entry, spec, context)
    check_key(entry, key=spec.key, context=context, environ=environ)
    _check_key_header(entry, spec, context)
    for name in spec.headers:
        if problem := header_problem(name, "`headers` holds"):
            context.diagnostics.add(entry.diagnostic("headers", name, message=problem))
    return HttpEndpoint(
        url=without_userinfo(spec.url),
        reply="text" if isinstance(spec.reply, PatternSpec) else spec.reply,
        reply_pattern=spec.reply.regex if isinstance(spec.reply, PatternSpec) else "",
        stream=spec.stream,
        session=spec.session,
        body=json.dumps(body, ensure_ascii=False),
        body_as=spec.body_as,
        method=spec.method,
        headers=dict(spec.headers),
        key=spec.key,
        key_header="" if spec.key_header.lower() == "authorization" else spec.key_header,
        timeout_s=spec.timeout,
        public_only=spec.public_only,
        parallel=spec.parallel,
    )


def _check_key_header(entry: Entry[Spec], spec: HttpSpec, context: LoadContext) -> None:
    """Add an error if a header has an invalid name or value, or conflicts with another setting."""
    name = spec.key_header
    if not name:
        return
    if problem := header_problem(name):
        message = problem
    elif not spec.key:
        message = "`key_header` needs `key`: the name of the environment variable that holds the token"
    elif name.lower() in map(str.lower, spec.headers):
        message = f"`key_header` and `headers` both set `{name}`; leave it out of `headers`"
    else:
        return
    context.diagnostics.add(entry.diagnostic("key_header", message=message))


def _check_hearing(entry: Entry[Spec], spec: HttpSpec, texts: list[str], context: LoadContext) -> None:
    """Add an error if no request contains the prompt."""
    if spec.method == "GET" and spec.body not in (None, ""):
        return  # its own fault
    required = {"prompt", "history"}
    if not any(syntax_problem(text) or unfilled(text, HTTP_SLOTS) or required & variables(text) for text in texts):
        message = (
            "{{ prompt }} stands nowhere in `url`, `body` or `headers`, so the application would never hear what is"
            ' said to it; e.g. body: {message: "{{ prompt }}"}'
        )
        context.diagnostics.add(entry.diagnostic("url", message=message))


def _check_places(entry: Entry[Spec], spec: HttpSpec, context: LoadContext) -> None:
    """Add errors if the reply or the session id cannot be extracted as configured."""
    if isinstance(spec.reply, PatternSpec):
        try:
            re.compile(spec.reply.regex)
        except re.error as error:
            message = f"`regex` is not a regular expression: {error}"
            context.diagnostics.add(entry.diagnostic("reply", "regex", message=message))
    elif spec.reply != "text" and not _REPLY.fullmatch(spec.reply):
        message = (
            f"`reply` is `{spec.reply}`; expected a path such as `$.text` or `$.choices[0].text`, `text`,"
            " or {regex: ...}"
        )
        context.diagnostics.add(entry.diagnostic("reply", message=message))
    if spec.session and not _REPLY.fullmatch(spec.session):
        message = f"`session` is `{spec.session}`; expected a path such as `$.conversation_id`"
        context.diagnostics.add(entry.diagnostic("session", message=message))


_NAMES = {dict: "a mapping", list: "a list", str: "a text", bool: "true or false", type(None): "empty"}

_FORM = "application/x-www-form-urlencoded"

_VALUES = "a text, a number, true or false, or a list of such"


def said_body(spec: HttpSpec) -> Any:
    """Return the body in a study file, with the types of YAML; an empty mapping if there is none."""
    return {} if _is_without(spec) else typed(spec.body)


def check_body(entry: Entry[Spec], spec: HttpSpec, context: LoadContext) -> None:
    """Add errors for a body that cannot be sent in its format, or that contradicts a header."""
    if spec.method == "GET" and not _is_without(spec):
        message = "`method: GET` sends no body; put {{ prompt }} into `url`, or choose POST"
        context.diagnostics.add(entry.diagnostic("body", message=message))
    elif spec.body_as is BodyFormat.FORM:
        for keys, message in _problems_of_form(spec):
            context.diagnostics.add(entry.diagnostic(*keys, message=message))
    if header := next((name for name in spec.headers if name.lower() == "content-type"), ""):
        _check_header(entry, spec, context, header)


def _is_without(spec: HttpSpec) -> bool:
    return spec.body in (None, "")


def _problems_of_form(spec: HttpSpec) -> Iterator[tuple[Keys, str]]:
    body = said_body(spec)
    if _is_without(spec) and spec.method == "GET":
        yield ("body_as",), "`method: GET` sends no body; leave `body_as` out, or choose POST"
    elif _is_without(spec):
        yield ("body_as",), '`body_as: form` needs `body`, field to text; e.g. body: {message: "{{ prompt }}"}'
    elif not isinstance(body, dict):
        message = f"`body` is {_named(body)}; a form is a mapping from field to text, e.g."
        yield ("body",), message + ' body: {message: "{{ prompt }}"}'
    else:
        for field, value in body.items():
            yield from _problems_of_field(str(field), value, ("body", field))


def _problems_of_field(field: str, value: Any, keys: Keys) -> Iterator[tuple[Keys, str]]:
    if isinstance(value, dict):
        inner = next(iter(value), "name")
        remedy = f"fields stand side by side, e.g. `{field}[{inner}]: ...`"
        yield keys, f"field `{field}` of the form is a mapping; expected {_VALUES}; {remedy}"
    elif value is None:
        yield keys, f'field `{field}` of the form is empty; expected {_VALUES}; write "" for a field without text'
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, dict | list) or item is None:
                message = f"an item of field `{field}` of the form is {_named(item)}; expected a text or a number"
                yield (*keys, index), message


def _check_header(entry: Entry[Spec], spec: HttpSpec, context: LoadContext, header: str) -> None:
    """Add an error if a header contradicts the form encoding."""
    says_form = spec.headers[header].strip().lower().startswith(_FORM)
    if spec.body_as is BodyFormat.FORM and not says_form:
        message = f"`body_as: form` and `{header}` say different things of the body; leave the header out"
    elif spec.body_as is BodyFormat.JSON and says_form and not _is_without(spec):
        message = (
            f"`{header}` announces a form and `body` goes as JSON; write `body_as: form`, and leave the header out"
        )
    else:
        return
    context.diagnostics.add(entry.diagnostic("headers", header, message=message))


def _named(value: Any) -> str:
    return _NAMES.get(type(value), "a number")


def http_from_domain(connection: HttpEndpoint) -> dict[str, Any]:
    """Return the keys of an application of kind `http`."""
    return without_empty(
        kind="http",
        url=connection.url,
        method=connection.method,
        headers=dict(connection.headers),
        body=json.loads(connection.body),
        body_as="" if connection.body_as is BodyFormat.JSON else connection.body_as.value,
        reply={"regex": connection.reply_pattern} if connection.reply_pattern else connection.reply,
        stream=connection.stream or None,
        session=connection.session,
        public_only=connection.public_only or None,
        key=connection.key,
        key_header=connection.key_header,
        timeout=connection.timeout_s,
        connection=connection_from_domain(connection.network),
        parallel=connection.parallel,
    )
