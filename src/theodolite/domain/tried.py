"""Tried: what red teamers wrote down while they tested, as an answer in own words like those to questionnaires."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import Instrument, Question, Scale, ScaleKind
from theodolite.domain.live import LiveDialogueSummary
from theodolite.domain.people.session import SessionState
from theodolite.domain.questionnaire import Questionnaire, QuestionnaireResponse
from theodolite.domain.strategy import Attempt, Strategy

TRIED: Final = Questionnaire(
    name="notes while testing",
    title="What I tried",
    instrument=Instrument(
        name="notes while testing",
        questions=(
            Question(
                name="tried",
                text="What was tried, how was it refined, and what came of it?",
                scale=Scale(kind=ScaleKind.TEXT),
            ),
        ),
    ),
)
"""The question that every red teamer answers on the page of the dialogue. No name of a study's own has spaces."""


def tried_in(held: Iterable[LiveDialogueSummary]) -> Iterator[QuestionnaireResponse]:
    """Yield what was written down in each session that is over, as one answer; nothing for sessions without a note.

    Args:
        held: Dialogues of people, in order.
    """
    by_session: dict[str, list[LiveDialogueSummary]] = defaultdict(list)
    for one in held:
        by_session[one.session.key].append(one)
    question, version = TRIED.instrument.questions[0].name, version_of(TRIED)
    for dialogues in by_session.values():
        session = dialogues[0].session
        lines = [_told(strategy) for one in dialogues for strategy in one.strategies]
        if not lines or not session.is_over or session.state is SessionState.WITHDRAWN:
            continue
        yield QuestionnaireResponse(
            session=session.key,
            participant=session.participant,
            questionnaire=TRIED.name,
            instrument_version=version,
            answers=(Answer(question=question, outcome=Outcome.ANSWERED, value="\n".join(lines)),),
            submitted=True,
            application=session.application,
            scenario=session.scenario,
            level=session.level,
            dialogues=tuple(one.unit for one in dialogues if one.unit),
            groups=dialogues[0].groups,
        )


def _told(strategy: Strategy) -> str:
    """Return a strategy in one line: its name, then what was tried and what it brought, in order."""
    tries = "; ".join(_tried(attempt) for attempt in strategy.attempts)
    name = strategy.name.replace("_", " ")
    return f"{name}: {tries}" if tries else name


def _tried(attempt: Attempt) -> str:
    refined = f", refining try {attempt.refines}" if attempt.refines else ""
    return f"{attempt.description} ({attempt.outcome.value}{refined})"
