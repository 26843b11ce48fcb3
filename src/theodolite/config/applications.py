"""The `applications` section: applications under test by kind, and those that run the code of a study."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypeGuard

from pydantic import Discriminator, Field, Tag

from theodolite.config.connections import (
    ApplicationSpec,
    HttpSpec,
    check_key,
    check_template,
    http_from_domain,
    http_to_domain,
    named,
    network_settings,
    shared_from_domain,
    texts_in,
)
from theodolite.config.load_context import Entry, LoadContext, no_plugin_part
from theodolite.config.recordings import RecordedSpec
from theodolite.config.required_access import code_problem, foreign_module
from theodolite.config.validation import KIND, Filled, Spec, form_of, variables, without_empty
from theodolite.domain.application import (
    ARIA_SLOTS,
    Application,
    AriaClass,
    Connection,
    HttpEndpoint,
    Isolation,
    Markup,
    PromptedModel,
    PythonCallable,
    RecordedFile,
    Runtime,
)
from theodolite.domain.errors import did_you_mean
from theodolite.domain.network import NetworkSettings


class CodeSpec(ApplicationSpec):
    """Settings of the processes that run an application's code."""

    isolation: Isolation = Isolation.APPLICATION
    """`application`: one process for all sessions; `session`: one each, e.g. for classes with one instance."""
    python: str = ""
    """Interpreter or virtual environment for the code; default: the one that runs Theodolite."""
    requirements: str = ""
    """File of libraries (`requirements.txt`); Theodolite installs them into a separate environment."""
    env: list[Filled] = Field(default_factory=list)
    """Names of further environment variables for the code, in addition to `PATH`, `HOME` etc."""
    network: Network | None = None
    """Hosts that the code may connect to, e.g. `[models.example, "127.0.0.1:8000"]`; `none` for no host."""
    memory_mb: int = Field(default=0, ge=0)
    """Maximum memory of a process in MB, if the system supports limits; 0 for no limit."""
    cpu_seconds: int = Field(default=0, ge=0)
    """Maximum CPU time of a process in seconds, if the system supports limits; 0 for no limit."""
    sessions: int = Field(default=0, ge=0)
    """Maximum number of open sessions; 0 for no limit. For a class, `parallel: 1` means one."""
    ignore: list[Filled] = Field(default_factory=list)
    """Patterns of files in the application's folder to exclude from its version, e.g. `["cache/*", "*.db"]`."""
    markup: Markup = Markup.TEXT
    """`html` converts HTML replies to text."""


class PythonSpec(CodeSpec):
    """A Python function from prompt to reply."""

    kind: Literal["python"]
    """`python`: a function, sync or async."""
    call: Filled
    """`module:function`, `file.py:function`, or an application of a plugin, e.g. `our-house/echo`."""
    timeout: float = Field(default=60.0, gt=0)
    """Timeout of one reply; seconds."""
    parallel: int = Field(default=16, ge=1)
    """Maximum number of concurrent calls, each on its own thread."""


class AriaSpec(CodeSpec):
    """A class written for NIST's dialogue interface."""

    kind: Literal["aria"]
    """`aria`: a class with ARIA's dialogue interface."""
    target: Filled = Field(alias="class")
    """`module:Class`, `file.py:Class`, or an application of a plugin."""
    init: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the constructor; `{{ auth.NAME }}` inserts a credential."""
    auth: str = ""
    """Name of the environment variable with the credentials as a JSON object; `ARIA_AUTH_JSON` if that is set."""
    prompt: str = ""
    """Argument of `GetResponse`, a template with `prompt`, `context` and `turn`; default: only the prompt."""
    timeout: float = Field(default=60.0, gt=0)
    """Timeout of one call; seconds."""
    parallel: int = Field(default=16, ge=1)
    """Maximum number of concurrent sessions, each on its own thread."""


_TARGET = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")

_FILE_TARGET = re.compile(r"[^:]+\.py:[A-Za-z_]\w*")


def python_to_domain(entry: Entry[Spec], spec: PythonSpec, context: LoadContext) -> PythonCallable:
    """Return the function of an application of kind `python`."""
    target = _target_of(entry, "call", spec.call, "function", context)
    return PythonCallable(
        target=target,
        runtime=runtime_of(entry, spec, context),
        markup=spec.markup,
        timeout_s=spec.timeout,
        parallel=spec.parallel,
    )


def aria_to_domain(
    entry: Entry[Spec], spec: AriaSpec, context: LoadContext, environ: Mapping[str, str] | None
) -> AriaClass:
    """Return the class of an application of kind `aria`."""
    target = _target_of(entry, "class", spec.target, "Class", context)
    check_key(entry, key=spec.auth, at="auth", context=context, environ=environ)
    for keys, text in texts_in(spec.init, ("init",)):
        check_template(entry, keys, text, INIT_SLOTS, context)
    check_template(entry, ("prompt",), spec.prompt, ARIA_SLOTS, context)
    if spec.prompt and "prompt" not in variables(spec.prompt):
        message = "`prompt` must hold {{ prompt }}, or the application would never hear what is said to it"
        context.diagnostics.add(entry.diagnostic("prompt", message=message))
    return AriaClass(
        target=target,
        runtime=runtime_of(entry, spec, context),
        init=json.dumps(spec.init, ensure_ascii=False),
        auth=spec.auth,
        prompt=spec.prompt,
        markup=spec.markup,
        timeout_s=spec.timeout,
        parallel=spec.parallel,
    )


INIT_SLOTS = ("auth",)
"""Names that templates of a constructor's arguments may use."""


def runtime_of(entry: Entry[Spec], spec: CodeSpec, context: LoadContext) -> Runtime:
    """Return the settings of an application's processes; adds errors if they are invalid."""
    path = context.find(spec.requirements) if spec.requirements else context.folder
    if not isinstance(path, Path):
        message = context.no_such_file(spec.requirements) if path is None else path.message
        context.diagnostics.add(entry.diagnostic("requirements", message=message))
    return runtime_with(spec, python=_interpreter(entry, spec.python, context), requirements=spec.requirements)


def runtime_with(spec: CodeSpec, *, python: str, requirements: str = "") -> Runtime:
    """Return the settings of an application's processes.

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


def _interpreter(entry: Entry[Spec], python: str, context: LoadContext) -> str:
    """Return the path of the interpreter that a study names, a program or a virtual environment's folder."""
    if not python:
        return ""
    result = interpreter_at(python, context.folder)
    if result is None:
        message = (
            f"there is no interpreter `{python}`; expected a program such as `python3.10`, or a path to one or to a"
            " virtual environment, relative to the study's folder"
        )
    elif _is_script(result):
        message = (
            f"`{python}` is a script and not an interpreter, so its version cannot be determined; give the path of the"
            " interpreter that it starts, or of a virtual environment"
        )
    else:
        return os.path.abspath(result)  # not resolved: a link is how a virtual environment is known  # noqa: PTH100
    context.diagnostics.add(entry.diagnostic("python", message=message))
    return ""


def interpreter_at(python: str, folder: Path) -> Path | None:
    """Return the interpreter of that name, path or virtual environment; None if there is none.

    Args:
        python: A program such as `python3.10`, or the path of a program or virtual environment.
        folder: Base folder of relative paths.
    """
    path = folder / Path(python).expanduser()
    inside = [path / "bin" / "python", path / "Scripts" / "python.exe"] if path.is_dir() else [path]
    result = next((program for program in inside if program.is_file()), None)
    if result is None and Path(python).name == python and (program := shutil.which(python)):
        return Path(program)
    return result


def _is_script(program: Path) -> bool:
    with program.open("rb") as file:
        return file.read(2) == b"#!"


def is_plugin_name(target: str) -> bool:
    """Whether a target names a part of a plugin, e.g. `our-house/echo`, rather than code.

    Example:
        >>> is_plugin_name("our-house/echo"), is_plugin_name("bots/echo.py:reply"), is_plugin_name("our_house:echo")
        (True, False, False)
    """
    return "/" in target and ":" not in target and not target.endswith(".py")


def _target_of(entry: Entry[Spec], key: str, target: str, form: str, context: LoadContext) -> str:
    """Return the function or class of an application, which may come from a plugin; adds errors if there is none."""
    if is_plugin_name(target):
        named = context.resolver.applications.get(target)
        if named is None:
            context.diagnostics.add(
                entry.diagnostic(key, message=no_plugin_part("application", target, context.resolver.applications))
            )
            return target
        target = named
    check_target(entry, key, target, form, context)
    return target


def check_target(entry: Entry[Spec], key: str, target: str, form: str, context: LoadContext) -> None:
    """Add the error in the name of a function or class."""
    if _FILE_TARGET.fullmatch(target):
        name = target.rpartition(":")[0]
        path = context.find(name)
        if isinstance(path, Path):
            context.code.add(context.named(path))
            _check_code(entry, key, target, form, context)
            return
        message = context.no_such_file(name) if path is None else path.message
        context.diagnostics.add(entry.diagnostic(key, message=message))
    elif _TARGET.fullmatch(target):
        if problem := foreign_module(target, context.paths):
            context.diagnostics.add(entry.diagnostic(key, message=problem))
        else:
            _check_code(entry, key, target, form, context)
    else:
        message = f"`{key}` is `{target}`; expected `module:{form}` or `file.py:{form}`"
        context.diagnostics.add(entry.diagnostic(key, message=message))


def code_hash(entry: Entry[Spec], key: str, target: str, form: str, context: LoadContext) -> str:
    """Return the hash of the file that a target names; empty if it names a module."""
    check_target(entry, key, target, form, context)
    path = context.find(target.rpartition(":")[0]) if _FILE_TARGET.fullmatch(target) else None
    return hashlib.sha256(context.bytes_of(path)).hexdigest() if isinstance(path, Path) else ""


def _check_code(entry: Entry[Spec], key: str, target: str, form: str, context: LoadContext) -> None:
    """Add an error for a function or class that cannot be imported, if requested."""
    if not context.looks_at_code:
        return
    if problem := code_problem(target, folder=context.folder, form=form):
        context.diagnostics.add(entry.diagnostic(key, message=problem.words, severity=problem.severity))


def python_from_domain(connection: PythonCallable) -> dict[str, Any]:
    """Return the keys of an application of kind `python`."""
    return without_empty(
        kind="python",
        call=connection.target,
        **_runtime_from_domain(connection),
        timeout=connection.timeout_s,
        parallel=connection.parallel,
    )


def aria_from_domain(connection: AriaClass) -> dict[str, Any]:
    """Return the keys of an application of kind `aria`."""
    return without_empty(
        kind="aria",
        **{"class": connection.target},
        init=json.loads(connection.init),
        auth=connection.auth,
        prompt=connection.prompt,
        **_runtime_from_domain(connection),
        timeout=connection.timeout_s,
        parallel=connection.parallel,
    )


def _runtime_from_domain(connection: PythonCallable | AriaClass) -> dict[str, Any]:
    """Return the settings of processes without `ignore`, which a stored study does not contain."""
    runtime = connection.runtime
    return {
        "isolation": "" if runtime.isolation is Isolation.APPLICATION else runtime.isolation.value,
        "python": runtime.python,
        "requirements": runtime.requirements,
        "env": list(runtime.env),
        "network": None if runtime.network is None else list(runtime.network) or "none",
        "memory_mb": runtime.memory_mb or None,
        "cpu_seconds": runtime.cpu_s or None,
        "sessions": runtime.sessions or None,
        "markup": "" if connection.markup is Markup.TEXT else connection.markup.value,
    }


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
    entry: Entry[ApplicationSpec],
    context: LoadContext,
    *,
    models: tuple[str, ...],
    environ: Mapping[str, str] | None,
    network: NetworkSettings | None = None,
) -> Application | None:
    """Return a live application; None for a recorded one, which its file describes.

    Args:
        entry: The entry, of any kind.
        context: Collects the errors.
        models: Names of the study's models.
        environ: The environment, to check which keys are set.
        network: Proxy and certificates of the study's calls; None if not configured.
    """
    spec = entry.spec
    connection: Connection | None = None
    if isinstance(spec, PromptedModelSpec):
        connection = _prompted(entry, spec, context, models)
    elif isinstance(spec, HttpSpec):
        settings = network_settings(entry, spec.connection, context, environ, network)
        connection = replace(http_to_domain(entry, spec, context, environ), network=settings)
    elif isinstance(spec, PythonSpec):
        connection = python_to_domain(entry, spec, context)
    elif isinstance(spec, AriaSpec):
        connection = aria_to_domain(entry, spec, context, environ)
    return None if connection is None else named(entry, entry.name, connection)


def is_recorded(entry: Entry[Spec]) -> TypeGuard[Entry[RecordedSpec]]:
    """Return whether an application's replies come from a file."""
    return isinstance(entry.spec, RecordedSpec)


def _prompted(
    entry: Entry[Spec], spec: PromptedModelSpec, context: LoadContext, models: tuple[str, ...]
) -> PromptedModel:
    if spec.model not in models:
        wording = f"application `{entry.name}` names a model `{spec.model}` that the study does not have"
        message = wording + (did_you_mean(spec.model, models) or _offers("models", models))
        context.diagnostics.add(entry.diagnostic("model", message=message))
    check_template(entry, ("system",), spec.system, ("context",), context)
    texts = {name: context.text(entry, "context", index, name=name) for index, name in enumerate(spec.context)}
    return PromptedModel(
        model=spec.model,
        system=spec.system,
        context={name: text for name, text in texts.items() if text is not None},
    )


def _offers(section: str, names: tuple[str, ...]) -> str:
    return f"; `{section}` has {', '.join(names)}" if names else f"; `{section}` is empty"


def applications_from_domain(applications: Iterable[Application]) -> dict[str, Any]:
    """Return the applications; merges those that were split from one recorded file."""
    stored: dict[str, Any] = {}
    for application in applications:
        connection = application.connection
        if isinstance(connection, RecordedFile) and connection.where:
            name = f"recorded in {connection.file}"
        else:
            name = application.name
        stored.setdefault(name, _connection_from_domain(application) | shared_from_domain(application))
    return stored


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


Network: TypeAlias = Annotated[
    Annotated[Literal["none"], Tag(KIND + "text")] | Annotated[list[Filled], Tag(KIND + "list")],
    Discriminator(form_of),
]
"""No host, or a list of hosts."""
