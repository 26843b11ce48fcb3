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
from theodolite.config.lookup import Desk, Entry
from theodolite.config.shapes.applications import (
    ApplicationShape,
    AriaShape,
    CodeShape,
    HttpShape,
    PatternShape,
    PromptedModelShape,
    PythonShape,
    RecordedShape,
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

A = TypeVar("A", bound=ApplicationShape)

_TARGET = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_FILE_TARGET = re.compile(r"[^:]+\.py:[A-Za-z_]\w*")
_REPLY = re.compile(r"\$(?:\.[A-Za-z_][\w-]*|\[\d+\]|\['[^']+'\]|\[\"[^\"]+\"\])*")


def live_application(
    entry: Entry[Any],
    desk: Desk,
    *,
    models: tuple[str, ...],
    environ: Mapping[str, str] | None,
    network: NetworkSettings | None = None,
) -> Application | None:
    """Return a live application; None for a recorded one, which its file describes.

    Args:
        entry: The entry, of any kind.
        desk: Takes the faults.
        models: Names of the study's models.
        environ: The environment, to see which keys are there.
        network: Proxy and certificates of the study's calls; none unless given.
    """
    shape = entry.shape
    connection: Connection | None = None
    if isinstance(shape, PromptedModelShape):
        connection = _prompted(entry, shape, desk, models)
    elif isinstance(shape, HttpShape):
        settings = network_settings(entry, desk, environ, network)
        connection = replace(_http(entry, shape, desk, environ), network=settings)
    elif isinstance(shape, PythonShape):
        connection = _callable(entry, shape, desk)
    elif isinstance(shape, AriaShape):
        connection = _aria(entry, shape, desk, environ)
    return None if connection is None else named(entry, entry.name, connection)


def named(entry: Entry[A], name: str, connection: Connection) -> Application:
    """Return an application with what every application says of itself."""
    shape = entry.shape
    declared = shape.mitigations or {}
    pairs = declared.items() if isinstance(declared, dict) else ((item, "") for item in declared)
    return Application(
        name=name,
        connection=connection,
        description=shape.description,
        claims=tuple(
            Claim(
                text=claim.text,
                kind=claim.kind,
                scripts=tuple(claim.scripts),
                rule=claim.rule,
                untestable=claim.untestable,
            )
            for claim in shape.claims
        ),
        mitigations=tuple(Mitigation(name=key, description=words) for key, words in pairs),
        guardrails=shape.guardrails,
        variant_of=shape.variant_of,
        scenarios=tuple(shape.scenarios),
    )


def is_recorded(entry: Entry[Any]) -> bool:
    """Tell whether an application's replies come from a file."""
    return isinstance(entry.shape, RecordedShape)


def _prompted(entry: Entry[Any], shape: PromptedModelShape, desk: Desk, models: tuple[str, ...]) -> PromptedModel:
    if shape.model not in models:
        words = f"application `{entry.name}` names a model `{shape.model}` that the study does not have"
        message = words + (did_you_mean(shape.model, models) or _offers("models", models))
        desk.complaints.add(entry.fault("model", message=message))
    _check_template(entry, ("system",), shape.system, ("context",), desk)
    texts = {name: desk.text(entry, "context", place, name=name) for place, name in enumerate(shape.context)}
    return PromptedModel(
        model=shape.model,
        system=shape.system,
        context={name: text for name, text in texts.items() if text is not None},
    )


def _offers(section: str, names: tuple[str, ...]) -> str:
    return f"; `{section}` has {', '.join(names)}" if names else f"; `{section}` is empty"


def _http(entry: Entry[Any], shape: HttpShape, desk: Desk, environ: Mapping[str, str] | None) -> HttpEndpoint:
    problem = url_problem(shape.url)
    fixed, slot, _ = shape.url.partition("{")
    if slot and not problem and "/" not in fixed.partition("//")[2]:
        problem = "`url` has a template before its path; host and port must be fixed, so that no prompt chooses them"
    if problem:
        desk.complaints.add(entry.fault("url", message=problem))
    body = said_body(shape)
    headers = ((("headers", key), value) for key, value in shape.headers.items())
    texts = [*texts_in(shape.url, ("url",)), *headers, *texts_in(body, ("body",))]
    for keys, text in texts:
        _check_template(entry, keys, text, HTTP_SLOTS, desk)
    check_body(entry, shape, desk)
    _check_hearing(entry, shape, [text for _, text in texts], desk)
    _check_places(entry, shape, desk)
    check_key(entry, key=shape.key, desk=desk, environ=environ)
    _check_key_header(entry, shape, desk)
    for name in shape.headers:
        if problem := header_problem(name, "`headers` holds"):
            desk.complaints.add(entry.fault("headers", name, message=problem))
    return HttpEndpoint(
        url=without_userinfo(shape.url),
        reply="text" if isinstance(shape.reply, PatternShape) else shape.reply,
        reply_pattern=shape.reply.regex if isinstance(shape.reply, PatternShape) else "",
        stream=shape.stream,
        session=shape.session,
        body=json.dumps(body, ensure_ascii=False),
        body_as=shape.body_as,
        method=shape.method,
        headers=dict(shape.headers),
        key=shape.key,
        key_header="" if shape.key_header.lower() == "authorization" else shape.key_header,
        timeout_s=shape.timeout,
        public_only=shape.public_only,
        parallel=shape.parallel,
    )


def _check_key_header(entry: Entry[Any], shape: HttpShape, desk: Desk) -> None:
    """Add a fault where no header can be called so, where it would carry nothing, or something else as well."""
    name = shape.key_header
    if not name:
        return
    if problem := header_problem(name):
        message = problem
    elif not shape.key:
        message = "`key_header` needs `key`: the name of the environment variable that holds the token"
    elif name.lower() in map(str.lower, shape.headers):
        message = f"`key_header` and `headers` both set `{name}`; leave it out of `headers`"
    else:
        return
    desk.complaints.add(entry.fault("key_header", message=message))


def _check_hearing(entry: Entry[Any], shape: HttpShape, texts: list[str], desk: Desk) -> None:
    """Add a fault where no request carries what is said."""
    if shape.method == "GET" and shape.body not in (None, ""):
        return  # a fault of its own
    heard = {"prompt", "history"}
    if not any(syntax_problem(text) or unfilled(text, HTTP_SLOTS) or heard & variables(text) for text in texts):
        message = (
            "{{ prompt }} stands nowhere in `url`, `body` or `headers`, so the application would never hear what is"
            ' said to it; e.g. body: {message: "{{ prompt }}"}'
        )
        desk.complaints.add(entry.fault("url", message=message))


def _check_places(entry: Entry[Any], shape: HttpShape, desk: Desk) -> None:
    """Add faults where the reply or the session id cannot be found in the way that is written."""
    if isinstance(shape.reply, PatternShape):
        try:
            re.compile(shape.reply.regex)
        except re.error as error:
            message = f"`regex` is no regular expression: {error}"
            desk.complaints.add(entry.fault("reply", "regex", message=message))
    elif shape.reply != "text" and not _REPLY.fullmatch(shape.reply):
        message = (
            f"`reply` is `{shape.reply}`; expected a path such as `$.text` or `$.choices[0].text`, `text`,"
            " or {regex: ...}"
        )
        desk.complaints.add(entry.fault("reply", message=message))
    if shape.session and not _REPLY.fullmatch(shape.session):
        message = f"`session` is `{shape.session}`; expected a path such as `$.conversation_id`"
        desk.complaints.add(entry.fault("session", message=message))


def _check_template(
    entry: Entry[Any], keys: tuple[str | int, ...], text: str, known: tuple[str, ...], desk: Desk
) -> None:
    problem = syntax_problem(text)
    if problem:
        desk.complaints.add(entry.fault(*keys, message=problem))
    for variable in unfilled(text, known):
        tail = did_you_mean(variable, known) or f"; known here: {', '.join(known)}"
        message = f"{{{{ {variable} }}}} is filled by nothing{tail}"
        desk.complaints.add(entry.fault(*keys, message=message, words=place_of(variable, text)))


def _callable(entry: Entry[Any], shape: PythonShape, desk: Desk) -> PythonCallable:
    check_target(entry, "call", shape.call, "function", desk)
    return PythonCallable(
        target=shape.call,
        runtime=runtime_of(entry, shape, desk),
        markup=shape.markup,
        timeout_s=shape.timeout,
        parallel=shape.parallel,
    )


def _aria(entry: Entry[Any], shape: AriaShape, desk: Desk, environ: Mapping[str, str] | None) -> AriaClass:
    check_target(entry, "class", shape.target, "Class", desk)
    check_key(entry, key=shape.auth, at="auth", desk=desk, environ=environ)
    for keys, text in texts_in(shape.init, ("init",)):
        _check_template(entry, keys, text, INIT_SLOTS, desk)
    _check_template(entry, ("prompt",), shape.prompt, ARIA_SLOTS, desk)
    if shape.prompt and "prompt" not in variables(shape.prompt):
        message = "`prompt` must hold {{ prompt }}, or the application would never hear what is said to it"
        desk.complaints.add(entry.fault("prompt", message=message))
    return AriaClass(
        target=shape.target,
        runtime=runtime_of(entry, shape, desk),
        init=json.dumps(shape.init, ensure_ascii=False),
        auth=shape.auth,
        prompt=shape.prompt,
        markup=shape.markup,
        timeout_s=shape.timeout,
        parallel=shape.parallel,
    )


INIT_SLOTS = ("auth",)
"""What the templates of a constructor's arguments may name."""


def runtime_of(entry: Entry[Any], shape: CodeShape, desk: Desk) -> Runtime:
    """Return how an application's processes are set up; adds faults where that cannot be."""
    path = desk.find(shape.requirements) if shape.requirements else desk.folder
    if not isinstance(path, Path):
        message = desk.no_such_file(shape.requirements) if path is None else path.message
        desk.complaints.add(entry.fault("requirements", message=message))
    return runtime_with(shape, python=_interpreter(entry, shape.python, desk), requirements=shape.requirements)


def runtime_with(shape: CodeShape, *, python: str, requirements: str = "") -> Runtime:
    """Return how an application's processes are set up.

    Args:
        shape: The keys of the study file.
        python: Path of the interpreter; empty for the one that runs Theodolite.
        requirements: File of libraries; empty for none.
    """
    network = shape.network
    return Runtime(
        isolation=shape.isolation,
        env=tuple(shape.env),
        network=None if network is None else () if network == "none" else tuple(network),
        python=python,
        requirements=requirements,
        memory_mb=shape.memory_mb,
        cpu_s=shape.cpu_seconds,
        sessions=shape.sessions,
    )


def _interpreter(entry: Entry[Any], python: str, desk: Desk) -> str:
    """Return the path of the interpreter that a study names, a program or a virtual environment's folder."""
    if not python:
        return ""
    found = interpreter_at(python, desk.folder)
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
    desk.complaints.add(entry.fault("python", message=message))
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


def check_target(entry: Entry[Any], key: str, target: str, form: str, desk: Desk) -> None:
    """Add what is wrong with the name of a function or class."""
    if _FILE_TARGET.fullmatch(target):
        name = target.rpartition(":")[0]
        path = desk.find(name)
        if isinstance(path, Path):
            desk.code.add(desk.named(path))
            _check_code(entry, key, target, form, desk)
            return
        message = desk.no_such_file(name) if path is None else path.message
        desk.complaints.add(entry.fault(key, message=message))
    elif _TARGET.fullmatch(target):
        if problem := foreign_module(target, desk.paths):
            desk.complaints.add(entry.fault(key, message=problem))
        else:
            _check_code(entry, key, target, form, desk)
    else:
        message = f"`{key}` is `{target}`; expected `module:{form}` or `file.py:{form}`"
        desk.complaints.add(entry.fault(key, message=message))


def code_hash(entry: Entry[Any], key: str, target: str, form: str, desk: Desk) -> str:
    """Return the hash of the file that a target names; empty where it names a module."""
    check_target(entry, key, target, form, desk)
    path = desk.find(target.rpartition(":")[0]) if _FILE_TARGET.fullmatch(target) else None
    return hashlib.sha256(desk.bytes_of(path)).hexdigest() if isinstance(path, Path) else ""


def _check_code(entry: Entry[Any], key: str, target: str, form: str, desk: Desk) -> None:
    """Add what is wrong with a function or class that cannot be had, if anybody asks for that."""
    if not desk.looks_at_code:
        return
    from theodolite.config.own_code import code_problem

    if problem := code_problem(target, folder=desk.folder, form=form):
        desk.complaints.add(entry.fault(key, message=problem.words, severity=problem.severity))
