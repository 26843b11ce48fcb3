"""What a red teamer tried: notes in a form, kept as strategies with attempts and refinements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from theodolite.domain.scenario import strategy_title
from theodolite.domain.strategy import OWN_WAY, Attempt, AttemptOutcome, Strategy
from theodolite.domain.study import Study
from theodolite.testing.strategies.catalogue import APPROACHES

_WAYS = {
    OWN_WAY: lazy("a way of my own"),
    "rephrase": lazy("the same request with other words around it"),
    "role_play": lazy("the request comes from inside a story"),
    "many_shot": lazy("a long row of answered questions first"),
    "escalation": lazy("from a harmless question to the one that counts"),
    "encoding": lazy("in another language, with letters moved, or backwards"),
    "persuasion": lazy("reasons why an exception would be fine"),
    "injection": lazy("a note in a document that the application reads"),
    "paraphrase": lazy("the request said anew in other words"),
    "translation": lazy("the request translated into other languages"),
    "adaptive": lazy("learns from each reply and goes back after a refusal"),
}
"""Titles of the shipped strategies once more, for the languages of the pages."""

_OUTCOMES = {
    AttemptOutcome.RELEASED: lazy("released"),
    AttemptOutcome.WITHHELD: lazy("withheld"),
    AttemptOutcome.UNCLEAR: lazy("unclear"),
}
"""What an attempt brought, in a word."""

LONGEST = 300
"""Letters of a note at most; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One attempt as the tester noted it.

    Attributes:
        label: Number of the strategy in the dialogue and, from its second attempt on, of the attempt: `2`, `2.3`.
        way: How the strategy is called.
        words: What was tried.
        outcome: What it brought, in the tester's eyes.
        turn: Number of the turn; None where it is not known.
        refines: Label of the attempt that it builds on; empty for a fresh start.
    """

    label: str
    way: str
    words: str
    outcome: str
    turn: int | None
    refines: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a form could not be taken."""

    why: str


def notes_on(study: Study, strategies: Sequence[Strategy]) -> list[Note]:
    """Return the attempts of a dialogue, strategy by strategy."""
    return [
        Note(
            label=_label(place, number),
            way=way_title(study, strategy.name),
            words=attempt.description,
            outcome=outcome_word(attempt.outcome),
            turn=attempt.turn,
            refines=_label(place, attempt.refines) if attempt.refines else "",
        )
        for place, strategy in enumerate(strategies, start=1)
        for number, attempt in enumerate(strategy.attempts, start=1)
    ]


def with_note(
    strategies: Sequence[Strategy], form: Mapping[str, str], *, dialogue: str, n_turns: int
) -> tuple[Strategy, ...] | Unreadable:
    """Return the strategies of a dialogue with one more attempt, as a form says.

    An attempt that builds on another belongs to the same strategy, whatever way is
    chosen in the form.

    Args:
        strategies: What was noted before.
        form: The fields `words`, `strategy`, `outcome`, `turn` and `refines`.
        dialogue: Key of the dialogue.
        n_turns: Turns that it has; count.
    """
    words = " ".join(form.get("words", "").split())
    if not words or len(words) > LONGEST:
        return Unreadable(_("Say in a few words what you tried (%(most)s letters at most).") % {"most": LONGEST})
    if form.get("outcome") not in {outcome.value for outcome in AttemptOutcome}:
        return Unreadable(_("Say what it brought."))
    number = form.get("turn", "")
    turn = int(number) if number.isdecimal() and 1 <= int(number) <= n_turns else None
    attempt = Attempt(description=words, outcome=AttemptOutcome(form["outcome"]), turn=turn)
    earlier = _find(strategies, form.get("refines", ""))
    if earlier is not None:
        place, refined = earlier
        return _added(strategies, place, replace(attempt, refines=refined))
    name = form.get("strategy") or OWN_WAY
    for place, strategy in enumerate(strategies):
        if strategy.name == name:
            return _added(strategies, place, attempt)
    return (*strategies, Strategy(name=name, dialogue=dialogue, attempts=(attempt,)))


def ways_of(study: Study) -> list[tuple[str, str]]:
    """Return names and titles of ways to attack, those that simulated red teamers use in the study included."""
    used = [name for scenario in study.scenarios for name in scenario.attacks]
    return [(name, way_title(study, name)) for name in dict.fromkeys((OWN_WAY, *APPROACHES, *used))]


def way_title(study: Study, name: str) -> str:
    """Return what a way to attack is, in the language of the page."""
    return str(_WAYS[name]) if name in _WAYS else strategy_title(study.scenarios, name)


def outcome_word(outcome: AttemptOutcome) -> str:
    """Return what an attempt brought, in the language of the page."""
    return str(_OUTCOMES[outcome])


def _label(place: int, number: int) -> str:
    return str(place) if number == 1 else f"{place}.{number}"


def _find(strategies: Sequence[Strategy], label: str) -> tuple[int, int] | None:
    """Return place of the strategy, from 0, and number of the attempt, from 1, that a label names."""
    for place, strategy in enumerate(strategies):
        for number in range(1, len(strategy.attempts) + 1):
            if label == _label(place + 1, number):
                return place, number
    return None


def _added(strategies: Sequence[Strategy], place: int, attempt: Attempt) -> tuple[Strategy, ...]:
    grown = replace(strategies[place], attempts=(*strategies[place].attempts, attempt))
    return (*strategies[:place], grown, *strategies[place + 1 :])
