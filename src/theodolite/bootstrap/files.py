"""Files that people are given: whole, or not there."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_ident

from theodolite.domain.errors import StorageUnavailable
from theodolite.domain.identity import digest

try:
    import fcntl
except ImportError:  # Windows has no locks of this kind: there, nobody clears away what the dead leave behind
    fcntl = None  # type: ignore[assignment]


def write_whole(path: Path, content: str | bytes | Iterable[str]) -> None:
    """Write a file whole or not at all: half a file must not look like one.

    What writers of the same file left half-written when they were killed is cleared away.

    Args:
        path: Where to.
        content: The text, or its pieces; or bytes.

    Raises:
        StorageUnavailable: If it cannot be written.
    """
    target = path.resolve()  # a link stays one, and what it leads to is replaced
    # Two processes of one run end at the same moment; each writes a file of its own, and the later one stays.
    partial = target.with_name(f"{_ours(target)}{os.getpid()}-{get_ident()}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _clear_away(target)
        with _held(partial):
            with partial.open("wb") as file:
                file.writelines(_encoded(content))
            partial.replace(target)
    except OSError as error:
        message = f"`{path}` cannot be written: {error.strerror}. Name another place with --out"
        raise StorageUnavailable(message) from error
    finally:
        with suppress(OSError):  # where nothing could be written there is nothing to clear away
            partial.unlink()


def _encoded(content: str | bytes | Iterable[str]) -> Iterable[bytes]:
    if isinstance(content, bytes):
        return [content]
    pieces = [content] if isinstance(content, str) else content
    return (piece.encode() for piece in pieces)


def _ours(target: Path) -> str:
    """Return what names of half-written files begin with that this machine makes of a file."""
    return f".{target.name}.{digest('host', socket.gethostname())[:8]}."


@contextmanager
def _held(partial: Path) -> Iterator[None]:
    """Make a file, and hold its lock for the length of the block.

    The system lets go of the lock when the process dies, however it dies.
    """
    if fcntl is None:
        yield
        return
    number = _made(partial)
    try:
        yield
    finally:
        os.close(number)


def _made(partial: Path) -> int:
    """Return the descriptor of a new file whose lock is held."""
    while True:
        number = os.open(partial, os.O_RDWR | os.O_CREAT, 0o666)
        with suppress(OSError):  # a folder without locks: nobody can have this one, so nobody takes it for a dead one's
            fcntl.flock(number, fcntl.LOCK_EX)
        if _leads_to(partial, number):
            return number
        os.close(number)  # somebody cleared it away between its making and its lock


def _leads_to(partial: Path, number: int) -> bool:
    try:
        return os.path.samestat(partial.stat(), os.fstat(number))
    except FileNotFoundError:
        return False


def _clear_away(target: Path) -> None:
    """Remove what dead writers of a file have left half-written, and nothing that a living one may be writing.

    A number of a process tells nothing: it is given again, and another machine or
    container on the same folder has numbers of its own. The lock tells: only the dead
    have let go of it. Not every shared folder passes locks on to other machines, so
    that names tell the machine too, and each clears away its own alone.
    """
    if fcntl is None:
        return
    name = re.compile(re.escape(_ours(target)) + r"\d+-\d+\.partial")
    for left in [one for one in target.parent.iterdir() if name.fullmatch(one.name)]:
        with suppress(OSError):  # its writer lives, or it is not ours to remove
            _remove_if_dead(left)


def _remove_if_dead(left: Path) -> None:
    """Remove a half-written file.

    Raises:
        OSError: If its writer lives.
    """
    number = os.open(left, os.O_RDWR)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        left.unlink()
    finally:
        os.close(number)
