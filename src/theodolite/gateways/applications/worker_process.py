"""The parent's side of the process that runs an application's code."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import queue
import re
import selectors
import signal
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from theodolite.domain.errors import InputError, did_you_mean
from theodolite.ports.application import OnChunk


@dataclass(frozen=True, slots=True)
class ForeignObject:
    """A returned value that JSON cannot hold.

    Attributes:
        type_name: Its class.
        is_true: Its truth value.
        text: Its text, cut.
    """

    type_name: str
    is_true: bool
    text: str


def decode(encoded: Any) -> Any:
    """Return the value passed to the worker's `encode`, including types.

    Example:
        >>> decode({"tuple": [True, "welcome"]})
        (True, 'welcome')
    """
    if not isinstance(encoded, dict):
        return encoded
    match encoded:
        case {"int": str(digits)} | {"float": str(digits)}:
            return int(digits) if "int" in encoded else float(digits)
        case {"tuple": list(items)}:
            return tuple(decode(item) for item in items)
        case {"list": list(items)}:
            return [decode(item) for item in items]
        case {"mapping": list(items)}:
            return {key: decode(item) for key, item in items}
    return ForeignObject(str(encoded.get("object")), bool(encoded.get("truth")), str(encoded.get("text", "")))


_RAISED: dict[str, Any] = {
    "type": str,
    "text": str,
    "place": str,
    "refused": bool,
    "relative": bool,
    "missing": str | None,
    "traceback": str,
}

_OBJECT_CONTENTS: dict[str, type] = {
    "loaded": dict,
    "unusable": dict,
    "raised": dict,
    "odd_piece": str,
    "blocked": bool,
    "identity": int,
    "returned": object,
}


def require_form(answer: Mapping[str, Any]) -> None:
    """Reject an answer in a form that the worker never sends, because the code that runs there can also write answers.

    Raises:
        ValueError: If it has no content, or content of another form.
        TypeError: Likewise.
        RecursionError: If it is nested too deeply.
    """
    contents = [name for name in _OBJECT_CONTENTS if name in answer]
    if not contents or not all(isinstance(answer[name], _OBJECT_CONTENTS[name]) for name in contents):
        message = "the answer of a process has no content, or one of another form"
        raise ValueError(message)
    raised = answer.get("raised")
    if raised is not None and not all(isinstance(raised.get(name), kind) for name, kind in _RAISED.items()):
        message = "what a process says that its code raised has another form"
        raise ValueError(message)
    decode(answer.get("returned"))


def type_of(value: object) -> str:
    """Return the name of a decoded value's class."""
    return value.type_name if isinstance(value, ForeignObject) else type(value).__name__


_VARIABLE = re.compile(r"[A-Za-z_]\w{2,}")


def raised_text(
    raised: Mapping[str, Any], scrub: Callable[[str], str], *, folder: str = "", withheld: frozenset[str] = frozenset()
) -> str:
    """Return the exception of code and its location as text, with a remedy if one is known.

    Args:
        raised: The worker's description of the exception.
        scrub: Shortens the exception's own words and strikes out keys; the advice after them is never cut.
        folder: The application's folder.
        withheld: Environment variables that exist and that the process does not see.
    """
    text = scrub(f"{raised['type']}: {raised['text']}".rstrip(": "))
    if raised["relative"]:
        text += f"; relative paths begin in the application's folder, `{folder}`"
    names = [name for name in _VARIABLE.findall(raised["text"]) if name in withheld]
    if names:
        text += (
            f"; the environment variable `{names[0]}` is set, but the code sees only those that its `env`"
            f" names: add `env: [{names[0]}]`"
        )
    return f"{text} ({scrub(raised['place'])})" if raised["place"] else text


def unusable_text(unusable: Mapping[str, Any], target: str) -> str:
    """Return the reason why a target can be neither called nor instantiated, as text."""
    match unusable["reason"]:
        case "no file":
            return f"there is no file `{unusable['file']}` in the study's folder"
        case "no name":
            hint = did_you_mean(unusable["part"], unusable["known"])
            return f"`{unusable['module']}` has no `{unusable['part']}`{hint}"
        case "no class":
            return f"`{target}` is a {unusable['type']}; expected a class"
        case _:
            return f"`{target}` is a {unusable['type']}; expected a function"


WORKER_FILE = Path(__file__).with_name("worker.py")

BASE_CLASS_FILE = Path(__file__).parents[2] / "aria.py"

LOAD_S = 600.0
"""Time for a process to load the application's code; seconds. Some applications load a model."""

EXIT_S = 2.0
"""Time for a process to end by itself after its last request; seconds."""

ABANDON_S = 2.0
"""Time in which a process must confirm that it has cancelled a call; seconds. Otherwise the whole process is stuck."""

ABANDON = "abandon"
"""Operation by which a worker cancels a call."""

_CONTENTS = {
    "new": {"identity", "raised"},
    "call": {"returned", "odd_piece", "raised"},
    "method": {"returned", "raised"},
    ABANDON: {"blocked"},
}
"""Keys of the answer to each operation, of which at least one is present."""

LARGEST_LINE = 64 * 2**20
"""Bytes of one answer of a process."""

LARGEST_LOG = 10 * 2**20
"""Maximum size of an application's log before it is restarted; bytes."""

Observe = Callable[[str, str], None]
"""Receives the network use of code: the kind of event and its destination."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How the processes of one application are started.

    Attributes:
        owner: Name of the application in the study.
        target: Function or class, as the study names it.
        is_class: Whether it is a class of ARIA's dialogue interface.
        study: The study's folder.
        folder: The application's folder: working directory, and first location for imports.
        python: The interpreter.
        path: Further folders for imports.
        environ: All environment variables that the process sees.
        init: Names of the constructor's arguments in the study.
        memory_mb: Maximum memory of a process, in MB; 0 for no limit.
        cpu_s: Maximum CPU time of a process, in seconds; 0 for no limit.
        network: Hosts that it may connect to; None for any.
        log: File for the code's output; None to drop it.
        offered: Keywords that a function is given if it takes them; empty for those of an application.
    """

    owner: str
    target: str
    is_class: bool
    study: Path
    folder: Path
    python: str = sys.executable
    path: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    init: tuple[str, ...] = ()
    memory_mb: int = 0
    cpu_s: int = 0
    network: tuple[str, ...] | None = None
    log: Path | None = None
    offered: tuple[str, ...] = ()

    def request(self) -> dict[str, Any]:
        """Return the first request to a process: its code, and its limits."""
        return {
            "target": self.target,
            "is_class": self.is_class,
            "study": str(self.study.resolve()),
            "folder": str(self.folder.resolve()),
            "path": list(self.path),
            "init": list(self.init),
            "base_class": str(BASE_CLASS_FILE),
            "memory_mb": self.memory_mb,
            "cpu_s": self.cpu_s,
            "network": None if self.network is None else list(self.network),
            "offered": list(self.offered),
        }


class ProcessEnded(Exception):
    """The process ended before it answered; the message states how."""


class CallTimedOut(Exception):
    """A call took longer than its limit.

    Attributes:
        is_blocked: Whether it blocks the event loop of the application's coroutines.
        is_stuck: Whether the process as a whole no longer responds.
    """

    def __init__(self, *, is_blocked: bool, is_stuck: bool = False) -> None:
        super().__init__()
        self.is_blocked = is_blocked
        self.is_stuck = is_stuck


@dataclass(slots=True)
class _Pending:
    """A request that waits for its answer."""

    deliver: Callable[[dict[str, Any]], None]
    hear: OnChunk | None = None


class WorkerChannel(ABC):
    """Requests to a worker and its answers, over any transport.

    Several requests may wait concurrently; usable from any event loop.
    """

    def __init__(self, observe: Observe) -> None:
        """Start without requests.

        Args:
            observe: Receives the network use of the code.
        """
        self.ended = ""
        self._observe = observe
        self._numbers = itertools.count(1)
        self._pending: dict[int, _Pending] = {}
        self._ends_when_idle = False

    @abstractmethod
    def _write(self, request: dict[str, Any]) -> None:
        """Send a request; must not wait for the worker."""

    @abstractmethod
    def kill(self, reason: str = "it was ended") -> None:
        """Kill the worker, and send the reason to all waiting calls."""

    @abstractmethod
    async def close(self) -> None:
        """End the worker, giving it a moment to end by itself."""

    def load(self, request: Mapping[str, Any], *, limit_s: float = LOAD_S) -> dict[str, Any]:
        """Return the worker's description of its loaded code; waits for it.

        Raises:
            ProcessEnded: If the process ended meanwhile.
            InputError: If loading takes too long.
        """
        answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        number = next(self._numbers)
        self._pending[number] = _Pending(answers.put)
        self._write({"id": number, "operation": "load", **request})
        try:
            answer = answers.get(timeout=limit_s)
        except queue.Empty:
            message = f"`{request['target']}` took longer than {limit_s:g} s to load"
            raise InputError(message) from None
        return _unless_ended(answer)

    async def ask(
        self, operation: str, *, limit_s: float | None, hear: OnChunk | None = None, **fields: Any
    ) -> dict[str, Any]:
        """Return the answer to a request.

        Args:
            operation: The worker's operation.
            limit_s: Time for it; seconds, None for any.
            hear: Receives pieces of text as they arrive.
            fields: Arguments of the operation.

        Raises:
            CallTimedOut: If it took longer; the worker drops the call.
            ProcessEnded: If the process ended meanwhile.
        """
        if self.ended:
            raise ProcessEnded(self.ended)
        number, future = next(self._numbers), asyncio.get_running_loop().create_future()
        self._pending[number] = _pending_on(future, hear)
        self._write({"id": number, "operation": operation, **fields})
        try:
            async with asyncio.timeout(limit_s):
                answer = _unless_ended(await future)
        except TimeoutError:
            if operation == ABANDON:
                raise CallTimedOut(is_blocked=False, is_stuck=True) from None
            raise await self._dropped(number) from None
        except asyncio.CancelledError:
            self.tell(ABANDON, call=number)
            raise
        finally:
            self._pending.pop(number, None)
            self._end_when_idle()
        if not answer.keys() & _CONTENTS.get(operation, answer.keys()):
            self.kill(f"its process answered `{operation}` with something else")
            raise ProcessEnded(self.ended)
        return answer

    def tell(self, operation: str, **fields: Any) -> None:
        """Send a request that has no answer."""
        if not self.ended:
            self._write({"id": 0, "operation": operation, **fields})

    def retire(self) -> None:
        """End the worker as soon as no request waits."""
        self._ends_when_idle = True
        self._end_when_idle()

    def _end_when_idle(self) -> None:
        if self._ends_when_idle and not self._pending:
            self.kill()

    async def _dropped(self, number: int) -> CallTimedOut:
        """Make the worker drop a call, and return its answer."""
        try:
            answer = await self.ask(ABANDON, limit_s=ABANDON_S, call=number)
        except (CallTimedOut, ProcessEnded):
            return CallTimedOut(is_blocked=False, is_stuck=True)
        return CallTimedOut(is_blocked=bool(answer["blocked"]))

    def _receive(self, answer: dict[str, Any]) -> None:
        """Pass an answer to the waiting call; called from any thread."""
        if "network" in answer:
            self._observe(_text(answer["network"]), _text(answer["name"]))
            return
        pending = self._pending.get(answer["id"])
        if pending is None:  # the caller no longer waits
            return
        if "piece" in answer:
            if pending.hear is not None:
                pending.hear(_text(answer["piece"]))
            return
        require_form(answer)
        self._pending.pop(answer["id"], None)
        pending.deliver(answer)

    def _end(self, reason: str) -> None:
        """End all waiting calls because the process has ended."""
        self.ended = self.ended or reason
        for number in tuple(self._pending):
            pending = self._pending.pop(number, None)
            if pending is not None:
                pending.deliver({"ended": self.ended})


class WorkerProcess(WorkerChannel):
    """A process that runs one application's code, in its own session, without a terminal."""

    def __init__(self, launch: Launch, observe: Observe) -> None:
        """Start the process without loading anything.

        Raises:
            InputError: If the interpreter cannot be started.
        """
        super().__init__(observe)
        self._launch = launch
        self._log_start = 0
        self._lock = threading.Lock()
        self._backlog = b""
        log = self._open_log()
        try:
            self._process = subprocess.Popen(  # noqa: S603  # the interpreter that the study names
                [launch.python, "-I", str(WORKER_FILE)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=dict(launch.environ),
                start_new_session=True,
            )
        except OSError as error:
            message = f"application `{launch.owner}`: `{launch.python}` cannot be started: {error.strerror or error}"
            raise InputError(message) from error
        finally:
            log.close()
        self._requests, self._answers = _pipes(self._process)
        with contextlib.suppress(OSError, AttributeError):  # Windows before Python 3.12
            os.set_blocking(self._requests.fileno(), False)
        self._reader = threading.Thread(target=self._read, name=f"answers of {launch.owner}", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def kill(self, reason: str = "it was ended") -> None:
        """End the process and all that it has started."""
        self.ended = self.ended or reason
        self._kill_group()

    async def close(self) -> None:
        """Wait for the process to end, and end it otherwise."""
        with self._lock, contextlib.suppress(OSError):
            self._requests.close()
        await asyncio.to_thread(self._reader.join, EXIT_S)
        if self._reader.is_alive():
            self.kill()
            await asyncio.to_thread(self._reader.join, EXIT_S)

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def _write(self, request: dict[str, Any]) -> None:
        """Send a request without waiting: a thread sends the part that the pipe does not take now."""
        data = json.dumps(request).encode() + b"\n"
        with self._lock:
            if self._requests.closed:
                return
            is_waiting = bool(self._backlog)
            self._backlog += data
            if not is_waiting and not self._send_some():
                threading.Thread(target=self._send_rest, name="requests", daemon=True).start()

    def _send_some(self) -> bool:
        """Send as much as the pipe takes; return whether that was all."""
        try:
            while self._backlog:
                self._backlog = self._backlog[os.write(self._requests.fileno(), self._backlog) :]
        except BlockingIOError:
            return False
        except OSError:  # the process has ended; the reader reports it
            self._backlog = b""
        return True

    def _send_rest(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._requests, selectors.EVENT_WRITE)
            while True:
                selector.select(1.0)
                with self._lock:
                    if self._requests.closed or self._send_some():
                        return

    def _read(self) -> None:
        """Hand on answers until the process ends."""
        # An invalid answer ends the process, because the code that runs in it can write into the pipe as well.
        with contextlib.suppress(ValueError, KeyError, TypeError, OSError, RecursionError):
            while (line := self._answers.readline(LARGEST_LINE)).endswith(b"\n"):
                self._receive(json.loads(line))
        self._kill_group()
        code = self._process.wait()
        self._answers.close()
        with self._lock, contextlib.suppress(OSError):
            self._requests.close()
        self._end(self._reason(code))

    def _reason(self, code: int) -> str:
        """Return how the process ended, with the last line that it printed."""
        if code >= 0:
            words = f"with exit code {code}"
        elif -code == getattr(signal, "SIGXCPU", 0):
            words = f"at its limit of {self._launch.cpu_s} s of CPU time (`cpu_seconds`)"
        else:
            words = f"by signal {-code} ({_signal_name(-code)})"
        last = self._last_line()
        return f"its process ended {words}" + (f"; the last line that it printed is: {last}" if last else "")

    def _open_log(self) -> IO[bytes]:
        path = self._launch.log
        if path is None:
            return open(os.devnull, "ab")  # noqa: PTH123  # the caller closes it
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size > LARGEST_LOG:
            path.unlink()
        log = path.open("ab")
        self._log_start = log.tell()
        return log

    def _last_line(self) -> str:
        path = self._launch.log
        if path is None or not path.exists():
            return ""
        with path.open("rb") as log:
            log.seek(max(self._log_start, path.stat().st_size - 4096))
            lines = log.read().decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _text(found: object) -> str:
    if not isinstance(found, str):
        message = f"a text was expected; got a {type(found).__name__}"
        raise TypeError(message)
    return found


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    requests, answers = process.stdin, process.stdout
    if requests is None or answers is None:  # both were requested
        message = "a process without pipes"
        raise RuntimeError(message)
    return requests, answers


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _pending_on(future: asyncio.Future[dict[str, Any]], hear: OnChunk | None) -> _Pending:
    """Return a function that passes an answer and its pieces to the loop that waits for them."""
    loop = future.get_loop()

    def deliver(answer: dict[str, Any]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: no caller waits
            loop.call_soon_threadsafe(_settle, future, answer)

    def hear_there(piece: str) -> None:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(hear or _ignore, piece)

    return _Pending(deliver, None if hear is None else hear_there)


def _settle(future: asyncio.Future[dict[str, Any]], answer: dict[str, Any]) -> None:
    if not future.done():
        future.set_result(answer)


def _ignore(_: str) -> None:
    pass


def _unless_ended(answer: dict[str, Any]) -> dict[str, Any]:
    if "ended" in answer:
        raise ProcessEnded(answer["ended"])
    return answer
