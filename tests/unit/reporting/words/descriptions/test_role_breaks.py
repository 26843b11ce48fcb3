from __future__ import annotations

from theodolite.domain.findings.realism import RoleBreak, RoleBreakCheck, RoleBreakKind
from theodolite.reporting.words.descriptions import role_breaks_text


def check(kind, *labels, n=58, unread=0):
    role_breaks = [RoleBreak(dialogue=label, turn=1, words="a") for label in labels]
    return RoleBreakCheck(kind=kind, meaning="", n=n, unread=unread, role_breaks=role_breaks)


def test_dialogues_with_several_role_breaks_count_once():
    found = (
        check(RoleBreakKind.ROLE_FLIP, "d1", "d1", "d2"),
        check(RoleBreakKind.REFUSAL, "d2"),
        check(RoleBreakKind.REPETITION),
    )

    assert role_breaks_text(found) == (
        "broke character in 2 of 58 (3.4%) dialogues (role flip 2, refusal 1): review these first"
    )


def test_dialogues_in_unsupported_languages_are_reported_beside_those_with_role_breaks():
    told = role_breaks_text((check(RoleBreakKind.REFUSAL, "d2", unread=40), check(RoleBreakKind.REPETITION)))

    assert "(refusal 1; words not known in 40)" in told


def test_without_findings_there_is_no_text():
    assert role_breaks_text((check(RoleBreakKind.ROLE_FLIP),)) == role_breaks_text(()) == ""
