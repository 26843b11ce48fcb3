"""Wheel and sdist run without the source tree; SBOM and signed checksums describe them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
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


@pytest.mark.parametrize("form", ["*.whl", "*.tar.gz"], ids=["wheel", "sdist"])
def test_a_study_runs_from_what_is_distributed(dist: Path, form: str, tmp_path: Path) -> None:
    """The environment has the dependencies, but neither the source tree nor its editable install."""
    [file] = dist.glob(form)
    venv.create(tmp_path / "venv", with_pip=False, symlinks=True)
    [site] = (tmp_path / "venv").glob("lib/python*/site-packages")
    install = ["install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--target", str(site)]
    subprocess.run([sys.executable, "-m", "pip", *install, str(file)], check=True, capture_output=True)
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")

    command = [tmp_path / "venv" / "bin" / "python", "-m", "theodolite", "run", str(tmp_path)]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    where = subprocess.check_output([*command[:1], "-c", "import theodolite; print(theodolite.__file__)"], text=True)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "0 of 2" in ran.stdout
    assert where.startswith(str(site))


def test_the_sbom_lists_what_an_installation_brings(dist: Path) -> None:
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
