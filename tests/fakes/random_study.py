"""Random studies with random records, and the raw rows that they are made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from tests.fakes.builders import categories, word_rule
from tests.fakes.evidence import annotation_of, dialogue_of, run_of
from theodolite.assessment.judge.voting import majority
from theodolite.domain.annotation import Adjudication, AdjudicationOrigin, AnnotatorKind, Answer, Outcome, Vote
from theodolite.domain.annotator import Annotator, ModelJudge, RecordedLabels, StopRule, Voting
from theodolite.domain.application import Application, PythonCallable, RecordedFile
from theodolite.domain.dialogue import Dialogue, Ending, Level, TesterType, Turn
from theodolite.domain.evidence import Evidence, listed_evidence
from theodolite.domain.failure import Failure, FailureKind, FailureSource
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.identity import digest
from theodolite.domain.instrument import YES_NO, Instrument, Operator, Question, QuestionLevel, Scale, ScaleKind
from theodolite.domain.model import ModelEndpoint
from theodolite.domain.persona import Script
from theodolite.domain.plan import PlannedSession
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
