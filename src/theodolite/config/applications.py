"""Applications as domain records, and the faults of how they are reached."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from theodolite.config.connections import network_settings
from theodolite.config.endpoints import check_key, header_problem, url_problem
from theodolite.config.http_bodies import check_body, said_body, texts_in
from theodolite.config.lookup import Entry, LoadContext
from theodolite.config.specs.applications import (
    ApplicationSpec,
    AriaSpec,
    CodeSpec,
    HttpSpec,
    PatternSpec,
    PromptedModelSpec,
    PythonSpec,
    RecordedSpec,
)
from theodolite.config.study_code import foreign_module
from theodolite.config.templates import place_of, syntax_problem, unfilled, variables
from theodolite.domain.address import without_userinfo
from theodolite.domain.application import (
    ARIA_SLOTS,
    HTTP_SLOTS,
    Application,
    AriaClass,
    Claim,
    Connection,
    HttpEndpoint,
    Mitigation,
    PromptedModel,
    PythonCallable,
    Runtime,
)
from theodolite.domain.fault import did_you_mean
from theodolite.domain.network_settings import NetworkSettings

A = TypeVar("A", bound=ApplicationSpec)

_TARGET = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_FILE_TARGET = re.compile(r"[^:]+\.py:[A-Za-z_]\w*")
_REPLY = re.compile(r"\$(?:\.[A-Za-z_][\w-]*|\[\d+\]|\['[^']+'\]|\[\"[^\"]+\"\])*")


def live_application(
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
        connection = replace(_http(entry, spec, context, environ), network=settings)
    elif isinstance(spec, PythonSpec):
        connection = _callable(entry, spec, context)
    elif isinstance(spec, AriaSpec):
        connection = _aria(entry, spec, context, environ)
    return None if connection is None else named(entry, entry.name, connection)


def named(entry: Entry[A], name: str, connection: Connection) -> Application:
    """Return an application with what every application says of itself."""
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
        mitigations=tuple(Mitigation(name=key, description=words) for key, words in pairs),
        guardrails=spec.guardrails,
        variant_of=spec.variant_of,
        scenarios=tuple(spec.scenarios),
    )


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
    _check_template(entry, ("system",), spec.system, ("context",), context)
    texts = {name: context.text(entry, "context", place, name=name) for place, name in enumerate(spec.context)}
    return PromptedModel(
        model=spec.model,
        system=spec.system,
        context={name: text for name, text in texts.items() if text is not None},
    )


def _offers(section: str, names: tuple[str, ...]) -> str:
    return f"; `{section}` has {', '.join(names)}" if names else f"; `{section}` is empty"


def _http(entry: Entry[Any], spec: HttpSpec, context: LoadContext, environ: Mapping[str, str] | None) -> HttpEndpoint:
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
        _check_template(entry, keys, text, HTTP_SLOTS, context)
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


def _check_template(
    entry: Entry[Any], keys: tuple[str | int, ...], text: str, known: tuple[str, ...], context: LoadContext
) -> None:
    problem = syntax_problem(text)
    if problem:
        context.diagnostics.add(entry.fault(*keys, message=problem))
    for variable in unfilled(text, known):
        tail = did_you_mean(variable, known) or f"; known here: {', '.join(known)}"
        message = f"{{{{ {variable} }}}} is filled by nothing{tail}"
        context.diagnostics.add(entry.fault(*keys, message=message, words=place_of(variable, text)))


def _callable(entry: Entry[Any], spec: PythonSpec, context: LoadContext) -> PythonCallable:
    check_target(entry, "call", spec.call, "function", context)
    return PythonCallable(
        target=spec.call,
        runtime=runtime_of(entry, spec, context),
        markup=spec.markup,
        timeout_s=spec.timeout,
        parallel=spec.parallel,
    )


def _aria(entry: Entry[Any], spec: AriaSpec, context: LoadContext, environ: Mapping[str, str] | None) -> AriaClass:
    check_target(entry, "class", spec.target, "Class", context)
    check_key(entry, key=spec.auth, at="auth", context=context, environ=environ)
    for keys, text in texts_in(spec.init, ("init",)):
        _check_template(entry, keys, text, INIT_SLOTS, context)
    _check_template(entry, ("prompt",), spec.prompt, ARIA_SLOTS, context)
    if spec.prompt and "prompt" not in variables(spec.prompt):
        message = "`prompt` must hold {{ prompt }}, or the application would never hear what is said to it"
        context.diagnostics.add(entry.fault("prompt", message=message))
    return AriaClass(
        target=spec.target,
        runtime=runtime_of(entry, spec, context),
        init=json.dumps(spec.init, ensure_ascii=False),
        auth=spec.auth,
        prompt=spec.prompt,
        markup=spec.markup,
        timeout_s=spec.timeout,
        parallel=spec.parallel,
    )


INIT_SLOTS = ("auth",)
"""What the templates of a constructor's arguments may name."""


def runtime_of(entry: Entry[Any], spec: CodeSpec, context: LoadContext) -> Runtime:
    """Return how an application's processes are set up; adds faults where that cannot be."""
    path = context.find(spec.requirements) if spec.requirements else context.folder
    if not isinstance(path, Path):
        message = context.no_such_file(spec.requirements) if path is None else path.message
        context.diagnostics.add(entry.fault("requirements", message=message))
    return runtime_with(spec, python=_interpreter(entry, spec.python, context), requirements=spec.requirements)


def runtime_with(spec: CodeSpec, *, python: str, requirements: str = "") -> Runtime:
    """Return how an application's processes are set up.

    Args:
        spec: The keys of the study file.
        python: Path of the interpreter; empty for the one that runs Theodolite.
        requirements: File of libraries; empty for none.
    """
    network = spec.network
    return Runtime(
        isolation=spec.isolation,
        env=tuple(spec.env),
        network=None if network is None else () if network == "none" else tuple(network),
        python=python,
        requirements=requirements,
        memory_mb=spec.memory_mb,
        cpu_s=spec.cpu_seconds,
        sessions=spec.sessions,
    )


def _interpreter(entry: Entry[Any], python: str, context: LoadContext) -> str:
    """Return the path of the interpreter that a study names, a program or a virtual environment's folder."""
    if not python:
        return ""
    found = interpreter_at(python, context.folder)
    if found is None:
        message = (
            f"there is no interpreter `{python}`; expected a program such as `python3.10`, or a path to one or to a"
            " virtual environment, relative to the study's folder"
        )
    elif _is_script(found):
        message = (
            f"`{python}` is a script and no interpreter, so that its version cannot be told; give the path of the"
            " interpreter that it starts, or of a virtual environment"
        )
    else:
        return os.path.abspath(found)  # not resolved: a link is how a virtual environment is known  # noqa: PTH100
    context.diagnostics.add(entry.fault("python", message=message))
    return ""


def interpreter_at(python: str, folder: Path) -> Path | None:
    """Return the interpreter of that name, path or virtual environment; None where there is none.

    Args:
        python: A program such as `python3.10`, or the path of one or of a virtual environment.
        folder: Folder in which a relative path begins.
    """
    path = folder / Path(python).expanduser()
    inside = [path / "bin" / "python", path / "Scripts" / "python.exe"] if path.is_dir() else [path]
    found = next((program for program in inside if program.is_file()), None)
    if found is None and Path(python).name == python and (program := shutil.which(python)):
        return Path(program)
    return found


def _is_script(program: Path) -> bool:
    with program.open("rb") as file:
        return file.read(2) == b"#!"


def check_target(entry: Entry[Any], key: str, target: str, form: str, context: LoadContext) -> None:
    """Add what is wrong with the name of a function or class."""
    if _FILE_TARGET.fullmatch(target):
        name = target.rpartition(":")[0]
        path = context.find(name)
        if isinstance(path, Path):
            context.code.add(context.named(path))
            _check_code(entry, key, target, form, context)
            return
        message = context.no_such_file(name) if path is None else path.message
        context.diagnostics.add(entry.fault(key, message=message))
    elif _TARGET.fullmatch(target):
        if problem := foreign_module(target, context.paths):
            context.diagnostics.add(entry.fault(key, message=problem))
        else:
            _check_code(entry, key, target, form, context)
    else:
        message = f"`{key}` is `{target}`; expected `module:{form}` or `file.py:{form}`"
        context.diagnostics.add(entry.fault(key, message=message))


def code_hash(entry: Entry[Any], key: str, target: str, form: str, context: LoadContext) -> str:
    """Return the hash of the file that a target names; empty where it names a module."""
    check_target(entry, key, target, form, context)
    path = context.find(target.rpartition(":")[0]) if _FILE_TARGET.fullmatch(target) else None
    return hashlib.sha256(context.bytes_of(path)).hexdigest() if isinstance(path, Path) else ""


def _check_code(entry: Entry[Any], key: str, target: str, form: str, context: LoadContext) -> None:
    """Add what is wrong with a function or class that cannot be had, if anybody asks for that."""
    if not context.looks_at_code:
        return
    from theodolite.config.own_code import code_problem

    if problem := code_problem(target, folder=context.folder, form=form):
        context.diagnostics.add(entry.fault(key, message=problem.words, severity=problem.severity))
