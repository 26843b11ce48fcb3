"""Certificates as the page shows them: one a judge, with all that is known and all that is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from theodolite.domain.certificate import ALL_APPLICATIONS, Certificate
from theodolite.domain.estimate import Measurement
from theodolite.domain.identity import SHORT
from theodolite.reporting.found.cases import title_of
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.words.certificates import (
    MOST_APART,
    amount_text,
    coefficient_text,
    is_beside_judge,
    points_text,
    rules_of_certificate,
    share_text,
    unreadable_text,
    weighting_text,
)

_AGREEMENT = ("exact_agreement", "relaxed_agreement", "cohen_kappa", "gwet_ac", "krippendorff_alpha", "macro_f1")
_OF_LABELS = ("class_precision", "class_recall", "class_f1")
_ACCURACY = ("judge_sensitivity", "judge_specificity", "judge_precision", "judge_bias", "corrected_rate")
_MANNERS = (
    "unparseable_share",
    "refused_share",
    "refused_defects",
    "ungrounded_share",
    "control_failed_share",
    "flip_rate",
    "retest_alpha",
    "order_consistent",
    "prefers_first",
    "length_bias",
    "verdicts_turned",
)
_CROWD = ("agreement_with_people", "agreement_among_people", "nearer_than_people")
GROUP_MEASURE = "cross_agreement"
"""What a judge's agreement with a group of people is measured by."""

_COEFFICIENTS = (
    "cohen_kappa",
    "gwet_ac",
    "krippendorff_alpha",
    "retest_alpha",
    "length_bias",
    GROUP_MEASURE,
    "macro_f1",
    "class_f1",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureTable:
    """Figures of a judge beside one authority: a row a part of the dialogues, a column a measure."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateView:
    """One certificate.

    Attributes:
        judge: What people call the judge.
        guideline: Name of the guideline.
        version: First characters of the judge's content hash.
        issued: Day and time, in words.
        about: What it rests on, as a sentence.
        tables: Agreement and accuracy.
        manners: Name and value of what does not hang on the verdict.
        lacking: What is not known.
    """

    judge: str
    guideline: str
    version: str
    issued: str
    about: str
    tables: tuple[FigureTable, ...]
    manners: tuple[tuple[str, str], ...]
    lacking: tuple[str, ...]


def certificates(subject: Subject) -> tuple[CertificateView, ...]:
    """Return the certificates of the study's judges as they are now."""
    return tuple(_view(subject, one) for one in subject.evidence.certificates)


def _view(subject: Subject, certificate: Certificate) -> CertificateView:
    people = certificate.authorities
    names = ", ".join(title_of(subject.study, name) for name in people)
    names = names if len(people) <= MOST_APART else f"{len(people)} people one by one"
    return CertificateView(
        judge=title_of(subject.study, certificate.judge),
        guideline=certificate.guideline,
        version=certificate.judge_version[:SHORT],
        issued=f"{certificate.issued:%Y-%m-%d %H:%M} UTC",
        about=f"{certificate.labelled:,} of {certificate.judged:,} judged dialogues, held against {names}.",
        tables=tuple(_tables(subject, certificate)),
        manners=tuple(_manners(subject, certificate)),
        lacking=certificate.lacking,
    )


def _tables(subject: Subject, certificate: Certificate) -> Iterator[FigureTable]:
    if len(certificate.authorities) > MOST_APART:
        yield from _against_many(subject, certificate)
    for authority in certificate.authorities if len(certificate.authorities) <= MOST_APART else ():
        own = [one for one in certificate.measurements if _is_of(one, authority)]
        name = title_of(subject.study, authority)
        plain = [one for one in own if "rule" not in one.about]
        yield _table(subject, f"Agreement with {name}", plain, _AGREEMENT)
        of_labels = [one for one in plain if one.measure in _OF_LABELS and one.application == ALL_APPLICATIONS]
        if of_labels:
            yield _table(subject, f"Each label of {name}", of_labels, _OF_LABELS)
        for rule in rules_of_certificate(certificate):
            by_rule = [one for one in own if one.about.get("rule") == rule]
            yield _table(subject, f"Defects ({rule}) against {name}", by_rule, _ACCURACY)
    ceiling = [one for one in certificate.measurements if "ceiling" in one.about and "first" in one.about]
    for pair in dict.fromkeys((one.about["first"], one.about["second"]) for one in ceiling):
        names = " and ".join(title_of(subject.study, name) for name in pair)
        found = [one for one in ceiling if (one.about["first"], one.about["second"]) == pair]
        yield _table(subject, f"The ceiling: agreement of {names}", found, _AGREEMENT)
    beside = [one for one in certificate.measurements if is_beside_judge(certificate, one)]
    if beside:
        yield _each(subject, "Agreement with each other judge", beside, _AGREEMENT)
    yield from _by_group(subject, certificate)


def _against_many(subject: Subject, certificate: Certificate) -> Iterator[FigureTable]:
    """Yield one table of agreement and one a rule, a row a person, where people are many; parts are in the data."""
    wide = [
        one
        for name in certificate.authorities
        for one in certificate.measurements
        if _is_of(one, name) and one.application == ALL_APPLICATIONS and "part" not in one.about
    ]
    yield _each(subject, "Agreement with each person", [one for one in wide if "rule" not in one.about], _AGREEMENT)
    for rule in rules_of_certificate(certificate):
        by_rule = [one for one in wide if one.about.get("rule") == rule]
        yield _each(subject, f"Defects ({rule}) against each person", by_rule, _ACCURACY)
    crowd = [one for one in certificate.measurements if one.measure in _CROWD]
    if crowd:
        yield _table(subject, "The ceiling: how near people come to each other", crowd, _CROWD)


def _each(subject: Subject, title: str, found: Sequence[Measurement], measures: Sequence[str]) -> FigureTable:
    columns = [measure for measure in measures if any(one.measure == measure for one in found)]
    cells = {(one.about["first"], one.measure): _text(one) for one in found}
    people = dict.fromkeys(one.about["first"] for one in found)
    return FigureTable(
        title=title,
        columns=tuple(_column(subject, measure, found) for measure in columns),
        rows=tuple(
            (title_of(subject.study, name), tuple(cells.get((name, column), "") for column in columns))
            for name in people
        ),
    )


def _by_group(subject: Subject, certificate: Certificate) -> Iterator[FigureTable]:
    found = [one for one in certificate.measurements if one.measure == GROUP_MEASURE]
    if found:
        yield _table(subject, "Agreement with the groups that people describe themselves by", found, (GROUP_MEASURE,))


def _is_of(one: Measurement, authority: str) -> bool:
    return one.about.get("first") == authority and "ceiling" not in one.about and one.measure not in _MANNERS


def _table(subject: Subject, title: str, found: Sequence[Measurement], measures: Sequence[str]) -> FigureTable:
    columns = [measure for measure in measures if any(one.measure == measure for one in found)]
    cells = {(_part(one), one.measure): _text(one) for one in found}
    parts = dict.fromkeys(_part(one) for one in found)
    return FigureTable(
        title=title,
        columns=tuple(_column(subject, measure, found) for measure in columns),
        rows=tuple((part, tuple(cells.get((part, column), "") for column in columns)) for part in parts),
    )


def _column(subject: Subject, measure: str, found: Sequence[Measurement]) -> str:
    """Return the title of a measure, with the weighting of a coefficient."""
    title = subject.words.measure(measure).title
    weighting = next((weighting_text(measure, one.about) for one in found if one.measure == measure), "")
    return f"{title} ({weighting})" if weighting else title


def _part(one: Measurement) -> str:
    """Return what part of the dialogues, or which label, a figure is about."""
    if "label" in one.about:
        return one.about["label"]
    part = one.about.get("part", "")
    if not part:
        return one.application
    people = f" ({one.about['people']} people)" if "people" in one.about else ""
    return f"{part.removeprefix('group.').removeprefix('annotators.')}: {one.about[part]}{people}"


def _text(one: Measurement) -> str:
    if one.measure in _COEFFICIENTS:
        return coefficient_text(one.result)
    if one.measure in _CROWD[:2]:
        return share_text(one.result)
    if one.measure in {"judge_bias", _CROWD[2]}:
        return points_text(one.result)
    left_out = unreadable_text(one) if one.measure == "exact_agreement" else ""
    return f"{amount_text(one.result)}{f'; {left_out}' if left_out else ''}"


def _manners(subject: Subject, certificate: Certificate) -> Iterator[tuple[str, str]]:
    for one in certificate.measurements:
        whole = one.application == ALL_APPLICATIONS and "part" not in one.about
        if one.measure in _MANNERS and whole:
            against = f"against {title_of(subject.study, one.about['first'])}" if "first" in one.about else ""
            named = [one.about.get(key, "") for key in ("attempt", "rule", "readings")]
            tail = ", ".join(words for words in [*named, against] if words)
            title = subject.words.measure(one.measure).title
            yield f"{title} ({tail})" if tail else title, _text(one)
