"""The files under `deploy/`: linters accept them, and the program has every command in them."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from ruamel.yaml import YAML

from tests.integration.web.server import Server
from theodolite.bootstrap import observers
from theodolite.cli.main import cli

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PAGE = ROOT / "docs" / "how-to" / "run-on-a-server.md"
OURS = ("web", "worker")


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    content = YAML(typ="safe").load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    found: dict[str, Any] = content["services"]
    return found


def instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile with their arguments."""
    text = re.sub(r"\\\n\s*", "", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.partition(" ")[0], line.partition(" ")[2]) for line in lines]


@pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="hadolint has a package for Linux on x86-64 alone"
)
def test_hadolint_accepts_the_dockerfile():
    program = shutil.which("hadolint", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    assert program is not None, "hadolint is missing; `make test` installs it"
    done = subprocess.run([program, DEPLOY / "Dockerfile"], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "")


def test_the_compose_file_matches_the_schema_of_its_specification():
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    done = subprocess.run([*command, DEPLOY / "compose.yaml"], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout


def test_the_image_copies_existing_files_of_its_context():
    allowed = {
        line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[:1] == "!"
    }
    copied = [shlex.split(words)[:-1] for name, words in instructions() if name == "COPY" and "--from" not in words]

    sources = {source for group in copied for source in group}
    assert sources == allowed
    assert [source for source in sources if not (ROOT / source).exists()] == []


def test_the_image_has_the_packages_without_their_tests(tmp_path):
    removing = next(words for name, words in instructions() if name == "RUN" and "find" in words).partition("find ")[2]
    root = shlex.split(removing)[0].rpartition("/")[0]
    kept, removed = ("numpy/linalg/linalg.py", "scipy/special/x.py"), ("numpy/linalg/tests/a.py", "scipy/tests/b.py")
    for name in (*kept, *removed):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    subprocess.run(["sh", "-c", f"find {removing}".replace(root, str(tmp_path))], check=True)

    assert sorted(file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*.py")) == sorted(kept)
    python = next(words for name, words in instructions() if name == "FROM").partition(":")[2].partition("-")[0]
    assert root.endswith(f"/lib/python{python}/site-packages")


def test_the_image_runs_as_an_unprivileged_user_and_contains_no_secret():
    users = [words for name, words in instructions() if name == "USER"]
    settings = " ".join(words for name, words in instructions() if name in {"ENV", "ARG"})

    assert users == ["10001"]
    assert re.findall(r"[A-Z_]*(?:KEY|TOKEN|PASSWORD|SECRET)[A-Z_]*", settings) == []


def parsed(words: list[str]) -> None:
    """Parse a command line as the program does.

    Raises:
        click.UsageError: If it has no such command or option.
    """
    context = cli.make_context("theodolite", words[:], resilient_parsing=True)
    name, command, rest = cli.resolve_command(context, words)
    assert name is not None
    assert command is not None
    command.make_parser(click.Context(command)).parse_args(rest)


def test_every_command_of_the_files_and_of_their_page_exists(services):
    (entry,) = (words for name, words in instructions() if name == "ENTRYPOINT")
    (usual,) = (words for name, words in instructions() if name == "CMD")
    on_the_page = re.findall(r"docker compose run --rm \S+ ([^`\n]+)", PAGE.read_text(encoding="utf-8"))

    assert entry == '["theodolite"]'
    commands = [YAML(typ="safe").load(usual), *(services[name]["command"] for name in OURS)]
    assert len(on_the_page) == 1
    for words in [*commands, *(shlex.split(line) for line in on_the_page)]:
        parsed(words)
    with pytest.raises(click.UsageError):
        parsed(["serve", "--no-such-option"])
    with pytest.raises(click.UsageError):
        parsed(["sevre"])


def test_every_service_has_a_health_check_and_shipped_services_have_no_privileges(services):
    assert [name for name, service in services.items() if "healthcheck" not in service] == []
    for name in OURS:
        assert (services[name]["read_only"], services[name]["cap_drop"]) == (True, ["ALL"])
    assert all(port.startswith("127.0.0.1:") for service in services.values() for port in service.get("ports", []))


def test_secrets_are_read_from_the_environment_and_documented(services):
    page = PAGE.read_text(encoding="utf-8")
    values = {key: value for service in services.values() for key, value in service["environment"].items()}
    secret = {key: value for key, value in values.items() if re.search(r"KEY$|TOKEN|PASSWORD|DATABASE_URL", key)}

    assert [key for key, value in secret.items() if "${" not in value] == []
    required = {name for value in values.values() for name in re.findall(r"\$\{(\w+):\?", value)}
    assert [name for name in sorted(required) if f"\n{name}=" not in page] == []


def health_code(service: dict[str, Any]) -> str:
    """Return the Python code of a health check."""
    kind, program, flag, code = service["healthcheck"]["test"]
    assert (kind, program, flag) == ("CMD", "python", "-c")
    return str(code)


def test_the_health_check_of_the_web_server_passes_only_with_a_running_server(services, tmp_path):
    code = health_code(services["web"])
    with Server(tmp_path) as server:
        here = code.replace("127.0.0.1:8000", f"127.0.0.1:{server.port}")
        assert subprocess.run([sys.executable, "-c", here], check=False, capture_output=True).returncode == 0
    assert subprocess.run([sys.executable, "-c", here], check=False, capture_output=True).returncode == 1


def test_the_health_check_of_a_worker_sends_the_token(services):
    environ = {**os.environ, "THEODOLITE_METRICS_TOKEN": "a-token-of-more-than-20-characters"}
    code = health_code(services["worker"])
    try:
        with observers.metrics_server("127.0.0.1:0", [], environ) as address:
            port = address.rpartition(":")[2].partition("/")[0]
            command = [sys.executable, "-c", code.replace("9464", port)]
            done = subprocess.run(command, env=environ, check=False, capture_output=True)
            wrong = {**environ, "THEODOLITE_METRICS_TOKEN": "wrong"}
            refused = subprocess.run(command, env=wrong, check=False, capture_output=True)
    finally:
        observers.stop_observers()

    assert (done.returncode, refused.returncode) == (0, 1)
