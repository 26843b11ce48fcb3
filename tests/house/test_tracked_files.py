"""Nothing of the machine that it was written on may reach the repository."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath

import pytest
from tests.house.tree import ROOT, tracked_files

from theodolite.config.packs import is_portable

FOREIGN = re.compile(
    "|".join(
        [
            r"(?<![\w.])/(work|root|opt)/[\w.]",
            r"(?<![\w.])/home/(?!user\b|you\b)\w",
            r"python" + r"hosted\.org",
            r"\bpypi\." + r"org\b",
            r"--(extra-)?index" + r"-url",
            r"--hash" + r"=sha256",
            r"-----BEGIN [A-Z ]*PRIVATE " + r"KEY",
        ]
    )
)
LARGEST_BYTES = 1_000_000


def texts():
    for path in tracked_files():
        try:
            yield path.relative_to(ROOT), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def test_no_file_names_a_machine_path_or_a_package_registry():
    own = "tests/house/test_tracked_files.py"

    found = {str(path): match[0] for path, text in texts() if str(path) != own and (match := FOREIGN.search(text))}

    assert found == {}


def test_no_file_is_large():
    sizes = {str(path.relative_to(ROOT)): path.stat().st_size for path in tracked_files()}

    assert {path: size for path, size in sizes.items() if size > LARGEST_BYTES} == {}


@pytest.mark.parametrize("name", ["constraints.txt", "constraints-wire.txt"])
def test_constraints_are_names_and_versions_alone(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()

    assert [line for line in lines if not re.fullmatch(r"#.*|[A-Za-z0-9_.-]+==[0-9][\w.]*", line)] == []


def test_hooks_run_installed_programs_and_download_nothing():
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")

    assert "repo: local" in text
    assert text.count("repo:") == 1
    assert "http" not in text


def test_file_names_are_valid_on_windows_and_macos():
    names = [PurePosixPath(path.relative_to(ROOT).as_posix()) for path in tracked_files()]
    assert [str(name) for name in names if not is_portable(name)] == []
    alike = Counter(str(name).casefold() for name in names)
    assert [name for name, count in alike.items() if count > 1] == [], "names that differ in case alone"
