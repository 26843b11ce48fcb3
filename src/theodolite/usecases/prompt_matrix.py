"""The matrix of a run: each prompt with the dialogues of all applications, filtered and sorted; no text is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from theodolite.usecases.viewing import DialogueView, RunDialogue

MATRIX_VIEWS = (
    DialogueView.ALL,
    DialogueView.DEFECTS,
    DialogueView.DISAGREEMENTS,
    DialogueView.CHANGED,
    DialogueView.FAILED,
    DialogueView.UNPARSEABLE,
)
"""The filters above the matrix, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRow:
    """The dialogues on the same prompts.

    Attributes:
        dialogues: Name of the application to its dialogue; only applications that were planned for the prompts.
    """

    dialogues: Mapping[str, RunDialogue]

    @property
    def first(self) -> RunDialogue:
        """The dialogue that is first in the plan."""
        return next(iter(self.dialogues.values()))

    def is_in(self, view: DialogueView) -> bool:
        """Return whether a dialogue of the row belongs to a view."""
        return any(view.admits(dialogue) for dialogue in self.dialogues.values())

    def has_defect(self, application: str) -> bool:
        """Return whether the dialogue of an application has a defect."""
        dialogue = self.dialogues.get(application)
        return dialogue is not None and dialogue.has_defect


def matrix_rows(dialogues: Sequence[RunDialogue]) -> tuple[PromptRow, ...]:
    """Return the rows of the matrix in order of the plan."""
    rows: dict[str, dict[str, RunDialogue]] = {}
    for dialogue in dialogues:
        rows.setdefault(dialogue.pair_key, {})[dialogue.application] = dialogue
    return tuple(PromptRow(dialogues=row) for row in rows.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixFilter:
    """Which rows of the matrix are shown, and in which order.

    Attributes:
        view: Rows with a dialogue of this view.
        text: Part of a dialogue's label or of its tester's name; empty for all.
        defects_first: Application whose defects come first; empty for the order of the plan.
    """

    view: DialogueView = DialogueView.ALL
    text: str = ""
    defects_first: str = ""

    def matching(self, rows: Sequence[PromptRow]) -> list[PromptRow]:
        """Return the rows that are shown."""
        text = self.text.casefold()
        shown = [row for row in rows if row.is_in(self.view) and (not text or _names(row, text))]
        return sorted(shown, key=lambda row: not row.has_defect(self.defects_first)) if self.defects_first else shown


def _names(row: PromptRow, text: str) -> bool:
    return any(
        text in dialogue.label.casefold() or text in dialogue.tester.casefold() for dialogue in row.dialogues.values()
    )
