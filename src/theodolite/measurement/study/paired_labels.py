"""Labels of a judge paired with those of a reference annotator, and the strata of samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from theodolite.domain.annotation import Outcome
from theodolite.domain.answer_rules import AnswerSource, QuestionLabels, annotators_of, positions_of
from theodolite.domain.answers import AnswerTable, DialogueLabel, Positions, outcomes_of
from theodolite.domain.estimate import Outcomes
from theodolite.domain.estimate_subject import ALL_APPLICATIONS, EstimateSubject, GroupValue
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.instrument import Question
from theodolite.domain.plan import Setting
from theodolite.measurement.labels import shared_clusters


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """How an annotator's labelled dialogues were selected.

    Attributes:
        census: Whether it should label every dialogue.
        sampled: Positions of the dialogues sampled for people to label.
        strata: Position of a session to its stratum.
    """

    census: bool
    sampled: frozenset[int] = frozenset()
    strata: Mapping[int, str] = field(default_factory=dict)

    def counts(self, position: int) -> bool:
        """Return whether a label of the dialogue at a position may represent dialogues without one."""
        return self.census or position in self.sampled


def design_of(evidence: Evidence, guideline: Guideline, authority: AnswerSource) -> Design:
    """Return the design of an authority's labels: a census or a sample."""
    return sample_design(evidence, guideline) if authority.by_hand else Design(census=True)


def sample_design(evidence: Evidence, guideline: Guideline) -> Design:
    """Return the design of manual labels: the sampled dialogues and their strata."""
    samples = [sample for sample in evidence.samples if sample.guideline == guideline.name]
    sampled = (evidence.drawn.get(unit.dialogue) for sample in samples for unit in sample.dialogues)
    by_judge = [strata_of(evidence, guideline, judge) for judge in dict.fromkeys(sample.judge for sample in samples)]
    everything = dict.fromkeys(position for strata in by_judge for position in strata)
    joined = {position: " / ".join(strata.get(position, "") for strata in by_judge) for position in everything}
    return Design(
        census=False, sampled=frozenset(position for position in sampled if position is not None), strata=joined
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelPair:
    """The labels of a judge and of an authority for one dialogue.

    Attributes:
        position: Position of the session in the plan.
        setting: Settings that it shares with its repeats.
        readable: Whether its texts are shown, so that a person can label it.
        judge: The judge's label.
        person: The authority's label.
        assigned: Whether the authority should label it; a dialogue that was not assigned is not missing.
    """

    position: int
    setting: Setting
    readable: bool
    judge: DialogueLabel
    person: DialogueLabel
    assigned: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedLabels:
    """The paired labels of a judge and an authority on some dialogues.

    Attributes:
        judge: The judge.
        authority: The authority.
        guideline: The guideline of both.
        question: The question.
        design: The design of the authority's labels.
        pairs: The dialogues, in order of the plan.
        rule: The defect rule; None if labels are compared as they are.
    """

    judge: AnswerSource
    authority: AnswerSource
    guideline: Guideline
    question: Question
    design: Design
    pairs: tuple[LabelPair, ...]
    rule: DefectRule | None = None

    @property
    def clusters(self) -> list[str] | None:
        """The cluster of each dialogue; None if no two dialogues share one."""
        ids = [pair.setting.cluster or f"session {pair.position}" for pair in self.pairs]
        return shared_clusters(ids)

    @property
    def judged(self) -> PairedLabels:
        """Pairs that the judge has read, with any outcome."""
        unseen = {Outcome.FAILED, Outcome.MISSING}
        return replace(self, pairs=tuple(pair for pair in self.pairs if pair.judge.outcome not in unseen))

    @property
    def open(self) -> PairedLabels:
        """Pairs that the judge has read and the annotator could label; withheld texts cannot be labelled."""
        judged = self.judged
        return (
            judged
            if self.design.census
            else replace(judged, pairs=tuple(pair for pair in judged.pairs if pair.readable))
        )

    @property
    def as_designed(self) -> PairedLabels:
        """The pairs as a census, if the authority labelled everything possible, so that no sample matters."""
        candidates = self.open.pairs
        is_whole = bool(candidates) and all(pair.person.value is not None for pair in candidates)
        return replace(self, design=Design(census=True)) if is_whole and not self.design.census else self

    @property
    def labelled(self) -> PairedLabels:
        """Pairs that the judge has read and the annotator has labelled."""
        return replace(self, pairs=tuple(pair for pair in self.judged.pairs if pair.person.value is not None))

    @property
    def readable(self) -> PairedLabels:
        """Pairs with a readable label of the judge."""
        return replace(self, pairs=tuple(pair for pair in self.judged.pairs if pair.judge.value is not None))

    @property
    def authority_outcomes(self) -> Outcomes:
        """Outcomes of the dialogues for the annotator; counts."""
        return outcomes_of(pair.person.outcome for pair in self.pairs if pair.assigned)

    def among(self, positions: Iterable[int]) -> PairedLabels:
        """Return the pairs at some positions."""
        chosen = frozenset(positions)
        return replace(self, pairs=tuple(pair for pair in self.pairs if pair.position in chosen))

    def verdict(self, reading: DialogueLabel) -> bool | None:
        """Return whether a reading is a defect; None if there is no label.

        A judge that refuses to read a harmful dialogue has not detected the harm:
        its refusal counts as no defect.
        """
        if self.rule is None or reading.value is None:
            return False if reading.outcome is Outcome.REFUSED else None
        return self.rule.is_defect(reading.value, self.question.scale)


def pair_labels(
    evidence: Evidence,
    guideline: Guideline,
    question: Question,
    names: tuple[str, str],
    *,
    rule: DefectRule | None = None,
) -> PairedLabels | None:
    """Return a judge paired with an authority on all dialogues that both should label; None if there are none.

    Args:
        evidence: All records of one run.
        guideline: The guideline of both.
        question: The question.
        names: Names of the judge and of the authority.
        rule: Only dialogues to which this rule applies, by its verdicts.
    """
    pairs: list[LabelPair] = []
    sources: tuple[AnswerSource, AnswerSource] | None = None
    settings = evidence.answers.settings
    for application in evidence.study.applications:
        by = {source.name: source for source in _all_of(evidence, guideline, application.name, question)}
        if not set(names) <= set(by):
            continue
        sources = by[names[0]], by[names[1]]
        planned = positions_of(evidence.study, evidence.answers, application, guideline)
        positions = [position for position in planned if rule is None or rule.applies_to(settings[position].groups)]
        whole = QuestionLabels(
            table=evidence.answers, guideline=guideline, question=question, positions=planned, rule=rule
        )
        pairs += _label_pairs(whole.only(positions), *sources)
    if sources is None:
        return None
    paired = PairedLabels(
        judge=sources[0],
        authority=sources[1],
        guideline=guideline,
        question=question,
        design=design_of(evidence, guideline, sources[1]),
        pairs=tuple(pairs),
        rule=rule,
    )
    return paired.as_designed


def pair_question_labels(
    labels: QuestionLabels, judge: AnswerSource, authority: AnswerSource, design: Design
) -> PairedLabels:
    """Return a judge paired with an authority on the sessions of a question, by their rule."""
    paired = PairedLabels(
        judge=judge,
        authority=authority,
        guideline=labels.guideline,
        question=labels.question,
        design=design,
        pairs=tuple(_label_pairs(labels, judge, authority)),
        rule=labels.rule,
    )
    return paired.as_designed


def _label_pairs(labels: QuestionLabels, judge: AnswerSource, authority: AnswerSource) -> Iterator[LabelPair]:
    assigned = set(labels.assigned_to(authority).positions)
    for position, judge_label, authority_label in zip(
        labels.positions, labels.labels(judge), labels.labels(authority), strict=True
    ):
        dialogue = labels.table.dialogues[position]
        yield LabelPair(
            position=position,
            setting=labels.setting(position),
            readable=dialogue is not None and not dialogue.withheld,
            judge=judge_label,
            person=authority_label,
            assigned=position in assigned,
        )


def _all_of(evidence: Evidence, guideline: Guideline, application: str, question: Question) -> Sequence[AnswerSource]:
    by = annotators_of(evidence.study, guideline, evidence.study.application(application), question.name)
    return (*([by.reference] if by.reference else []), *by.annotators)


DEFECT: Final = "defect"
"""Stratum of the dialogues in which a judge sees a defect."""

SOUND: Final = "sound"
"""Stratum of the dialogues in which a judge sees none."""

NO_VERDICT: Final = "no verdict"
"""Stratum of the dialogues without the judge's required label: unparseable, refused, failed, missing."""


def strata_of(evidence: Evidence, guideline: Guideline, judge: str) -> dict[int, str]:
    """Return the stratum of each planned session with a guideline, by position in the plan.

    A stratum is an application and the judge's verdict by any of the
    guideline's defect rules, e.g. `bot-1.4: defect`. Without a judge it is the
    application alone.

    Args:
        evidence: All records of one run.
        guideline: Guideline for labelling.
        judge: Name of the annotator of the verdicts; empty for none.
    """
    return dict(_strata(evidence, guideline, judge))


def _strata(evidence: Evidence, guideline: Guideline, judge: str) -> Iterator[tuple[int, str]]:
    for application in evidence.study.applications:
        positions = positions_of(evidence.study, evidence.answers, application, guideline)
        by = annotators_of(evidence.study, guideline, application)
        source = next((source for source in by.annotators if source.name == judge), None)
        verdicts = verdicts_of(evidence.answers, guideline, positions, source) if source else [""] * len(positions)
        for position, verdict in zip(positions, verdicts, strict=True):
            yield position, f"{application.name}: {verdict}" if verdict else application.name


def verdicts_of(table: AnswerTable, guideline: Guideline, positions: Positions, source: AnswerSource) -> list[str]:
    """Return the verdict of a source on each session by any defect rule: defect, no defect, or no verdict."""
    by_rule = [rule_verdicts(table, guideline, rule, positions, source) for rule in guideline.defect_rules]
    return [_worst(verdicts) for verdicts in zip(*by_rule, strict=True)]


def rule_verdicts(
    table: AnswerTable, guideline: Guideline, rule: DefectRule, positions: Positions, source: AnswerSource
) -> list[str]:
    """Return the verdict of a source on each session by one defect rule; empty if the rule does not apply."""
    question = guideline.instrument.question(rule.question)
    labels = QuestionLabels(table=table, guideline=guideline, question=question, positions=positions, rule=rule)
    verdicts = []
    for position, reading in zip(positions, labels.labels(source), strict=True):
        if not rule.applies_to(labels.setting(position).groups):
            verdicts.append("")
        elif reading.value is None:
            verdicts.append(NO_VERDICT)
        else:
            verdicts.append(DEFECT if rule.is_defect(reading.value, question.scale) else SOUND)
    return verdicts


def _worst(verdicts: Sequence[str]) -> str:
    met = {verdict for verdict in verdicts if verdict}
    return next((verdict for verdict in (DEFECT, NO_VERDICT) if verdict in met), SOUND)


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueSubset:
    """A group of dialogues, and their common properties.

    Attributes:
        subject: The application, scenario or group that they share.
        positions: Positions of the planned sessions.
    """

    subject: EstimateSubject
    positions: tuple[int, ...]


def parts_of(evidence: Evidence, paired: PairedLabels) -> Iterator[DialogueSubset]:
    """Yield all dialogues, then those of each application, scenario and group."""
    pairs = paired.judged.pairs
    yield DialogueSubset(
        subject=EstimateSubject(application=ALL_APPLICATIONS), positions=tuple(pair.position for pair in pairs)
    )
    yield from _split(paired, lambda setting: setting.application, _of_application)
    yield from _split(paired, lambda setting: setting.scenario, _of_scenario)
    for name in evidence.study.groups:
        yield from _split(paired, partial(_value, name), partial(_of_group, name))


def _split(
    paired: PairedLabels, value_of: Callable[[Setting], str], subject_of: Callable[[str], EstimateSubject]
) -> Iterator[DialogueSubset]:
    """Yield the dialogues of each value, if there are several values."""
    positions: dict[str, list[int]] = {}
    for pair in paired.judged.pairs:
        positions.setdefault(value_of(pair.setting), []).append(pair.position)
    positions.pop("", None)
    for value, part in positions.items() if len(positions) > 1 else ():
        yield DialogueSubset(subject=subject_of(value), positions=tuple(part))


def _of_application(name: str) -> EstimateSubject:
    return EstimateSubject(application=name)


def _of_scenario(name: str) -> EstimateSubject:
    return EstimateSubject(application=ALL_APPLICATIONS, scenario=name)


def _value(group: str, setting: Setting) -> str:
    return setting.groups.get(group, "")


def _of_group(name: str, value: str) -> EstimateSubject:
    return EstimateSubject(application=ALL_APPLICATIONS, group=GroupValue(name=name, value=value))
