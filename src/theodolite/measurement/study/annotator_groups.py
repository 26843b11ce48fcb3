"""Agreement and defect rates of self-described groups of annotators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from theodolite.domain.answer_rules import AnswerSources, QuestionLabels
from theodolite.domain.findings.agreeing import AnnotatorGroups, GroupAgreement, GroupDefects
from theodolite.measurement.comparison.significance import adjust_p_values
from theodolite.measurement.rater_groups import defect_rates_by_group, group_agreement
from theodolite.measurement.study.agreements import clusters_of

FEWEST: Final = 3
"""People below which a group is not named; count."""


def annotator_groups(
    application: str,
    question_labels: QuestionLabels,
    by: AnswerSources,
    annotator_attributes: Mapping[str, Mapping[str, str]],
    *,
    seed: int = 0,
) -> Iterator[AnnotatorGroups]:
    """Yield the agreement of self-described groups of people on one question, one result an attribute.

    Whoever did not say is in none: a group of the silent would be no group. Labels
    that cannot be read are left out, and so are attributes in which all are alike.

    Args:
        application: Name of the application.
        question_labels: Labels of the question on the planned sessions.
        by: The annotators.
        annotator_attributes: Attribute to annotator to group.
        seed: Seed of the test.

    Source:
        See `group_agreement`.
    """
    labels = {
        source.name: [reading.value for reading in question_labels.labels(source)]
        for source in by.annotators
        if source.is_person
    }
    active = {name: own for name, own in labels.items() if any(label is not None for label in own)}
    clusters = clusters_of(question_labels)
    for attribute, group_of in sorted(annotator_attributes.items()):
        known = [name for name in active if name in group_of]
        groups = [group_of[name] for name in known]
        sizes = Counter(groups)
        if len(sizes) < 2:
            continue
        agreements = group_agreement(
            [active[name] for name in known],
            groups,
            categories=question_labels.question.scale.categories,
            fewest=FEWEST,
            seed=seed,
            clusters=clusters,
        )
        yield AnnotatorGroups(
            application=application,
            guideline=question_labels.guideline.name,
            question=question_labels.question.name,
            attribute=attribute,
            n_raters=len(known),
            n_unknown=len(active) - len(known),
            n_in_small=sum(n for n in sizes.values() if n < FEWEST),
            groups=tuple(sorted(_named(agreements), key=lambda agreement: agreement.group)),
            defects=tuple(_defects(question_labels, [active[name] for name in known], groups, seed)),
        )


def _defects(
    question_labels: QuestionLabels, labels: Sequence[Sequence[str | None]], groups: Sequence[str], seed: int
) -> Iterator[GroupDefects]:
    """Yield how often each group of three people or more sees a defect, by the rules of the question."""
    scale = question_labels.question.scale
    for rule in question_labels.guideline.defect_rules:
        if rule.question != question_labels.question.name or not any(n >= FEWEST for n in Counter(groups).values()):
            continue
        flags = [[None if label is None else rule.is_defect(label, scale) for label in own] for own in labels]
        by_group = defect_rates_by_group(flags, groups, fewest=FEWEST, seed=seed)
        sizes = Counter(groups)
        yield GroupDefects(
            rule=rule.name,
            rates=tuple(sorted((name, rate) for name, rate in by_group.rates.items() if sizes[name] >= FEWEST)),
            gap=by_group.gap,
            p_value=by_group.p_value,
        )


def _named(agreements: Sequence[GroupAgreement]) -> list[GroupAgreement]:
    return [agreement for agreement in agreements if agreement.n_raters >= FEWEST]


def adjusted(findings: tuple[AnnotatorGroups, ...]) -> tuple[AnnotatorGroups, ...]:
    """Return findings whose p-values are adjusted for all groups, attributes, questions and applications at once.

    Source:
        See `adjust_p_values` (Benjamini and Hochberg).
    """
    known = _corrected(group.p_value for finding in findings for group in finding.groups)
    gaps = _corrected(rule.p_value for finding in findings for rule in finding.defects)
    return tuple(
        replace(
            finding,
            groups=tuple(
                group if group.p_value is None else replace(group, adjusted_p_value=next(known))
                for group in finding.groups
            ),
            defects=tuple(
                rule if rule.p_value is None else replace(rule, adjusted_p_value=next(gaps)) for rule in finding.defects
            ),
        )
        for finding in findings
    )


def _corrected(p_values: Iterable[float | None]) -> Iterator[float]:
    return iter(adjust_p_values([p for p in p_values if p is not None], method="bh"))
