"""What a summary says beside its rates: how people agree, and how judges stand to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.annotator import REFERENCE, Annotator
from theodolite.domain.estimate import Findings
from theodolite.domain.estimate_subject import Measure
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.study import Study
from theodolite.reporting.found.agreements import (
    Agreement,
    among_people,
    coefficients_text,
    counts_text,
    is_tried,
    judges_of,
    people_of,
    percents_text,
    plain_agreement,
    undefined_text,
    unreadable_cases,
    with_people,
)
from theodolite.reporting.found.cases import Case, title_of
from theodolite.reporting.found.corrections import certificate_note, corrections_of, own_words
from theodolite.reporting.found.rates import Rate, rates_for, rates_of
from theodolite.reporting.words import figures
from theodolite.reporting.words.rules import short_phrase

_MOST_CORRECTED = 4


def people_text(study: Study, guideline: Guideline, agreements: Sequence[Agreement]) -> str:
    """Return how far people agree; empty where fewer than two labelled."""
    exact = plain_agreement(study, agreements, guideline)
    kappa = among_people(study, agreements, guideline, Measure.FLEISS_KAPPA)
    if not any(agreement.estimate for agreement in exact):
        reason = undefined_text(exact or kappa)
        return f"agreement is undefined: {reason}" if _has_unreadable(exact or kappa) else ""
    inside = [percents_text(exact), f"Fleiss' kappa {coefficients_text(kappa)}" if kappa else ""]
    return f"agree on {counts_text(exact)} ({'; '.join(text for text in inside if text)})"


def _has_unreadable(agreements: Sequence[Agreement]) -> bool:
    return any(agreement.unreadable for agreement in agreements)


def judges_text(
    evidence: Evidence, guideline: Guideline, agreements: Sequence[Agreement], cases: Sequence[Case], findings: Findings
) -> str:
    """Return how far each judge agrees with people, if it has a certificate, and what it alone would have shown."""
    study = evidence.study
    tried = [j for j in judges_of(study, guideline.name) if is_tried(study, agreements, guideline, j.name)]
    tried.sort(key=lambda judge: judge.kind is not AnnotatorKind.MODEL)
    sentences = []
    for place, judge in enumerate(tried):
        exact = with_people(study, agreements, guideline, judge.name, Measure.EXACT_AGREEMENT)
        name = judge.title or judge.name
        if place:
            sentences.append(f"{name} {counts_text(exact).split(' of ')[0]}.")
            continue
        inside = [percents_text(exact, with_unreadable=True), _unparseable_text(cases, guideline, judge)]
        notes = "; ".join(text for text in inside if text)
        opponent = "people" if people_of(study, guideline.name) else "the final labels"
        noted = f"{name} ({certificate_note(evidence, judge.name)})"
        counts = counts_text(exact, with_unreadable=True)
        sentences.append(f"{noted} agrees with {opponent} on {counts}{f' ({notes})' if notes else ''}.")
        sentences.append(_alone_text(study, guideline, judge, rates_of(findings)))
    return " ".join(sentence for sentence in sentences if sentence)


def corrected_text(evidence: Evidence, guideline: Guideline, findings: Findings) -> str:
    """Return what the judges' rates become by the labels of people; empty where nobody labelled a sample."""
    found = corrections_of(findings, guideline)
    several = len(guideline.defect_rules) > 1
    texts = []
    for one in found[:_MOST_CORRECTED]:
        own = own_words(one, findings, rates_of(findings))
        subject = one.measurement.application + (f" {one.measurement.subject.rule}".rstrip() if several else "")
        alone = f"; {title_of(evidence.study, one.judge)} alone {own}" if own else ""
        known = ", errors as on" if one.is_transported else " by"
        texts.append(f"{subject} {one.text}{known} {title_of(evidence.study, one.by)}{alone}.")
    rest = len(found) - _MOST_CORRECTED
    return " ".join([*texts, f"{rest} more in the report."] if rest > 0 else texts)


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


def _alone_text(study: Study, guideline: Guideline, judge: Annotator, rates: tuple[Rate, ...]) -> str:
    """Return where the judge and the reference differ most, one application a rule."""
    if study.reference is None or study.reference.guideline != guideline.name:
        return ""
    gaps = [gap for rule in _sides(guideline) if (gap := _widest_gap(rates, guideline, rule, judge.name)) is not None]
    verbs = (" would show", "")
    contrasts = [f"{application}{verb} {contrast}" for (application, contrast), verb in zip(gaps, verbs, strict=False)]
    return f"By it alone {', and '.join(contrasts)}." if contrasts else ""


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
