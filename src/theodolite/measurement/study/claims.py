"""Claims: what the labels of a run say about what teams claim of their applications."""

from __future__ import annotations

from collections.abc import Iterator

from theodolite.domain.answer_rules import AnswerSource, QuestionLabels, annotators_of, positions_of
from theodolite.domain.application import Application, Claim
from theodolite.domain.claim import ClaimStanding, ClaimTest, rules_meant
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.plan import Setting, TesterKind


def claim_tests(evidence: Evidence) -> Iterator[ClaimTest]:
    """Yield how each claim stands, by the reference or else by each annotator for itself.

    One defect contradicts a claim, since a claim says what the application does
    and not how often. Nothing but a labelled dialogue supports one: what failed,
    was refused or could not be read leaves it untested. A few dialogues without a
    defect support a claim and prove nothing, so `n` travels with it.

    Args:
        evidence: All records of one run.
    """
    for application in evidence.study.applications:
        for claim in application.claims:
            yield from _tests(evidence, application, claim)


def _tests(evidence: Evidence, application: Application, claim: Claim) -> Iterator[ClaimTest]:
    if claim.untestable:
        standing = ClaimStanding.UNTESTABLE
        yield ClaimTest(application=application.name, claim=claim, standing=standing, reason=claim.untestable)
        return
    meant = rules_meant(claim, evidence.study.guidelines)
    reason = _why_unclear(claim, len(meant))
    if reason:
        yield _untested(application, claim, reason)
        return
    (guideline, rule) = meant[0]
    settings = evidence.answers.settings
    asked = positions_of(evidence.study, evidence.answers, application, guideline)
    places = [place for place in asked if _is_of(settings[place], claim, rule)]
    by = annotators_of(evidence.study, guideline, application).reference_annotators
    if not places or not by:
        nobody = f"nobody labels by {guideline.name}"
        yield _untested(application, claim, "none of its scripts is in the plan" if by else nobody)
        return
    sheet = QuestionLabels(
        table=evidence.answers,
        guideline=guideline,
        question=guideline.instrument.question(rule.question),
        positions=places,
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


def _is_of(setting: Setting, claim: Claim, rule: DefectRule) -> bool:
    by_script = setting.kind is TesterKind.SCRIPT and setting.tester in claim.scripts
    return by_script and rule.applies_to(setting.groups)


def _untested(application: Application, claim: Claim, reason: str) -> ClaimTest:
    return ClaimTest(application=application.name, claim=claim, standing=ClaimStanding.NOT_TESTED, reason=reason)


def _tested(
    application: Application, claim: Claim, sheet: QuestionLabels, rule: DefectRule, source: AnswerSource
) -> ClaimTest:
    read = zip(sheet.positions, sheet.labels(source), strict=True)
    labelled = [(place, reading.value) for place, reading in read if reading.value is not None]
    scale = sheet.question.scale
    label = sheet.table.sessions.label
    defects = [label(place) for place, value in labelled if rule.is_defect(value, scale)]
    standing = ClaimStanding.CONTRADICTED if defects else ClaimStanding.SUPPORTED
    guideline: Guideline = sheet.guideline
    return ClaimTest(
        application=application.name,
        claim=claim,
        standing=standing if labelled else ClaimStanding.NOT_TESTED,
        guideline=guideline.name,
        rule=rule.name,
        annotator=source.name,
        planned=len(sheet.positions),
        n=len(labelled),
        contradicting=tuple(defects),
        reason="" if labelled else "none of its scripts' dialogues has a label",
    )
