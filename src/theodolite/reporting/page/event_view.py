"""The event, as the page shows it: whether the blinding held, what people went through, what was taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.people.event_record import ExposureTally, LanguageTally, WithdrawalTally
from theodolite.domain.people.leak import BlindingAssessment
from theodolite.domain.people.topic import TopicTally
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.words import figures


@dataclass(frozen=True, slots=True, kw_only=True)
class EventView:
    """What the section shows.

    Attributes:
        leaks: What was guessed and at which level, right guesses, their interval, chance, p-value; in words.
        exposures: Level, people and sessions, minutes, broken guardrails met; in words.
        withdrawals: One sentence a kind.
        topics: SensitiveTopic, who leaves it out, sessions that were not offered, those with a free seat; in words.
        languages: One sentence on the languages in which people read the study; empty where there is one at most.
    """

    leaks: tuple[tuple[str, ...], ...]
    exposures: tuple[tuple[str, ...], ...]
    withdrawals: tuple[str, ...]
    topics: tuple[tuple[str, ...], ...]
    languages: str


def event_view(subject: Subject) -> EventView | None:
    """Return the section; None where nobody took part."""
    finding = subject.findings.event
    if finding is None:
        return None
    return EventView(
        leaks=tuple(_leak(one) for one in finding.leaks),
        exposures=tuple(_exposure(one) for one in finding.exposures),
        withdrawals=tuple(_withdrawal(one) for one in finding.withdrawals),
        topics=tuple(_topic(one) for one in finding.topics),
        languages=_languages(finding.languages),
    )


def _leak(leak: BlindingAssessment) -> tuple[str, ...]:
    what = f"{leak.about.value}, {leak.level.value if leak.level else 'all levels'}"
    right = _share(leak.rate)
    unknown = f"; {leak.n_unknown} did not know" if leak.n_unknown else ""
    p_value = "" if leak.p_value is None else f"p = {leak.p_value:.3f}"
    return what, f"{right}{unknown}", figures.percent(leak.chance), p_value


def _share(rate: Estimate | Undefined) -> str:
    if isinstance(rate, Undefined):
        return "nobody guessed"
    shown = figures.share(rate.count or 0, rate.n)
    if rate.n < figures.FEW or rate.low is None or rate.high is None:
        return shown
    return f"{shown} ({figures.percent(rate.low)} to {figures.percent(rate.high)})"


def _exposure(tally: ExposureTally) -> tuple[str, ...]:
    people = figures.number_of(tally.n_people, "person", "people")
    sessions = figures.number_of(tally.n_sessions, "session", "sessions")
    limit = "" if tally.n_enough is None else f"; {tally.n_enough} came to the limit of the study"
    return (
        tally.level.value,
        f"{people}, {sessions}",
        f"{tally.minutes_median:.0f} in the middle, {tally.minutes_most:.0f} at most",
        f"{tally.severe} in {tally.turns} turns, {tally.severe_most} at most for one person{limit}",
    )


def _topic(tally: TopicTally) -> tuple[str, ...]:
    title = f"{tally.topic.replace('-', ' ').replace('_', ' ')} ({tally.weight.value})"
    return title, f"{tally.n_people} of {tally.n_asked}", str(tally.n_spared), str(tally.n_free)


def _languages(tallies: Sequence[LanguageTally]) -> str:
    known = [f"{one.language} ({_held(one)})" for one in tallies if one.language]
    if len(known) < 2:
        return ""
    unknown = "".join(f"; not known for {_held(one)}" for one in tallies if not one.language)
    return f"People read the study in {', '.join(known)}{unknown}."


def _held(tally: LanguageTally) -> str:
    sessions = figures.number_of(tally.n_sessions, "session", "sessions")
    return f"{sessions}, {figures.number_of(tally.n_dialogues, 'dialogue', 'dialogues')}"


def _withdrawal(tally: WithdrawalTally) -> str:
    people = figures.number_of(tally.n_people, "person", "people")
    reached = ", ".join(
        figures.number_of(n, one, many)
        for n, one, many in (
            (tally.sessions, "session", "sessions"),
            (tally.dialogues, "dialogue", "dialogues"),
            (tally.answers, "answer", "answers"),
        )
    )
    return f"{people} withdrew ({tally.kind.value}): {reached}."
