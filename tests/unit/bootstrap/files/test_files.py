from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from theodolite.bootstrap.files import _ours, write_whole
from theodolite.domain.errors import StorageUnavailable


def test_concurrent_writers_of_one_file_do_not_interfere(tmp_path):
    path, together = tmp_path / "deep" / "report.html", Barrier(4)

    def pieces(letter):
        yield letter
        together.wait(timeout=30)
        yield letter * 1000

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda letter: write_whole(path, pieces(letter)), "abcd"))

    written = path.read_text(encoding="utf-8")
    assert len(written) == 1001
    assert len(set(written)) == 1
    assert [file.name for file in path.parent.iterdir()] == ["report.html"]


def test_an_interrupted_write_leaves_the_earlier_file_and_no_temporary_one(tmp_path):
    path = tmp_path / "results.json"
    write_whole(path, "before")

    def broken():
        yield "half"
        raise OSError(28, "No space left on device")

    with pytest.raises(StorageUnavailable, match="No space left on device"):
        write_whole(path, broken())

    assert path.read_text(encoding="utf-8") == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["results.json"]


KILLED = """
import os, signal, sys
from pathlib import Path
from theodolite.bootstrap.files import write_whole

def pieces():
    yield "half"
    print("writing", flush=True)
    if sys.argv[2] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.read()

write_whole(Path(sys.argv[1]), pieces())
"""


def writer(path, fate):
    command = [sys.executable, "-c", KILLED, str(path), fate]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "writing\n"
    return process


def partials(folder):
    return sorted(file.name for file in folder.iterdir() if file.name.endswith(".partial"))


def test_the_next_writer_removes_temporary_files_of_dead_writers_only(tmp_path):
    path, other = tmp_path / "report.html", tmp_path / "report.html.old"
    for killed in (path, other):
        writer(killed, "killed").communicate(timeout=60)
    left = partials(tmp_path)
    with writer(path, "alive") as living:
        at_work = [name for name in partials(tmp_path) if f".{living.pid}-" in name]
        write_whole(path, "whole")
        stayed = partials(tmp_path)
        living.communicate("", timeout=60)

    assert len(left) == 2
    assert stayed == sorted([*at_work, *(name for name in left if name.startswith(".report.html.old."))])
    assert path.read_text(encoding="utf-8") == "half"
    assert living.returncode == 0


def test_temporary_files_of_another_machine_are_left_alone(tmp_path, monkeypatch):
    path = tmp_path / "results.json"
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(socket, "gethostname", lambda: "elsewhere")
        theirs = path.with_name(f"{_ours(path)}7-7.partial")
    theirs.write_text("half", encoding="utf-8")  # its lock is not seen here, as on a shared folder that passes none on
    ours = path.with_name(f"{_ours(path)}7-7.partial")
    ours.write_text("half", encoding="utf-8")

    write_whole(path, "whole")

    assert theirs.exists()
    assert not ours.exists()


def test_a_temporary_file_removed_before_it_is_locked_is_created_again(tmp_path, monkeypatch):
    path, lock, cleared = tmp_path / "results.json", fcntl.flock, []

    def slow(number, how):
        if not cleared:
            cleared.append(next(tmp_path.iterdir()))
            cleared[0].unlink()
        lock(number, how)

    monkeypatch.setattr(fcntl, "flock", slow)
    write_whole(path, "whole")

    assert cleared
    assert path.read_text(encoding="utf-8") == "whole"


def test_a_symbolic_link_is_preserved_and_bytes_are_written_unchanged(tmp_path):
    path = tmp_path / "latest.zip"
    path.symlink_to("answers.zip")

    write_whole(path, b"PK\r\n")

    assert path.is_symlink()
    assert (tmp_path / "answers.zip").read_bytes() == b"PK\r\n"


def test_a_pipe_is_written_to_instead_of_replaced(tmp_path):
    """The rule also protects `/dev/null` from `--out /dev/null` of the superuser."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as threads:
        content = threads.submit(pipe.read_bytes)
        write_whole(pipe, ["one ", "two"])

    assert content.result() == b"one two"
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]
