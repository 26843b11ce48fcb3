"""Wheel and sdist run without the source tree; SBOM and signed checksums describe them."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import sysconfig
import tomllib
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from tests.docs.blocks import blocks_of, try_block
from tests.fakes.loopback import Loopback
from tests.fakes.terminal import environment
from tests.fakes.warm import Done
from tests.house.tree import ROOT

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

STUDY = """\
study: small
applications: {bot: {kind: model, model: large}}
models: {large: {script: [At nine.]}}
cases: [{prompt: When do you open?}, {prompt: When?}]
judges: {nine: {rule: {contains: nine}}}
"""


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("keys")
    private, public = folder / "release.pem", folder / "release.pub.pem"
    made = Ed25519PrivateKey.generate()
    private.write_bytes(made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(made.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return private, public


def release_files(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools" / "release_files.py"), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class Installation:
    """An environment with the dependencies and a distribution, without the source tree and its editable install."""

    def __init__(self, folder: Path, file: Path) -> None:
        venv.create(folder, with_pip=False, symlinks=True)
        [self.site] = folder.glob("lib/python*/site-packages")
        self.python = folder / "bin" / "python"
        install = ["install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--target", str(self.site)]
        subprocess.run([sys.executable, "-m", "pip", *install, str(file)], check=True, capture_output=True)
        (self.site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")

    def run(self, *words: str, folder: Path) -> Done:
        """Return how a command ends, with both outputs in one."""
        environ = environment(COLUMNS="80", NO_COLOR="1")
        command = [str(self.python), "-m", "theodolite", *words]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(command, cwd=folder, env=environ, text=True, check=False, **pipes)
        return Done(done.returncode, done.stdout, "")


@pytest.fixture(scope="module")
def wheel(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation(tmp_path_factory.mktemp("wheel"), next(dist.glob("*.whl")))


def test_a_study_runs_from_the_sdist(dist: Path, tmp_path: Path) -> None:
    installed = Installation(tmp_path / "venv", next(dist.glob("*.tar.gz")))
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")

    ran = installed.run("run", str(tmp_path), folder=tmp_path)
    where = subprocess.check_output(
        [installed.python, "-c", "import theodolite; print(theodolite.__file__)"], text=True
    )

    assert ran.returncode == 0, ran.stdout
    assert "0 of 2" in ran.stdout
    assert where.startswith(str(installed.site))


def test_the_tutorial_works_with_the_wheel(wheel: Installation, tmp_path: Path) -> None:
    def command(text: str, folder: Path) -> Done:
        return wheel.run(*shlex.split(text)[1:], folder=folder)

    for block in blocks_of(ROOT / "docs" / "tutorial" / "first-study.md"):
        try_block(block, tmp_path, {}, run=command)


def rows_and_judge(url: str) -> list[str]:
    return ["--from", "mine.csv", "--judge", "relevance", "--model", url]


def cases_and_endpoint(url: str) -> list[str]:
    return ["--app", url, "--cases", "mine.csv"]


def python_function(url: str) -> list[str]:
    return ["--app", "bot.py:answer"]


@pytest.mark.parametrize(
    ("options", "name", "text", "number"),
    [
        (rows_and_judge, "mine.csv", "question,answer\nq1,a1\nq2,a2\n", "2 planned: 2 judged"),
        (cases_and_endpoint, "mine.csv", "question,answer\nWhat is 2+2?,4\nq2,Paris\n", "of 2"),
        (python_function, "bot.py", "def answer(prompt):\n    return 'It is 4.'\n", "2 of 3"),
    ],
    ids=["recorded rows plus judge", "test cases against an endpoint", "a Python function"],
)
def test_two_commands_and_one_file_produce_the_first_number(
    wheel: Installation, tmp_path: Path, options: Callable[[str], list[str]], name: str, text: str, number: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with Loopback(models=("judge",), replies={"other": ["It is Paris."]}) as server:
        written = wheel.run("init", "first", *options(server.url), folder=tmp_path)
        ran = wheel.run("run", "first", folder=tmp_path)

    assert (written.returncode, ran.returncode) == (0, 0), written.stdout + ran.stdout
    assert number in ran.stdout


def test_the_sbom_lists_the_packages_of_an_installation(dist: Path) -> None:
    assert release_files(dist).returncode == 0

    sbom = json.loads((dist / "sbom.cdx.json").read_text(encoding="utf-8"))
    names = {part["name"] for part in sbom["components"]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    direct = {re.split(r"[\[>=<~ ]", line)[0].replace(".", "-").lower() for line in project["dependencies"]}
    assert direct <= names
    assert names.isdisjoint({"pandas", "pyarrow", "pytest", "playwright", "mypy"})
    known = {part["bom-ref"] for part in [*sbom["components"], sbom["metadata"]["component"]]}
    assert {need for entry in sbom["dependencies"] for need in entry["dependsOn"]} <= known
    assert (sbom["bomFormat"], sbom["specVersion"]) == ("CycloneDX", "1.6")


def test_a_signed_release_is_verified_and_a_changed_file_is_named(dist: Path, keys: tuple[Path, Path]) -> None:
    private, public = keys
    assert "signed in" in release_files(dist, "--key", private).stdout
    assert release_files(dist, "--verify", public).stdout == "All files are as signed.\n"

    sums = (dist / "SHA256SUMS").read_text(encoding="utf-8")
    assert {line.split()[1] for line in sums.splitlines()} >= {"sbom.cdx.json", "theodolite-0.1.0.tar.gz"}
    (dist / "extra.txt").write_text("added", encoding="utf-8")
    changed = release_files(dist, "--verify", public)
    (dist / "extra.txt").unlink()

    assert (changed.returncode, changed.stdout) == (1, "extra.txt differs from its signed checksum\n")


def test_another_key_verifies_nothing(dist: Path, keys: tuple[Path, Path], tmp_path: Path) -> None:
    release_files(dist, "--key", keys[0])
    other = Ed25519PrivateKey.generate().public_key()
    (tmp_path / "other.pem").write_bytes(other.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))

    refused = release_files(dist, "--verify", tmp_path / "other.pem")

    assert refused.returncode == 1
    assert "signature is not valid" in refused.stdout
