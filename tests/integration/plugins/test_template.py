"""The template of a plugin is built, installed into an environment of its own and used by a study."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from tests.house.tree import ROOT

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

TEMPLATE = ROOT / "templates" / "plugin"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter with the plugin's wheel beside the packages of this environment."""
    folder = tmp_path_factory.mktemp("plugin")
    source = folder / "source"
    shutil.copytree(TEMPLATE, source)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=source, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    interpreter = folder / "venv" / "bin" / "python"
    [site] = (folder / "venv").glob("lib/python*/site-packages")
    # A line of code in a .pth file lets the environment see what is installed here, editable packages included.
    line = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    (site / "beside.pth").write_text(line, encoding="utf-8")
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(site), str(wheel)]
    subprocess.run([interpreter, *install], check=True, capture_output=True)
    return interpreter


@pytest.fixture
def study(tmp_path: Path) -> Path:
    shutil.copytree(TEMPLATE / "example", tmp_path / "study")
    return tmp_path / "study"


def theodolite(python: Path, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [python, "-m", "theodolite", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def test_the_list_names_the_parts_with_their_package(python: Path, tmp_path: Path) -> None:
    listed = json.loads(theodolite(python, "plugins", "--json", cwd=tmp_path).stdout)

    own = [(part["kind"], part["name"]) for part in listed["parts"] if part["plugin"] == "our-house"]
    assert own == [
        ("application", "our-house/opening-hours"),
        ("persona", "our-house/caller"),
        ("judge", "our-house/polite"),
        ("measure", "our-house/largest-share@1"),
        ("importer", "our-house/talk"),
    ]
    assert listed["packages"] == {"our-house": "theodolite-our-house 1.0.0"}


def test_a_study_uses_application_judge_and_measure(python: Path, study: Path) -> None:
    ran = theodolite(python, "run", ".", "--allow-code", cwd=study)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    results = json.loads((study / "results.json").read_text(encoding="utf-8"))
    [share] = results["plugin_measures"]
    # By hand: 8 of 12 questions name Monday or Saturday, and only their answers say please.
    assert (share["value"], share["n"], share["outcomes"]["planned"]) == (8 / 12, 12, 12)
    assert share["low"] < share["value"] < share["high"]
    assert "our-house/largest-share@1 of hours by polite: 0.6667" in " ".join(ran.stdout.split())
    assert "share of the most frequent label" in (study / "report.html").read_text(encoding="utf-8")


def test_simulated_users_follow_the_persona_template(python: Path, study: Path) -> None:
    checked = theodolite(python, "check", "callers.yaml", cwd=study)
    ran = theodolite(python, "run", "callers.yaml", "--allow-code", cwd=study)

    assert "From    persona template our-house/caller 1.0: our-house\n" in checked.stdout
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_importer_creates_a_study_from_a_file(python: Path, study: Path) -> None:
    made = theodolite(python, "import", "results", "imported", "dialogues.talk", "--json", cwd=study)

    assert json.loads(made.stdout)["files"][0]["tool"] == "talk"
    ran = theodolite(python, "run", "imported", cwd=study)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1 of 2" in ran.stdout


def test_an_invalid_line_of_the_file_is_named(python: Path, study: Path) -> None:
    (study / "broken.talk").write_text("#talk 1\nhours | Open? | maybe\n", encoding="utf-8")

    made = theodolite(python, "import", "results", "imported", "broken.talk", cwd=study)

    assert made.returncode == 2
    assert "broken.talk:2" in made.stderr + made.stdout
