from __future__ import annotations

from theodolite.domain.findings.lapse import Lapse, LapseCheck, LapseKind
from theodolite.reporting.words.lapses import lapses_text


def check(kind, *labels, n=58, unread=0):
    lapses = [Lapse(dialogue=label, turn=1, words="a") for label in labels]
    return LapseCheck(kind=kind, meaning="", n=n, unread=unread, lapses=lapses)


def test_dialogues_with_several_lapses_count_once():
    found = (check(LapseKind.ROLE_FLIP, "d1", "d1", "d2"), check(LapseKind.REFUSAL, "d2"), check(LapseKind.REPETITION))

    assert lapses_text(found) == (
        "fell out of their part in 2 of 58 (3.4 %) dialogues (role flip 2, refusal 1): read these first"
    )


def test_dialogues_whose_words_no_rule_knows_are_told_beside_those_with_lapses():
    told = lapses_text((check(LapseKind.REFUSAL, "d2", unread=40), check(LapseKind.REPETITION)))

    assert "(refusal 1; words not known in 40)" in told


def test_where_nothing_was_found_nothing_is_said():
    assert lapses_text((check(LapseKind.ROLE_FLIP),)) == lapses_text(()) == ""
