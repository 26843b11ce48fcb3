"""What is kept of a tester: everything that hangs on the person's key, for the person's own eyes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from theodolite.domain.live import LiveDialogue
from theodolite.domain.people.participant import PersonProfile
from theodolite.domain.people.session import Session
from theodolite.domain.questionnaire import QuestionnaireResponse
from theodolite.domain.study import Study
from theodolite.store.django_store import DjangoStore
from theodolite.web.models import Membership
from theodolite.web.venues import server_store, venue_of

NOT_ANSWERED = "no answer"


def kept_of(membership: Membership) -> dict[str, Any]:
    """Return what is kept of a tester of one study, as plain values; applications go by their aliases.

    Args:
        membership: Whose; must not have taken the words back, since nothing leads to them then.
    """
    store, key = server_store(), membership.participant
    sessions = [one for one in store.sessions_of(key) if one.study == membership.hosted.name]
    return {
        "event": str(membership.hosted),
        "as": membership.role,
        "since": _moment(membership.joined_at),
        "about_you": _profile(store, key),
        "rather_not": sorted(store.avoided_by(membership.hosted.name, key)),
        "agreed_to": [
            {"text": one.subject.value, "version": one.version, "at": _moment(one.at)}
            for one in store.acknowledgements(key)
            if one.study == membership.hosted.name
        ],
        "sessions": [_session(store, membership, one) for one in sessions],
        "guesses": _guesses(store, membership.hosted.name, {one.key: one for one in sessions}),
    }


def _profile(store: DjangoStore, key: str) -> dict[str, str]:
    profile = store.profile(key)
    if profile is None or profile == PersonProfile():  # said nothing
        return {}
    said = {
        "kind of user": profile.user_type.value if profile.user_type else "",
        "expertise": profile.expertise,
        "languages": ", ".join(profile.languages),
        **profile.groups,
    }
    return {name: words for name, words in said.items() if words}


def _session(store: DjangoStore, membership: Membership, session: Session) -> dict[str, Any]:
    study = venue_of(membership.hosted, session.edition).study
    return {
        "with": session.alias,
        "state": session.state.value,
        "begun": _moment(session.clock.started),
        "ended": _moment(session.clock.ended),
        "dialogues": [_dialogue(one) for one in store.live_dialogues(session.key)],
        "answers": [line for given in store.responses_to(session.key) for line in _answers(study, given)],
    }


def _dialogue(dialogue: LiveDialogue) -> dict[str, Any]:
    return {
        "number": dialogue.number,
        "turns": [
            {"you": turn.prompt, "reply": turn.response, "at": _moment(turn.asked), "marked": turn.broke}
            for turn in dialogue.turns
        ],
        "tried": [
            {"strategy": strategy.name, "what": attempt.description, "outcome": attempt.outcome.value}
            for strategy in dialogue.strategies
            for attempt in strategy.attempts
        ],
    }


def _answers(study: Study, given: QuestionnaireResponse) -> Iterator[dict[str, str]]:
    asked = next((one.instrument for one in study.questionnaires if one.name == given.questionnaire), None)
    texts = {question.name: question.text for question in asked.questions} if asked else {}
    for answer in given.answers:
        words = answer.value if answer.value is not None else NOT_ANSWERED
        yield {"question": texts.get(answer.question, answer.question), "answer": words}


def _guesses(store: DjangoStore, study: str, mine: Mapping[str, Session]) -> list[dict[str, str]]:
    return [
        {"about": one.about.value, "with": mine[one.session].alias, "guess": one.guess or "I do not know"}
        for one in store.guesses(study)
        if one.session in mine
    ]


def _moment(moment: datetime | None) -> str:
    return "" if moment is None else moment.isoformat(sep=" ", timespec="seconds")
