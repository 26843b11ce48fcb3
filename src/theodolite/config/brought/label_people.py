"""People of label files: columns that say what an annotator is, beside the answers.

A column `annotator.language` holds the language of whoever gave the row's answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from theodolite.config.diagnostics import LocatedDiagnostic
from theodolite.config.tables import Table

ANNOTATOR = "annotator"
"""Column that names who answered."""

ABOUT = f"{ANNOTATOR}."
"""Beginning of the names of columns that say something of the annotator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorAttributes:
    """What a label file says of those who labelled.

    Attributes:
        said: Annotator, as the file names one, to attribute to group; empty cells say nothing.
        faults: Where two rows contradict each other.
    """

    said: Mapping[str, Mapping[str, str]]
    faults: tuple[LocatedDiagnostic, ...]

    def groups(self, by: str) -> dict[str, Mapping[str, str]]:
        """Return annotator to attribute to group; rows that name nobody are `by`'s."""
        return {name or by: groups for name, groups in self.said.items() if name or by}


def annotator_attributes_of(table: Table) -> AnnotatorAttributes:
    """Return what the rows of a label file say of those who labelled.

    Args:
        table: Rows with the columns of a label file.
    """
    columns = [column for column in table.columns if column.startswith(ABOUT) and column != ABOUT]
    said: dict[str, dict[str, str]] = {}
    first: dict[tuple[str, str], int] = {}
    faults: list[LocatedDiagnostic] = []
    for row, line in zip(table.rows, table.lines, strict=True):
        name = row.get(ANNOTATOR, "").strip()
        for column in columns:
            group, attribute = " ".join(row.get(column, "").split()), column.removeprefix(ABOUT)
            if not group:
                continue
            known = said.setdefault(name, {}).setdefault(attribute, group)
            earlier = first.setdefault((name, attribute), line)
            if known != group:
                whose = f" of `{name}`" if name else ""
                message = f"`{column}`{whose} is `{group}` here and `{known}` in line {earlier}; keep one"
                faults.append(LocatedDiagnostic(file=table.file, line=line, message=message))
    return AnnotatorAttributes(said=said, faults=tuple(faults))
