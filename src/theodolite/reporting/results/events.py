"""Blinding, exposure and withdrawals of an event, as the results file holds them."""

from __future__ import annotations

from theodolite.domain.identity import Json
from theodolite.domain.people.event_record import EventFinding, ExposureTally, LanguageTally, WithdrawalTally
from theodolite.domain.people.leak import BlindingAssessment
from theodolite.domain.people.topic import TopicTally
from theodolite.reporting.results.number_entries import number_entry


def event_entry(finding: EventFinding | None) -> dict[str, Json] | None:
    """Return the object `event`; None where nobody took part."""
    if finding is None:
        return None
    return {
        "blinding": [_leak(leak) for leak in finding.leaks],
        "exposure": [_exposure(tally) for tally in finding.exposures],
        "withdrawals": [_withdrawal(tally) for tally in finding.withdrawals],
        "topics": [_topic(tally) for tally in finding.topics],
        "languages": [_language(tally) for tally in finding.languages],
    }


def _leak(leak: BlindingAssessment) -> dict[str, Json]:
    return {
        "guessed": leak.about.value,
        "level": leak.level.value if leak.level else None,
        "right": number_entry(leak.rate),
        "by_chance": leak.chance,
        "p_value": leak.p_value,
        "unknown": leak.n_unknown,
        "repeated": leak.n_repeated,
    }


def _exposure(tally: ExposureTally) -> dict[str, Json]:
    return {
        "level": tally.level.value,
        "people": tally.n_people,
        "sessions": tally.n_sessions,
        "minutes_median": tally.minutes_median,
        "minutes_most": tally.minutes_most,
        "turns": tally.turns,
        "severe": tally.severe,
        "severe_most": tally.severe_most,
        "enough": tally.n_enough,
    }


def _withdrawal(tally: WithdrawalTally) -> dict[str, Json]:
    return {
        "kind": tally.kind.value,
        "people": tally.n_people,
        "sessions": tally.sessions,
        "dialogues": tally.dialogues,
        "answers": tally.answers,
    }


def _topic(tally: TopicTally) -> dict[str, Json]:
    return {
        "topic": tally.topic,
        "weight": tally.weight.value,
        "asked": tally.n_asked,
        "people": tally.n_people,
        "sessions_not_offered": tally.n_spared,
        "sessions_free": tally.n_free,
    }


def _language(tally: LanguageTally) -> dict[str, Json]:
    return {"language": tally.language or None, "sessions": tally.n_sessions, "dialogues": tally.n_dialogues}
