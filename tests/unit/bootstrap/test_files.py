from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from theodolite.bootstrap.files import write_whole
from theodolite.domain.errors import StorageUnavailable


def test_who_writes_the_same_file_at_the_same_moment_disturbs_nobody(tmp_path):
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


def test_what_cannot_be_finished_leaves_the_earlier_file_and_no_other(tmp_path):
    path = tmp_path / "results.json"
    write_whole(path, "before")

    def broken():
        yield "half"
        raise OSError(28, "No space left on device")

    with pytest.raises(StorageUnavailable, match="No space left on device"):
        write_whole(path, broken())

    assert path.read_text(encoding="utf-8") == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["results.json"]
