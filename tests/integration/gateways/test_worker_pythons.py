"""The worker is one file that runs on every Python from 3.9 on, with the libraries of the application."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.gateway_clock import RealClock
from theodolite.domain.application import Application, AriaClass, PythonCallable, Runtime
from theodolite.domain.errors import InputError
from theodolite.domain.flow import Exchange, SayToApplication
from theodolite.gateways.applications.worker_process import WORKER_FILE
from theodolite.gateways.factory import open_application

pytestmark = pytest.mark.integration

TEAM = """import sys
from aria_dialog_api_base import AriaDialogAPI
from theodolite.domain.errors import ContentRefused


class Team(AriaDialogAPI):
    def __init__(self, key):
        self.key = key

    def OpenConnection(self, auth=None):
        return True, "welcome"

    def CloseConnection(self):
        return True

    def StartSession(self):
        return True

    def GetResponse(self, text):
        return {"success": True, "response": f"{sys.version_info[0]}.{sys.version_info[1]} {text}"}


async def reply(prompt, history, session):
    yield f"{sys.version_info[0]}.{sys.version_info[1]} "
    yield history[0].response
"""


def interpreters() -> list[str]:
    """Return one interpreter for each version from 3.9 on that this machine has, the present one among them."""
    usual = [shutil.which(f"python3.{minor}") for minor in range(9, 16)]
    managed = sorted(Path.home().glob(".pyenv/versions/3.*/bin/python3"))
    found = {f"{sys.version_info[0]}.{sys.version_info[1]}": sys.executable}
    for program in [*filter(None, usual), *map(str, managed)]:
        asked = [program, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        answer = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
        if answer.startswith("3.") and int(answer[2:]) >= 9:
            found.setdefault(answer, program)
    return [found[version] for version in sorted(found)]


def opened(connection: PythonCallable | AriaClass, folder: Path, **environ: str) -> Any:
    return open_application(
        Application(name="app", connection=connection),
        models={},
        recordings=(),
        folder=folder,
        environ={"PATH": os.environ["PATH"], **environ},
        clock=RealClock(),
        workspace=folder / ".theodolite",
    )


async def text_of(application: Any, *earlier: str) -> str:
    history = tuple(Exchange(prompt=one, response="heard") for one in earlier)
    said = SayToApplication(application="app", prompt="hi", turn=1 + len(earlier), history=history)
    try:
        return (await application.reply(said, session="s")).text  # type: ignore[no-any-return]
    finally:
        await application.close()


@pytest.mark.parametrize("python", interpreters())
async def test_classes_and_functions_run_on_another_python(tmp_path: Path, python: str) -> None:
    (tmp_path / "team.py").write_text(TEAM)
    runtime = Runtime(python=python)

    team = opened(AriaClass(target="team.py:Team", runtime=runtime, init='{"key": "k"}'), tmp_path)
    function = opened(PythonCallable(target="team.py:reply", runtime=runtime), tmp_path)
    replies = (await text_of(team), await text_of(function, "a"))

    version = replies[0].split()[0]
    assert replies == (f"{version} hi", f"{version} heard")
    assert version == subprocess.check_output([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]).decode().strip()  # fmt: skip  # noqa: E501, ASYNC221


def test_the_worker_is_one_file_for_python_3_9_with_imports_of_the_standard_library_only() -> None:
    tree = ast.parse(WORKER_FILE.read_text(encoding="utf-8"), feature_version=(3, 9))

    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imported |= {node.module or "." for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names
    assert not any(isinstance(node, ast.Match) for node in ast.walk(tree))


def write_wheel(folder: Path, version: str) -> str:
    """Write a wheel of one module that returns its version; return the name of the wheel."""
    name = f"theodolite_test_tone-{version}-py3-none-any.whl"
    info = f"theodolite_test_tone-{version}.dist-info"
    with zipfile.ZipFile(folder / name, "w") as wheel:
        wheel.writestr("theodolite_test_tone.py", f"VERSION = {version!r}\n")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: theodolite-test-tone\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return name


async def test_two_teams_can_pin_conflicting_versions_of_a_library(tmp_path: Path) -> None:
    for team, version in (("a", "1.0"), ("b", "2.0")):
        folder = tmp_path / team
        folder.mkdir()
        (folder / "requirements.txt").write_text(f"./{write_wheel(folder, version)}\n")
        (folder / "bot.py").write_text("import theodolite_test_tone as t\ndef reply(prompt): return t.VERSION\n")

    applications = [
        opened(
            PythonCallable(target=f"{team}/bot.py:reply", runtime=Runtime(requirements=f"{team}/requirements.txt")),
            tmp_path,
            PIP_NO_INDEX="1",
        )
        for team in "ab"
    ]

    assert [await text_of(one) for one in applications] == ["1.0", "2.0"]
    environments = [path.name for path in (tmp_path / ".theodolite/environments").iterdir() if path.is_dir()]
    again = opened(
        PythonCallable(target="a/bot.py:reply", runtime=Runtime(requirements="a/requirements.txt")), tmp_path
    )
    assert await text_of(again) == "1.0"
    assert len(environments) == 2


def test_libraries_that_cannot_be_installed_are_named(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("theodolite-test-gone==9\n")
    (tmp_path / "bot.py").write_text("def reply(prompt): return prompt\n")
    connection = PythonCallable(target="bot.py:reply", runtime=Runtime(requirements="requirements.txt"))

    with pytest.raises(InputError, match=r"`app`: cannot install `requirements.txt`.*theodolite-test-gone==9"):
        opened(connection, tmp_path, PIP_NO_INDEX="1")
    assert not [*(tmp_path / ".theodolite/environments").glob("*/complete")]


def test_an_installation_has_no_access_to_keys(tmp_path: Path) -> None:
    """Pip fills `${NAME}` into the lines of a file of requirements, so an address could carry a key away."""
    (tmp_path / "requirements.txt").write_text("theodolite-test-gone==${KEY_OF_A_MODEL}\n")
    (tmp_path / "bot.py").write_text("def reply(prompt): return prompt\n")
    connection = PythonCallable(target="bot.py:reply", runtime=Runtime(requirements="requirements.txt"))

    with pytest.raises(InputError, match=r"cannot install") as refused:
        opened(connection, tmp_path, PIP_NO_INDEX="1", KEY_OF_A_MODEL="31337")
    assert "31337" not in str(refused.value)
