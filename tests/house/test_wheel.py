"""What is installed is what stands in the source tree: nothing lost, nothing extra."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.house.tree import PACKAGE, ROOT, tracked_files

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (file,) = folder.glob("*.whl")
    with zipfile.ZipFile(file) as packed:
        return {name: packed.read(name) for name in packed.namelist() if not name.endswith("/")}


def source_files() -> dict[str, Path]:
    files = (path for path in tracked_files() if path.is_relative_to(PACKAGE))
    return {str(path.relative_to(PACKAGE.parent)): path for path in files}


DOCUMENTATION = "theodolite/resources/documentation/"


def packaged(wheel: dict[str, bytes]) -> set[str]:
    return {name for name in wheel if ".dist-info/" not in name}


def documentation_files() -> dict[str, Path]:
    """Files of the documentation and the skill, under the names that the wheel gives them."""
    pages = {
        f"{DOCUMENTATION}pages/{path.relative_to(ROOT / 'docs').as_posix()}": path
        for path in tracked_files()
        if path.is_relative_to(ROOT / "docs")
    }
    return pages | {f"{DOCUMENTATION}SKILL.md": ROOT / "skills" / "theodolite" / "SKILL.md"}


def test_every_tracked_file_of_the_package_reaches_the_wheel(wheel):
    assert sorted(set(source_files()) - packaged(wheel)) == []


def test_the_wheel_contains_nothing_outside_the_source_tree(wheel):
    present = {str(path.relative_to(PACKAGE.parent)) for path in PACKAGE.rglob("*") if path.is_file()}

    assert sorted(packaged(wheel) - present - documentation_files().keys()) == []


def test_the_documentation_is_byte_identical_in_the_wheel(wheel):
    assert [name for name, path in documentation_files().items() if wheel.get(name) != path.read_bytes()] == []


def test_files_are_byte_identical_in_the_wheel(wheel):
    changed = [name for name, path in source_files().items() if wheel.get(name) != path.read_bytes()]

    assert changed == []


@pytest.mark.parametrize(
    "part",
    [
        "theodolite/py.typed",
        "theodolite/resources/demo/xstest-replay/answers.csv.gz",
        "theodolite/resources/demo/xstest-replay/SOURCE.txt",
        "theodolite/resources/demo/spoiler-guard/personas/viewer.md",
        "theodolite/store/migrations/0022_supposed_tokens.py",
    ],
)
def test_files_required_at_run_time_are_included(wheel, part):
    assert part in wheel


@pytest.mark.parametrize("part", ["licenses/LICENSE", "licenses/NOTICE", "entry_points.txt", "METADATA"])
def test_licence_and_entry_point_are_included(wheel, part):
    assert [name for name in wheel if name.endswith(f".dist-info/{part}")] != []
