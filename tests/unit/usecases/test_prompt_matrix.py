"""The matrix of prompts and applications."""

from __future__ import annotations

import pytest

from theodolite.usecases.prompt_matrix import MATRIX_VIEWS, MatrixFilter, matrix_rows
from theodolite.usecases.viewing import DialogueView, RunDialogue

APPLICATIONS = ("v1", "v2")


def dialogue(position, **facts):
    """Return a dialogue of one of two applications on one of three prompts."""
    application, prompt = APPLICATIONS[position % 2], f"q{position // 2}"
    named = {"label": f"{application}/{prompt}", "application": application, "tester": prompt, "pair_key": prompt}
    return RunDialogue(position=position, turns=1, **named, **facts)


DIALOGUES = [
    dialogue(0),
    dialogue(1),
    dialogue(2, has_defect=True, is_changed=True),
    dialogue(3, is_changed=True),
    dialogue(4, failed=True),
]


def names(rows):
    return [row.first.tester for row in rows]


def test_a_row_holds_the_dialogues_on_the_same_prompts():
    rows = matrix_rows(DIALOGUES)

    assert [list(row.dialogues) for row in rows] == [["v1", "v2"], ["v1", "v2"], ["v1"]]
    assert names(rows) == ["q0", "q1", "q2"]


@pytest.mark.parametrize(
    ("view", "shown"),
    [
        (DialogueView.ALL, ["q0", "q1", "q2"]),
        (DialogueView.DEFECTS, ["q1"]),
        (DialogueView.DISAGREEMENTS, []),
        (DialogueView.CHANGED, ["q1"]),
        (DialogueView.FAILED, ["q2"]),
        (DialogueView.UNPARSEABLE, []),
    ],
)
def test_a_view_shows_the_rows_with_such_a_dialogue(view, shown):
    assert view in MATRIX_VIEWS
    assert names(MatrixFilter(view=view).matching(matrix_rows(DIALOGUES))) == shown


def test_rows_with_a_defect_of_one_application_come_first():
    rows = matrix_rows(DIALOGUES)

    assert names(MatrixFilter(defects_first="v1").matching(rows)) == ["q1", "q0", "q2"]
    assert names(MatrixFilter(defects_first="v2").matching(rows)) == ["q0", "q1", "q2"]


def test_a_text_selects_by_label_or_tester():
    assert names(MatrixFilter(text="V2/Q1").matching(matrix_rows(DIALOGUES))) == ["q1"]
