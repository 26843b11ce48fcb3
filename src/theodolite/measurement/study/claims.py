"""Claims: what the labels of a run say about what teams claim of their applications."""

from __future__ import annotations

from collections.abc import Iterator

from theodolite.domain.application import Application, Claim
from theodolite.domain.claim import ClaimStanding, ClaimTest, rules_meant
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.persona import Script
from theodolite.domain.plan import PlannedSession
from theodolite.measurement.study.labels import Register, Sheet, Source, asked_sessions, register, sources


def claim_tests(evidence: Evidence) -> Iterator[ClaimTest]:
    """Yield how each claim stands, by the reference or else by each annotator for itself.

    One defect contradicts a claim, since a claim says what the application does
    and not how often. Nothing but a labelled dialogue supports one: what failed,
    was refused or could not be read leaves it untested. A few dialogues without a
    defect support a claim and prove nothing, so `n` travels with it.

    Args:
        evidence: All records of one run.
    """
    records = register(evidence)
    for application in evidence.study.applications:
        for claim in application.claims:
            yield from _tests(evidence, records, application, claim)


def _tests(evidence: Evidence, records: Register, application: Application, claim: Claim) -> Iterator[ClaimTest]:
    meant = rules_meant(claim, evidence.study.guidelines)
    reason = _why_unclear(claim, len(meant))
    if reason:
        yield _untested(application, claim, reason)
        return
    (guideline, rule) = meant[0]
    asked = asked_sessions(evidence, application, guideline)
    sessions = tuple(session for session in asked if _is_of(session, claim, rule))
    by = sources(evidence.study, guideline, application).authorities
    if not sessions or not by:
        nobody = f"nobody labels by {guideline.name}"
        yield _untested(application, claim, "none of its scripts is in the plan" if by else nobody)
        return
    sheet = Sheet(
        register=records,
        guideline=guideline,
        question=guideline.instrument.question(rule.question),
        sessions=sessions,
        rule=rule,
    )
    for source in by:
        yield _tested(application, claim, sheet, rule, source)


def _why_unclear(claim: Claim, n_rules: int) -> str:
    if not claim.scripts:
        return "it names no scripts"
    if n_rules == 1:
        return ""
    named = f"`{claim.rule}`" if claim.rule else "no rule"
    return f"it names {named}, and the study has {n_rules or 'none'} that this could be"


def _is_of(session: PlannedSession, claim: Claim, rule: DefectRule) -> bool:
    tester = session.tester
    by_script = isinstance(tester, Script) and tester.key in claim.scripts
    return by_script and rule.applies_to(session.groups)


def _untested(application: Application, claim: Claim, reason: str) -> ClaimTest:
    return ClaimTest(application=application.name, claim=claim, standing=ClaimStanding.NOT_TESTED, reason=reason)


def _tested(application: Application, claim: Claim, sheet: Sheet, rule: DefectRule, source: Source) -> ClaimTest:
    labelled = [reading for reading in sheet.readings(source) if reading.value is not None]
    scale = sheet.question.scale
    defects = [
        reading.session.label
        for reading in labelled
        if reading.value is not None and rule.is_defect(reading.value, scale)
    ]
    standing = ClaimStanding.CONTRADICTED if defects else ClaimStanding.SUPPORTED
    guideline: Guideline = sheet.guideline
    return ClaimTest(
        application=application.name,
        claim=claim,
        standing=standing if labelled else ClaimStanding.NOT_TESTED,
        guideline=guideline.name,
        rule=rule.name,
        annotator=source.name,
        planned=len(sheet.sessions),
        n=len(labelled),
        contradicting=tuple(defects),
        reason="" if labelled else "none of its scripts' dialogues has a label",
    )
