"""Measures several workers on one run: shared limits, killed workers, the limit per minute, and growth.

python benchmarks/bench_workers.py sharing [--dialogues 800] [--rounds 1] [--workers 1 2 4] [--sqlite]
python benchmarks/bench_workers.py kills [--dialogues 20000] [--every 5] [--rounds 1]
python benchmarks/bench_workers.py rate [--workers 10] [--rpm 600] [--seconds 150]
python benchmarks/bench_workers.py growth [--workers 1 2 4] [--dialogues 1000 3000 10000] [--sqlite]

Each command prints a table as Markdown; `growth` also adds to `growth.json`; `chart_growth.py` draws it.
PostgreSQL runs as a server of its own without `fsync`, on the same cores as workers and model server.
Each worker has a folder of its own, as on a machine of its own, so workers meet in the database alone.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import psycopg

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "race"), str(HERE.parent)]

import ours  # noqa: E402
from measured import Server  # noqa: E402

from tests.fakes.loopback import LoopbackProcess  # noqa: E402
from tests.postgres import PostgresServer, running_server  # noqa: E402

PARALLEL = 64
LATENCY_MS = 20
CALLS = 7
"""Calls of a dialogue with its annotation; count."""

STARTED: list[subprocess.Popen[bytes]] = []
"""All processes, which are killed at the end of the benchmark if they still run."""

ALONE = (
    "import theodolite.bootstrap.study_context as c; f = c.open_clients; "
    "c.open_clients = lambda *a, **k: f(*a, **{**k, 'limits': None}); "
)
"""Lets a process count for itself alone."""


@dataclass(frozen=True)
class Cost:
    """CPU time of all processes and wall time of the run in seconds, peak memory of the largest process in MiB."""

    cpu_s: float
    wall_s: float
    peak_mib: float = 0.0


@dataclass
class Processes:
    """The processes of one run; each has a folder of its own unless they share a SQLite file."""

    study: Path
    database: str
    is_alone: bool = False
    parallel: int = PARALLEL
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)
    n_started: int = 0
    cpu_s: float = 0.0
    peak_mib: float = 0.0

    def start(self, verb: str) -> subprocess.Popen[bytes]:
        """Start a process and return it."""
        folder = self.study
        if self.database:
            folder = Path(f"{self.study}-{self.n_started}", self.study.name)
            shutil.copytree(self.study, folder)
        words = ours.command(folder, self.parallel, verb)
        if verb == "worker":
            words.remove("--json")
        if self.is_alone:
            words[2] = words[2].replace("from theodolite.cli", ALONE + "from theodolite.cli", 1)
        environ = {**os.environ, "NO_COLOR": "1"} | ({"DATABASE_URL": self.database} if self.database else {})
        self.n_started += 1
        with self.study.with_suffix(f".{self.n_started}.log").open("w") as log:
            child = subprocess.Popen(words, stdout=log, stderr=subprocess.STDOUT, env=environ)
        self.running.append(child)
        STARTED.append(child)
        return child

    def end(self, child: subprocess.Popen[bytes], how: signal.Signals | None = None) -> int:
        """Wait for a process, after a signal if one is given, and return its exit code."""
        if how is not None:
            child.send_signal(how)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.running.remove(child)
        self.cpu_s += used.ru_utime + used.ru_stime
        self.peak_mib = max(self.peak_mib, used.ru_maxrss / 1024)
        return child.returncode

    def require(self, code: int) -> None:
        """End the benchmark unless a process ended well."""
        if code:
            logs = "\n".join(path.read_text()[-600:] for path in self.study.parent.glob(f"{self.study.name}.*.log"))
            sys.exit(f"a process failed with exit code {code}:\n{logs}")


def run(study: Path, database: str, n_workers: int, *, is_alone: bool = False) -> Cost:
    """Let some processes do one study and return the cost."""
    parallel = PARALLEL // n_workers if is_alone else PARALLEL
    processes = Processes(study, database, is_alone, parallel)
    begun = time.perf_counter()
    for child in [processes.start("run") for _ in range(n_workers)]:
        processes.require(processes.end(child))
    return Cost(processes.cpu_s, time.perf_counter() - begun, processes.peak_mib)


def sharing(chosen: argparse.Namespace, server: Server, folder: Path, postgres: PostgresServer | None) -> str:
    """Compare runs with shared limits to runs whose processes count alone; both variants in turns."""
    rows, number = [], 0
    for n_workers in chosen.workers:
        pairs: list[tuple[Cost, Cost]] = []
        for _ in range(chosen.rounds):
            costs: dict[bool, Cost] = {}
            for is_alone in (True, False) if number % 4 < 2 else (False, True):
                study, number = folder / f"sharing-{number}", number + 1
                parallel = PARALLEL // n_workers if is_alone else PARALLEL  # the same number of calls in flight
                ours.write_study(study, server.base, chosen.dialogues[0], parallel)
                server.reset(latency_ms=LATENCY_MS)
                database = postgres.create() if postgres else ""
                costs[is_alone] = run(study, database, n_workers, is_alone=is_alone)
            pairs.append((costs[True], costs[False]))
            print(n_workers, *pairs[-1], file=sys.stderr, flush=True)
        ratios = [
            sorted(pick(shared) / pick(alone) for alone, shared in pairs)
            for pick in (lambda cost: cost.cpu_s, lambda cost: cost.wall_s)
        ]
        cells = [f"{median(values):.3f} ({values[0]:.3f} to {values[-1]:.3f})" for values in ratios]
        rows.append(f"| {n_workers} | {' | '.join(cells)} |")
        print(rows[-1], file=sys.stderr, flush=True)
    return table(
        f"{chosen.dialogues[0]} dialogues, {chosen.rounds} pairs in turns, {'PostgreSQL' if postgres else 'SQLite'}; "
        "shared limits divided by limits of each process alone: median (least to largest).",
        ("workers", "CPU time", "wall time"),
        rows,
    )


@dataclass(frozen=True)
class Disturbed:
    """Result of one run; `wall_s` is the time until the last result was stored, start of the programs included."""

    wall_s: float
    n_killed: int
    n_repeated: int
    dialogues: tuple[int, int]
    annotations: tuple[int, int]


def disturbed(server: Server, study: Path, database: str, n: int, n_workers: int, n_kills: int) -> Disturbed:
    """Do a study with one `run` and workers; kill one of all in turn, spread evenly over the work."""
    server.reset(latency_ms=LATENCY_MS)
    processes = Processes(study, database)
    begun = time.perf_counter()
    verbs = {processes.start(verb): verb for verb in ("run", *("worker",) * (n_workers - 1))}
    runner, n_killed, n_done = next(iter(verbs)), 0, 0
    while runner.poll() is None:
        time.sleep(0.1)
        if n_done < 2 * n and (n_done := count_done(database)) == 2 * n:
            wall_s = time.perf_counter() - begun
        if n_killed < n_kills and 2 * n * (n_killed + 1) / (n_kills + 1) < n_done < 2 * n:
            victim = processes.running[0]  # the oldest one
            processes.end(victim, signal.SIGKILL)
            verb = verbs.pop(victim)
            verbs[child := processes.start(verb)] = verb
            runner = child if verb == "run" else runner
            n_killed += 1
    processes.running.remove(runner)
    processes.require(runner.returncode)
    for child in list(processes.running):
        if (code := processes.end(child, signal.SIGTERM)) != -signal.SIGTERM:  # so ends one that is still starting
            processes.require(code)
    with psycopg.connect(database) as connection:
        dialogues, annotations = (
            connection.execute(f"SELECT count(*), count(DISTINCT unit_id) FROM {name}".encode()).fetchone()  # noqa: S608
            for name in ("store_dialogue", "store_annotation")
        )
    return Disturbed(wall_s, n_killed, int(server.stats()["duplicates"]), dialogues, annotations)


def count_done(database: str) -> int:
    """Return the units that are done; 0 while the run is being planned."""
    with psycopg.connect(database) as connection:
        if connection.execute("SELECT to_regclass('store_unit')").fetchone() == (None,):
            return 0
        return connection.execute("SELECT count(*) FROM store_unit WHERE state = 'done'").fetchone()[0]


def kills(chosen: argparse.Namespace, server: Server, folder: Path, postgres: PostgresServer | None) -> str:
    """Kill one of the workers every few seconds and compare with an undisturbed run of the same size."""
    if postgres is None:
        sys.exit("killed workers are measured on PostgreSQL; leave out --sqlite")
    n, n_workers, rows = chosen.dialogues[0], chosen.workers[0], []
    for number in range(chosen.rounds):
        results = []
        for kind in ("calm", "killed"):
            study = folder / f"{kind}-{number}"
            ours.write_study(study, server.base, n, PARALLEL)
            # As many kills as the calm run has intervals; by progress, so that a busy machine delays them too.
            n_kills = max(1, round(results[0].wall_s / chosen.every)) if results else 0
            results.append(disturbed(server, study, postgres.create(), n, n_workers, n_kills))
            print(results[-1], file=sys.stderr, flush=True)
        calm, killed = results
        is_exact = all(counts == (n, n) for result in results for counts in (result.dialogues, result.annotations))
        each = killed.n_repeated / max(1, killed.n_killed)
        rows.append(
            f"| {calm.wall_s:.1f} s | {killed.wall_s:.1f} s | {killed.wall_s / calm.wall_s:.2f} | {killed.n_killed} | "
            f"{killed.n_repeated} ({each:.1f} each) | {calm.n_repeated} | {'yes' if is_exact else 'NO'} |"
        )
        print(rows[-1], file=sys.stderr, flush=True)
    heads = ("undisturbed", "with kills", "ratio", "kills", "repeated calls", "repeated undisturbed", "each once")
    return table(
        f"{n} dialogues, {n_workers} workers, one SIGKILL for each {chosen.every:g} s of the undisturbed run.",
        heads,
        rows,
    )


def rate(chosen: argparse.Namespace, server: Server, folder: Path, postgres: PostgresServer | None) -> str:
    """Let workers share one limit per minute and count the calls that the server saw in any 60 s."""
    if postgres is None:
        sys.exit("the limit per minute is measured on PostgreSQL; leave out --sqlite")
    study, n_workers = folder / "rate", chosen.workers[0]
    with LoopbackProcess("--latency", "0.05") as loopback:
        ours.write_study(study, loopback.url, chosen.dialogues[0], PARALLEL)
        text = (study / "study.yaml").read_text(encoding="utf-8")
        text = text.replace("name: target,", f"name: target, rpm: {chosen.rpm},")
        (study / "study.yaml").write_text(text, encoding="utf-8")
        processes = Processes(study, postgres.create())
        children = [processes.start(verb) for verb in ("run", *("worker",) * (n_workers - 1))]
        while not loopback.stats()["by_role"].get("target"):
            time.sleep(0.5)
        time.sleep(chosen.seconds)
        for child in children:
            child.kill()  # the calls until now are enough; no report is wanted
            processes.end(child)
        moments = sorted(call["moment_s"] for call in loopback.calls() if call["role"] == "target")
    most = max(bisect_right(moments, start + 60.0) - index for index, start in enumerate(moments))
    span_s = moments[-1] - moments[0]
    row = f"| {n_workers} | {chosen.rpm} | {len(moments)} in {span_s:.0f} s | {most} | {most / chosen.rpm:.3f} |"
    heads = ("workers", "limit per minute", "calls", "most in any 60 s", "of the limit")
    return table("Calls to one model as its server saw them.", heads, [row])


def growth(chosen: argparse.Namespace, server: Server, folder: Path, postgres: PostgresServer | None) -> str:
    """Measure throughput by workers, and cost by dialogues."""
    kind, file = "PostgreSQL" if postgres else "SQLite", HERE / "growth.json"
    earlier = json.loads(file.read_text(encoding="utf-8"))["points"] if file.exists() else []
    points: list[dict[str, float | str]] = [
        point for point in earlier if point["kind"] != kind or point["dialogues"] not in chosen.dialogues
    ]
    first, *larger = chosen.dialogues
    n_workers_first = chosen.workers if postgres else [1]  # a file is for one machine
    for n_workers, n in [*((n_workers, first) for n_workers in n_workers_first), *((1, n) for n in larger)]:
        study = folder / f"growth-{kind}-{n_workers}-{n}"
        ours.write_study(study, server.base, n, PARALLEL)
        server.reset(latency_ms=LATENCY_MS)
        database = postgres.create() if postgres else ""
        cost = run(study, database, n_workers)
        measured = {"wall_s": cost.wall_s, "calls_s": server.stats()["span_s"], "cpu_s": cost.cpu_s}
        measured |= {"peak_mib": cost.peak_mib, "bytes": stored_bytes(study, database)}
        points.append({"kind": kind, "workers": n_workers, "dialogues": n, **measured})
        print(points[-1], file=sys.stderr, flush=True)
        about = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "load": os.getloadavg()[1], "cores": os.cpu_count()}
        text = json.dumps({**about, "points": points}, indent=1)
        file.write_text(text + "\n", encoding="utf-8")
    rows = [
        f"| {p['kind']} | {p['workers']} | {p['dialogues']} | {p['wall_s']:.1f} s | "
        f"{p['dialogues'] / p['calls_s']:.0f} | {1000 * p['cpu_s'] / p['dialogues']:.1f} ms | {p['peak_mib']:.0f} MiB | "
        f"{p['bytes'] / p['dialogues'] / 1000:.1f} kB |"
        for p in points
    ]
    heads = (
        "database",
        "workers",
        "dialogues",
        "wall",
        "dialogues per s",
        "CPU per dialogue",
        "peak",
        "stored per dialogue",
    )
    return table("Each run with its reports.", heads, rows)


def stored_bytes(study: Path, database: str) -> int:
    """Return the size of a run's database."""
    if not database:
        return sum(path.stat().st_size for path in (study / ".theodolite").glob("theodolite.db*"))
    with psycopg.connect(database) as connection:
        return connection.execute("SELECT pg_database_size(current_database())").fetchone()[0]


def table(about: str, heads: Sequence[str], rows: Sequence[str]) -> str:
    """Return a table as Markdown."""
    setting = f"{CALLS} calls a dialogue, {LATENCY_MS} ms latency, {PARALLEL} concurrent calls, {os.cpu_count()} cores"
    load = f"load of the machine {os.getloadavg()[1]:.1f}"
    lines = [f"{datetime.now(UTC):%Y-%m-%d}: {about} {setting}, {load}.", ""]
    return "\n".join([*lines, "| " + " | ".join(heads) + " |", "|---" * len(heads) + "|", *rows])


@contextmanager
def database_server(*, is_wanted: bool) -> Iterator[PostgresServer | None]:
    """Run PostgreSQL for the length of a block."""
    if not is_wanted:
        yield None
        return
    with running_server() as server:
        yield server


COMMANDS = {"sharing": sharing, "kills": kills, "rate": rate, "growth": growth}
DEFAULTS = {
    "sharing": ([800], [1, 2, 4]),
    "kills": ([20_000], [4]),
    "rate": ([2_000], [10]),
    "growth": ([1_000, 3_000, 10_000], [1, 2, 4]),
}


def main() -> None:
    """Measure and print a table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("command", choices=list(COMMANDS))
    options.add_argument("--dialogues", type=int, nargs="+")
    options.add_argument("--workers", type=int, nargs="+")
    options.add_argument("--rounds", type=int, default=1)
    options.add_argument("--every", type=float, default=5.0, help="seconds between two kills")
    options.add_argument("--rpm", type=int, default=600)
    options.add_argument("--seconds", type=float, default=150.0, help="duration of `rate` from its first call")
    options.add_argument("--sqlite", action="store_true", help="use a SQLite file for `sharing` and `growth`")
    chosen = options.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    dialogues, workers = DEFAULTS[chosen.command]
    chosen.dialogues, chosen.workers = chosen.dialogues or dialogues, chosen.workers or workers
    with (
        database_server(is_wanted=not chosen.sqlite) as postgres,
        Server() as server,
        tempfile.TemporaryDirectory() as folder,
    ):
        try:
            print(COMMANDS[chosen.command](chosen, server, Path(folder), postgres))
        finally:
            for child in STARTED:
                if child.returncode is None:
                    child.kill()
                    child.wait()


if __name__ == "__main__":
    main()
