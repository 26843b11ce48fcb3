"""How long the commands take that one meets first.

python benchmarks/bench_commands.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

START = "import sys; from theodolite.cli.main import program; sys.argv[0] = 'theodolite'; program()"
COMMANDS = (["--help"], ["--version"], ["demo", "--out", "demo"], ["show", "demo/spoiler-guard", "d001"])
ROUNDS = 3


def seconds(arguments: list[str], folder: Path) -> float:
    """Return the wall time of one command."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", START, *arguments], cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - started


def main() -> None:
    """Print the best of some rounds for each command."""
    for arguments in COMMANDS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if arguments[0] == "show":
                seconds(["demo", "--out", "demo"], folder)
            best = min(seconds(arguments, folder) for _ in range(ROUNDS))
        print(f"  theodolite {' '.join(arguments):<32} {best:6.2f} s")


if __name__ == "__main__":
    main()
