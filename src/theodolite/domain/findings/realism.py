"""Simulated users: their resemblance to people in the same scenario, and their role breaks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.estimate_subject import EstimateSubject
from theodolite.domain.findings.number import Estimate, Undefined


class StyleMark(StrEnum):
    """Counts from the prompts of a dialogue, the same for every language.

    Shares are of prompts; a prompt without the feature, e.g. one in a script without
    capital letters, is excluded from that mark.
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
    """Numbers of one tester type in one scenario: one value of each mark for each dialogue.

    Attributes:
        scenario: Name of the scenario.
        level: Level of testing.
        held_by: Tester type.
        marks: Values of each mark, one per dialogue, NaN if missing; all equally long.
        clusters: Cluster of each dialogue: dialogues in one cluster are similar.
        applications: Tested applications, in order of the plan.
        groups: Observed values of each group, in order of the plan.
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
    """Distribution of one mark over the dialogues of a side; each dialogue counts once.

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
        people: Distribution over the people's dialogues.
        simulated: Distribution over the simulated users' dialogues.
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
    """Observed values of one group.

    Attributes:
        name: Name of the group.
        both: Values on both sides.
        people_only: Values only in the people's dialogues.
        simulated_only: Values only in the simulated users' dialogues.
    """

    name: str
    both: tuple[str, ...] = ()
    people_only: tuple[str, ...] = ()
    simulated_only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Realism:
    """Dialogues of people and of simulated users in the same scenario, compared but never pooled.

    Attributes:
        people: Numbers of people or of recorded dialogues.
        simulated: Numbers of simulated users.
        styles: Each mark on both sides.
        rates: Each defect rate on both sides.
        groups: Observed groups.
    """

    people: SpokenSide
    simulated: SpokenSide
    styles: tuple[StyleContrast, ...]
    rates: tuple[RateContrast, ...]
    groups: tuple[GroupCover, ...]


_NAME = re.compile(r"[^\W\d_]+")

_CODE = 3
"""Maximum length of a language code; characters."""


class RoleBreakKind(StrEnum):
    """Kind of role break of a simulated user."""

    ROLE_FLIP = "role flip"
    REPETITION = "repetition"
    REFUSAL = "refusal"
    EARLY_GOODBYE = "early goodbye"
    SPEAKS_AS_MODEL = "speaks as a model"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleBreakRule:
    """Detection of one kind of role break.

    Attributes:
        kind: The kind.
        meaning: Explanation for readers of a report.
        words: Case-insensitive regular expressions over a prompt.
        hints: Lower-case strings of which each match contains at least one; empty if unknown.
    """

    kind: RoleBreakKind
    meaning: str
    words: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleBreakRules:
    """All rules that detect role breaks.

    Attributes:
        rules: One for each kind, in the order of a report.
        same_words: Minimum share of common words for two texts to count as equal; fraction.
        echoed_words: Minimum number of different words for a prompt that equals a reply to count as an echo; count.
        languages: Names of the languages of the expressions, in lower case.
        few_turns: Number of turns up to which leaving is early; count.
        long_limit: Turn limit above which leaving can be early; count.
    """

    rules: tuple[RoleBreakRule, ...]
    same_words: float
    echoed_words: int
    few_turns: int
    long_limit: int
    languages: tuple[str, ...] = ()

    def know(self, language: str) -> bool:
        """Return whether words belong to a language, e.g. `British English`; also if no language is named."""
        names = _NAME.findall(language.casefold())
        # A short code counts only at the start: `de` is German in `de-AT`, but "of" in `Português de Portugal`.
        long_names = (name for index, name in enumerate(names) if not index or len(name) > _CODE)
        return not names or any(name in self.languages for name in long_names)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleBreak:
    """A position at which a rule found a role break.

    Attributes:
        dialogue: Label of the dialogue.
        turn: Number of the turn.
        words: Evidence: words of the prompt, the start of a repeated prompt, or the event.
    """

    dialogue: str
    turn: int
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleBreakCheck:
    """Findings of one rule in all of a run's dialogues with simulated users.

    Attributes:
        kind: The kind of role break.
        meaning: Its meaning.
        n: Checked dialogues; count.
        unread: Checked dialogues in a language without expressions of the rule; count.
        role_breaks: Findings in order of the plan; can be iterated repeatedly.
    """

    kind: RoleBreakKind
    meaning: str
    n: int
    unread: int = 0
    role_breaks: Iterable[RoleBreak] = ()

    def dialogues(self) -> Iterator[str]:
        """Yield the labels of the dialogues with at least one such role break, in order of the plan."""
        return (label for label, _ in groupby(self.role_breaks, key=lambda role_break: role_break.dialogue))

    @property
    def n_dialogues(self) -> int:
        """Dialogues with at least one such role break; count."""
        return sum(1 for _ in self.dialogues())
