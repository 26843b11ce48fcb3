"""Labels: what one annotator said of each planned session, and what became of the rest."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.annotator import RecordedLabels
from theodolite.domain.application import Application, RecordedFile
from theodolite.domain.estimate import Outcomes
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import Question, QuestionLevel
from theodolite.domain.plan import Setting
from theodolite.domain.register import Register, Said
from theodolite.domain.study import Study

REFERENCE: Final = "reference"
"""What the recorded final labels are called where annotators are named."""

Places: TypeAlias = Sequence[int]
"""Positions in the plan, ascending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where labels come from: an annotator, or the study's final labels.

    Attributes:
        name: Name of the annotator; `reference` for final labels.
        kind: Person, model or rule; None for final labels.
        version: Content hash.
        by_hand: Whether a person labels a sample by hand, outside of any run.
        panel: Name of the panel that it sits on; empty for none.
    """

    name: str
    kind: AnnotatorKind | None
    version: str
    by_hand: bool = False
    panel: str = ""

    @property
    def is_person(self) -> bool:
        """Whether a person gave the labels."""
        return self.kind is AnnotatorKind.PERSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Everybody who labels one application under one guideline.

    Attributes:
        reference: The final labels, where the study has them.
        annotators: The annotators in the order of the study.
    """

    reference: Source | None
    annotators: tuple[Source, ...]

    @property
    def everybody(self) -> tuple[Source, ...]:
        """All of them who look at every dialogue, the reference first.

        The sample that people label by hand is drawn by what judges say, so that
        a plain share of it is a share of nothing; they count where nobody else labels.
        """
        asked = tuple(source for source in self.annotators if not source.by_hand)
        return ((self.reference,) if self.reference else ()) + (asked or self.annotators)

    @property
    def authorities(self) -> tuple[Source, ...]:
        """Whose word counts most: the reference, or everybody where there is none."""
        return (self.reference,) if self.reference else self.everybody


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one source says of one planned session.

    Attributes:
        outcome: What became of the question.
        value: The label; None unless the outcome is `ANSWERED`.
    """

    outcome: Outcome
    value: str | None = None


_FAILED, _MISSING = Reading(outcome=Outcome.FAILED), Reading(outcome=Outcome.MISSING)
_UNPARSEABLE = Reading(outcome=Outcome.UNPARSEABLE)


def sources(study: Study, guideline: Guideline, application: Application, question: str = "") -> Sources:
    """Return everybody who is to label an application's dialogues under a guideline.

    Columns of a recorded file hold labels of recorded dialogues only.

    Args:
        study: Names them.
        guideline: What they label by.
        application: Whose dialogues they label.
        question: Leave out those who answer other questions alone; empty to keep all.
    """
    recorded = isinstance(application.connection, RecordedFile)
    reference = study.reference if recorded else None
    return Sources(
        reference=Source(name=REFERENCE, kind=None, version=version_of(reference))
        if reference and reference.guideline == guideline.name
        else None,
        annotators=tuple(
            Source(
                name=annotator.name,
                kind=annotator.kind,
                version=study.annotator_version(annotator.name),
                by_hand=annotator.by_hand,
                panel=annotator.panel,
            )
            for annotator in study.annotators
            if annotator.guideline == guideline.name
            and (not question or annotator.answers(question))
            and (recorded or not isinstance(annotator.labelling, RecordedLabels))
        ),
    )


def asked_places(evidence: Evidence, application: Application, guideline: Guideline) -> Places:
    """Return the positions of an application's sessions that are labelled by a guideline."""
    settings, asked = evidence.register.settings, _asked(evidence, guideline)
    return _places(
        place
        for place, setting in enumerate(settings)
        if setting.application == application.name and setting.scenario in asked
    )


def _asked(evidence: Evidence, guideline: Guideline) -> set[str]:
    scenarios = {setting.scenario for setting in evidence.register.settings}
    return {name for name in scenarios if evidence.study.asks(guideline.name, name)}


def _places(positions: Iterable[int]) -> Places:
    return array("L", positions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One question of one guideline, and the sessions that it is asked about.

    Attributes:
        register: Where the labels are looked up.
        guideline: The guideline.
        question: The question.
        places: Positions of the planned sessions; the denominator.
        rule: The rule that picks the turn, for questions that are asked at each turn.
    """

    register: Register
    guideline: Guideline
    question: Question
    places: Places
    rule: DefectRule | None = None

    def setting(self, place: int) -> Setting:
        """Return what the session at a position shares with its repeats."""
        return self.register.settings[place]

    def only(self, places: Iterable[int]) -> Sheet:
        """Return the same question about some of the sessions."""
        return replace(self, places=_places(places))

    def readings(self, source: Source) -> Sequence[Reading]:
        """Return what a source says of each session, in order of the places; equal readings are one object."""
        known: dict[Said | None, Reading] = {}
        return [self._reading(source, place, known) for place in self.places]

    def _reading(self, source: Source, place: int, known: dict[Said | None, Reading]) -> Reading:
        register = self.register
        is_held = register.held[place] is not None
        given = self._given(source, place) if is_held else None
        if given is None:
            of_whom = source.name if is_held else ""
            failed = any(failure.annotator == of_whom for failure in register.failures.get(place, ()))
            return _FAILED if failed else _MISSING
        if given not in known:
            known[given] = self._reading_of(given)
        return known[given]

    def _reading_of(self, given: Said) -> Reading:
        if given.value is not None and not self.question.scale.admits(given.value):
            return _UNPARSEABLE
        return Reading(outcome=given.outcome, value=given.value)

    def _given(self, source: Source, place: int) -> Said | None:
        if source.kind is None:
            return self.register.final(place, self.guideline.name, self.question.name)
        said = self.register.said(place, source.name, self.guideline.name, self.question.name)
        if self.question.level is QuestionLevel.DIALOGUE:
            return next((one for one in said if one.turn is None), None)
        return self._weightiest(said)

    def _weightiest(self, answers: Sequence[Said]) -> Said | None:
        """Return the answer about the turn that decides: a defect, else one that is not known to be none."""
        for answer in answers:
            if self.rule and answer.value is not None and self._is_defect(self.rule, answer.value):
                return answer
        unknown = (answer for answer in answers if answer.outcome not in {Outcome.ANSWERED, Outcome.NOT_APPLICABLE})
        known = (answer for answer in answers if answer.outcome is Outcome.ANSWERED)
        return next(unknown, None) or next(known, None) or next(iter(answers), None)

    def _is_defect(self, rule: DefectRule, value: str) -> bool:
        return self.question.scale.admits(value) and rule.is_defect(value, self.question.scale)


def account(outcomes: Iterable[Outcome]) -> Outcomes:
    """Return how many units came to which outcome."""
    counts = dict.fromkeys(Outcome, 0)
    for outcome in outcomes:
        counts[outcome] += 1
    return Outcomes(
        planned=sum(counts.values()),
        used=counts[Outcome.ANSWERED],
        missing=counts[Outcome.MISSING],
        failed=counts[Outcome.FAILED],
        refused=counts[Outcome.REFUSED],
        unparseable=counts[Outcome.UNPARSEABLE],
        not_applicable=counts[Outcome.NOT_APPLICABLE],
    )


def versions(guideline: Guideline, labelled_by: Iterable[Source]) -> dict[str, str]:
    """Return the content hashes of the instruments that a number rests on, by name."""
    return dict(_versions(guideline, labelled_by))


def _versions(guideline: Guideline, labelled_by: Iterable[Source]) -> Iterator[tuple[str, str]]:
    yield f"guideline {guideline.name}", version_of(guideline)
    for source in labelled_by:
        name = source.name if source.kind is None else f"annotator {source.name}"
        yield name, source.version
