from __future__ import annotations

from theodolite.domain.lapse import Lapse, LapseCheck, LapseKind


def test_a_dialogue_with_two_lapses_counts_once():
    lapses = tuple(Lapse(dialogue=label, turn=turn, words="") for label, turn in [("b", 1), ("a", 1), ("b", 2)])

    assert LapseCheck(kind=LapseKind.REFUSAL, meaning="", n=3, lapses=lapses).dialogues == ("b", "a")
