"""How an application's processes are set up: interpreter, environment variables, libraries, limits."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from theodolite.domain.annotator import PythonLabeller
from theodolite.domain.application import AriaClass, Isolation, PythonCallable, Runtime
from theodolite.domain.errors import InputError
from theodolite.gateways.applications.worker_process import Launch, Observe, WorkerChannel, WorkerProcess
from theodolite.gateways.applications.workers import ApplicationCode

LOGS_NAME = "logs"
"""Folder within a workspace that takes what applications print."""

ENVIRONMENTS_NAME = "environments"
"""Folder within a workspace that holds virtual environments of applications."""

INSTALL_S = 1800.0
"""Time for the installation of an application's libraries; seconds."""

_USUAL = (
    "PATH HOME USER LOGNAME SHELL TMPDIR TEMP TMP TZ LANG LANGUAGE LD_LIBRARY_PATH DYLD_LIBRARY_PATH SSL_CERT_FILE"
    " SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY XDG_CACHE_HOME"
    " XDG_CONFIG_HOME XDG_DATA_HOME CUDA_VISIBLE_DEVICES OMP_NUM_THREADS SYSTEMROOT WINDIR COMSPEC PATHEXT APPDATA"
    " LOCALAPPDATA USERPROFILE"
)
_USUAL_OF_PIP = frozenset(
    [*_USUAL.split(), "CC", "CXX", "CFLAGS", "CPPFLAGS", "LDFLAGS", "PKG_CONFIG_PATH", "CUDA_HOME"]
)
USUAL_VARIABLES = frozenset(_USUAL.split())
"""Environment variables that all code of a study sees: where things lie, languages, certificates, proxies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What an application's processes need to know of the program that starts them.

    Attributes:
        study: The study's folder.
        environ: Environment variables of the program.
        workspace: Folder of the workspace, for logs and environments; None for no log.
        changed: Returns which file differs from the version that is tested; empty for none.
    """

    study: Path
    environ: Mapping[str, str]
    workspace: Path | None = None
    changed: Callable[[], str] = lambda: ""


def code_of(
    name: str, connection: PythonCallable | AriaClass, around: Surroundings, *, observe: Observe, init: tuple[str, ...]
) -> ApplicationCode:
    """Return an application's code and how its processes are started.

    Args:
        name: Name of the application in the study.
        connection: How the study names it.
        around: The study's folder, the environment and the workspace.
        observe: Receives what the code does on the network.
        init: Names of the constructor's arguments that the study gives.

    Raises:
        InputError: If the target is malformed, or the interpreter or its libraries cannot be had.
    """
    is_class = isinstance(connection, AriaClass)
    key, form = ("class", "Class") if is_class else ("call", "function")
    _check_target(f"`{key}` of application `{name}`", connection.target, form)
    runtime = connection.runtime
    auth = connection.auth if isinstance(connection, AriaClass) else ""
    seen = visible_variables(around.environ, named=runtime.env, auth=auth, is_class=is_class)
    folder = application_folder(connection, around.study)
    launch = Launch(
        owner=name,
        target=connection.target,
        is_class=is_class,
        study=around.study,
        folder=folder,
        python=str(interpreter(name, runtime, around)),
        path=() if runtime.python or runtime.requirements else tuple(path for path in sys.path if path),
        environ=seen,
        init=init,
        memory_mb=runtime.memory_mb,
        cpu_s=runtime.cpu_s,
        network=runtime.network,
        log=None if around.workspace is None else around.workspace / LOGS_NAME / f"{_file_name(name)}.log",
    )

    def start() -> WorkerChannel:
        return WorkerProcess(launch, observe)

    return ApplicationCode(
        owner=name,
        target=connection.target,
        start=start,
        request=launch.request(),
        per_session=runtime.isolation is Isolation.SESSION,
        folder=str(folder),
        withheld=frozenset(around.environ).difference(seen),
        changed=around.changed,
    )


def labeller_code(
    name: str, labelling: PythonLabeller, around: Surroundings, *, offered: tuple[str, ...]
) -> ApplicationCode:
    """Return a judge's function and how its process is started: as an application's, beside the study's files.

    Args:
        name: Name of the judge in the study.
        labelling: How the study names the function.
        around: The study's folder, the environment and the workspace.
        offered: Keywords that the function is given if it takes them.

    Raises:
        InputError: If the target is malformed.
    """
    _check_target(f"`python` of judge `{name}`", labelling.target, "function")
    seen = visible_variables(around.environ, named=labelling.env, auth="", is_class=False)
    folder = _folder_of(labelling.target, around.study)
    launch = Launch(
        owner=name,
        target=labelling.target,
        is_class=False,
        study=around.study,
        folder=folder,
        path=tuple(path for path in sys.path if path),
        environ=seen,
        log=None if around.workspace is None else around.workspace / LOGS_NAME / f"judge-{_file_name(name)}.log",
        offered=offered,
    )

    def start() -> WorkerChannel:
        return WorkerProcess(launch, _ignore)

    return ApplicationCode(
        owner=name,
        noun="judge",
        target=labelling.target,
        start=start,
        request=launch.request(),
        folder=str(folder),
        withheld=frozenset(around.environ).difference(seen),
    )


def _ignore(kind: str, destination: str) -> None:
    """Remember no connection: those of judges are unknown, as `check` and the report say."""


def _check_target(what: str, target: str, form: str) -> None:
    module, _, member = target.rpartition(":")
    if not module or not member:
        message = f"{what} must be `module:{form}` or `file.py:{form}`; got `{target}`"
        raise InputError(message)


def application_folder(connection: PythonCallable | AriaClass, study: Path) -> Path:
    """Return the folder in which an application's code lies; the study's for installed modules."""
    if connection.code.folder:
        return study / connection.code.folder
    return _folder_of(connection.target, study)


def _folder_of(target: str, study: Path) -> Path:
    module = target.rpartition(":")[0]
    return (study / module).parent if module.endswith(".py") else study


def visible_variables(
    environ: Mapping[str, str], *, named: tuple[str, ...], auth: str, is_class: bool
) -> dict[str, str]:
    """Return the environment variables that an application's processes see.

    Keys of models and of other applications stay out; what an application needs
    beside the usual ones is named by `env`. A class sees its own credentials under
    the name that ARIA's harness gives them, too.
    """
    seen = {
        name: value
        for name, value in environ.items()
        if name.upper() in USUAL_VARIABLES or name.startswith("LC_") or name in named
    }
    if is_class:
        own = environ.get(auth or "ARIA_AUTH_JSON", "")
        if own:
            seen["ARIA_AUTH_JSON"] = own
            seen |= {auth: own} if auth else {}
    return seen


def interpreter(name: str, runtime: Runtime, around: Surroundings) -> Path:
    """Return the interpreter that runs an application's code, its own environment made if the study wants one.

    Raises:
        InputError: If its libraries cannot be installed.
    """
    python = Path(runtime.python or sys.executable)
    if not runtime.requirements:
        return python
    if around.workspace is None:
        message = f"application `{name}`: `requirements` needs a workspace, in which its environment is made"
        raise InputError(message)
    return _environment(name, python, around.study / runtime.requirements, around)


def _environment(name: str, python: Path, requirements: Path, around: Surroundings) -> Path:
    """Return the interpreter of an environment with an application's libraries, made once for each content."""
    if around.workspace is None or not requirements.is_file():
        message = f"application `{name}`: there is no file `{requirements.name}`, which `requirements` names"
        raise InputError(message)
    content = "\0".join(_contents(requirements))
    key = hashlib.sha256(f"{_identity(name, python)}\0{content}".encode()).hexdigest()[:16]
    folder = (around.workspace / ENVIRONMENTS_NAME / key).resolve()
    program = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    done = folder / "complete"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            _install(name, python, folder, program, requirements, around)
            done.touch()
    return program


def _contents(requirements: Path) -> Iterator[str]:
    """Yield what decides an environment: the lines of a file of requirements, and the files that they name."""
    text = requirements.read_text(encoding="utf-8", errors="replace")
    yield text
    for line in text.splitlines():
        named = requirements.parent / line.removeprefix("-r").removeprefix("-c").strip()
        if line.strip() and named.is_file() and named != requirements:
            if line.startswith(("-r", "-c")):
                yield from _contents(named)
            else:
                yield hashlib.sha256(named.read_bytes()).hexdigest()


def _identity(name: str, python: Path) -> str:
    return _output(name, [str(python), "-I", "-c", "import sys; print(sys.version, sys.platform)"], "start", os.environ)


def _install(name: str, python: Path, folder: Path, program: Path, requirements: Path, around: Surroundings) -> None:
    environ = around.environ
    _output(name, [str(python), "-m", "venv", str(folder)], "make a virtual environment", environ)
    command = [str(program), "-m", "pip", "install", "--disable-pip-version-check", "-r", requirements.name]
    _output(name, command, f"install `{requirements.name}`", environ, folder=requirements.parent)


def _output(
    name: str, command: list[str], purpose: str, environ: Mapping[str, str], *, folder: Path | None = None
) -> str:
    """Return what a command prints.

    Raises:
        InputError: If it fails; says its last words.
    """
    try:
        ended = subprocess.run(  # noqa: S603  # the interpreter that the study names
            command,
            capture_output=True,
            text=True,
            timeout=INSTALL_S,
            check=False,
            env=_without_keys(environ),
            cwd=folder,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        message = f"application `{name}`: cannot {purpose} with `{command[0]}`: {error}"
        raise InputError(message) from error
    if ended.returncode:
        words = [line.strip() for line in (ended.stderr or ended.stdout).splitlines() if line.strip()]
        errors = [line for line in words if line.startswith("ERROR")] or words[-2:]
        message = f"application `{name}`: cannot {purpose} with `{command[0]}`: {' '.join(errors[-2:])}"
        raise InputError(message)
    return ended.stdout


def _without_keys(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that an installation sees: it runs build scripts, and pip fills `${NAME}` into addresses."""
    return {name: value for name, value in environ.items() if name.upper() in _USUAL_OF_PIP or name.startswith("PIP_")}


def _file_name(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)
