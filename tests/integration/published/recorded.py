"""Published labels as ordinary studies."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import theodolite


@dataclass(frozen=True)
class Published:
    """The results of a study of published labels."""

    results: dict
    report: str

    def estimates(self, measure, *annotators, **wanted):
        """Return the estimates of one measure by these annotators, or by any, that hold all of this."""
        return [
            entry
            for entry in self.results["estimates"]
            if entry["measure"] == measure
            and list(annotators) in ([], entry["subject"]["annotators"])
            and wanted.items() <= entry.items()
        ]

    def value(self, measure, *annotators, **wanted):
        """Return the value of the only matching estimate."""
        (entry,) = self.estimates(measure, *annotators, **wanted)
        return entry["value"]


def run_recorded(folder: Path, rows: Sequence[Mapping[str, object]], study: str) -> Published:
    """Run a study of recorded rows; their texts are left out, as the labels are all that there is."""
    with (folder / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["id", "prompt", "response", *rows[0]])
        writer.writeheader()
        for number, row in enumerate(rows, start=1):
            writer.writerow({"id": number, "prompt": "(left out)", "response": "(left out)", **row})
    head = "applications: {them: {kind: recorded, file: rows.csv, id: id, prompt: prompt, response: response}}\n"
    (folder / "study.yaml").write_text(head + study, encoding="utf-8")
    with pytest.MonkeyPatch.context() as surroundings:
        surroundings.delenv("DATABASE_URL", raising=False)
        theodolite.run(str(folder))
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return Published(results, (folder / "report.html").read_text(encoding="utf-8"))
