"""What testers said, as numbers: gathered while dialogues are read, so that no words are kept."""

from __future__ import annotations

import math
import re
import unicodedata
from array import array
from collections.abc import Iterable, Sequence
from typing import Final

from theodolite.domain.dialogue import Dialogue, HeldBy, Level
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.realism import SpokenSide, StyleMark
from theodolite.domain.plan import Sessions, Setting
from theodolite.measurement.study.role_breaks import written_turns

PEOPLE: Final = frozenset({HeldBy.PERSON, HeldBy.RECORDED})
"""Who stands for people; a recording does as far as its prompts are people's."""

Condition = tuple[str, Level, HeldBy]
"""Scenario, level of testing and who held the tester's side."""

_WORD = re.compile(r"\w+")
_QUESTION_MARKS = re.compile("[?\uff1f\u061f\u037e\u055e]")


class RealismBook:
    """Looks at dialogues, one at a time, and keeps six numbers of each.

    Only scenarios are looked at that both people and simulated users are planned in.

    Args:
        sessions: The sessions of the plan.
    """

    def __init__(self, sessions: Sessions) -> None:
        planned = dict.fromkeys(_condition(sessions.setting(place)) for place in range(len(sessions)))
        self._pages = {place: _Page(place) for place in planned if _is_compared(place, planned)}

    def look(self, dialogue: Dialogue) -> None:
        """Look at a dialogue; one whose prompts are withheld has nothing to tell and is not counted."""
        page = self._pages.get((dialogue.scenario, dialogue.level, dialogue.held_by))
        if page is not None and not dialogue.withheld:
            page.enter(dialogue)

    def sides(self) -> tuple[SpokenSide, ...]:
        """Return what was said at each place, those without a dialogue left out."""
        return tuple(page.side() for page in self._pages.values() if page.clusters)


class _Page:
    """What is kept of one kind of tester in one scenario."""

    def __init__(self, place: Condition) -> None:
        self._condition = place
        self.clusters: list[str] = []
        self._marks = {mark: array("d") for mark in StyleMark}
        self._applications: dict[str, None] = {}
        self._groups: dict[str, dict[str, None]] = {}

    def enter(self, dialogue: Dialogue) -> None:
        prompts = [turn.prompt for turn in written_turns(dialogue)]
        for mark, column in self._marks.items():
            column.append(float(len(dialogue.turns)) if mark is StyleMark.TURNS else _mean_mark(mark, prompts))
        # A dialogue without a cluster resembles no other.
        self.clusters.append(dialogue.cluster or dialogue.label)
        self._applications[dialogue.application] = None
        for name, value in dialogue.groups.items():
            self._groups.setdefault(name, {})[value] = None

    def side(self) -> SpokenSide:
        scenario, level, held_by = self._condition
        return SpokenSide(
            scenario=scenario,
            level=level,
            held_by=held_by,
            marks=self._marks,
            clusters=self.clusters,
            applications=tuple(self._applications),
            groups={name: tuple(values) for name, values in self._groups.items()},
        )


def spoken_sides(evidence: Evidence) -> tuple[SpokenSide, ...]:
    """Return what was said where people and simulated users met the same scenario.

    Args:
        evidence: All records of one run.
    """
    if evidence.spoken is not None:
        return evidence.spoken
    book = RealismBook(evidence.sessions)
    for dialogue in evidence.archive.dialogues():
        book.look(dialogue)
    return book.sides()


def are_comparable(people: Condition, simulated: Condition) -> bool:
    """Tell whether two places are of the same scenario, one with people and one with simulated users.

    Red teamers are compared with red teamers alone: who tries to break
    something speaks differently from who only uses it.
    """
    are_two = people[2] in PEOPLE and simulated[2] is HeldBy.SIMULATED_USER
    attack = [place[1] is Level.RED_TEAMING for place in (people, simulated)]
    return are_two and people[0] == simulated[0] and attack[0] == attack[1]


def prompt_mark(mark: StyleMark, prompt: str) -> float | None:
    """Return what a mark comes to in one prompt, or None where it has nothing to tell.

    Args:
        mark: Any but the number of turns.
        prompt: What the tester said.

    Returns:
        A count, or 1 and 0 for marks whose mean is a share.

    Example:
        >>> [prompt_mark(mark, "Where is it?") for mark in list(StyleMark)[1:]]
        [12.0, 3.0, 1.0, 1.0, 1.0]
    """
    text = prompt.strip()
    if mark is StyleMark.CHARACTERS:
        return float(len(text))
    if mark is StyleMark.WORDS:
        return float(len(_WORD.findall(text)))
    if mark is StyleMark.QUESTION_MARK:
        return float(bool(_QUESTION_MARKS.search(text)))
    if mark is StyleMark.CAPITAL:
        first = next((letter for letter in text if letter.isalpha()), "")
        return float(first.isupper()) if first.lower() != first.upper() else None
    return float(unicodedata.category(text[-1]).startswith("P")) if text else None


def _mean_mark(mark: StyleMark, prompts: Sequence[str]) -> float:
    found = [value for value in (prompt_mark(mark, prompt) for prompt in prompts) if value is not None]
    return sum(found) / len(found) if found else math.nan


def _condition(setting: Setting) -> Condition:
    return setting.scenario, setting.level, setting.held_by


def _is_compared(place: Condition, planned: Iterable[Condition]) -> bool:
    return any(are_comparable(place, other) or are_comparable(other, place) for other in planned)
