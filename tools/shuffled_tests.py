"""Run the tests in shuffled rounds: another order, another hash seed and another clock each time.

python tools/shuffled_tests.py [--rounds N] [--first N] [WORDS FOR PYTEST ...]

The clock is shifted for Python and the programs that it starts, by libfaketime. Durations are not: the monotonic
clock runs on as it is.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]

LIBRARIES = "/usr/lib/*/faketime/libfaketimeMT.so.1"
"""Where Debian puts the library that shifts the clock."""

CLOCKS = (
    ("2027-12-31T23:58:00+00:00", "UTC"),  # the year ends under the first tests
    ("2028-02-29T11:30:00+00:00", "America/New_York"),
    ("2031-03-30T00:58:00+00:00", "Europe/Berlin"),  # summer time begins under the first tests
    ("2026-12-24T23:10:00+00:00", "Pacific/Auckland"),
    ("2039-06-15T04:00:00+00:00", "Asia/Kolkata"),  # more seconds than 32 bits hold
)
"""When a round begins, and the time zone in which it runs."""


def library() -> Path:
    """Return the library that shifts the clock, or end with the line to type."""
    found = sorted(Path("/").glob(LIBRARIES.lstrip("/")))
    if not found:
        sys.exit(f"expected {LIBRARIES}; type: apt-get install libfaketime")
    return found[0]


def environment(number: int) -> dict[str, str]:
    """Return the variables of a round, by its number."""
    moment, zone = CLOCKS[number % len(CLOCKS)]
    shift_s = datetime.fromisoformat(moment).timestamp() - time.time()
    return {
        **os.environ,
        "PYTHONHASHSEED": str(number),
        "TZ": zone,
        "LD_PRELOAD": str(library()),
        "FAKETIME": f"{shift_s:+.0f}",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_NO_CACHE": "1",
    }


def main() -> int:
    """Run all rounds; the exit code of the first that failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2, help="rounds to run; count")
    parser.add_argument("--first", type=int, default=1, help="number of the first round; decides order and clock")
    known, words = parser.parse_known_args()
    for number in range(known.first, known.first + known.rounds):
        print(f"round {number}: clock {CLOCKS[number % len(CLOCKS)]}, seed {number}", flush=True)
        command = [sys.executable, "-m", "pytest", "-p", "tests.shuffling", "--shuffle", str(number), *words]
        code = subprocess.run(command, cwd=ROOT, env=environment(number), check=False).returncode  # noqa: S603
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
