"""Small records for tests: valid as they stand, and every part can be named."""

from __future__ import annotations

import json
from collections.abc import Sequence

from theodolite.assessment.annotating import AnnotationTask
from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import Annotator, HandLabels, ModelJudge, RecordedLabels, WordRule
from theodolite.domain.application import Application, ModelEndpoint, PythonCallable, RecordedFile
from theodolite.domain.dialogue import Dialogue, Ending, Level, TesterType, Turn
from theodolite.domain.evidence import Evidence
from theodolite.domain.flow import Reply
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import YES_NO, Instrument, Label, Operator, Question, Scale, ScaleKind
from theodolite.domain.live import RecordedDialogue, RecordedTurn
from theodolite.domain.persona import ParameterRow, PersonaGroup, PersonaTemplate, Script
from theodolite.domain.plan import ListedSessions
from theodolite.domain.run import Unit, UnitKind
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Study
from theodolite.measurement.proportion import beta_below_half
from theodolite.ports.store import Store
from theodolite.testing.planning import draw_plan
from theodolite.testing.sessions import SessionTask
from theodolite.usecases.measuring import evidence_of
from theodolite.usecases.running import latest_run

NUMBERS = Scale(kind=ScaleKind.NUMBERS, lowest=1, highest=5)


def categories(*values: str, ordered: bool = False) -> Scale:
    return Scale(kind=ScaleKind.CATEGORIES, labels=tuple(Label(value=value) for value in values), ordered=ordered)


def question(name: str = "label", scale: Scale = YES_NO, text: str = "Is it so?", **more) -> Question:
    return Question(name=name, text=text, scale=scale, **more)


def rule(operator: Operator = Operator.EQUAL, *values: str, question: str = "label", **more) -> DefectRule:
    return DefectRule(name="defect", question=question, operator=operator, values=values or ("yes",), **more)


def guideline(*questions: Question, name: str = "polite", rules: Sequence[DefectRule] = (), **more) -> Guideline:
    asked = questions or (question(),)
    deciding = rules or (rule(Operator.EQUAL, (asked[0].scale.categories or ("x",))[0], question=asked[0].name),)
    return Guideline(name=name, instrument=Instrument(name=name, questions=asked), defect_rules=tuple(deciding), **more)


def turn(number: int = 1, prompt: str = "May I?", response: str = "You may.", **more) -> Turn:
    return Turn(number=number, prompt=prompt, response=response, **more)


def dialogue(*turns: Turn, key: str = "unit-1", label: str = "d001", **more) -> Dialogue:
    parts = {
        "application": "bot",
        "application_version": "a",
        "scenario": "shop",
        "scenario_version": "s",
        "level": Level.MODEL_TESTING,
        "held_by": TesterType.SCRIPT,
        "pair_key": "p",
        "cluster": "c",
        "ending": Ending.SCRIPT_END,
    }
    return Dialogue(key=key, label=label, turns=turns or (turn(),), **{**parts, **more})


def group(*names: str, name: str = "people", text: str = "You are {{ name }}.", model: str = "user") -> PersonaGroup:
    rows = tuple(ParameterRow(values={"name": each}) for each in names)
    return PersonaGroup(name=name, template=PersonaTemplate(name="short", text=text), rows=rows, model=model)


def scripts(*keys: str, turns: int = 1) -> tuple[Script, ...]:
    return tuple(Script(key=key, prompts=tuple(f"{key} {n}" for n in range(1, turns + 1))) for key in keys)


def live(name: str = "bot") -> Application:
    return Application(name=name, connection=PythonCallable(target=f"{name}:reply"))


def recorded(name: str = "old") -> Application:
    return Application(name=name, connection=RecordedFile(file="old.csv", sha256="0", columns={"prompt": "p"}))


def recording(key: str, application: str = "old", repeat: int = 1, **columns: str) -> RecordedDialogue:
    turns = (RecordedTurn(prompt=f"prompt {key}", response=f"response {key}"),)
    return RecordedDialogue(key=key, application=application, turns=turns, columns=columns, repeat=repeat)


def judge(name: str = "grounded", model: str = "large", guideline: str = "polite") -> Annotator:
    return Annotator(name=name, kind=AnnotatorKind.MODEL, guideline=guideline, labelling=ModelJudge(model=model))


def word_rule(name: str = "words", *words: str, guideline: str = "polite") -> Annotator:
    labelling = WordRule(any_of=words or ("sorry",), then="yes", otherwise="no")
    return Annotator(name=name, kind=AnnotatorKind.RULE, guideline=guideline, labelling=labelling)


def person(name: str = "ann", column: str = "ann", guideline: str = "polite", **spelling: str) -> Annotator:
    labelling = RecordedLabels(column=column, spelling=spelling)
    return Annotator(name=name, kind=AnnotatorKind.PERSON, guideline=guideline, labelling=labelling)


def by_hand(name: str = "anna", guideline: str = "polite") -> Annotator:
    return Annotator(name=name, kind=AnnotatorKind.PERSON, guideline=guideline, labelling=HandLabels())


def study(**parts) -> Study:
    """Return a study: one live application, a scenario of two turns, two personas and a judge."""
    usual = {
        "name": "small",
        "models": (ModelEndpoint(name="user", url="u"), ModelEndpoint(name="large", url="l")),
        "applications": (live(),),
        "scenarios": (Scenario(name="shop", goal="Buy", turns=2),),
        "personas": (group("Ana", "Ben"),),
        "guidelines": (guideline(),),
        "annotators": (judge(),),
    }
    return Study(**{**usual, **parts})


def sessions_of(study: Study, *recordings: RecordedDialogue) -> ListedSessions:
    return ListedSessions(draw_plan(study, recordings)[1])


def latest_evidence(store: Store, study: Study, recordings: Sequence[RecordedDialogue] = ()) -> Evidence:
    plan, sessions = draw_plan(study, recordings)
    return evidence_of(store, study, sessions, latest_run(store, study, plan))


def session_task(study: Study, place: int = 0, key: str = "unit-1") -> SessionTask:
    session = sessions_of(study)[place]
    scenario = study.scenario(session.scenario)
    return SessionTask(
        key=key, session=session, scenario=scenario, application_version="a", scenario_version=version_of(scenario)
    )


def annotation_task(annotator: Annotator, about: Dialogue, asked: Guideline, **columns: str) -> AnnotationTask:
    return AnnotationTask(
        unit="unit-2",
        annotator=annotator,
        annotator_version="v",
        guideline=asked,
        guideline_version=version_of(asked),
        dialogue=about,
        rows=(columns,) if columns else (),
        below_half=beta_below_half,
    )


def unit(key: str = "unit-1", kind: UnitKind = UnitKind.SESSION, label: str = "d001", **more) -> Unit:
    at = {"position": 0, "application": "bot"} | more
    return Unit(key=key, kind=kind, work_key=key, label=label, **at)


def verdict(**answers: object) -> str:
    return json.dumps({"reason": "So it reads.", "quotes": [], **answers})


def reply(text: str = "Yes.", **more) -> Reply:
    return Reply(text=text, **more)
