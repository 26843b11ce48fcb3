"""Personal data: everything that is stored about a participant, for the participant alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from theodolite.domain.live import LiveDialogue
from theodolite.domain.people.participant import PersonProfile
from theodolite.domain.people.session import Session
from theodolite.domain.questionnaire import QuestionnaireResponse
from theodolite.domain.study import Study
from theodolite.events.context import ContextOf, EventContext

NOT_ANSWERED = "no answer"


def stored_data(event: EventContext, participant: str, *, context_of: ContextOf) -> dict[str, Any]:
    """Return what is stored about a participant of a study as plain values; applications appear under their aliases.

    Args:
        event: The event.
        participant: Opaque key of the participant.
        context_of: From a session to the event in its release.
    """
    sessions = event.sessions_of(participant)
    return {
        "about_you": _profile(event.participants.profile(participant)),
        "rather_not": sorted(event.participants.avoided_topics(event.study.name, participant)),
        "agreed_to": [
            {"text": one.subject.value, "version": one.version, "at": time_text(one.at)}
            for one in event.participants.acknowledgements(participant)
            if one.study == event.study.name
        ],
        "sessions": [_session(context_of(session), session) for session in sessions],
        "guesses": _guesses(event, {session.key: session for session in sessions}),
    }


def time_text(moment: datetime | None) -> str:
    """Return a moment as text for a file; empty for None."""
    return "" if moment is None else moment.isoformat(sep=" ", timespec="seconds")


def _profile(profile: PersonProfile | None) -> dict[str, str]:
    if profile is None or profile == PersonProfile():  # an empty profile states nothing
        return {}
    stated = {
        "kind of user": profile.user_type.value if profile.user_type else "",
        "expertise": profile.expertise,
        "languages": ", ".join(profile.languages),
        **profile.groups,
    }
    return {name: text for name, text in stated.items() if text}


def _session(event: EventContext, session: Session) -> dict[str, Any]:
    responses = event.responses.of_session(session.key)
    return {
        "with": session.alias,
        "state": session.state.value,
        "begun": time_text(session.clock.started),
        "ended": time_text(session.clock.ended),
        "dialogues": [_dialogue(dialogue) for dialogue in event.dialogues.of_session(session.key)],
        "answers": [line for response in responses for line in _answers(event.study, response)],
    }


def _dialogue(dialogue: LiveDialogue) -> dict[str, Any]:
    return {
        "number": dialogue.number,
        "turns": [
            {"you": turn.prompt, "reply": turn.response, "at": time_text(turn.asked), "marked": turn.broke}
            for turn in dialogue.turns
        ],
        "tried": [
            {"strategy": strategy.name, "what": attempt.description, "outcome": attempt.outcome.value}
            for strategy in dialogue.strategies
            for attempt in strategy.attempts
        ],
    }


def _answers(study: Study, response: QuestionnaireResponse) -> Iterator[dict[str, str]]:
    instruments = (one.instrument for one in study.questionnaires if one.name == response.questionnaire)
    instrument = next(instruments, None)
    texts = {question.name: question.text for question in instrument.questions} if instrument else {}
    for answer in response.answers:
        text = answer.value if answer.value is not None else NOT_ANSWERED
        yield {"question": texts.get(answer.question, answer.question), "answer": text}


def _guesses(event: EventContext, own: Mapping[str, Session]) -> list[dict[str, str]]:
    return [
        {"about": guess.about.value, "with": own[guess.session].alias, "guess": guess.guess or "I do not know"}
        for guess in event.responses.guesses(event.study.name)
        if guess.session in own
    ]
