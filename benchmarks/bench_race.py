"""The race: our engine, the bare HTTP client and whoever else is installed, on one job against one server.

python benchmarks/bench_race.py [--samples 10000] [--rounds 3] [--under-latency 10000] [--large 100000] [--page benchmarks/RESULTS.md]
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "race"))
os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE / "race"), *filter(None, [os.environ.get("PYTHONPATH")])])

import ours  # noqa: E402
from contenders import FLOOR, OURS, Contender, contenders  # noqa: E402
from limits import limits  # noqa: E402
from measured import Measured, Server, emptied, measure  # noqa: E402
from results import COLD, Overhead, Pressure, page  # noqa: E402
from trials import faults, killed  # noqa: E402

AT_A_TIME = 100
STRANGERS = 1_000_000
"""Number from which those are counted who warm the limits: equal work would be taken over and not be done again."""
WARMING = 4
"""Dialogues for each place by which a contender's limits are warm; count."""


def run(
    server: Server, contender: Contender, folder: Path, n: int, c: int, latency_ms: float, *, is_warm: bool = False
) -> Measured:
    """Run one contender once, in an empty folder unless its limits are to be warm."""
    emptied(folder)
    if is_warm:
        server.reset(latency_ms=latency_ms)
        ours.write_study(folder, server.base, WARMING * c, c, first=STRANGERS)
        measure(server, ours.command(folder, c), folder, WARMING * c)
    words = contender.prepare(folder, server.base, n, c)
    server.reset(latency_ms=latency_ms)
    found = measure(server, words, folder, n)
    print(
        f"  {contender.name:<26} N={n:<6} {latency_ms:g} ms x {c}: CPU {found.cpu_s:.2f} s, wall {found.wall_s:.2f} s",
        flush=True,
    )
    if not found.is_whole:
        print(f"    not whole: exit code {found.code}, {found.ok} calls answered; the end of its log:")
        print("    " + "\n    ".join(folder.with_suffix(".log").read_text(errors="replace").splitlines()[-5:]))
    return found


def overhead(server: Server, contender: Contender, folder: Path) -> Overhead:
    """Measure one contender without latency; ours also says what its report takes of it."""
    found: list[Measured] = []
    for n in (1, contender.n):
        found.append(run(server, contender, folder, n, AT_A_TIME, 0))
        if contender.name == OURS:
            found.append(measure(server, [*ours.command(folder, 1, "report")[:3], "report", str(folder)], folder, n))
    if contender.name != OURS:
        return Overhead(one=found[0], many=found[1])
    return Overhead(one=found[0], report_one=found[1], many=found[2], report_many=found[3])


def overheads_of(server: Server, present: list[Contender], folder: Path, rounds: int) -> dict[str, Overhead]:
    """Measure everybody; floor and ours in turns, several times, of which the least counts."""
    found: dict[str, Overhead] = {}
    for number in range(rounds):
        for contender in present:
            if contender.name in {FLOOR, OURS}:
                again = overhead(server, contender, folder)
                found[contender.name] = again if number == 0 else found[contender.name].better(again)
    return found | {peer.name: overhead(server, peer, folder) for peer in present if peer.name not in found}


def pressure(server: Server, present: list[Contender], folder: Path, latency_ms: float, c: int, n: int) -> Pressure:
    """Return the floor and ours against a latency, ours with warm limits and with cold ones."""
    floor, mine = (next(one for one in present if one.name == name) for name in (FLOOR, OURS))
    runs = {
        FLOOR: run(server, floor, folder, n, c, latency_ms),
        OURS: run(server, mine, folder, n, c, latency_ms, is_warm=True),
        COLD: run(server, mine, folder, n, c, latency_ms),
    }
    return Pressure(latency_ms=latency_ms, concurrency=c, runs=runs)


def start_s(server: Server, folder: Path) -> float:
    """Return the CPU time of `theodolite run --stage test` of one further sample on a migrated database; the best of three."""
    ours.write_study(emptied(folder), server.base, 5, 5)
    server.reset()
    times = []
    for first in (1, 2, 3, 4):
        words = [*ours.command(folder, 5, "test")[:3], "test", str(folder), "--limit", str(first), "--json"]
        times.append(measure(server, words, folder, 1).cpu_s)
    return min(times[1:])


def main() -> None:
    """Run the race, print the page and write it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--peers", type=int, default=200, help="samples for other tools, which take long")
    parser.add_argument(
        "--large",
        type=int,
        default=100_000,
        help="samples of the run that shows memory; takes a quarter of an hour. Of fewer it is extrapolated",
    )
    parser.add_argument("--rounds", type=int, default=3, help="rounds of floor and ours, of which the least counts")
    parser.add_argument("--under-latency", type=int, default=10_000, help="samples of each run against a latency")
    parser.add_argument("--page", type=Path, default=HERE / "RESULTS.md")
    asked = parser.parse_args()
    load, when = os.getloadavg()[0], datetime.now(UTC).strftime("%d %b %Y")
    everybody = contenders(asked.samples, asked.peers)
    present = [contender for contender in everybody if contender.is_there]
    missing = [contender.name for contender in everybody if not contender.is_there]
    if missing:
        print(f"  not installed: {', '.join(missing)}; bring them with  make bench-peers")
    with Server() as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "race"
        overheads = overheads_of(server, present, folder, asked.rounds)
        pressures = [
            pressure(server, present, folder, latency_ms, c, asked.under_latency)
            for latency_ms, c in ((50, 100), (200, 500))
        ]
        mine = next(one for one in present if one.name == OURS)
        large = run(server, mine, folder, max(asked.samples, asked.large), AT_A_TIME, 0)
        trials = [faults(server, folder), killed(server, folder), *limits()]
        text = page(overheads, pressures, trials, large, start_s(server, folder), missing, load=load, when=when)
    asked.page.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
