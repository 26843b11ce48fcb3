"""Run the tests in shuffled rounds: another order, another hash seed and another clock each time.

python tools/shuffled_tests.py [--rounds N] [--first N] [WORDS FOR PYTEST ...]

The clock is shifted for Python and the programs that it starts, by a library that is compiled here.
Durations stay as they are.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]

SOURCE = Path(__file__).with_name("shifted_clock.c")

CLOCKS = (
    ("2027-12-31T23:58:00+00:00", "UTC"),  # the year ends under the first tests
    ("2028-02-29T11:30:00+00:00", "America/New_York"),
    ("2031-03-30T00:58:00+00:00", "Europe/Berlin"),  # summer time begins under the first tests
    ("2026-12-24T23:10:00+00:00", "Pacific/Auckland"),
    ("2039-06-15T04:00:00+00:00", "Asia/Kolkata"),  # more seconds than 32 bits hold
)
"""When a round begins, and the time zone in which it runs."""


def library(folder: Path) -> Path:
    """Compile the library that shifts the clock; end with the line to type where there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        sys.exit("expected a C compiler `cc`; type: apt-get install gcc libc6-dev")
    compiled = folder / "shifted_clock.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(compiled), str(SOURCE), "-ldl"]
    subprocess.run(command, check=True)  # noqa: S603 - our own file
    return compiled


def environment(number: int, shifting: Path) -> dict[str, str]:
    """Return the variables of a round, by its number."""
    moment, zone = CLOCKS[number % len(CLOCKS)]
    shift_s = datetime.fromisoformat(moment).timestamp() - time.time()
    return {
        **os.environ,
        "PYTHONHASHSEED": str(number),
        "TZ": zone,
        "LD_PRELOAD": str(shifting),
        "CLOCK_SHIFT_S": f"{shift_s:.0f}",
    }


def main() -> int:
    """Run all rounds; the exit code of the first that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2, help="rounds to run; count")
    parser.add_argument("--first", type=int, default=1, help="number of the first round; decides order and clock")
    known, words = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        shifting = library(Path(folder))
        for number in range(known.first, known.first + known.rounds):
            print(f"round {number}: clock {CLOCKS[number % len(CLOCKS)]}, order and hashes {number}", flush=True)
            command = [sys.executable, "-m", "pytest", "-p", "tests.shuffling", "--shuffle", str(number), *words]
            code = subprocess.run(command, cwd=ROOT, env=environment(number, shifting), check=False).returncode  # noqa: S603
            if code:
                return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
