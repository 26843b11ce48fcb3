"""Realism: how dialogues of simulated users resemble those of people in the same scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.estimate_subject import EstimateSubject
from theodolite.domain.findings.number import Estimate, Undefined


class StyleMark(StrEnum):
    """What is counted of the prompts of a dialogue, the same in every language.

    Shares are of prompts; a prompt that has nothing to tell, e.g. one in a script without
    capital letters, does not count for that mark.
    """

    TURNS = "turns a dialogue"
    CHARACTERS = "characters a prompt"
    WORDS = "words a prompt"
    QUESTION_MARK = "share of prompts with a question mark"
    CAPITAL = "share of prompts that begin with a capital letter"
    END_MARK = "share of prompts that end with punctuation"

    @property
    def is_share(self) -> bool:
        """Whether its values are fractions."""
        return self in {StyleMark.QUESTION_MARK, StyleMark.CAPITAL, StyleMark.END_MARK}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenSide:
    """What one kind of tester said in one scenario, as numbers: one of each mark a dialogue.

    Attributes:
        scenario: Name of the scenario.
        level: Level of testing.
        held_by: Who held the tester's side.
        marks: Mark to one number a dialogue, NaN where the dialogue has none; all equally long.
        clusters: What each dialogue resembles others by.
        applications: Applications spoken to, in order of the plan.
        groups: Group name to its values that were met, in order of the plan.
    """

    scenario: str
    level: Level
    held_by: TesterType
    marks: Mapping[StyleMark, Sequence[float]]
    clusters: Sequence[str]
    applications: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]]

    @property
    def n(self) -> int:
        """Dialogues; count."""
        return len(self.clusters)


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleSpread:
    """How one mark is spread over the dialogues of a side; each dialogue counts once.

    Attributes:
        mean: Mean over dialogues.
        quartiles: Lower quartile, median, upper quartile; None without a dialogue.
    """

    mean: Estimate | Undefined
    quartiles: tuple[float, float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleContrast:
    """One mark on both sides.

    Attributes:
        mark: The mark.
        people: Spread over the people's dialogues.
        simulated: Spread over the simulated users' dialogues.
        difference: Mean of the simulated minus that of the people.
    """

    mark: StyleMark
    people: StyleSpread
    simulated: StyleSpread
    difference: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class RateContrast:
    """One application's defect rate by one annotator, on both sides.

    Attributes:
        subject: Application, guideline, rule and annotator.
        people: Rate in the people's dialogues.
        simulated: Rate in the simulated users' dialogues.
        difference: Rate of the simulated minus that of the people.
    """

    subject: EstimateSubject
    people: Estimate | Undefined
    simulated: Estimate | Undefined
    difference: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupCover:
    """Which values of one group were met.

    Attributes:
        name: Name of the group.
        both: Values met on both sides.
        people_only: Values met in the people's dialogues alone.
        simulated_only: Values met in the simulated users' dialogues alone.
    """

    name: str
    both: tuple[str, ...] = ()
    people_only: tuple[str, ...] = ()
    simulated_only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Realism:
    """Dialogues of people and of simulated users in the same scenario, side by side and never added.

    Attributes:
        people: What people said, or what was recorded.
        simulated: What simulated users said.
        styles: Each mark on both sides.
        rates: Each defect rate on both sides.
        groups: Which groups were met.
    """

    people: SpokenSide
    simulated: SpokenSide
    styles: tuple[StyleContrast, ...]
    rates: tuple[RateContrast, ...]
    groups: tuple[GroupCover, ...]
