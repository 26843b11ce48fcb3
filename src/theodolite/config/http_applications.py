"""Applications of kind `http`: endpoints that take a prompt and return a reply."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from theodolite.config.application_spec import ApplicationSpec, Keys, check_template, texts_in
from theodolite.config.connections import (
    ConnectionSpec,
    check_key,
    connection_from_domain,
    header_problem,
    url_problem,
)
from theodolite.config.load_context import Entry, LoadContext
from theodolite.config.spec import KIND, Filled, Spec, YesNo, form_of, without_empty
from theodolite.config.templates import syntax_problem, unfilled, variables
from theodolite.config.yaml_source import typed
from theodolite.domain.address import without_userinfo
from theodolite.domain.application import (
    HTTP_SLOTS,
    BodyFormat,
    HttpEndpoint,
)


class PatternSpec(Spec):
    """A regular expression that finds the reply."""

    regex: Filled
    """Regular expression over the whole answer; its first group, or all of it, is the reply."""


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
    """Whether the answer is a stream of events (SSE), each with a part of the reply at `reply`."""
    session: str = ""
    """Location of the endpoint's session id in its first answer, e.g. `$.id`; `{{ session }}` is empty until then."""
    key: str = ""
    """Name of the environment variable with the token."""
    key_header: str = ""
    """Header with only the token, e.g. `X-Api-Key`; default: `Authorization: Bearer`."""
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
    entry: Entry[Any], spec: HttpSpec, context: LoadContext, environ: Mapping[str, str] | None
) -> HttpEndpoint:
    """Return the endpoint of an application of kind `http`."""
    problem = url_problem(spec.url)
    fixed, slot, _ = spec.url.partition("{")
    if slot and not problem and "/" not in fixed.partition("//")[2]:
        problem = "`url` has a template before its path; host and port must be fixed, so that no prompt chooses them"
    if problem:
        context.diagnostics.add(entry.fault("url", message=problem))
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
            context.diagnostics.add(entry.fault("headers", name, message=problem))
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


def _check_key_header(entry: Entry[Any], spec: HttpSpec, context: LoadContext) -> None:
    """Add a fault where no header can be called so, where it would carry nothing, or something else as well."""
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
    context.diagnostics.add(entry.fault("key_header", message=message))


def _check_hearing(entry: Entry[Any], spec: HttpSpec, texts: list[str], context: LoadContext) -> None:
    """Add a fault where no request carries what is said."""
    if spec.method == "GET" and spec.body not in (None, ""):
        return  # a fault of its own
    heard = {"prompt", "history"}
    if not any(syntax_problem(text) or unfilled(text, HTTP_SLOTS) or heard & variables(text) for text in texts):
        message = (
            "{{ prompt }} stands nowhere in `url`, `body` or `headers`, so the application would never hear what is"
            ' said to it; e.g. body: {message: "{{ prompt }}"}'
        )
        context.diagnostics.add(entry.fault("url", message=message))


def _check_places(entry: Entry[Any], spec: HttpSpec, context: LoadContext) -> None:
    """Add faults where the reply or the session id cannot be found in the way that is written."""
    if isinstance(spec.reply, PatternSpec):
        try:
            re.compile(spec.reply.regex)
        except re.error as error:
            message = f"`regex` is no regular expression: {error}"
            context.diagnostics.add(entry.fault("reply", "regex", message=message))
    elif spec.reply != "text" and not _REPLY.fullmatch(spec.reply):
        message = (
            f"`reply` is `{spec.reply}`; expected a path such as `$.text` or `$.choices[0].text`, `text`,"
            " or {regex: ...}"
        )
        context.diagnostics.add(entry.fault("reply", message=message))
    if spec.session and not _REPLY.fullmatch(spec.session):
        message = f"`session` is `{spec.session}`; expected a path such as `$.conversation_id`"
        context.diagnostics.add(entry.fault("session", message=message))


_NAMES = {dict: "a mapping", list: "a list", str: "a text", bool: "true or false", type(None): "empty"}

_FORM = "application/x-www-form-urlencoded"

_VALUES = "a text, a number, true or false, or a list of such"


def said_body(spec: HttpSpec) -> Any:
    """Return the body that a study file says, with the types of YAML; an empty mapping where it says none."""
    return {} if _is_without(spec) else typed(spec.body)


def check_body(entry: Entry[Any], spec: HttpSpec, context: LoadContext) -> None:
    """Add faults of a body that cannot be sent as it is to be written, or that a header calls something else."""
    if spec.method == "GET" and not _is_without(spec):
        message = "`method: GET` sends no body; put {{ prompt }} into `url`, or choose POST"
        context.diagnostics.add(entry.fault("body", message=message))
    elif spec.body_as is BodyFormat.FORM:
        for keys, message in _faults_of_form(spec):
            context.diagnostics.add(entry.fault(*keys, message=message))
    if header := next((name for name in spec.headers if name.lower() == "content-type"), ""):
        _check_header(entry, spec, context, header)


def _is_without(spec: HttpSpec) -> bool:
    return spec.body in (None, "")


def _faults_of_form(spec: HttpSpec) -> Iterator[tuple[Keys, str]]:
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
            yield from _faults_of_field(str(field), value, ("body", field))


def _faults_of_field(field: str, value: Any, keys: Keys) -> Iterator[tuple[Keys, str]]:
    if isinstance(value, dict):
        inner = next(iter(value), "name")
        remedy = f"fields stand side by side, e.g. `{field}[{inner}]: ...`"
        yield keys, f"field `{field}` of the form is a mapping; expected {_VALUES}; {remedy}"
    elif value is None:
        yield keys, f'field `{field}` of the form is empty; expected {_VALUES}; write "" for a field without text'
    elif isinstance(value, list):
        for place, item in enumerate(value):
            if isinstance(item, dict | list) or item is None:
                message = f"an item of field `{field}` of the form is {_named(item)}; expected a text or a number"
                yield (*keys, place), message


def _check_header(entry: Entry[Any], spec: HttpSpec, context: LoadContext, header: str) -> None:
    """Add a fault where a header says a form is sent and none is, or the other way round."""
    says_form = spec.headers[header].strip().lower().startswith(_FORM)
    if spec.body_as is BodyFormat.FORM and not says_form:
        message = f"`body_as: form` and `{header}` say different things of the body; leave the header out"
    elif spec.body_as is BodyFormat.JSON and says_form and not _is_without(spec):
        message = (
            f"`{header}` announces a form and `body` goes as JSON; write `body_as: form`, and leave the header out"
        )
    else:
        return
    context.diagnostics.add(entry.fault("headers", header, message=message))


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
