"""What a summary says beside its rates: how people agree, and how judges stand to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.annotator import REFERENCE, Annotator
from theodolite.domain.estimate import Findings, Undefined
from theodolite.domain.estimate_subject import Measure
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.study import Study
from theodolite.reporting.found.agreements import (
    Agreement,
    agreement_text,
    among_people,
    coefficients_text,
    common_reason,
    counts_text,
    is_tried,
    judges_of,
    opponent_text,
    percents_text,
    plain_agreement,
    subject_text,
    unreadable_cases,
    with_people,
)
from theodolite.reporting.found.cases import Case, title_of
from theodolite.reporting.found.corrections import Correction, corrections_to_tell, own_words, validation_note
from theodolite.reporting.found.rates import Rate, rates_for, rates_of
from theodolite.reporting.words import figures
from theodolite.reporting.words.rules import short_phrase

_MOST_CORRECTED = 4


def people_text(study: Study, guideline: Guideline, agreements: Sequence[Agreement]) -> str:
    """Return the agreement among people; empty if fewer than two labelled."""
    exact = plain_agreement(study, agreements, guideline)
    kappa = among_people(study, agreements, guideline, Measure.FLEISS_KAPPA)
    if not any(agreement.estimate for agreement in exact):
        reason = common_reason(exact or kappa)
        unknown = f"{subject_text(study, guideline)}agreement is undefined: {reason}"
        return unknown if _has_unreadable(exact or kappa) else ""
    percents, counts = percents_text(exact), counts_text(exact)
    coefficient = f"Fleiss' kappa {coefficients_text(kappa)}" if kappa else ""
    head, notes = (percents, [counts, coefficient]) if percents else (counts, [coefficient])
    inside = "; ".join(note for note in notes if note)
    return f"{subject_text(study, guideline)}people {head}{f' ({inside})' if inside else ''}"


def _has_unreadable(agreements: Sequence[Agreement]) -> bool:
    return any(agreement.unreadable for agreement in agreements)


def judges_text(
    evidence: Evidence, guideline: Guideline, agreements: Sequence[Agreement], cases: Sequence[Case], findings: Findings
) -> str:
    """Return how far each judge agrees with the final labels or people, and what the first one alone would show."""
    study = evidence.study
    tried = [j for j in judges_of(study, guideline.name) if is_tried(study, agreements, guideline, j.name)]
    tried.sort(key=lambda judge: judge.kind is not AnnotatorKind.MODEL)
    if not tried:
        return ""
    parts: list[str] = []
    for judge in tried:
        exact = with_people(study, agreements, guideline, judge.name, Measure.EXACT_AGREEMENT)
        name = judge.title or judge.name
        if parts:
            parts.append(f"{name} on {agreement_text(exact).split(' of ')[0]}")
            continue
        unparseable = _unparseable_text(cases, guideline, judge)
        noted = f"{name} ({validation_note(evidence, judge.name)})"
        amount = agreement_text(exact, unparseable)
        parts.append(f"{subject_text(study, guideline)}{noted} agrees with {opponent_text(exact)} on {amount}")
    alone = _alone_text(study, guideline, tried[0], rates_of(findings, study), is_named=len(tried) > 1)
    return f"{'; '.join(parts)}.{f' {alone}' if alone else ''}"


def corrected_text(evidence: Evidence, guideline: Guideline, findings: Findings) -> str:
    """Return what the judges' rates become by the labels of people; empty where nobody labelled a sample."""
    study, rates = evidence.study, rates_of(findings, evidence.study)
    found = corrections_to_tell(study, findings, guideline)
    defined = [one for one in found if one.is_defined]
    texts = []
    for one in defined[:_MOST_CORRECTED]:
        own = own_words(one, findings, rates)
        by = title_of(study, one.by).removesuffix(".")
        known = f", with the errors found on {by}" if one.is_transported else f" by {by}"
        alone = f"; {title_of(study, one.judge)} alone {own}" if own else ""
        texts.append(f"{_corrected_subject(guideline, one)} {one.text}{known}{alone}.")
    rest = len(defined) - _MOST_CORRECTED
    texts += [f"{rest} more in the report."] if rest > 0 else []
    return " ".join([*texts, *_undefined_corrections(study, guideline, found)])


def _corrected_subject(guideline: Guideline, one: Correction) -> str:
    several = len(guideline.defect_rules) > 1
    return one.measurement.application + (f" {one.measurement.subject.rule}".rstrip() if several else "")


def _undefined_corrections(study: Study, guideline: Guideline, found: Sequence[Correction]) -> list[str]:
    """Return why rates have no correction: one sentence a reason, whoever labelled."""
    alike: dict[str, list[Correction]] = {}
    for one in found:
        if isinstance(one.result, Undefined):
            alike.setdefault(one.result.reason.rstrip("."), []).append(one)
    texts = []
    for reason, own in alike.items():
        subjects = ", ".join(dict.fromkeys(_corrected_subject(guideline, one) for one in own))
        people = dict.fromkeys(title_of(study, one.by).removesuffix(".") for one in own)
        by = next(iter(people)) if len(people) == 1 else f"{len(people)} people"
        texts.append(f"{subjects} by {by}: undefined. {reason}.")
    return texts


def _unparseable_text(cases: Sequence[Case], guideline: Guideline, judge: Annotator) -> str:
    unread = {
        outcome.value: unreadable_cases(cases, guideline, judge.name, outcome)
        for outcome in (Outcome.UNPARSEABLE, Outcome.REFUSED)
    }
    told = [f"{figures.count(len(found))} {name}" for name, found in unread.items() if found]
    if not told:
        return ""
    applications = Counter(case.setting.application for found in unread.values() for case in found)
    where = f", all on {next(iter(applications))}," if len(applications) == 1 else ""
    return f"its {' and '.join(told)}{where} count as not agreeing"


def _alone_text(
    study: Study, guideline: Guideline, judge: Annotator, rates: tuple[Rate, ...], *, is_named: bool
) -> str:
    """Return where the judge and the reference differ most, one application a rule."""
    if study.reference is None or study.reference.guideline != guideline.name:
        return ""
    gaps = [gap for rule in _sides(guideline) if (gap := _widest_gap(rates, guideline, rule, judge.name)) is not None]
    verbs = (" would show", "")
    contrasts = [f"{application}{verb} {contrast}" for (application, contrast), verb in zip(gaps, verbs, strict=False)]
    by = (judge.title or judge.name) if is_named else "it"
    return f"By {by} alone {', and '.join(contrasts)}." if contrasts else ""


def _sides(guideline: Guideline) -> tuple[DefectRule, ...]:
    """Return the rules to compare by: the first one on each side of a guardrail."""
    first = {rule.violation: rule for rule in reversed(guideline.defect_rules)}
    return tuple(rule for rule in guideline.defect_rules if first[rule.violation] is rule)[:2]


def _widest_gap(rates: tuple[Rate, ...], guideline: Guideline, rule: DefectRule, judge: str) -> tuple[str, str] | None:
    finals = rates_for(rates, guideline.name, rule.name, annotators=(REFERENCE,))
    by_judge = {r.measurement.application: r for r in rates_for(rates, guideline.name, rule.name, annotators=(judge,))}
    pairs = [(final, by_judge[app]) for final in finals if (app := final.measurement.application) in by_judge]
    if not pairs:
        return None
    final, alone = max(pairs, key=lambda pair: abs(pair[0].defects - pair[1].defects))
    if final.defects == alone.defects:
        return None
    true = figures.count(final.defects)
    counted = figures.number_of(alone.defects, "defect")
    shown = f"{figures.count(alone.defects)} {short_phrase(rule)}" if rule.phrase else counted
    return final.measurement.application, f"{shown}, not {true}"
