"""What a summary says beside its rates: accounts, people, judges, how to read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import Annotator
from theodolite.domain.application import RecordedFile
from theodolite.domain.dialogue import HeldBy
from theodolite.domain.estimate import Findings
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.plan import Setting, TesterKind
from theodolite.domain.study import Study
from theodolite.reporting import figures
from theodolite.reporting.accounts import Account
from theodolite.reporting.agreements import (
    Agreement,
    among_people,
    coefficients_text,
    counts_text,
    is_tried,
    judges_of,
    people_of,
    percents_text,
    unparseable_cases,
    with_people,
)
from theodolite.reporting.cases import REFERENCE, Case, title_of
from theodolite.reporting.corrections import certificate_note, corrections_of, own_words
from theodolite.reporting.rates import Rate, rates_for, rates_of
from theodolite.reporting.summary_rows import short_phrase

_TOO_OFTEN = 0.1
_MOST_CORRECTED = 4
_EXCERPT = 120
_NUMERALS = {2: "both people"}


def account_text(account: Account) -> str:
    """Return an account as a sum: `60 planned = 57 judged + 2 application timed out + 1 unparseable`."""
    parts = [f"{figures.count(part.n)} {part.words}" for part in account.unmeasured]
    rest = parts or ["0 failed", "0 missing"]
    head = f"{figures.count(account.planned)} planned = {figures.count(account.labelled.n)} {_labelled_by(account)}"
    return " + ".join([head, *rest])


def _labelled_by(account: Account) -> str:
    if not account.by_people:
        return "labelled" if account.annotators in {(), (REFERENCE,)} else "judged"
    n = len(account.annotators)
    return "labelled by one person" if n == 1 else f"labelled by {_NUMERALS.get(n, f'all {n} people')}"


def people_text(study: Study, guideline: Guideline, agreements: Sequence[Agreement]) -> str:
    """Return how far people agree; empty where fewer than two labelled."""
    exact = among_people(study, agreements, guideline, "exact_agreement")
    if not any(agreement.estimate for agreement in exact):
        return ""
    kappa = among_people(study, agreements, guideline, "fleiss_kappa")
    inside = [percents_text(exact), f"Fleiss' kappa {coefficients_text(kappa)}" if kappa else ""]
    return f"agree on {counts_text(exact)} ({'; '.join(text for text in inside if text)})"


def judges_text(
    evidence: Evidence, guideline: Guideline, agreements: Sequence[Agreement], cases: Sequence[Case], findings: Findings
) -> str:
    """Return how far each judge agrees with people, if it has a certificate, and what it alone would have shown."""
    study = evidence.study
    tried = [j for j in judges_of(study, guideline.name) if is_tried(study, agreements, guideline, j.name)]
    tried.sort(key=lambda judge: judge.kind is not AnnotatorKind.MODEL)
    sentences = []
    for place, judge in enumerate(tried):
        exact = with_people(study, agreements, guideline, judge.name, "exact_agreement")
        name = judge.title or judge.name
        if place:
            sentences.append(f"{name} {counts_text(exact).split(' of ')[0]}.")
            continue
        inside = [percents_text(exact), _unparseable_text(cases, guideline, judge)]
        notes = "; ".join(text for text in inside if text)
        opponent = "people" if people_of(study, guideline.name) else "the final labels"
        noted = f"{name} ({certificate_note(evidence, judge.name)})"
        sentences.append(f"{noted} agrees with {opponent} on {counts_text(exact)}{f' ({notes})' if notes else ''}.")
        sentences.append(_alone_text(study, guideline, judge, rates_of(findings)))
    return " ".join(sentence for sentence in sentences if sentence)


def corrected_text(evidence: Evidence, guideline: Guideline, findings: Findings) -> str:
    """Return what the judges' rates become by the labels of people; empty where nobody labelled a sample."""
    found = corrections_of(findings, guideline)
    several = len(guideline.defect_rules) > 1
    texts = []
    for one in found[:_MOST_CORRECTED]:
        own = own_words(one, findings, rates_of(findings))
        subject = one.measurement.application + (
            f" {one.measurement.about.get('rule', '')}".rstrip() if several else ""
        )
        alone = f"; {title_of(evidence.study, one.judge)} alone {own}" if own else ""
        known = ", errors as on" if one.is_transported else " by"
        texts.append(f"{subject} {one.text}{known} {title_of(evidence.study, one.by)}{alone}.")
    rest = len(found) - _MOST_CORRECTED
    return " ".join([*texts, f"{rest} more in the report."] if rest > 0 else texts)


def _unparseable_text(cases: Sequence[Case], guideline: Guideline, judge: Annotator) -> str:
    unread = unparseable_cases(cases, guideline, judge.name)
    if not unread:
        return ""
    applications = Counter(case.setting.application for case in unread)
    where = f", all on {next(iter(applications))}," if len(applications) == 1 else ""
    return f"its {figures.count(len(unread))} unparseable{where} count as not agreeing"


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


def unreadable_judges(study: Study, cases: Sequence[Case]) -> list[str]:
    """Return a warning for each judge that could not be read too often, with one of its replies."""
    return [
        warning
        for guideline in study.guidelines
        for judge in judges_of(study, guideline.name)
        if (warning := _unreadable(cases, guideline, judge))
    ]


def _unreadable(cases: Sequence[Case], guideline: Guideline, judge: Annotator) -> str:
    asked = [case for case in cases if case.has_annotation(judge.name)]
    unread = unparseable_cases(asked, guideline, judge.name)
    if len(unread) <= _TOO_OFTEN * len(asked):
        return ""
    said = unread[0].register.unread.get((judge.name, guideline.name, guideline.question.name), "")
    raw = " ".join(said.split())
    example = f' It said, for instance: "{raw[:_EXCERPT]}".' if raw else ""
    name = judge.title or judge.name
    return f"The judge {name} could not be read on {figures.share(len(unread), len(asked))}.{example}"


def headline(evidence: Evidence, agreements: Sequence[Agreement]) -> str:
    """Return in one line what was tested, by whom and on whose word."""
    study = evidence.study
    parts = [_applications(study), _testers(evidence), *_labellers(study, agreements)]
    return ", ".join(part for part in parts if part)


def _applications(study: Study) -> str:
    if len(study.applications) == 1:
        return study.applications[0].name
    recorded = all(isinstance(application.connection, RecordedFile) for application in study.applications)
    return figures.number_of(len(study.applications), "recorded application" if recorded else "application")


def _testers(evidence: Evidence) -> str:
    """Return who spoke, and how many; people by the sessions that they held."""
    settings, held = evidence.register.settings, evidence.register.held
    people = {s.cluster for s, one in zip(settings, held, strict=True) if s.held_by is HeldBy.PERSON and one}
    rest = [place for place, setting in enumerate(settings) if setting.held_by is not HeldBy.PERSON]
    told = _tested_without_people(evidence, rest) if rest else ""
    return ", ".join(part for part in (told, figures.number_of(len(people), "tester") if people else "") if part)


def _tested_without_people(evidence: Evidence, places: Sequence[int]) -> str:
    """Return how many personas, scripts or prompts, and attacks spoke: each for what it is."""
    settings = evidence.register.settings
    by_kind: dict[TesterKind, list[int]] = {}
    for place in places:
        by_kind.setdefault(settings[place].kind, []).append(place)
    played, attacks = by_kind.pop(TesterKind.PERSONA, []), by_kind.pop(TesterKind.ATTACK, [])
    fixed = [place for own in by_kind.values() for place in own]
    recorded = [place for place in fixed if played and settings[place].held_by is HeldBy.RECORDED]
    scripted = [place for place in fixed if played and settings[place].held_by is not HeldBy.RECORDED]
    example = "example " if any(group.example for group in evidence.study.personas) else ""
    parts = [
        figures.number_of(len({settings[place].tester for place in played}), f"{example}persona") if played else "",
        figures.number_of(_n_testers(settings, scripted), "script") if scripted else "",
        figures.number_of(_n_testers(settings, recorded), "recorded dialogue") if recorded else "",
        _prompts(evidence, fixed) if fixed and not played else "",
        figures.number_of(_n_testers(settings, attacks), "attack") if attacks else "",
    ]
    return ", ".join(filter(None, parts))


def _n_testers(settings: Sequence[Setting], places: Sequence[int]) -> int:
    return len({(settings[place].scenario, settings[place].tester) for place in places})


def _prompts(evidence: Evidence, places: Sequence[int]) -> str:
    settings, sessions = evidence.register.settings, evidence.sessions
    pairs: dict[str, set[str]] = {}
    for place in places:
        pairs.setdefault(settings[place].application, set()).add(sessions.pair_key(place))
    prompts = {key for keys in pairs.values() for key in keys}
    the_same = "the same " if len(pairs) > 1 and all(keys == prompts for keys in pairs.values()) else ""
    return the_same + figures.number_of(len(prompts), "prompt")


def _labellers(study: Study, agreements: Sequence[Agreement]) -> list[str]:
    people = {a.name for a in study.annotators if a.kind is AnnotatorKind.PERSON}
    texts = [figures.number_of(len(people), "person", "people")] if people else []
    judges = [(g, j) for g in study.guidelines for j in judges_of(study, g.name) if j.kind is AnnotatorKind.MODEL]
    untried = [judge for guideline, judge in judges if not is_tried(study, agreements, guideline, judge.name)]
    if untried and not people:
        texts.append("judge not tried on people yet" if len(untried) == 1 else "judges not tried on people yet")
    return texts
