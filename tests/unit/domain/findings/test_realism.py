from __future__ import annotations

from theodolite.domain.findings.realism import RoleBreak, RoleBreakCheck, RoleBreakKind


def test_a_dialogue_with_two_role_breaks_counts_once():
    role_breaks = tuple(
        RoleBreak(dialogue=label, turn=turn, words="") for label, turn in [("b", 1), ("b", 2), ("a", 1)]
    )
    check = RoleBreakCheck(kind=RoleBreakKind.REFUSAL, meaning="", n=3, role_breaks=role_breaks)

    assert (list(check.dialogues()), check.n_dialogues) == (["b", "a"], 2)
