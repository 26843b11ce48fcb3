"""A short second implementation of the counts of a study, straight from the raw rows; used as an oracle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from tests.fakes.random_study import RandomStudy, Row
from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.instrument import QuestionLevel
from theodolite.domain.plan import PlannedSession

REFERENCE = "reference"
KNOWN = {Outcome.ANSWERED, Outcome.NOT_APPLICABLE}


@dataclass(frozen=True, kw_only=True)
class Unit:
    """What one annotator makes of one session under one rule."""

    session: str
    outcome: Outcome
    value: str | None = None
    is_defect: bool = False


class ReferenceFigures:
    """Counts of one random study."""

    def __init__(self, drawn: RandomStudy) -> None:
        self.drawn = drawn

    def annotators(self, guideline: Guideline) -> list[str]:
        """Return everybody whose rates are reported, the reference first."""
        study = self.drawn.study
        known = study.reference is not None and study.reference.guideline == guideline.name
        return [REFERENCE] * known + [a.name for a in study.annotators if a.guideline == guideline.name]

    def lead(self, guideline: Guideline) -> list[str]:
        """Return the annotators whose labels lead: the reference, else everybody."""
        everybody = self.annotators(guideline)
        return everybody[:1] if everybody[0] == REFERENCE else everybody

    def sessions(self, application: str, rule: DefectRule | None = None) -> list[PlannedSession]:
        """Return the planned sessions of an application that a rule is about."""
        return [
            session
            for session in self.drawn.sessions
            if session.application == application
            and (rule is None or all(session.groups.get(name) == value for name, value in rule.among.items()))
        ]

    def unit(self, session: str, annotator: str, guideline: Guideline, *rules: DefectRule) -> Unit:
        """Return the result of one unit under one or more rules; the documented rule in its shortest form."""
        if session not in self.drawn.completed:
            return self._absent(session, "")
        rows = self.drawn.finals if annotator == REFERENCE else self.drawn.rows
        own = [r for r in rows if (r.session, r.annotator, r.guideline) == (session, annotator, guideline.name)]
        units = [self._read(row, guideline, rules) for row in own]
        if not units:
            return self._absent(session, annotator)
        if guideline.question.level is QuestionLevel.DIALOGUE:
            return units[0]
        by_weight = (
            [unit for unit in units if unit.is_defect],
            [unit for unit in units if unit.outcome not in KNOWN],
            [unit for unit in units if unit.outcome is Outcome.ANSWERED],
            units,
        )
        return next(group[0] for group in by_weight if group)

    def _read(self, row: Row, guideline: Guideline, rules: Sequence[DefectRule]) -> Unit:
        scale = guideline.question.scale
        if row.value is None:
            return Unit(session=row.session, outcome=row.outcome)
        if row.value not in scale.categories:
            return Unit(session=row.session, outcome=Outcome.UNPARSEABLE)
        is_defect = any(rule.is_defect(row.value, scale) for rule in rules)
        return Unit(session=row.session, outcome=row.outcome, value=row.value, is_defect=is_defect)

    def _absent(self, session: str, annotator: str) -> Unit:
        failed = (session, annotator) in self.drawn.failures
        return Unit(session=session, outcome=Outcome.FAILED if failed else Outcome.MISSING)

    def units(self, application: str, annotator: str, guideline: Guideline, rule: DefectRule) -> list[Unit]:
        """Return all units of one rate."""
        return [self.unit(s.label, annotator, guideline, rule) for s in self.sessions(application, rule)]

    def tree_share(self, application: str, guideline: Guideline, rule: DefectRule) -> tuple[float | None, int]:
        """Return the share of defects by which a tree grows, and its dialogues.

        Each dialogue weighs 1, whoever of those that lead labelled it.
        """
        by_annotator = [self.units(application, name, guideline, rule) for name in self.lead(guideline)]
        shares = [
            fmean(unit.is_defect for unit in units if unit.value is not None)
            for units in zip(*by_annotator, strict=True)
            if any(unit.value is not None for unit in units)
        ]
        return (fmean(shares) if shares else None), len(shares)

    def tree_outcomes(self, application: str, guideline: Guideline, rule: DefectRule) -> Counter[Outcome]:
        """Return the outcomes of the labels by which a tree grows, for questions about whole dialogues."""
        names = self.lead(guideline)
        return Counter(u.outcome for name in names for u in self.units(application, name, guideline, rule))

    def worst(self, session: PlannedSession, guideline: Guideline) -> str:
        """Return the disposition of a session: failed, missing, ..., or labelled by everybody who counts."""
        study, label = self.drawn.study, session.label
        mine = [a for a in study.annotators if a.guideline == guideline.name]
        people = [a.name for a in mine if a.kind is AnnotatorKind.PERSON]
        counted = people or self.lead(guideline)
        if (label, "") in self.drawn.failures or any((label, name) in self.drawn.failures for name in counted):
            return "failed"
        outcomes = {self.unit(label, name, guideline, *deciding_rules(session, guideline)).outcome for name in counted}
        order = (Outcome.MISSING, Outcome.REFUSED, Outcome.NOT_APPLICABLE, Outcome.UNPARSEABLE)
        return next((outcome.value.replace(" ", "_") for outcome in order if outcome in outcomes), "labelled")

    def dispositions(self, guideline: Guideline) -> Counter[str]:
        """Return the number of planned sessions by disposition."""
        return Counter(self.worst(session, guideline) for session in self.drawn.sessions)

    def shared(self, application: str, first: str, second: str, guideline: Guideline) -> Iterator[tuple[Unit, Unit]]:
        """Yield the units that two annotators both labelled."""
        for session in self.sessions(application):
            rules = deciding_rules(session, guideline)
            pair = (
                self.unit(session.label, first, guideline, *rules),
                self.unit(session.label, second, guideline, *rules),
            )
            if all(unit.value is not None for unit in pair):
                yield pair

    def labels(self, application: str, names: Sequence[str], guideline: Guideline) -> list[list[str]]:
        """Return the readable labels of each session, by the annotators named, in their order."""
        found = []
        for session in self.sessions(application):
            rules = deciding_rules(session, guideline)
            values = [self._value(session.label, name, guideline, rules) for name in names]
            found.append([value for value in values if value is not None])
        return found

    def _value(self, session: str, name: str, guideline: Guideline, rules: Sequence[DefectRule]) -> str | None:
        if not name.startswith("majority of "):
            return self.unit(session, name, guideline, *rules).value
        mine = [a for a in self.drawn.study.annotators if a.guideline == guideline.name]
        wanted = name.removeprefix("majority of ") == "people"
        members = [a.name for a in mine if (a.kind is AnnotatorKind.PERSON) == wanted]
        values = [value for one in members if (value := self.unit(session, one, guideline, *rules).value) is not None]
        (first, most), (_, next_most) = [*Counter(values).most_common(2), ("", 0), ("", 0)][:2]
        return first if len(values) > 1 and most > next_most else None


def deciding_rules(session: PlannedSession, guideline: Guideline) -> Sequence[DefectRule]:
    """Return the rules that apply to a session; all where none does."""
    return [rule for rule in guideline.defect_rules if rule.applies_to(session.groups)] or guideline.defect_rules
