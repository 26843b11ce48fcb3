"""Processes of one application: one for all its sessions or one for each; and the Python that they run on."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from theodolite.domain.annotator import PythonLabeller
from theodolite.domain.application import AriaClass, Isolation, PythonCallable, Runtime
from theodolite.domain.errors import ContentRefused, GatewayError, InputError, ServerFault, TimedOut
from theodolite.domain.text import printable
from theodolite.gateways.applications.worker_process import (
    CallTimedOut,
    Launch,
    Observe,
    ProcessEnded,
    WorkerChannel,
    WorkerProcess,
    raised_text,
    unusable_text,
)
from theodolite.gateways.secret_redaction import Credentials
from theodolite.ports.application import OnChunk

_LOG = logging.getLogger(__name__)

MOST_STUCK = 8
"""Maximum number of unanswered calls of one process before new calls go to a new process; count."""

Start = Callable[[], WorkerChannel]
"""Starts a process of the application; the code is not loaded yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationCode:
    """One application's code, and how its processes are started.

    Attributes:
        owner: Name of the application or judge in the study.
        noun: `application` or `judge`, for messages.
        target: Function or class, as the study names it.
        start: Starts a process.
        request: First request to each process.
        per_session: Whether each session has its own process.
        folder: The application's folder, for messages.
        withheld: Environment variables that exist and that the processes do not see.
        changed: Returns which file differs from the version that is tested; empty for none.
    """

    owner: str
    target: str
    start: Start
    request: Mapping[str, Any]
    noun: str = "application"
    per_session: bool = False
    folder: str = ""
    withheld: frozenset[str] = frozenset()
    changed: Callable[[], str] = lambda: ""


class Workers:
    """Starts, keeps and replaces an application's processes."""

    def __init__(self, code: ApplicationCode, *, credentials: Credentials) -> None:
        """Start no process yet.

        Args:
            code: The code to run.
            credentials: Removed from the code's error messages.
        """
        self.code = code
        self._credentials = credentials
        self._channels: dict[str, WorkerChannel] = {}
        self._spare: WorkerChannel | None = None
        self._described: dict[str, Any] | None = None
        self._stuck: Counter[WorkerChannel] = Counter()
        self._endings: dict[str, int] = {}
        self._lock = threading.Lock()

    def load(self) -> dict[str, Any]:
        """Start the first process and return its description of the code.

        Raises:
            InputError: If the code cannot be loaded.
        """
        if self._described is None:
            self._spare, self._described = self._loaded()
        return self._described

    @property
    def remarks(self) -> tuple[str, ...]:
        """Kinds of early termination of processes, each once."""
        return tuple(
            f"{reason} ({n} time{'' if n == 1 else 's'}); it was started again" for reason, n in self._endings.items()
        )

    async def channel(self, session: str) -> WorkerChannel:
        """Return the channel to a session's process, which is started if it does not run.

        Raises:
            ServerFault: If it cannot be started any more.
        """
        key = session if self.code.per_session else ""
        result = self._channels.get(key)
        if result is not None and not result.ended:
            return result
        try:
            return await asyncio.to_thread(self._started, key)
        except InputError as error:
            raise ServerFault(str(error), endpoint=self.code.owner) from error

    async def end(self, session: str) -> None:
        """Release the process of a session that has ended."""
        if self.code.per_session and (channel := self._channels.pop(session, None)) is not None:
            await channel.close()

    async def close(self) -> None:
        """Terminate all processes; a later call starts new ones."""
        await asyncio.gather(*(channel.close() for channel in self._released()))

    def stop(self) -> None:
        """Terminate all processes immediately."""
        for channel in self._released():
            channel.kill()

    def _released(self) -> list[WorkerChannel]:
        channels = [*self._channels.values(), *([self._spare] if self._spare is not None else [])]
        self._channels.clear()
        self._spare = None
        return channels

    async def ask(
        self,
        channel: WorkerChannel,
        operation: str,
        *,
        what: str,
        limit_s: float,
        hear: OnChunk | None = None,
        **fields: Any,
    ) -> dict[str, Any]:
        """Return a process's answer to a request.

        Args:
            channel: The process.
            operation: The operation.
            what: Name of the call in messages; empty for the function itself.
            limit_s: Time for it; seconds.
            hear: Receives pieces of text as they arrive.
            fields: Arguments of the operation.

        Raises:
            TimedOut: If it took too long.
            ContentRefused: If the code reports that its own filter withheld the reply.
            ServerFault: If the code raised anything else, or its process ended.
        """
        try:
            answer = await channel.ask(operation, limit_s=limit_s, hear=hear, **fields)
        except CallTimedOut as error:
            raise self._too_late(channel, error, what, limit_s) from None
        except ProcessEnded as error:
            message = f"{self._credentials.scrub(str(error))}; the next call starts it again"
            raise ServerFault(message, endpoint=self.code.owner) from None
        if "raised" in answer:
            # Not chained: exceptions of foreign code may contain the credentials.
            raise self._error(answer["raised"], what) from None
        return answer

    def _error(self, raised: Mapping[str, Any], what: str) -> GatewayError:
        if raised["refused"] and not what:
            return ContentRefused(self._credentials.scrub(raised["text"]), endpoint=self.code.owner)
        self._log(raised)
        text = raised_text(raised, self._credentials.scrub, folder=self.code.folder, withheld=self.code.withheld)
        return ServerFault(f"{what} raised {text}" if what else text, endpoint=self.code.owner)

    def _log(self, raised: Mapping[str, Any]) -> None:
        """Log the traceback of foreign code, without its credentials."""
        text = self._credentials.scrub_lines(raised["traceback"].rstrip())
        _LOG.debug("%s `%s` raised\n%s", self.code.noun, self.code.owner, printable(text))

    def _too_late(self, channel: WorkerChannel, error: CallTimedOut, what: str, limit_s: float) -> TimedOut:
        message = f"no answer within {limit_s:g} s" + (f" from {what}" if what else "")
        if error.is_blocked:
            message += "; it blocks its event loop, as `time.sleep` or a client that is not async does in `async def`"
        self._stuck[channel] += 1
        if error.is_stuck:
            channel.kill("its process answered no more and was ended")
        elif self.code.per_session:
            channel.kill("its process was ended, since a call took longer than its limit")
        elif self._stuck[channel] >= MOST_STUCK:
            self._channels = {key: one for key, one in self._channels.items() if one is not channel}
            channel.retire()
        return TimedOut(message, endpoint=self.code.owner)

    def _started(self, key: str) -> WorkerChannel:
        """Return a session's running process, started if need be; blocks while it loads."""
        with self._lock:
            before = self._channels.get(key)
            if before is not None and not before.ended:
                return before
            if before is not None:
                reason = self._credentials.scrub(before.ended)
                self._endings[reason] = self._endings.get(reason, 0) + 1
            channel, self._spare = self._spare, None
        if channel is None or channel.ended:
            channel, _ = self._loaded()
        with self._lock:
            current = self._channels.get(key)
            if current is None or current.ended:
                self._channels[key] = channel
                return channel
        channel.kill()  # another call was faster
        return current

    def _loaded(self) -> tuple[WorkerChannel, dict[str, Any]]:
        """Return a new process that has loaded the code, and its description of the code."""
        owner, target = f"{self.code.noun} `{self.code.owner}`", self.code.target
        if changed := self.code.changed():
            message = f"{owner}: `{changed}` has changed since the study was read; start the command again"
            raise InputError(message)
        channel = self.code.start()
        try:
            answer = channel.load(self.code.request)
        except (ProcessEnded, InputError) as error:
            channel.kill()
            message = f"{owner}: `{target}` cannot be loaded: {self._credentials.scrub(str(error))}"
            raise InputError(message) from None
        if "loaded" in answer:
            return channel, answer["loaded"]
        channel.kill()
        if "unusable" in answer:
            message = f"{owner}: {unusable_text(answer['unusable'], target)}"
        else:
            raised = answer["raised"]
            self._log(raised)
            text = raised_text(raised, self._credentials.scrub, folder=self.code.folder, withheld=self.code.withheld)
            message = f"{owner}: {_kind_of(target)} cannot be loaded: {text}{_remedy(raised, target, self.code.noun)}"
        raise InputError(message)


def _kind_of(target: str) -> str:
    module = target.rpartition(":")[0]
    return f"file `{module}`" if module.endswith(".py") else f"module `{module}`"


def _remedy(raised: Mapping[str, Any], target: str, noun: str) -> str:
    """Return the remedy for a module that is not installed or has no package; empty for everything else."""
    module, _, member = target.rpartition(":")
    if "no known parent package" in raised["text"]:
        package, _, file = module.removesuffix(".py").rpartition("/")
        if package and all(part.isidentifier() for part in package.split("/")):
            return f"; name it as a module of its package: `{package.replace('/', '.')}.{file}:{member}`"
        return f"; put its files into a folder such as `team`, beside the study, and name it `team.{file}:{member}`"
    if not raised["missing"]:
        return ""
    if noun != "application":
        return f"; install `{raised['missing']}` where Theodolite is installed, or put it beside the {noun}'s file"
    return (
        f"; put `{raised['missing']}` into a file that `requirements` names, install it for the interpreter that"
        " `python` names, or put it beside the application"
    )


class Slots:
    """A semaphore that works on any event loop."""

    def __init__(self, n: int) -> None:
        """Set the number of them; count."""
        self._n = n
        self._taken: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None

    def take(self) -> asyncio.Semaphore:
        """Return the context manager to enter: `async with slots.take()`."""
        loop = asyncio.get_running_loop()
        if self._taken is None or self._taken[0] is not loop:
            self._taken = (loop, asyncio.Semaphore(self._n))
        return self._taken[1]


LOGS_NAME = "logs"
"""Folder within a workspace for the output of applications."""

ENVIRONMENTS_NAME = "environments"
"""Folder within a workspace that contains virtual environments of applications."""

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
"""Environment variables visible to all code of a study: paths, languages, certificates, proxies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Settings for an application's processes from the program that starts them.

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
        connection: Its name in the study.
        around: The study's folder, the environment and the workspace.
        observe: Receives the network use of the code.
        init: Names of the constructor's arguments in the study.

    Raises:
        InputError: If the target is malformed, or the interpreter or its libraries are unavailable.
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
    """Return a judge's function and the start of its process: like an application's, in the study folder.

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
    """Record no connection: those of judges are unknown, as `check` and the report state."""


def _check_target(what: str, target: str, form: str) -> None:
    module, _, member = target.rpartition(":")
    if not module or not member:
        message = f"{what} must be `module:{form}` or `file.py:{form}`; got `{target}`"
        raise InputError(message)


def application_folder(connection: PythonCallable | AriaClass, study: Path) -> Path:
    """Return the folder in which an application's code is; the study's for installed modules."""
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

    Keys of models and of other applications are hidden; `env` names what an application needs
    besides the usual variables. A class sees its own credentials also under
    the name that ARIA's harness uses.
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
    """Return the interpreter for an application's code, creating its own environment if the study wants one.

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
    """Yield the inputs of an environment: the lines of a requirements file, and the files that they name."""
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
    """Return the output of a command.

    Raises:
        InputError: If it fails; contains its last output.
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
