"""Sightings: one judge and one authority looking at the same dialogues."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """How an authority came to the dialogues that it labelled.

    Attributes:
        census: Whether it was to label every dialogue.
        drawn: Positions of the dialogues that were drawn for people to label.
        strata: Position of a session to what it was drawn by.
    """

    census: bool
    drawn: frozenset[int] = frozenset()
    strata: Mapping[int, str] = field(default_factory=dict)

    def counts(self, place: int) -> bool:
        """Tell whether a label of the dialogue at a position may speak for dialogues without one."""
        return self.census or place in self.drawn


def design_of(evidence: Evidence, guideline: Guideline, authority: AnswerSource) -> Design:
    """Return how an authority came to its labels: it saw everything, or a sample that was drawn."""
    return sample_design(evidence, guideline) if authority.by_hand else Design(census=True)


def sample_design(evidence: Evidence, guideline: Guideline) -> Design:
    """Return how people came to the dialogues that they labelled by hand: what was drawn, and from what."""
    samples = [one for one in evidence.samples if one.guideline == guideline.name]
    drawn = (evidence.drawn.get(one.dialogue) for sample in samples for one in sample.dialogues)
    by_judge = [strata_of(evidence, guideline, judge) for judge in dict.fromkeys(sample.judge for sample in samples)]
    everything = dict.fromkeys(place for strata in by_judge for place in strata)
    joined = {place: " / ".join(strata.get(place, "") for strata in by_judge) for place in everything}
    return Design(census=False, drawn=frozenset(place for place in drawn if place is not None), strata=joined)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """One dialogue that a judge was asked about, with what an authority says of it.

    Attributes:
        place: Position of the session in the plan.
        setting: What it shares with its repeats.
        readable: Whether its texts are shown, so that a person can label it.
        judge: What the judge says.
        person: What the authority says.
        assigned: Whether the authority was to label it; what it was not assigned is not missing.
    """

    place: int
    setting: Setting
    readable: bool
    judge: DialogueLabel
    person: DialogueLabel
    assigned: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Sightings:
    """A judge beside an authority on some dialogues.

    Attributes:
        judge: The judge.
        authority: Who it is held against.
        guideline: What both answer.
        question: The question.
        design: How the authority came to its labels.
        seen: The dialogues, in order of the plan.
        rule: The defect rule; None where labels are compared as they are.
    """

    judge: AnswerSource
    authority: AnswerSource
    guideline: Guideline
    question: Question
    design: Design
    seen: tuple[Sighting, ...]
    rule: DefectRule | None = None

    @property
    def clusters(self) -> list[str] | None:
        """The cluster of each dialogue; None where no two share one."""
        ids = [one.setting.cluster or f"session {one.place}" for one in self.seen]
        return ids if len(set(ids)) < len(ids) else None

    @property
    def judged(self) -> Sightings:
        """Those that the judge has looked at, whatever came of it; for the others it never was an instrument."""
        unseen = {Outcome.FAILED, Outcome.MISSING}
        return replace(self, seen=tuple(one for one in self.seen if one.judge.outcome not in unseen))

    @property
    def open(self) -> Sightings:
        """Those that the judge has looked at and the authority could have labelled: nobody reads withheld texts."""
        judged = self.judged
        return judged if self.design.census else replace(judged, seen=tuple(one for one in judged.seen if one.readable))

    @property
    def as_designed(self) -> Sightings:
        """The same as a census, where the authority labelled all that can be labelled: then nothing need be drawn."""
        everything = self.open.seen
        is_whole = bool(everything) and all(one.person.value is not None for one in everything)
        return replace(self, design=Design(census=True)) if is_whole and not self.design.census else self

    @property
    def labelled(self) -> Sightings:
        """Those that the judge has looked at and the authority has labelled."""
        return replace(self, seen=tuple(one for one in self.judged.seen if one.person.value is not None))

    @property
    def readable(self) -> Sightings:
        """Those of which the judge gave a label that can be read."""
        return replace(self, seen=tuple(one for one in self.judged.seen if one.judge.value is not None))

    @property
    def authority_outcomes(self) -> Outcomes:
        """What became of the dialogues that the authority was to label; counts."""
        return outcomes_of(one.person.outcome for one in self.seen if one.assigned)

    def among(self, places: Iterable[int]) -> Sightings:
        """Return those at some positions."""
        wanted = frozenset(places)
        return replace(self, seen=tuple(one for one in self.seen if one.place in wanted))

    def verdict(self, reading: DialogueLabel) -> bool | None:
        """Return whether a reading is a defect; None where there is no label.

        A judge that refuses to read what people find harmful has not caught it:
        its refusal counts as seeing no defect.
        """
        if self.rule is None or reading.value is None:
            return False if reading.outcome is Outcome.REFUSED else None
        return self.rule.is_defect(reading.value, self.question.scale)


def sightings(
    evidence: Evidence,
    guideline: Guideline,
    question: Question,
    pair: tuple[str, str],
    *,
    rule: DefectRule | None = None,
) -> Sightings | None:
    """Return a judge beside an authority on all dialogues that both are to label; None where there are none.

    Args:
        evidence: All records of one run.
        guideline: What both answer.
        question: The question.
        pair: Names of the judge and of the authority.
        rule: Only dialogues that this rule is about, by its verdicts.
    """
    seen: list[Sighting] = []
    found: tuple[AnswerSource, AnswerSource] | None = None
    settings = evidence.answers.settings
    for application in evidence.study.applications:
        by = {source.name: source for source in _all_of(evidence, guideline, application.name, question)}
        if not set(pair) <= set(by):
            continue
        found = by[pair[0]], by[pair[1]]
        asked = positions_of(evidence.study, evidence.answers, application, guideline)
        places = [place for place in asked if rule is None or rule.applies_to(settings[place].groups)]
        whole = QuestionLabels(
            table=evidence.answers, guideline=guideline, question=question, positions=asked, rule=rule
        )
        seen += _seen(whole.only(places), *found)
    if found is None:
        return None
    together = Sightings(
        judge=found[0],
        authority=found[1],
        guideline=guideline,
        question=question,
        design=design_of(evidence, guideline, found[1]),
        seen=tuple(seen),
        rule=rule,
    )
    return together.as_designed


def sighted(sheet: QuestionLabels, judge: AnswerSource, authority: AnswerSource, design: Design) -> Sightings:
    """Return a judge beside an authority on the sessions of a sheet, by the sheet's rule.

    Args:
        sheet: The question, its rule and the sessions.
        judge: The judge.
        authority: Who it is held against.
        design: How the authority came to its labels.
    """
    together = Sightings(
        judge=judge,
        authority=authority,
        guideline=sheet.guideline,
        question=sheet.question,
        design=design,
        seen=tuple(_seen(sheet, judge, authority)),
        rule=sheet.rule,
    )
    return together.as_designed


def _seen(sheet: QuestionLabels, judge: AnswerSource, authority: AnswerSource) -> Iterator[Sighting]:
    assigned = set(sheet.assigned_to(authority).positions)
    for place, said, given in zip(sheet.positions, sheet.labels(judge), sheet.labels(authority), strict=True):
        dialogue = sheet.table.dialogues[place]
        yield Sighting(
            place=place,
            setting=sheet.setting(place),
            readable=dialogue is not None and not dialogue.withheld,
            judge=said,
            person=given,
            assigned=place in assigned,
        )


def _all_of(evidence: Evidence, guideline: Guideline, application: str, question: Question) -> Sequence[AnswerSource]:
    by = annotators_of(evidence.study, guideline, evidence.study.application(application), question.name)
    return (*([by.reference] if by.reference else []), *by.annotators)


DEFECT: Final = "defect"

"""Stratum of the dialogues in which a judge sees a defect."""


SOUND: Final = "sound"

"""Stratum of the dialogues in which a judge sees none."""


NO_VERDICT: Final = "no verdict"

"""Stratum of the dialogues that a judge was to label and did not: unparseable, refused, failed, missing."""


def strata_of(evidence: Evidence, guideline: Guideline, judge: str) -> dict[int, str]:
    """Return the stratum of each planned session that a guideline is asked about, by its position in the plan.

    A stratum is an application and what the judge says there by any of the
    guideline's defect rules, e.g. `bot-1.4: defect`. Without a judge it is the
    application alone.

    Args:
        evidence: All records of one run.
        guideline: What people are to label by.
        judge: Name of the annotator whose verdicts count; empty for none.
    """
    return dict(_strata(evidence, guideline, judge))


def _strata(evidence: Evidence, guideline: Guideline, judge: str) -> Iterator[tuple[int, str]]:
    for application in evidence.study.applications:
        places = positions_of(evidence.study, evidence.answers, application, guideline)
        by = annotators_of(evidence.study, guideline, application)
        source = next((source for source in by.annotators if source.name == judge), None)
        verdicts = verdicts_of(evidence.answers, guideline, places, source) if source else [""] * len(places)
        for place, verdict in zip(places, verdicts, strict=True):
            yield place, f"{application.name}: {verdict}" if verdict else application.name


def verdicts_of(table: AnswerTable, guideline: Guideline, places: Positions, source: AnswerSource) -> list[str]:
    """Return what a source says of each session by any defect rule: a defect, sound, or no verdict."""
    by_rule = [rule_verdicts(table, guideline, rule, places, source) for rule in guideline.defect_rules]
    return [_worst(verdicts) for verdicts in zip(*by_rule, strict=True)]


def rule_verdicts(
    table: AnswerTable, guideline: Guideline, rule: DefectRule, places: Positions, source: AnswerSource
) -> list[str]:
    """Return what a source says of each session by one defect rule; empty where the rule is not about a session."""
    question = guideline.instrument.question(rule.question)
    sheet = QuestionLabels(table=table, guideline=guideline, question=question, positions=places, rule=rule)
    verdicts = []
    for place, reading in zip(places, sheet.labels(source), strict=True):
        if not rule.applies_to(sheet.setting(place).groups):
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
class Part:
    """Some dialogues, and what they share.

    Attributes:
        subject: The application, scenario or group that they share.
        places: Positions of the planned sessions.
    """

    subject: EstimateSubject
    places: tuple[int, ...]


def parts_of(evidence: Evidence, found: Sightings) -> Iterator[Part]:
    """Yield all dialogues, and then those of each application, scenario and group."""
    seen = found.judged.seen
    yield Part(subject=EstimateSubject(application=ALL_APPLICATIONS), places=tuple(one.place for one in seen))
    yield from _split(found, lambda setting: setting.application, _of_application)
    yield from _split(found, lambda setting: setting.scenario, _of_scenario)
    for name in evidence.study.groups:
        yield from _split(found, partial(_value, name), partial(_of_group, name))


def _split(
    found: Sightings, value_of: Callable[[Setting], str], subject_of: Callable[[str], EstimateSubject]
) -> Iterator[Part]:
    """Yield the dialogues of each value, where there are several values."""
    places: dict[str, list[int]] = {}
    for one in found.judged.seen:
        places.setdefault(value_of(one.setting), []).append(one.place)
    places.pop("", None)
    for value, part in places.items() if len(places) > 1 else ():
        yield Part(subject=subject_of(value), places=tuple(part))


def _of_application(name: str) -> EstimateSubject:
    return EstimateSubject(application=name)


def _of_scenario(name: str) -> EstimateSubject:
    return EstimateSubject(application=ALL_APPLICATIONS, scenario=name)


def _value(group: str, setting: Setting) -> str:
    return setting.groups.get(group, "")


def _of_group(name: str, value: str) -> EstimateSubject:
    return EstimateSubject(application=ALL_APPLICATIONS, group=GroupValue(name=name, value=value))
