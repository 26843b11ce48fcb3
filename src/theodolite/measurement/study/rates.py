"""Rates: the defects of one application under one guideline, each annotator for itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from theodolite.domain.annotation import Outcome
from theodolite.domain.annotator import PEOPLE
from theodolite.domain.answer_rules import AnswerSource, AnswerSources, QuestionLabels, pool_labels_of, versions_of
from theodolite.domain.answers import NO_VALUE, OUTCOME_CODES, DialogueLabels
from theodolite.domain.estimate import Estimate, Measurement, Outcomes, Undefined
from theodolite.domain.estimate_subject import EstimateSubject, GroupValue, Measure
from theodolite.domain.guideline import DefectRule
from theodolite.domain.plan import Setting
from theodolite.measurement.pooled_rate import pooled_defect_rate
from theodolite.measurement.proportion import DIALOGUES, Clusters, defect_rate, zero_defect_bound

_NOT_APPLICABLE = OUTCOME_CODES[Outcome.NOT_APPLICABLE]

NOT_STATED = "not stated"
"""Value of a group that a dialogue does not name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Defects:
    """The defects among some planned sessions, as one source sees them.

    Attributes:
        outcomes: Account of the planned sessions.
        labels: Labels of the dialogues with a defect.
        clusters: Pairs (defects, labelled), one a cluster; None where no two
            labelled dialogues share one.
        non_defects: Labels of the dialogues that have a label and no defect.
        unlabelled: Labels of the planned dialogues that have no label.
    """

    outcomes: Outcomes
    labels: tuple[str, ...]
    clusters: Clusters | None
    non_defects: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()

    def bounds(self, rate: Estimate | Undefined) -> tuple[float, float] | None:
        """Return the rate if all unlabelled dialogues had no defect, and if all had one; None if all have a label."""
        relevant = self.outcomes.planned - self.outcomes.not_applicable
        if not self.outcomes.unmeasured:
            return None
        is_share = isinstance(rate, Estimate) and rate.count is None
        found = rate.value * rate.n if isinstance(rate, Estimate) and is_share else len(self.labels)
        return found / relevant, (found + self.outcomes.unmeasured) / relevant


def rates(
    subject: EstimateSubject, sheet: QuestionLabels, rule: DefectRule, by: AnswerSources, groups: Sequence[str]
) -> Iterator[Measurement]:
    """Yield the defect rates of one application under one rule.

    There is one by the reference and one by each annotator; labels are never
    merged. Splits by group follow, by the reference where there is one.

    Args:
        subject: Application and test setting.
        sheet: The question that the rule is about, and the sessions of its denominator.
        rule: When an answer is a defect.
        by: Who labels.
        groups: Names of the groups to split by.
    """
    # A pool leads; each of its members has a row of its own, about the dialogues assigned to that person.
    for source in (*by.headline, *by.pool_members):
        yield from _rate(subject, sheet, rule, source)
    for group in groups:
        if group not in rule.among and any(group in sheet.setting(place).groups for place in sheet.positions):
            for value, part in _split(sheet, group):
                of_group = replace(subject, group=GroupValue(name=group, value=value))
                for source in by.reference_annotators:
                    yield from _rate(of_group, part, rule, source)


def _split(sheet: QuestionLabels, group: str) -> Iterator[tuple[str, QuestionLabels]]:
    parts: dict[str, list[int]] = {}
    for position in sheet.positions:
        parts.setdefault(_value(sheet.setting(position), group), []).append(position)
    for value, positions in parts.items():
        yield value, sheet.only(positions)


def _value(setting: Setting, group: str) -> str:
    return setting.groups.get(group, NOT_STATED)


def _rate(
    subject: EstimateSubject, sheet: QuestionLabels, rule: DefectRule, source: AnswerSource
) -> Iterator[Measurement]:
    own = sheet.assigned_to(source)
    defects = defects_of(own, rule, own.labels(source))
    result = pooled_rate_of(own, rule) if source.is_pool else rate_of(defects)
    is_split = subject.group is not None
    measurement = Measurement(
        measure=Measure.DEFECT_RATE,
        subject=replace(
            subject,
            guideline=sheet.guideline.name,
            rule=rule.name,
            condition=rule.condition,
            annotators=(source.name,),
            violation=rule.violation,
            among=tuple(GroupValue(name=name, value=value) for name, value in rule.among.items()),
        ),
        result=result,
        outcomes=defects.outcomes,
        versions=versions_of(sheet.guideline, [source]),
        bounds=defects.bounds(result),
        dialogues=defects.labels,
        non_defects=() if is_split else defects.non_defects,
        unlabelled=() if is_split else defects.unlabelled,
    )
    yield measurement
    if defects.outcomes.used and not defects.labels:
        sizes = [labelled for _, labelled in defects.clusters] if defects.clusters else None
        bound = zero_defect_bound(defects.outcomes.used, clusters=sizes)
        yield replace(measurement, measure=Measure.ZERO_DEFECT_BOUND, result=bound, non_defects=(), unlabelled=())


def defects_of(sheet: QuestionLabels, rule: DefectRule, labels: DialogueLabels) -> Defects:
    """Return the defects among the dialogues of a question, by the labels of one source."""
    scale = sheet.question.scale
    name_of, settings = sheet.table.sessions.label, sheet.table.settings
    found: list[str] = []
    non_defects: list[str] = []
    unlabelled: list[str] = []
    labelled: Counter[str] = Counter()
    defects: Counter[str] = Counter()
    bad = {code for code in set(labels.values) if code != NO_VALUE and rule.is_defect(labels.texts[code], scale)}
    for position, outcome, value in zip(sheet.positions, labels.outcomes, labels.values, strict=True):
        name = name_of(position)
        if value == NO_VALUE:
            unlabelled += [name] * (outcome != _NOT_APPLICABLE)
            continue
        cluster = settings[position].cluster or name  # a dialogue without a cluster resembles no other
        labelled[cluster] += 1
        if value in bad:
            defects[cluster] += 1
            found.append(name)
        else:
            non_defects.append(name)
    shared = len(labelled) < labelled.total()
    return Defects(
        outcomes=labels.outcome_counts(),
        labels=tuple(found),
        clusters=[(defects[cluster], n) for cluster, n in labelled.items()] if shared else None,
        non_defects=tuple(non_defects),
        unlabelled=tuple(unlabelled),
    )


def rate_of(defects: Defects) -> Estimate | Undefined:
    """Return the rate of some defects; undefined where no dialogue has a label."""
    outcomes = defects.outcomes
    if outcomes.used:
        return defect_rate(len(defects.labels), outcomes.used, clusters=defects.clusters)
    return Undefined(reason=_why_nothing(outcomes), unit=DIALOGUES, method="wilson")


def pooled_rate_of(sheet: QuestionLabels, rule: DefectRule) -> Estimate | Undefined:
    """Return the rate over dialogues that a pool of people shares; undefined where no dialogue has a label."""
    labels = list(pool_labels_of(sheet.table, sheet.guideline, sheet.question, rule=rule, positions=sheet.positions))
    clusters = [sheet.setting(label.position).cluster or None for label in labels]
    own = {label.position: cluster for label, cluster in zip(labels, clusters, strict=True)}
    shared = [cluster for cluster in own.values() if cluster is not None]
    if not labels:
        source = AnswerSource(name=PEOPLE, kind=None, version="", is_pool=True)
        return rate_of(defects_of(sheet, rule, sheet.labels(source)))
    return pooled_defect_rate(
        [label.position for label in labels],
        [label.annotator for label in labels],
        [rule.is_defect(label.value, sheet.question.scale) for label in labels],
        clusters=clusters if len(set(shared)) < len(shared) else None,
    )


def _why_nothing(outcomes: Outcomes) -> str:
    """Return why there is no rate: nothing planned, or what became of everything planned."""
    if not outcomes.planned:
        return "No dialogue is planned that this rule is about."
    became = {
        Outcome.FAILED: outcomes.failed,
        Outcome.UNPARSEABLE: outcomes.unparseable,
        Outcome.REFUSED: outcomes.refused,
        Outcome.NOT_APPLICABLE: outcomes.not_applicable,
        Outcome.MISSING: outcomes.missing,
    }
    named = ", ".join(f"{count} {outcome.value}" for outcome, count in became.items() if count)
    return f"None of {outcomes.planned} planned dialogues has a label: {named}."
