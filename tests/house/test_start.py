"""Help answers before anything heavy is loaded; what is loaded late is loaded by who needs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.house.tree import PACKAGE

HEAVY = ("django", "numpy", "scipy", "pydantic", "httptools", "jinja2", "ruamel", "asyncio")


ARRAYS = ("numpy", "scipy")


def modules_after(statement: str) -> set[str]:
    """Return the top-level modules that are loaded after a statement in a fresh process."""
    code = f"{statement}\nimport sys\nprint('\\n' + ' '.join({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "statement",
    [
        "import theodolite",
        "import theodolite.measurement",
        "from theodolite.cli.main import cli\ncli.main(['--help'], standalone_mode=False)",
    ],
    ids=["package", "measurement", "help"],
)
def test_no_heavy_module_is_imported_before_it_is_needed(statement):
    assert sorted(modules_after(statement) & set(HEAVY)) == []


@pytest.mark.parametrize("command", ["run", "status"])
def test_commands_without_measurement_import_no_arrays(command):
    statement = f"from theodolite.cli.main import cli\ncli.get_command(None, {command!r})"

    assert sorted(modules_after(statement) & {*ARRAYS, "rich"}) == []


def test_status_commands_load_no_findings():
    code = "import theodolite.cli.run, sys; print('theodolite.domain.estimate' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


STUDY = """\
study: small
applications: {echo: {kind: python, call: "bot:reply"}}
scenarios: {hours: {task: chat, scripts: {hello: hello}}}
"""

UNUSED = {
    "store": [
        "models.events",
        "models.annotating",
        "event_sessions",
        "event_withdrawal",
        "annotation_queue",
    ],
    "domain": [
        "live",
        "annotating.work",
        "annotating.case",
        "annotating.discrepancy",
        "annotating.quality",
        "coding",
        "estimate",
        "event",
        "event_record",
        "findings.number",
        "schema",
        "monitoring",
        "status",
        "study_parts",
        "tree",
        "wording",
    ],
    "config": ["translations", "trees"],
    "measurement": ["trees.construction"],
    "gateways": [
        "applications.aria_application",
        "templates",
        "rate_window",
        "models.cached_model",
        "applications.http_application",
        "models.anthropic_messages",
        "models.inspect_model",
        "telemetry",
    ],
}
"""What the smallest run has no use for, by package: nobody takes part, and one function is asked."""


@pytest.mark.parametrize("package", UNUSED)
def test_the_modules_excluded_from_a_small_run_exist(package):
    places = {name: PACKAGE / package / name.replace(".", "/") for name in UNUSED[package]}

    assert [name for name, place in places.items() if not (place.is_dir() or place.with_suffix(".py").is_file())] == []


LOADED = """\
import json, sys
from dataclasses import is_dataclass
from theodolite.cli.main import main

def n_nouns(module):
    made = [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]
    return sum(is_dataclass(each) for each in made)

try:
    main(["run", {folder!r}, "--stage", "test", "--json"])
except SystemExit:
    print(json.dumps({{name: n_nouns(module) for name, module in sorted(sys.modules.items())}}))
"""


@pytest.fixture(scope="module")
def loaded_by_a_run(tmp_path_factory) -> dict[str, int]:
    """Return the modules that `theodolite run --stage test` loads for the smallest study on a migrated database.

    Each comes with the number of dataclasses that are made in it.
    """
    folder: Path = tmp_path_factory.mktemp("small")
    (folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    (folder / "bot.py").write_text("def reply(prompt):\n    return prompt\n", encoding="utf-8")
    code = LOADED.format(folder=str(folder))
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(2)]
    assert json.loads(runs[0].stdout.splitlines()[0])["sessions"]["done"] == 1
    counts: dict[str, int] = json.loads(runs[1].stdout.splitlines()[-1])
    return counts


@pytest.mark.parametrize("package", UNUSED)
def test_a_small_run_imports_no_excluded_module(loaded_by_a_run, package):
    assert [name for name in UNUSED[package] if f"theodolite.{package}.{name}" in loaded_by_a_run] == []


OTHERS = ("django.db.migrations", "django.contrib.auth", "django.core.mail", "django.views.generic")
"""What makes pages and tables, beside what keeps the dialogues of a run."""


def test_a_small_run_imports_no_library_for_metrics_and_traces(loaded_by_a_run):
    assert [name for name in ("prometheus_client", "opentelemetry") if name in loaded_by_a_run] == []


def test_a_small_run_imports_only_the_storage_parts_of_django(loaded_by_a_run):
    assert "django.db.models" in loaded_by_a_run
    assert [name for name in OTHERS if name in loaded_by_a_run] == []


MOST_NOUNS = 203
"""Frozen dataclasses of ours that the smallest run loads at most; each takes a millisecond. Count."""


def test_a_small_run_imports_a_bounded_number_of_own_modules(loaded_by_a_run):
    ours = {name: n for name, n in loaded_by_a_run.items() if n and name.partition(".")[0] == "theodolite"}

    assert 100 < sum(ours.values()) <= MOST_NOUNS, ours
