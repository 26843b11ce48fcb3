from __future__ import annotations

from theodolite.domain.findings.lapse import Lapse, LapseCheck, LapseKind


def test_a_dialogue_with_two_lapses_counts_once():
    lapses = tuple(Lapse(dialogue=label, turn=turn, words="") for label, turn in [("b", 1), ("b", 2), ("a", 1)])
    check = LapseCheck(kind=LapseKind.REFUSAL, meaning="", n=3, lapses=lapses)

    assert (list(check.dialogues()), check.n_dialogues) == (["b", "a"], 2)
