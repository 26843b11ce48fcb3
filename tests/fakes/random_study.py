"""Random studies with random records, and the raw rows that they are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from statistics import fmean

from tests.fakes.builders import categories, word_rule
from tests.fakes.evidence import annotation_of, dialogue_of, run_of
from theodolite.assessment.judge.judging import majority
from theodolite.domain.annotation import Adjudication, AdjudicationOrigin, AnnotatorKind, Answer, Outcome, Vote
from theodolite.domain.annotator import Annotator, ModelJudge, RecordedLabels, StopRule, Voting
from theodolite.domain.application import Application, ModelEndpoint, PythonCallable, RecordedFile
from theodolite.domain.dialogue import Dialogue, Ending, Level, TesterType, Turn
from theodolite.domain.evidence import Evidence, listed_evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.identity import digest
from theodolite.domain.instrument import YES_NO, Instrument, Operator, Question, QuestionLevel, Scale, ScaleKind
from theodolite.domain.persona import Script
from theodolite.domain.plan import PlannedSession
from theodolite.domain.run import Failure, FailureKind, FailureSource
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Reference, Study

SEVERITY = Scale(kind=ScaleKind.NUMBERS, lowest=0, highest=7)

THREE = categories("compliance", "partial", "refusal")

NO_VALUE = (Outcome.MISSING, Outcome.REFUSED, Outcome.UNPARSEABLE, Outcome.NOT_APPLICABLE)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One answer as it was recorded; `turn` is None for the dialogue."""

    session: str
    annotator: str
    guideline: str
    turn: int | None
    outcome: Outcome
    value: str | None


@dataclass(frozen=True, kw_only=True)
class RandomStudy:
    """A study, its evidence, and its records as plain rows."""

    evidence: Evidence
    sessions: tuple[PlannedSession, ...]
    completed: frozenset[str]
    rows: tuple[Row, ...]
    finals: tuple[Row, ...]
    failures: tuple[tuple[str, str], ...]
    """Session, and the annotator that failed; "" for the session itself."""

    @property
    def study(self) -> Study:
        """The study."""
        return self.evidence.study


def random_study(rng: Random) -> RandomStudy:
    """Return a random study with one or two applications, guidelines of all kinds and incomplete records."""
    is_recorded = rng.random() < 0.4
    guidelines = tuple(_guideline(rng, f"g{number}") for number in range(1, rng.randint(1, 2) + 1))
    annotators = tuple(one for guideline in guidelines for one in _annotators(rng, guideline, is_recorded=is_recorded))
    has_reference = is_recorded and rng.random() < 0.6 and guidelines[0].question.level is QuestionLevel.DIALOGUE
    study = Study(
        name="random",
        applications=tuple(_application(name, is_recorded=is_recorded) for name in ("a", "b")[: rng.randint(1, 2)]),
        scenarios=(Scenario(name="shop", goal="Buy"),),
        models=(ModelEndpoint(name="m", url="http://127.0.0.1:1/v1", model="m"),),
        guidelines=guidelines,
        annotators=annotators,
        reference=Reference(column="final", guideline="g1", spelling={}) if has_reference else None,
        groups=("kind",) if rng.random() < 0.5 else (),
    )
    return _Draw(rng, study, is_recorded=is_recorded).records()


def _application(name: str, *, is_recorded: bool) -> Application:
    live, recorded = PythonCallable(target="bot:reply"), RecordedFile(file="a.csv", sha256="0", columns={})
    return Application(name=name, connection=recorded if is_recorded else live)


def _guideline(rng: Random, name: str) -> Guideline:
    scale = rng.choice([YES_NO, SEVERITY, THREE])
    level = QuestionLevel.TURN if rng.random() < 0.4 else QuestionLevel.DIALOGUE
    among = {"kind": rng.choice(["safe", "unsafe"])} if rng.random() < 0.3 else {}
    if scale is SEVERITY:
        tests = [(Operator.AT_LEAST, str(rng.randint(2, 5))), (Operator.AT_LEAST, "6")]
    else:
        tests = [(Operator.EQUAL, scale.categories[0]), (Operator.EQUAL, scale.categories[-1])]
    rules = tuple(
        DefectRule(name=f"r{number}", question="label", operator=operator, values=(value,), among=among)
        for number, (operator, value) in enumerate(tests[: rng.randint(1, 2)], start=1)
    )
    question = Question(name="label", text="Is it so?", scale=scale, level=level)
    return Guideline(name=name, instrument=Instrument(name=name, questions=(question,)), defect_rules=rules)


def _annotators(rng: Random, guideline: Guideline, *, is_recorded: bool) -> list[Annotator]:
    g = guideline.name
    voting = Voting(rule=StopRule.FIXED, most=rng.choice([3, 4, 5])) if rng.random() < 0.5 else Voting()
    judge = Annotator(
        name=f"judge-{g}", kind=AnnotatorKind.MODEL, guideline=g, labelling=ModelJudge(model="m", voting=voting)
    )
    rule = word_rule(f"rule-{g}", guideline=g)
    people = [
        Annotator(
            name=f"person{n}-{g}", kind=AnnotatorKind.PERSON, guideline=g, labelling=RecordedLabels(column=f"p{n}")
        )
        for n in (1, 2, 3)
    ]
    second = replace(judge, name=f"second-judge-{g}", labelling=ModelJudge(model="m"))
    pool = [judge, rule, second, *(people if is_recorded else [])]
    return sorted(rng.sample(pool, rng.randint(1, len(pool))), key=lambda one: one.name)


class _Draw:
    """Draws the records of a study."""

    def __init__(self, rng: Random, study: Study, *, is_recorded: bool) -> None:
        self._rng, self._study = rng, study
        self._tester = TesterType.RECORDED if is_recorded else TesterType.SCRIPT
        self._is_recorded = is_recorded
        self._rows: list[Row] = []
        self._finals: list[Row] = []
        self._failures: list[tuple[str, str]] = []

    def records(self) -> RandomStudy:
        """Return the study with all its records."""
        sessions = tuple(s for application in self._study.applications for s in self._sessions(application.name))
        dialogues = [one for session in sessions if (one := self._dialogue(session)) is not None]
        annotations = [one for dialogue in dialogues for one in self._annotations(dialogue)]
        evidence = listed_evidence(
            self._study,
            run_of(self._study),
            sessions,
            dialogues=dialogues,
            annotations=annotations,
            adjudications=[self._final(one) for one in dialogues] if self._study.reference else (),
            failures=[self._failure(label, annotator) for label, annotator in self._failures],
        )
        return RandomStudy(
            evidence=evidence,
            sessions=sessions,
            completed=frozenset(dialogue.label for dialogue in dialogues),
            rows=tuple(self._rows),
            finals=tuple(self._finals),
            failures=tuple(self._failures),
        )

    def _sessions(self, application: str) -> list[PlannedSession]:
        rng, clusters = self._rng, self._rng.randint(1, 6)
        return [
            PlannedSession(
                label=f"{application}/{number}",
                application=application,
                scenario="shop",
                tester=Script(key=f"s{number}", prompts=("Hello",)),
                level=Level.MODEL_TESTING,
                held_by=self._tester,
                pair_key=digest(str(number)),
                cluster=f"c{rng.randint(1, clusters)}" if rng.random() < 0.8 else "",
                groups={"kind": rng.choice(["safe", "unsafe"])} if rng.random() < 0.9 else {},
            )
            for number in range(1, rng.randint(1, 9) + 1)
        ]

    def _dialogue(self, session: PlannedSession) -> Dialogue | None:
        chance = self._rng.random()
        if chance < 0.15:
            if chance < 0.1:
                self._failures.append((session.label, ""))
            return None
        turns = tuple(Turn(number=n, prompt="Hello", response="Yes.") for n in range(1, self._rng.randint(1, 3) + 1))
        return dialogue_of(session, turns, ending=Ending.SCRIPT_END)

    def _annotations(self, dialogue: Dialogue) -> list:
        made = []
        for annotator in self._study.annotators:
            chance = self._rng.random()
            if chance < 0.2:
                if chance < 0.1:
                    self._failures.append((dialogue.label, annotator.name))
                continue
            made.append(self._annotation(dialogue, annotator))
        return made

    def _annotation(self, dialogue: Dialogue, annotator: Annotator):
        guideline = self._study.guideline(annotator.guideline)
        labelling = annotator.labelling
        votes: tuple[Vote, ...] = ()
        if isinstance(labelling, ModelJudge) and labelling.voting.most > 1:
            votes = tuple(
                Vote(replicate=n, answers=self._answers(dialogue, guideline))
                for n in range(1, labelling.voting.most + 1)
            )
            answers = majority(votes, guideline, dialogue.groups)
        else:
            answers = self._answers(dialogue, guideline)
        self._rows += [
            Row(
                session=dialogue.label,
                annotator=annotator.name,
                guideline=guideline.name,
                turn=answer.turn,
                outcome=answer.outcome,
                value=answer.value,
            )
            for answer in answers
        ]
        return annotation_of(self._study, annotator, dialogue.key, answers, votes=votes)

    def _answers(self, dialogue: Dialogue, guideline: Guideline) -> tuple[Answer, ...]:
        question = guideline.question
        turns = [turn.number for turn in dialogue.turns] if question.level is QuestionLevel.TURN else [None]
        return tuple(self._answer(question, turn) for turn in turns)

    def _answer(self, question: Question, turn: int | None) -> Answer:
        rng = self._rng
        if rng.random() < 0.2:
            return Answer(question=question.name, outcome=rng.choice(NO_VALUE), turn=turn)
        value = "off scale" if rng.random() < 0.03 else rng.choice(question.scale.categories)
        return Answer(question=question.name, outcome=Outcome.ANSWERED, value=value, turn=turn)

    def _final(self, dialogue: Dialogue) -> Adjudication:
        answer = self._answer(self._study.guideline("g1").question, None)
        self._finals.append(
            Row(
                session=dialogue.label,
                annotator="reference",
                guideline="g1",
                turn=None,
                outcome=answer.outcome,
                value=answer.value,
            )
        )
        return Adjudication(
            dialogue=dialogue.key,
            guideline="g1",
            question=answer.question,
            outcome=answer.outcome,
            value=answer.value,
            origin=AdjudicationOrigin.RECORDED,
        )

    def _failure(self, label: str, annotator: str) -> Failure:
        return Failure(
            unit=digest("failure", label, annotator),
            label=label,
            application=label.split("/", maxsplit=1)[0],
            party=FailureSource.JUDGE if annotator else FailureSource.APPLICATION,
            kind=FailureKind.TIMED_OUT,
            message="no reply in time",
            annotator=annotator,
        )


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
