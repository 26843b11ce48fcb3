"""A study whose testers answered a questionnaire after their sessions."""

from __future__ import annotations

from dataclasses import replace

from tests.fakes.builders import live, sessions_of, study
from tests.fakes.evidence import run_of
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.dialogue import Level
from theodolite.domain.evidence import listed_evidence
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import (
    YES_NO,
    Condition,
    Instrument,
    Label,
    Operator,
    Orientation,
    Question,
    Scale,
    ScaleKind,
)
from theodolite.domain.schema import Questionnaire, QuestionnaireResponse

LIKERT = Scale(kind=ScaleKind.NUMBERS, lowest=1, highest=7, ordered=True, orientation=Orientation.HIGHER_IS_WORSE)
KINDS = Scale(kind=ScaleKind.CATEGORIES, labels=(Label(value="rude"), Label(value="wrong"), Label(value="slow")))
SEEN = Condition(question="seen", operator=Operator.EQUAL, values=("yes",))
AFTER = Questionnaire(
    name="after",
    instrument=Instrument(
        name="after",
        questions=(
            Question(name="bad", text="Was it bad?", scale=LIKERT),
            Question(name="seen", text="Was it seen?", scale=YES_NO),
            Question(name="kinds", text="Which?", scale=KINDS, several=True, when=SEEN),
            Question(name="open", text="What else?", scale=Scale(kind=ScaleKind.TEXT)),
        ),
    ),
)
STUDY = replace(study(applications=(live("blue"), live("green"))), questionnaires=(AFTER,))


def response(person, application, bad, *, level=Level.FIELD_TESTING, submitted=True, more=(), **facts):
    answers = (Answer(question="bad", outcome=Outcome.ANSWERED, value=str(bad)), *more)
    return QuestionnaireResponse(
        session=f"{person}-{application}",
        participant=person,
        questionnaire="after",
        instrument_version=facts.pop("version", version_of(AFTER)),
        answers=answers,
        submitted=submitted,
        application=application,
        scenario="s",
        level=level,
        **facts,
    )


def evidence(*responses, of=STUDY):
    return listed_evidence(of, run_of(of), list(sessions_of(of)), responses=responses)


def said(question, value):
    return Answer(question=question, outcome=Outcome.ANSWERED, value=value)


BOTH = [response(p, a, bad) for p in "pqrs" for a, bad in (("blue", 2), ("green", 6))]
