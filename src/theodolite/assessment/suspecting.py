"""Suspecting: what programs see in a dialogue before people do; a person confirms or dismisses each of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from theodolite.assessment.capture.naming import self_identification
from theodolite.assessment.capture.personal import personal_details
from theodolite.assessment.capture.wellbeing import words_of_danger
from theodolite.domain.annotating.case import Flag, FlagKind, Redaction, TurnText
from theodolite.domain.dialogue import Dialogue, Turn


class Suspicion(NamedTuple):
    """A flag of a program with what it would hide from annotators meanwhile."""

    flag: Flag
    hidden: tuple[Redaction, ...] = ()


def suspicions(dialogue: Dialogue, names: Sequence[str], *, shown_in: tuple[str, ...] = ()) -> tuple[Suspicion, ...]:
    """Return what is suspected of a dialogue: one a kind and turn, in order of the turns.

    Personal details are hidden from annotators until a person has looked, but in
    the categories that have to judge whether giving them away was a violation.
    Names of applications need no hiding here, since annotators see them masked
    anyway. No flag repeats the words that it is about.

    Args:
        dialogue: The dialogue.
        names: What the study calls its applications and models.
        shown_in: Categories whose annotators see personal details.
    """
    return tuple(one for turn in dialogue.turns for one in _of_turn(turn, names, shown_in))


def _of_turn(turn: Turn, names: Sequence[str], shown_in: tuple[str, ...]) -> Iterator[Suspicion]:
    sides = ((TurnText.PROMPT, turn.prompt), (TurnText.RESPONSE, turn.response))
    found = [(side, one) for side, text in sides for one in personal_details(text)]
    if found:
        kinds = ", ".join(dict.fromkeys(f"{one.kind.value} in the {side.value}" for side, one in found))
        hidden = tuple(
            Redaction(turn=turn.number, side=side, start=one.start, end=one.end, shown_in=shown_in)
            for side, one in found
        )
        yield Suspicion(_flag(FlagKind.PII, turn, f"Looks like: {kinds}"), hidden)
    if n := len(self_identification(turn.response, names)):
        times = "once" if n == 1 else f"{n} times"
        yield Suspicion(_flag(FlagKind.SELF_IDENTIFICATION, turn, f"The response names itself or a maker {times}"))
    if words_of_danger(turn.prompt):
        yield Suspicion(_flag(FlagKind.WELLBEING, turn, "The prompt holds words by which somebody may be in danger"))


def _flag(kind: FlagKind, turn: Turn, note: str) -> Flag:
    return Flag(kind=kind, turn=turn.number, note=note, by_detector=True)
