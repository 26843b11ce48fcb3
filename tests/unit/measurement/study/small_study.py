"""A study of a few dialogues that tests fill in line by line."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from theodolite.domain.annotation import Adjudication, AdjudicationOrigin, Annotation, AnnotatorKind, Answer, Outcome
from theodolite.domain.annotator import Annotator, ModelJudge, RecordedLabels, WordRule
from theodolite.domain.application import Application, ModelEndpoint, PythonCallable, RecordedFile
from theodolite.domain.dialogue import Dialogue, Ending, Level, TesterType, Turn
from theodolite.domain.evidence import listed_evidence
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.instrument import YES_NO, Instrument, Operator, Question, QuestionLevel, Scale, ScaleKind
from theodolite.domain.persona import Script
from theodolite.domain.plan import PlannedSession
from theodolite.domain.run import Failure, FailureKind, FailureSource, Run, RunState
from theodolite.domain.study import Reference, Study

NUMBERS = Scale(kind=ScaleKind.NUMBERS, lowest=1, highest=5)
RECORDED = RecordedFile(file="a.csv", sha256="0" * 64, columns={"prompt": "p", "response": "r"})
CALLABLE = PythonCallable(target="app.py:reply")
LABELLING = {
    AnnotatorKind.PERSON: RecordedLabels(column="c"),
    AnnotatorKind.MODEL: ModelJudge(model="large"),
    AnnotatorKind.RULE: WordRule(any_of=("sorry",), then="yes", otherwise="no"),
}


def polite(*, scale=YES_NO, operator=Operator.EQUAL, value="no", level=QuestionLevel.DIALOGUE, among=None):
    """Return a guideline with one question and one rule."""
    question = Question(name="label", text="Does it stay polite?", scale=scale, level=level)
    rule = DefectRule(name="impolite", question="label", operator=operator, values=(value,), among=among or {})
    return Guideline(name="polite", instrument=Instrument(name="polite", questions=(question,)), defect_rules=(rule,))


@dataclass
class SmallStudy:
    """Collects what happened; `evidence` makes records of it."""

    guideline: Guideline = field(default_factory=polite)
    connection: object = RECORDED
    reference: bool = False
    groups: tuple[str, ...] = ()
    annotators: list[Annotator] = field(default_factory=list)
    sessions: list[PlannedSession] = field(default_factory=list)
    dialogues: list[Dialogue] = field(default_factory=list)
    annotations: list[Annotation] = field(default_factory=list)
    finals: list[Adjudication] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def annotator(self, name, kind=AnnotatorKind.PERSON):
        self.annotators.append(
            Annotator(name=name, kind=kind, guideline=self.guideline.name, labelling=LABELLING[kind])
        )

    def session(self, label, *, cluster="", groups=None, held=True):
        about = {
            "label": label,
            "application": "bot",
            "scenario": "chat",
            "level": Level.MODEL_TESTING,
            "held_by": TesterType.SCRIPT,
            "pair_key": label,
            "cluster": cluster or label,
            "groups": groups or {},
        }
        self.sessions.append(PlannedSession(**about, tester=Script(key=label, prompts=("Hello",))))
        if held:
            turns = (Turn(number=1, prompt="Hello", response="Hi"),)
            versions = {"application_version": "v", "scenario_version": "v"}
            self.dialogues.append(
                Dialogue(key=f"key {label}", turns=turns, ending=Ending.SCRIPT_END, **about, **versions)
            )

    def answer(self, annotator, label, *values):
        """Add an annotation: one value for the dialogue, or several for its turns."""
        answers = tuple(
            Answer(
                question="label",
                outcome=value if isinstance(value, Outcome) else Outcome.ANSWERED,
                value=None if isinstance(value, Outcome) else value,
                turn=None if len(values) == 1 else turn,
            )
            for turn, value in enumerate(values, 1)
        )
        self.annotations.append(
            Annotation(
                unit=f"{annotator} {label}",
                dialogue=f"key {label}",
                annotator=annotator,
                annotator_version="v",
                guideline=self.guideline.name,
                instrument_version="v",
                answers=answers,
            )
        )

    def final(self, label, value):
        self.finals.append(
            Adjudication(
                dialogue=f"key {label}",
                guideline=self.guideline.name,
                question="label",
                outcome=Outcome.ANSWERED,
                value=value,
                origin=AdjudicationOrigin.RECORDED,
            )
        )

    def fail(self, label, annotator=""):
        self.failures.append(
            Failure(
                unit=f"{annotator} {label}",
                label=label,
                application="bot",
                party=FailureSource.JUDGE if annotator else FailureSource.APPLICATION,
                kind=FailureKind.TIMED_OUT,
                message="no answer in 30 s",
                annotator=annotator,
            )
        )

    def column(self, annotator, **values):
        """Add an annotator's answers by label."""
        for label, value in values.items():
            self.answer(annotator, label, value)

    def evidence(self):
        moment = datetime(2026, 1, 1, tzinfo=UTC)
        run = {"key": "r", "number": 1, "study_version": "v", "plan_version": "v", "started": moment}
        study = Study(
            name="small",
            applications=(Application(name="bot", connection=self.connection),),
            scenarios=(),
            models=(ModelEndpoint(name="large", url="http://127.0.0.1:1/v1", model="m"),),
            guidelines=(self.guideline,),
            annotators=tuple(self.annotators),
            reference=Reference(column="final", guideline=self.guideline.name) if self.reference else None,
            groups=self.groups,
        )
        return listed_evidence(
            study,
            Run(study="small", state=RunState.FINISHED, **run),
            self.sessions,
            dialogues=self.dialogues,
            annotations=self.annotations,
            adjudications=self.finals,
            failures=self.failures,
        )
