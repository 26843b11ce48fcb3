"""Help answers before anything heavy is loaded; what is loaded late is loaded by who needs it."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
def test_nothing_heavy_is_loaded_before_it_is_needed(statement):
    assert sorted(modules_after(statement) & set(HEAVY)) == []


@pytest.mark.parametrize("command", ["run", "status"])
def test_whoever_does_not_measure_does_not_wait_for_arrays(command):
    assert sorted(modules_after(f"import theodolite.cli.{command}") & {*ARRAYS, "rich"}) == []


def test_who_only_asks_loads_no_findings():
    code = "import theodolite.cli.run, sys; print('theodolite.domain.estimate' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"
