from __future__ import annotations

from dataclasses import replace

from tests.fakes.evidence import facts
from tests.fakes.report import assets, evidence_named, findings_named, words
from theodolite.domain.findings.realism import RoleBreak, RoleBreakCheck, RoleBreakKind
from theodolite.reporting.page.report import report_html
from theodolite.reporting.page.subject import subject_of
from theodolite.reporting.page.testers import LONGEST, role_break_table

LABEL = evidence_named("live").sessions[2].label
CHECKS = (
    RoleBreakCheck(
        kind=RoleBreakKind.REPETITION,
        meaning="Again.",
        n=58,
        role_breaks=(RoleBreak(dialogue=LABEL, turn=2, words="x" * 200),),
    ),
    RoleBreakCheck(kind=RoleBreakKind.REFUSAL, meaning="Declines.", n=58, unread=3),
)


def subject(checks):
    findings = replace(findings_named("live"), role_breaks=checks)
    return subject_of(evidence_named("live"), findings, facts(), words())


def test_a_role_break_opens_its_dialogues_and_shows_one():
    about = subject(CHECKS)

    (kind, _, share, example), _ = role_break_table(about).rows

    assert (kind, share.value) == ("repetition", "1 of 58 (1.7%)")
    assert example == f"{LABEL}, turn 2: " + "x" * LONGEST + "..."
    assert about.sets.sets[share.opens].cases == (2,)


def test_a_rule_without_matches_states_the_number_of_dialogues():
    _, (_, _, share, example) = role_break_table(subject(CHECKS)).rows

    assert (share.value, share.details) == ("0 of 58 (0.0%)", ("words not known in 3",))
    assert (example, share.opens) == ("", "")


def test_the_report_has_the_section_only_with_simulated_users():
    with_users, without = (
        report_html(evidence_named("live"), replace(findings_named("live"), role_breaks=checks), facts(), assets())
        for checks in (CHECKS, ())
    )

    assert '<section id="users"' in with_users
    assert "Declines." in with_users
    assert "words not known in 3" in with_users
    assert 'id="users"' not in without
