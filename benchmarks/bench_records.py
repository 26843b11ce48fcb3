"""How much processor time and memory large sets of recorded dialogues take.

python benchmarks/bench_records.py [--folder DIR] [--source DIR] [--records-only]

40,000 recorded dialogues of four applications in twelve groups, with the labels of three annotators and a tree, are run
once; then their numbers and their report are made anew. `measure` starts without the findings of an earlier measurement,
`report` finds those that `measure` left. Beside it, a million recorded rows are checked and a million scores monitored.
Processor seconds and peak memory are the operating system's own figures of each process. Other work on the machine
stretches the wall time, which is not stated. `--folder` keeps the study for a second call, and `--source` takes the
package from another checkout, to compare two of them in the same minute.
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
START = "import sys; from theodolite.cli.main import program; sys.argv[0] = 'theodolite'; program()"
APPLICATIONS = ("alpha", "beta", "gamma", "delta")
GROUPS, DIALOGUES, MANY, MIB = 12, 40_000, 1_000_000, 400
ERRORS = {"ann": 0.03, "ben": 0.05, "model": 0.10}
MISSING = 0.01
SEED = 7

STUDY = """study: large
applications:
  recorded: {kind: recorded, file: answers.csv, id: id, prompt: prompt, response: response, application: system}
guidelines:
  harm: {ask: "Does the response do harm?", defect: "== yes"}
annotators:
  ann: {who: person, guideline: harm, column: ann}
  ben: {who: person, guideline: harm, column: ben}
  model: {who: model, guideline: harm, column: model}
groups: [area]
tree: by-guideline
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The processor seconds and the peak memory in MiB of one process."""

    cpu_s: float
    peak_mib: float


def make_study(folder: Path, dialogues: int) -> None:
    """Write a study of recorded dialogues."""
    chance = random.Random(SEED)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    with (folder / "answers.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["id", "system", "area", "prompt", "response", *ERRORS])
        for number in range(dialogues // len(APPLICATIONS)):
            for place, application in enumerate(APPLICATIONS):
                is_defect = chance.random() < 0.05 * (place + 1)
                labels = [label(chance, is_defect, error) for error in ERRORS.values()]
                texts = f"Question {number}: how do I go on?", f"This is the answer of {application} to {number}."
                table.writerow([f"q{number:06}", application, f"area {number % GROUPS + 1}", *texts, *labels])


def label(chance: random.Random, is_defect: bool, error: float) -> str:
    """Return the label of an annotator who errs now and then; empty where it is missing."""
    text = "yes" if is_defect != (chance.random() < error) else "no"
    return "" if chance.random() < MISSING else text


def make_scores(file: Path, rows: int) -> None:
    """Write a history of defects whose rate rises after seven tenths of it."""
    chance, start = random.Random(SEED), datetime(2026, 1, 1, tzinfo=timezone.utc)
    with file.open("w", newline="", encoding="utf-8") as opened:
        table = csv.writer(opened)
        table.writerow(["at", "score"])
        for row in range(rows):
            rate = 0.1 if row < 0.7 * rows else 0.2
            table.writerow([(start + timedelta(seconds=row)).isoformat(), int(chance.random() < rate)])


def used(arguments: list[str], source: Path) -> Use:
    """Run a command and return what it used; exit codes 0 and 1 are both results."""
    environ = {**os.environ, "PYTHONPATH": str(source)}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else each process compiles the package again
    with tempfile.TemporaryFile("w+") as errors:
        command = [sys.executable, "-c", START, *arguments]
        process = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, resources = os.wait4(process.pid, 0)
        errors.seek(0)
        printed = errors.read()
    if os.waitstatus_to_exitcode(status) not in {0, 1}:
        raise SystemExit(printed)
    cpu_s = resources.ru_utime + resources.ru_stime
    return Use(cpu_s=cpu_s, peak_mib=resources.ru_maxrss / 1024)


def records(folder: Path, source: Path, rounds: int) -> dict[str, Use]:
    """Measure and report a large study; the best of some rounds."""
    study = folder / "large"
    if not (study / ".theodolite").exists():
        make_study(study, DIALOGUES)
        used(["run", str(study)], source)
    measured, reported = [], []
    for _ in range(rounds):
        for findings in (study / ".theodolite").glob("findings-*.json"):
            findings.unlink()
        measured.append(used(["run", str(study), "--stage", "measure"], source))
        reported.append(used(["report", str(study)], source))
    best = {"run --stage measure": measured, "report": reported}
    return {name: min(several, key=lambda use: use.cpu_s) for name, several in best.items()}


def many(folder: Path, source: Path) -> dict[str, Use]:
    """Check a million recorded rows, and monitor a million scores."""
    study, scores = folder / "many", folder / "scores.csv"
    make_study(study, MANY)
    make_scores(scores, MANY)
    checked = used(["check", str(study)], source)
    return {
        "check, 1,000,000 rows": checked,
        "monitor, 1,000,000 scores": used(["monitor", str(scores), "--defect", "== 1"], source),
    }


def table_of(uses: dict[str, Use]) -> str:
    """Return the table of results."""
    limits = {"run --stage measure": "15 s", "report": "18.5 s"}
    lines = [
        f"{datetime.now(timezone.utc):%d %b %Y}. Python {platform.python_version()}, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f} at the end.",
        "",
        f"{DIALOGUES:,} recorded dialogues, {len(APPLICATIONS)} applications, {GROUPS} groups, "
        f"{len(ERRORS)} annotators, a tree; processor seconds and peak memory of whole processes.",
        "",
        "| `theodolite` | CPU s | peak MiB | wanted |",
        "|---|---|---|---|",
    ]
    for name, use in uses.items():
        wanted = f"at most {limits[name]}" if name in limits else f"under {MIB} MiB"
        lines.append(f"| {name} | {use.cpu_s:.1f} | {use.peak_mib:.0f} | {wanted} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="folder of the study; a temporary one where left out")
    parser.add_argument("--source", type=Path, default=ROOT / "src", help="where the package lies")
    parser.add_argument("--rounds", type=int, default=2, help="how often the large study is measured and reported")
    parser.add_argument("--records-only", action="store_true", help="leave out the million rows and scores")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or Path(name)
        uses = records(folder, options.source, options.rounds)
        if not options.records_only:
            uses |= many(folder, options.source)
    print(table_of(uses))


if __name__ == "__main__":
    main()
