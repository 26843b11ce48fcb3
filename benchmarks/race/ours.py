"""Our engine in the race: a study with as many personas as samples, run by the command that everybody types."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from job import TARGET_SYSTEM, TURNS, wish

STUDY = """\
study: race
models:
  app: {{url: "{base}", name: target, parallel: {parallel}}}
  user: {{url: "{base}", name: user-sim, parallel: {parallel}}}
  large: {{url: "{base}", name: judge, parallel: {parallel}}}
applications:
  shop: {{kind: model, model: app, system: {system}}}
scenarios:
  returns: {{task: chat, goal: "Find out {{{{ wish }}}}.", turns: {turns}}}
personas:
  customers: {{template: customer, rows: customers.csv, model: user}}
judges:
  useful: {{ask: How useful are the replies?, scale: 1-5, defect: "<= 2", model: large}}
"""

COMMAND = "import sys; from theodolite.cli.main import program; sys.argv[0] = 'theodolite'; program()"


def write_study(folder: Path, base: str, n: int, c: int, *, first: int = 0) -> None:
    """Write the study of a race; customers are numbered from `first`."""
    folder.mkdir(parents=True, exist_ok=True)
    text = STUDY.format(base=base, parallel=c, system=TARGET_SYSTEM, turns=TURNS)
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    with (folder / "customers.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["name", "wish"])
        rows.writerows([f"Customer {number}", wish(number)] for number in range(first, first + n))


def command(folder: Path, c: int, verb: str = "run") -> list[str]:
    """Return the command that runs it."""
    slots = ["--concurrency", str(c)] if verb == "run" else []
    return [sys.executable, "-c", COMMAND, verb, str(folder), *slots, "--json"]
