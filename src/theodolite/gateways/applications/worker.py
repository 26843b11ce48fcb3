"""Runs the code of one application, or one function that labels, in its own process.

This file needs only the standard library of Python 3.9 or newer: an
application may run on another interpreter than Theodolite, without Theodolite's
libraries. `worker_process.py` starts it and implements the other side of the protocol.

The protocol is one JSON object a line, requests on standard input and answers on
standard output. Both streams are moved to other descriptors before any code of the
application runs, so that `print` and child programs write to the application's log.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import ctypes
import importlib
import importlib.machinery
import importlib.util
import inspect
import json
import os
import queue
import signal
import socket
import sys
import threading
import traceback
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES, ExtensionFileLoader, FileFinder, SourceFileLoader
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

NEEDED = ("OpenConnection", "CloseConnection", "StartSession", "GetResponse")
"""Methods of ARIA's dialogue interface without which there is no dialogue."""

AWAKE_S = 0.2
"""Time within which an unblocked event loop runs a callback; seconds."""

DEEPEST = 12
"""Levels of nesting of a returned value that are encoded."""

Send = Callable[[dict[str, Any]], None]


class PastTurn(NamedTuple):
    """An earlier prompt and response of the same dialogue, as passed to a function."""

    prompt: str
    response: str
    context: str | None = None


class UnusableTarget(Exception):
    """The function or class that the study names does not exist."""


def encode(value: Any, depth: int = 0) -> Any:
    """Return a JSON value with the code's return value and its type for the parent.

    Example:
        >>> encode((True, "welcome"))
        {'tuple': [True, 'welcome']}
    """
    if value is None or isinstance(value, (bool, str)):
        return value if value is None or isinstance(value, bool) else str(value)
    if isinstance(value, (int, float)) and type(value) in {int, float}:
        return {type(value).__name__: repr(value)}
    if depth < DEEPEST and isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [encode(item, depth + 1) for item in value]}
    if depth < DEEPEST and isinstance(value, Mapping):
        return {"mapping": [[str(key), encode(value[key], depth + 1)] for key in value]}
    if inspect.iscoroutine(value):
        value.close()  # it is not awaited; unclosed it would warn
    return {"object": type(value).__name__, "truth": _truth_of(value), "text": _text_of(value)}


def _truth_of(value: Any) -> bool:
    try:
        return bool(value)
    except Exception:  # noqa: BLE001  # foreign code
        return True


def _text_of(value: Any) -> str:
    try:
        return str(value)[:500]
    except Exception:  # noqa: BLE001  # foreign code
        return ""


class Worker:
    """Loads an application's function or class and calls it when the parent asks."""

    def __init__(self, send: Send, *, target: Any = None) -> None:
        """Wait for the first request.

        Args:
            send: Sends one answer to the parent; any thread may call it.
            target: The function or class if it is already loaded.
        """
        self._send = send
        self._target = target
        self._folder = ""
        self._is_async = False
        self._offered: tuple[str, ...] = OFFERED
        self._threads = ThreadPool()
        self._loop = LoopThread()
        self._instances: dict[int, Instance] = {}
        self._abandoned: set[int] = set()
        self._running: set[int] = set()

    def handle(self, request: dict[str, Any]) -> None:
        """Start the work of a request; its answer follows from another thread."""
        operation = request["operation"]
        getattr(self, "do_" + operation)(request)

    def do_load(self, request: dict[str, Any]) -> None:
        """Load the function or class and describe it."""
        self._folder = request["folder"]
        self._offered = tuple(request.get("offered") or OFFERED)
        try:
            if self._target is None:
                self._target = load_target(request)
            described = describe_class(self._target, request) if request["is_class"] else self._described()
        except UnusableTarget as error:
            self._send({"id": request["id"], "unusable": error.args[0]})
        except BaseException as error:  # noqa: BLE001  # even `sys.exit` of a module is its fault alone
            self._send({"id": request["id"], "raised": describe_error(error, self._folder)})
        else:
            self._send({"id": request["id"], "loaded": described})

    def _described(self) -> dict[str, Any]:
        if not callable(self._target):
            raise UnusableTarget({"reason": "no function", "type": type(self._target).__name__})
        method = getattr(self._target, "__call__", None)  # noqa: B004  # the method, to look at
        self._is_async = any(map(_is_async, (self._target, method)))
        return {"keywords": keywords_of(self._target, self._offered)}

    def do_call(self, request: dict[str, Any]) -> None:
        """Call the function with its first argument: a prompt, or the turns of a dialogue that it labels."""
        keywords = request["keywords"]
        if "history" in keywords:
            keywords["history"] = tuple(PastTurn(*exchange) for exchange in keywords["history"])
        number, prompt, streams = request["id"], request["prompt"], request["stream"]

        def call() -> Any:
            return self._target(prompt, **keywords)

        def call_here() -> None:
            returned = call()
            if isinstance(returned, (Awaitable, AsyncIterator)):
                self._loop.run(lambda: self._finish_later(number, lambda: returned, streams=streams))
            else:
                self._answer(number, self._joined(number, returned, streams=streams))

        self._running.add(number)
        if self._is_async:
            self._loop.run(lambda: self._finish_later(number, call, streams=streams), number)
        else:
            self._threads.run(lambda: self._guarded(number, call_here))

    def do_new(self, request: dict[str, Any]) -> None:
        """Create an instance of the class on its own thread."""
        instance = self._instances[request["instance"]] = Instance(self._target)
        number = request["id"]

        def make() -> None:
            instance.make(request["init"])
            self._send({"id": number, "identity": id(instance.made)})

        self._running.add(number)
        instance.run(lambda: self._guarded(number, make))

    def do_method(self, request: dict[str, Any]) -> None:
        """Call a method of an instance, on the instance's thread."""
        instance, number = self._instances[request["instance"]], request["id"]

        def call() -> None:
            self._answer(number, instance.call(request["method"], request["arguments"]))

        self._running.add(number)
        instance.run(lambda: self._guarded(number, call))

    def do_forget(self, request: dict[str, Any]) -> None:
        """Release an instance; its thread ends after its current calls."""
        instance = self._instances.pop(request["instance"], None)
        if instance is not None:
            instance.leave()

    def do_abandon(self, request: dict[str, Any]) -> None:
        """Drop the answer of a call that took too long; return whether it blocks the event loop."""
        call = request["call"]
        if call in self._running:
            self._abandoned.add(call)

        def look() -> None:
            is_blocked = self._loop.is_blocked()
            if is_blocked:
                self._loop.leave()
            else:
                self._loop.cancel(call)
            self._send({"id": request["id"], "blocked": is_blocked})

        self._threads.run(look)

    def _guarded(self, number: int, work: Callable[[], None]) -> None:
        """Do work of a call; an exception of foreign code is its answer."""
        try:
            work()
        except BaseException as error:  # noqa: BLE001  # even `SystemExit` of a call is its fault alone
            self._fail(number, error)

    def _answer(self, number: int, returned: Any) -> None:
        answer = returned if isinstance(returned, OddPiece) else None
        encoded = {"odd_piece": answer.type_name} if answer else {"returned": encode(returned)}
        self._finish(number, encoded)

    def _fail(self, number: int, error: BaseException) -> None:
        self._finish(number, {"raised": describe_error(error, self._folder)})

    def _finish(self, number: int, answer: dict[str, Any]) -> None:
        self._running.discard(number)
        if number in self._abandoned:
            self._abandoned.discard(number)
            return
        self._send({"id": number, **answer})

    def _joined(self, number: int, returned: Any, *, streams: bool) -> Any:
        """Return the text of an iterator, sending each piece immediately; otherwise the returned value."""
        if not isinstance(returned, Iterator):
            return returned
        texts: list[str] = []
        for piece in returned:
            if not isinstance(piece, str):
                return OddPiece(type(piece).__name__)
            texts.append(piece)
            if streams:
                self._piece(number, piece)
        return "".join(texts)

    async def _finish_later(self, number: int, make: Callable[[], Any], *, streams: bool) -> None:
        """Await a call's result and send its answer."""
        try:
            returned = make()
            if isinstance(returned, Awaitable):
                returned = await returned
            if isinstance(returned, AsyncIterator):
                returned = await self._joined_later(number, returned, streams=streams)
            else:
                returned = self._joined(number, returned, streams=streams)
        except BaseException as error:  # noqa: BLE001  # as above
            self._fail(number, error)
        else:
            self._answer(number, returned)

    async def _joined_later(self, number: int, pieces: Any, *, streams: bool) -> Any:
        texts: list[str] = []
        async for piece in pieces:
            if not isinstance(piece, str):
                return OddPiece(type(piece).__name__)
            texts.append(piece)
            if streams:
                self._piece(number, piece)
        return "".join(texts)

    def _piece(self, number: int, piece: str) -> None:
        if number not in self._abandoned:
            self._send({"id": number, "piece": piece})


class OddPiece(NamedTuple):
    """Something other than text that a function yielded."""

    type_name: str


class Instance:
    """An instance of an application's class, and the one thread that calls it.

    Objects of `OpenConnection` may be bound to their thread, as database connections are.
    """

    def __init__(self, kind: Any) -> None:
        """Create nothing yet."""
        self.made: Any = None
        self._kind = kind
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="session", daemon=True).start()

    def run(self, call: Callable[[], None]) -> None:
        """Make a call on the thread, after earlier ones."""
        self._calls.put(call)

    def leave(self) -> None:
        """End the thread after its pending calls."""
        self._calls.put(None)

    def make(self, init: dict[str, Any]) -> None:
        """Make the instance."""
        self.made = self._kind(**init)

    def call(self, method: str, arguments: list[Any]) -> Any:
        """Return the result of a method; `OpenConnection` gets credentials only if it takes an argument."""
        if method == "GetVersion":
            return self._version()
        function = getattr(self.made, method)
        is_optional = method == "OpenConnection"
        return function(*([] if is_optional and not _takes(function, arguments) else arguments))

    def _version(self) -> Any:
        """Return the version that the class states, in any supported way."""
        if not callable(getattr(self._kind, "GetVersion", None)):
            return ""  # it was added to the interface later
        try:
            return self.made.GetVersion()
        except Exception:  # noqa: BLE001  # a method without `self` and without `@staticmethod`
            return ("on class", self._kind.GetVersion())

    def _work(self) -> None:
        while True:
            call = self._calls.get()
            if call is None:
                return
            call()


class ThreadPool:
    """Daemon threads for blocking calls; starts a new one if all others are busy."""

    def __init__(self) -> None:
        """Start no thread yet."""
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)

    def run(self, call: Callable[[], None]) -> None:
        """Make a call on an idle thread or a new one."""
        self._calls.put(call)
        if not self._idle.acquire(blocking=False):
            threading.Thread(target=self._work, name="call", daemon=True).start()

    def _work(self) -> NoReturn:
        while True:
            self._calls.get()()
            self._idle.release()


class LoopThread:
    """One event loop on its own thread, which all coroutines of the application share."""

    def __init__(self) -> None:
        """Start no thread yet."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._lock = threading.Lock()

    def run(self, make: Callable[[], Any], number: int = -1) -> None:
        """Run a coroutine, which a number names for `cancel`."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=_run_loop, args=(self._loop,), name="loop", daemon=True).start()
            loop = self._loop

        def begin() -> None:
            task = self._tasks[number] = loop.create_task(make())
            task.add_done_callback(lambda _: self._tasks.pop(number, None))

        loop.call_soon_threadsafe(begin)

    def cancel(self, number: int) -> None:
        """Cancel a coroutine if it is still running."""
        loop, task = self._loop, self._tasks.get(number)
        if loop is not None and task is not None:
            loop.call_soon_threadsafe(task.cancel)

    def is_blocked(self) -> bool:
        """Return whether the loop is blocked."""
        if self._loop is None:
            return False
        awake = threading.Event()
        self._loop.call_soon_threadsafe(awake.set)
        return not awake.wait(AWAKE_S)

    def leave(self) -> None:
        """Abandon a blocked loop; the next call starts a new one."""
        with self._lock:
            self._loop = None
            self._tasks = {}


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    loop.run_forever()


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def _takes(function: Any, arguments: list[Any]) -> bool:
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    except ValueError:  # it does not declare its arguments
        return True
    return True


OFFERED = ("history", "session", "context", "turn")
"""Keyword arguments that an application's function may take besides the prompt."""


def keywords_of(function: Any, offered: Sequence[str] = OFFERED) -> list[str]:
    """Return which of the offered keywords a function takes, ignoring its first positional argument."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return list(offered)
    by_name = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    first = 1 if parameters and parameters[0].kind is not inspect.Parameter.KEYWORD_ONLY else 0
    return [p.name for p in parameters[first:] if p.name in offered and p.kind in by_name]


def describe_class(kind: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Return the methods of ARIA's dialogue interface that a class lacks, and its required arguments."""
    if not isinstance(kind, type):
        raise UnusableTarget({"reason": "no class", "type": type(kind).__name__})
    abstract: Iterable[str] = getattr(kind, "__abstractmethods__", frozenset())
    lacking = [name for name in NEEDED if name in abstract or not callable(getattr(kind, name, None))]
    lacking += sorted(set(abstract).difference(lacking))
    required, taken = _constructor(kind)
    unknown = [] if taken is None else [name for name in request["init"] if name not in taken]
    required = [name for name in required if name not in request["init"]]
    return {"name": kind.__name__, "lacking": lacking, "wanted": required, "unknown": unknown, "takes": taken or []}


def _constructor(kind: Any) -> tuple[list[str], list[str] | None]:
    """Return the required and the accepted arguments of a class; None for the latter if it accepts any."""
    try:
        parameters = list(inspect.signature(kind).parameters.values())
    except (TypeError, ValueError):  # it does not declare its arguments
        return [], None
    loose = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    fixed = [one for one in parameters if one.kind not in loose]
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters)
    required = [one.name for one in fixed if one.default is inspect.Parameter.empty]
    return required, None if takes_any else [one.name for one in fixed]


def describe_error(error: BaseException, folder: str) -> dict[str, Any]:
    """Return the exception of foreign code and its location, for the parent's message."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  # foreign code
        text = ""
    filename = getattr(error, "filename", None) if isinstance(error, FileNotFoundError) else None
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    return {
        "type": type(error).__name__,
        "text": text[:2000],
        "place": _place(error, folder),
        "refused": any(kin.__name__ == "ContentRefused" for kin in type(error).__mro__),
        "relative": isinstance(filename, str) and not Path(filename).is_absolute(),
        "missing": missing,
        "traceback": _traceback(error),
    }


def _traceback(error: BaseException) -> str:
    """Return the traceback, starting at the first frame of the application's own code."""
    at = error.__traceback__
    while at is not None and not _is_foreign(Path(at.tb_frame.f_code.co_filename)):
        at = at.tb_next
    try:
        lines = traceback.format_exception(type(error), error, at or error.__traceback__)
    except Exception:  # noqa: BLE001  # foreign code: its texts may raise
        return ""
    return "".join(lines)[-8000:]


def _place(error: BaseException, folder: str) -> str:
    """Return the last traceback frame in the application's own code."""
    frames = [(Path(frame.f_code.co_filename), line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [(file, line) for file, line in frames if _is_within(file, folder)]
    if not own:
        foreign = [(file, line) for file, line in frames if _is_foreign(file)]
        own = [(file, line) for file, line in foreign if file.parent == foreign[0][0].parent]
    return f"{own[-1][0].name}, line {own[-1][1]}" if own else ""


def _is_within(file: Path, folder: str) -> bool:
    return bool(folder) and file.is_absolute() and Path(folder) in file.parents and "site-packages" not in file.parts


_STANDARD_LIBRARY = Path(asyncio.__file__).parents[1]


def _is_foreign(file: Path) -> bool:
    """Return whether a file belongs neither to Python nor to Theodolite."""
    is_pythons = _STANDARD_LIBRARY in file.parents and "site-packages" not in file.parts
    return file.is_absolute() and not is_pythons and Path(__file__).parents[2] not in file.parents


def load_target(request: dict[str, Any]) -> Any:
    """Return the function or class that `module:name` or `file.py:name` names.

    Raises:
        UnusableTarget: If there is none.
    """
    _arrange_imports(request)
    module_name, _, name = request["target"].rpartition(":")
    result: Any = _module(module_name, Path(request["study"]))
    for part in name.split("."):
        known = [known for known in dir(result) if not known.startswith("_")]
        if not hasattr(result, part):
            raise UnusableTarget({"reason": "no name", "module": module_name, "part": part, "known": known})
        result = getattr(result, part)
    return result


def _module(name: str, study: Path) -> types.ModuleType:
    if not name.endswith(".py"):
        return importlib.import_module(name)
    file = (study / name).resolve()
    if not file.is_file():
        raise UnusableTarget({"reason": "no file", "file": name})
    known_as = file.stem if file.stem.isidentifier() and file.stem not in sys.modules else "application_" + file.stem
    spec = importlib.util.spec_from_loader(known_as, SourceAsItStands(known_as, str(file)))
    if spec is None or spec.loader is None:
        raise UnusableTarget({"reason": "no file", "file": name})
    module = importlib.util.module_from_spec(spec)
    sys.modules[known_as] = module
    spec.loader.exec_module(module)
    return module


def _arrange_imports(request: dict[str, Any]) -> None:
    """Search modules in the application's folder first, then in the study's, then on the parent's path."""
    folders = list(dict.fromkeys([request["folder"], request["study"]]))
    root = Path(request["folder"])

    def finder(path: str) -> Any:
        if root in (Path(path), *Path(path).parents):
            return FileFinder(path, (ExtensionFileLoader, EXTENSION_SUFFIXES), (SourceAsItStands, SOURCE_SUFFIXES))
        raise ImportError(path)

    sys.path_hooks.insert(0, finder)
    sys.path[:] = [*folders, *(path for path in sys.path if path not in folders)]
    sys.path += [path for path in request["path"] if path not in sys.path]
    sys.path_importer_cache.clear()
    importlib.invalidate_caches()
    sys.dont_write_bytecode = True
    sys.meta_path.append(StandIns(request["base_class"]))  # after all others: installed distributions come first


class SourceAsItStands(SourceFileLoader):
    """Compiles a module from its source, never from a cached file that may be older than the version that is tested."""

    def get_code(self, fullname: str) -> Any:
        """Return the code of the module."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


class StandIns:
    """Finds ARIA's base class and Theodolite's few names for applications if no other finder does."""

    packages = ("theodolite", "theodolite.domain")
    errors = "theodolite.domain.errors"

    def __init__(self, base_class: str) -> None:
        """Set the file of the base class."""
        self._names = {"aria_dialog_api_base": base_class, "theodolite.aria": base_class}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:  # noqa: ARG002
        """Return how to load a module of ours; None for any other."""
        if fullname in self._names:
            return importlib.util.spec_from_file_location(fullname, self._names[fullname])
        if fullname in self.packages or fullname == self.errors:
            return importlib.util.spec_from_loader(fullname, self, is_package=fullname in self.packages)  # type: ignore[arg-type]
        return None

    def create_module(self, spec: Any) -> None:
        """Create the module in Python's default way."""

    def exec_module(self, module: types.ModuleType) -> None:
        """Fill the module."""
        if module.__name__ == self.errors:
            module.__dict__["ContentRefused"] = type("ContentRefused", (Exception,), {})


class Network:
    """Monitors the connections that Python code opens, and blocks those that the study does not allow."""

    connecting = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
    looking_up = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
    starting = frozenset({"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn"})

    def __init__(self, send: Send, allowed: Iterable[str] | None) -> None:
        """Store the permissions.

        Args:
            send: Reports each destination once.
            allowed: Hosts, with or without a port; None for any.
        """
        self._send = send
        self._allowed = None if allowed is None else {name.lower() for name in allowed}
        self._names: dict[str, str] = {}
        self._seen: set[tuple[str, str]] = set()

    def watch(self) -> None:
        """Watch from now on; this cannot be undone."""
        look_up = socket.getaddrinfo

        def getaddrinfo(host: Any, *arguments: Any, **keywords: Any) -> Any:
            result = look_up(host, *arguments, **keywords)
            if isinstance(host, (str, bytes)):
                name = host.decode(errors="replace") if isinstance(host, bytes) else host
                self._names.update((str(entry[4][0]), name.lower()) for entry in result)
            return result

        socket.getaddrinfo = getaddrinfo
        watched = self.connecting | self.looking_up | self.starting

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            if event in watched:
                self._seen_event(event, arguments)

        sys.addaudithook(hook)

    def _seen_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in self.starting:
            self._report("program", _program(event, arguments))
            if self._allowed is not None:
                message = "`network` of the study allows no other programs: what they connect to cannot be seen"
                raise PermissionError(message)
        elif event in self.looking_up:
            host = _plain(arguments[0] if arguments else "")
            if host and self._allowed is not None and not self._allows(host, None):
                self._refuse(host)
        else:
            self._connects(arguments[1] if len(arguments) > 1 else None)

    def _connects(self, address: Any) -> None:
        if not isinstance(address, tuple) or len(address) < 2:  # a local socket: no data leaves the machine
            return
        host, port = _plain(address[0]), address[1]
        name = self._names.get(host, host)
        if self._allowed is None or self._allows(name, port) or self._allows(host, port):
            self._report("connection", f"[{name}]:{port}" if ":" in name else f"{name}:{port}")
        else:
            self._refuse(f"{name}:{port}")

    def _allows(self, host: str, port: Any) -> bool:
        allowed = self._allowed or set()
        if port is None:
            return host in allowed or any(entry.rpartition(":")[0] == host for entry in allowed)
        return host in allowed or f"{host}:{port}" in allowed

    def _refuse(self, destination: str) -> NoReturn:
        self._report("refused", destination)
        message = f"`network` of the study does not allow a connection to {destination}"
        raise PermissionError(message)

    def _report(self, kind: str, name: str) -> None:
        if (kind, name) not in self._seen:
            self._seen.add((kind, name))
            self._send({"network": kind, "name": name})


def _plain(host: Any) -> str:
    return (host.decode(errors="replace") if isinstance(host, bytes) else str(host)).lower().partition("%")[0]


def _program(event: str, arguments: tuple[Any, ...]) -> str:
    position = 1 if event == "os.spawn" else 0
    command = arguments[position] if len(arguments) > position else ""
    words = os.fsdecode(command) if isinstance(command, (str, bytes, os.PathLike)) else str(command)
    return Path(words.split(" ")[0]).name or event


def leave_network() -> bool:
    """Move this process into a network namespace without interfaces; return whether the system allows it (Linux)."""
    if not sys.platform.startswith("linux"):
        return False
    new_network, new_user = 0x40000000, 0x10000000
    try:
        unshare = ctypes.CDLL(None, use_errno=True).unshare
    except (OSError, AttributeError):
        return False
    if unshare(new_network) == 0:
        return True
    user, group = os.getuid(), os.getgid()
    if unshare(new_user | new_network) != 0:
        return False
    with contextlib.suppress(OSError):
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return True


def set_limits(memory_mb: int, cpu_s: int) -> None:
    """Set limits of this process if the system supports them; 0 for none."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for kind, limit in ((resource.RLIMIT_AS, memory_mb << 20), (resource.RLIMIT_CPU, cpu_s)):
        hard = resource.getrlimit(kind)[1]
        amount = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        if limit:
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(kind, (amount, hard))


def own_streams() -> tuple[Any, int]:
    """Return the streams of requests and answers, separate from the code's own input and output."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    return requests, answers


def main() -> None:
    """Serve the parent until it closes the stream of requests."""
    requests, answers = own_streams()
    with contextlib.suppress(ValueError, OSError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    lock = threading.RLock()

    def send(answer: dict[str, Any]) -> None:
        line = memoryview(json.dumps(answer).encode() + b"\n")
        with lock:
            while line:
                line = line[os.write(answers, line) :]

    worker = Worker(send)
    first = json.loads(requests.readline())
    set_limits(first["memory_mb"], first["cpu_s"])
    is_cut_off = first["network"] == [] and leave_network()
    send({"network": "cut off" if is_cut_off else "watched", "name": ""})
    Network(send, first["network"]).watch()
    os.chdir(first["folder"])
    worker.handle(first)
    for line in requests:
        worker.handle(json.loads(line))
    with contextlib.suppress(Exception):
        atexit._run_exitfuncs()  # noqa: SLF001  # nothing else runs them before `os._exit`
    sys.stdout.flush()
    os._exit(0)  # threads of the application may never end


if __name__ == "__main__":
    main()
