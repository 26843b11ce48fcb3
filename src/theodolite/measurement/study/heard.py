"""What testers said, as leaves of trees: one a response and question, beside the annotators' answers."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.application import Application
from theodolite.domain.dialogue import HeldBy
from theodolite.domain.evidence import Evidence
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import Question
from theodolite.domain.questionnaire import QuestionnaireResponse
from theodolite.domain.trees.leaf import TESTER, Leaf


def tester_leaves(evidence: Evidence, wanted: Collection[str], application: Application) -> Iterator[Leaf]:
    """Yield the leaves that testers' responses are, in order of questionnaires, questions and responses.

    A response is about its session: its leaf bears the session's key, or the
    label of its dialogue where it had one alone, so that one can read it. What a
    follow-up was not asked is not applicable; what was left open is missing.

    Args:
        evidence: All records of one run.
        wanted: Questions that the tree asks for, as `questionnaire.question`.
        application: The application.
    """
    for questionnaire in evidence.study.questionnaires:
        version = version_of(questionnaire)
        given = [
            one
            for one in evidence.responses
            if (one.questionnaire, one.instrument_version, one.application)
            == (questionnaire.name, version, application.name)
            and one.submitted
        ]
        for question in questionnaire.instrument.questions:
            name = f"{questionnaire.name}.{question.name}"
            if name in wanted:
                for one in given:
                    yield _leaf(evidence, one, name, question)


def _leaf(evidence: Evidence, response: QuestionnaireResponse, name: str, question: Question) -> Leaf:
    absent = Outcome.NOT_APPLICABLE if question.when else Outcome.MISSING
    answer = next(iter(response.to(question.name)), Answer(question=question.name, outcome=absent))
    leaf = Leaf(
        question=name,
        session=response.label,
        value=answer.value,
        outcome=answer.outcome,
        by=response.participant,
        kind=TESTER,
        cluster=response.participant,
        level=response.level.value if response.level else "",
        held_by=HeldBy.PERSON.value,
        groups=dict(response.groups),
    )
    places = [evidence.answered[key] for key in response.dialogues if key in evidence.answered]
    return _of_dialogue(evidence, leaf, places[0]) if len(places) == 1 else leaf


def _of_dialogue(evidence: Evidence, leaf: Leaf, place: int) -> Leaf:
    """Return a leaf that stands beside the annotators' of the same dialogue."""
    setting = evidence.answers.settings[place]
    return replace(
        leaf,
        session=evidence.sessions.label(place),
        cluster=setting.cluster,
        level=setting.level.value,
        held_by=setting.held_by.value,
        groups=dict(setting.groups),
    )
