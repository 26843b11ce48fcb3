"""The persona template, the measure and the importer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from theodolite.config.tool_results import Criterion, ToolDialogue, ToolResults, ToolScore
from theodolite.config.yaml_source import LocatedDiagnostic
from theodolite.domain.live import RecordedTurn
from theodolite.measurement.plugin_measures import LabelledDialogue

CALLER = "You are {{ name }} and speak on the phone with a shop. You want: {{ goal }} Say one short sentence at a time."
"""Template of simulated users; rows of a study fill `name`."""

_HEAD = "#talk 1"


def largest_share(rows: Sequence[LabelledDialogue]) -> float | None:
    """Return the share of the most frequent label: 1 if all labels are the same."""
    counts = Counter(row.label for row in rows)
    return max(counts.values()) / len(rows) if rows else None


def is_talk(name: str, stored: bytes) -> bool:
    """Whether a file is a talk file, from its first line."""
    return name.endswith(".talk") and stored.startswith(_HEAD.encode())


def read_talk(name: str, stored: bytes) -> ToolResults:
    """Return the dialogues of a talk file: one line each, `application | prompt | response | verdict`."""
    dialogues, faults = [], []
    polite = Criterion(guideline="politeness", annotator="reviewer", labels={"yes": "", "no": ""}, defect="== no")
    for number, line in enumerate(stored.decode("utf-8").splitlines(), start=1):
        cells = [cell.strip() for cell in line.split("|")]
        if number == 1 or not line.strip():
            continue
        if len(cells) != 4 or cells[3] not in polite.labels:
            message = "expected `application | prompt | response | yes or no`"
            faults.append(LocatedDiagnostic(file=name, line=number, message=message))
            continue
        application, prompt, response, verdict = cells
        dialogues.append(
            ToolDialogue(
                key=f"line-{number}",
                application=application,
                turns=(RecordedTurn(prompt=prompt, response=response),),
                line=number,
                scores=(ToolScore(criterion=polite, value=verdict),),
            )
        )
    return ToolResults(tool="talk", dialogues=tuple(dialogues), faults=tuple(faults))
