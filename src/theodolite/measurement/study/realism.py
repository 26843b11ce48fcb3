"""Realism of simulated users: style and defect rates beside those of people, and role breaks."""

from __future__ import annotations

import json
import math
import re
import unicodedata
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Final, NamedTuple

import numpy as np

from theodolite.domain.dialogue import Dialogue, Ending, Level, TesterType, Turn
from theodolite.domain.estimate import Estimate, Measurement, Undefined
from theodolite.domain.estimate_subject import EstimateSubject, Measure
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.realism import (
    GroupCover,
    RateContrast,
    Realism,
    RoleBreak,
    RoleBreakCheck,
    RoleBreakKind,
    RoleBreakRule,
    RoleBreakRules,
    SpokenSide,
    StyleContrast,
    StyleMark,
    StyleSpread,
)
from theodolite.domain.plan import Sessions, Setting
from theodolite.domain.scenario import Scenario
from theodolite.domain.undefined_reasons import DIFFERENT_APPLICATIONS, NO_DIALOGUE_OF_SIDE, NO_LABEL, TOO_FEW_VALUES
from theodolite.measurement.comparison import unpaired_difference
from theodolite.measurement.labels import shared_clusters
from theodolite.measurement.proportion import DIALOGUES, defect_rate
from theodolite.measurement.scores import mean_estimate

CONFIDENCE: Final = 0.95
"""Coverage of the intervals; fraction."""


def realisms(evidence: Evidence, measurements: Sequence[Measurement]) -> Iterator[Realism]:
    """Yield a comparison of people with simulated users for each scenario that has dialogues of both.

    Levels of testing and kinds of people (on this server, recorded) are compared
    separately; red teamers only with red teamers. Nothing is pooled.

    Args:
        evidence: All records of one run.
        measurements: Its defect rates.

    Source:
        Means: `mean_estimate`, clusters are personas; differences: `unpaired_difference`; rates: `defect_rate`.
    """
    sides = style_sides(evidence)
    for people, simulated in product(sides, sides):
        if are_comparable(_condition_of(people), _condition_of(simulated)):
            yield Realism(
                people=people,
                simulated=simulated,
                styles=tuple(_style(mark, people, simulated) for mark in StyleMark),
                rates=tuple(_rates(evidence, measurements, people, simulated)),
                groups=tuple(_covers(people, simulated)),
            )


def _condition_of(side: SpokenSide) -> Condition:
    return side.scenario, side.level, side.held_by


def _style(mark: StyleMark, people: SpokenSide, simulated: SpokenSide) -> StyleContrast:
    first, second = _spread(mark, people), _spread(mark, simulated)
    return StyleContrast(
        mark=mark, people=first, simulated=second, difference=unpaired_difference(first.mean, second.mean)
    )


def _spread(mark: StyleMark, side: SpokenSide) -> StyleSpread:
    numbers = np.array(side.marks[mark], dtype=np.float64)
    known = np.isfinite(numbers)
    known_clusters = [cluster for cluster, is_known in zip(side.clusters, known, strict=True) if is_known]
    clusters = shared_clusters(known_clusters)
    values = numbers[known]
    mean = mean_estimate(values, clusters=clusters, confidence=CONFIDENCE, unit=mark.value)
    low, middle, high = np.percentile(values, (25, 50, 75)) if len(values) else (0.0, 0.0, 0.0)
    quartiles = (float(low), float(middle), float(high)) if len(values) else None
    return StyleSpread(mean=_honest(mean, mark), quartiles=quartiles)


def _honest(mean: Estimate | Undefined, mark: StyleMark) -> Estimate | Undefined:
    """Return a mean without an interval of width 0, and with shares within 0 and 1."""
    if isinstance(mean, Undefined):
        return replace(mean, reason=TOO_FEW_VALUES)
    if mean.low is None or mean.high is None or mean.low == mean.high:
        return replace(mean, low=None, high=None, method=f"{mean.method}; no dialogue differs, so no interval")
    return replace(mean, low=max(mean.low, 0.0), high=min(mean.high, 1.0) if mark.is_share else mean.high)


def _rates(
    evidence: Evidence, measurements: Iterable[Measurement], people: SpokenSide, simulated: SpokenSide
) -> Iterator[RateContrast]:
    """Yield every whole defect rate, each of one application and annotator."""
    by_subject: dict[EstimateSubject, dict[str, Estimate | Undefined]] = {}
    for measurement in measurements:
        if measurement.measure is not Measure.DEFECT_RATE or measurement.subject.group:
            continue
        subject = replace(measurement.subject, level=None, tester_type=None)
        for name, side in (("people", people), ("simulated", simulated)):
            rate = _rate_in(evidence, measurement, side)
            if rate is not None:
                by_subject.setdefault(subject, {})[name] = rate
    for subject, rates in by_subject.items():
        yield _contrast(subject, rates.get("people"), rates.get("simulated"))


def _contrast(
    subject: EstimateSubject, people: Estimate | Undefined | None, simulated: Estimate | Undefined | None
) -> RateContrast:
    absent = Undefined(reason=NO_DIALOGUE_OF_SIDE, unit=DIALOGUES)
    first, second = people or absent, simulated or absent
    is_alone = people is None or simulated is None
    return RateContrast(
        subject=subject,
        people=first,
        simulated=second,
        difference=Undefined(reason=DIFFERENT_APPLICATIONS) if is_alone else unpaired_difference(first, second),
    )


def _rate_in(evidence: Evidence, measurement: Measurement, side: SpokenSide) -> Estimate | Undefined | None:
    """Return a rate limited to one side; None if it does not concern that side.

    A rate of only this side is unchanged.
    """
    if measurement.application not in side.applications:
        return None
    defects, non_defects, unlabelled = (
        [cluster for cluster in _clusters(evidence, labels, side) if cluster is not None]
        for labels in (measurement.dialogues, measurement.non_defects, measurement.unlabelled)
    )
    n_on_side = len(defects) + len(non_defects) + len(unlabelled)
    if n_on_side == len(measurement.dialogues) + len(measurement.non_defects) + len(measurement.unlabelled):
        return measurement.result if n_on_side else None
    if not defects and not non_defects:
        return Undefined(reason=NO_LABEL, unit=DIALOGUES) if unlabelled else None
    labelled, bad = Counter(defects + non_defects), Counter(defects)
    shared = len(labelled) < labelled.total()
    pairs = [(bad[cluster], n) for cluster, n in labelled.items()] if shared else None
    return defect_rate(len(defects), labelled.total(), clusters=pairs)


def _clusters(evidence: Evidence, labels: Iterable[str], side: SpokenSide) -> Iterator[str | None]:
    """Yield the cluster of each dialogue; None for dialogues of another side."""
    for label in labels:
        position = evidence.sessions.find(label)
        setting = None if position is None else evidence.answers.settings[position]
        is_ours = setting is not None and (setting.scenario, setting.level, setting.held_by) == _condition_of(side)
        yield (setting.cluster or label) if setting is not None and is_ours else None


def _covers(people: SpokenSide, simulated: SpokenSide) -> Iterator[GroupCover]:
    for name in dict.fromkeys((*people.groups, *simulated.groups)):
        first, second = people.groups.get(name, ()), simulated.groups.get(name, ())
        yield GroupCover(
            name=name,
            both=tuple(value for value in first if value in second),
            people_only=tuple(value for value in first if value not in second),
            simulated_only=tuple(value for value in second if value not in first),
        )


PEOPLE: Final = frozenset({TesterType.PERSON, TesterType.RECORDED})
"""Testers that count as people; a recording counts if its prompts are people's."""

Condition = tuple[str, Level, TesterType]
"""Scenario, level of testing and tester type."""

_WORD = re.compile(r"\w+")

_QUESTION_MARKS = re.compile("[?\uff1f\u061f\u037e\u055e]")


class RealismBook:
    """Reads dialogues one at a time and stores six numbers of each.

    Only scenarios with both people and simulated users are compared.

    Args:
        sessions: The sessions of the plan.
    """

    def __init__(self, sessions: Sessions) -> None:
        planned = dict.fromkeys(_condition(sessions.setting(position)) for position in range(len(sessions)))
        self._pages = {position: _StylePage(position) for position in planned if _is_compared(position, planned)}

    def look(self, dialogue: Dialogue) -> None:
        """Read a dialogue; one with withheld prompts is not counted."""
        page = self._pages.get((dialogue.scenario, dialogue.level, dialogue.held_by))
        if page is not None and not dialogue.withheld:
            page.enter(dialogue)

    def sides(self) -> tuple[SpokenSide, ...]:
        """Return the style of each condition that has a dialogue."""
        return tuple(page.side() for page in self._pages.values() if page.clusters)


class _StylePage:
    """The style measurements of one condition."""

    def __init__(self, position: Condition) -> None:
        self._condition = position
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


def style_sides(evidence: Evidence) -> tuple[SpokenSide, ...]:
    """Return the style of each condition in scenarios with both people and simulated users."""
    if evidence.spoken is not None:
        return evidence.spoken
    book = RealismBook(evidence.sessions)
    for dialogue in evidence.archive.dialogues():
        book.look(dialogue)
    return book.sides()


def are_comparable(people: Condition, simulated: Condition) -> bool:
    """Return whether two conditions are of the same scenario, one with people and one with simulated users.

    Red teamers are compared only with red teamers: a person who tries to break
    something writes differently from an ordinary user.
    """
    are_two = people[2] in PEOPLE and simulated[2] is TesterType.SIMULATED_USER
    attack = [position[1] is Level.RED_TEAMING for position in (people, simulated)]
    return are_two and people[0] == simulated[0] and attack[0] == attack[1]


def prompt_mark(mark: StyleMark, prompt: str) -> float | None:
    """Return the value of a style mark in one prompt; None if it is undefined there.

    Args:
        mark: Any but the number of turns.
        prompt: The tester's prompt.

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
    result = [value for value in (prompt_mark(mark, prompt) for prompt in prompts) if value is not None]
    return sum(result) / len(result) if result else math.nan


def _condition(setting: Setting) -> Condition:
    return setting.scenario, setting.level, setting.held_by


def _is_compared(position: Condition, planned: Iterable[Condition]) -> bool:
    return any(are_comparable(position, other) or are_comparable(other, position) for other in planned)


SHOWN = 80
"""Maximum length of a repeated prompt in a finding; characters."""

OF_ATTACKERS = frozenset({RoleBreakKind.REFUSAL, RoleBreakKind.SPEAKS_AS_MODEL})
"""Role breaks that count for a model that writes the words of an attack; the others are part of its task."""

_AT_ONCE = 256
"""Number of role breaks that are packed together; count."""


class PackedLapses:
    """Role breaks in order, packed, because a large run has many with different words."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self._packed: list[bytes] = []
        self._loose: list[tuple[str, int, str]] = []

    def append(self, role_break: RoleBreak) -> None:
        """Append a role break."""
        self._loose.append((role_break.dialogue, role_break.turn, role_break.words))
        if len(self._loose) == _AT_ONCE:
            self._packed.append(zlib.compress(json.dumps(self._loose).encode(), 1))
            self._loose = []

    def __iter__(self) -> Iterator[RoleBreak]:
        """Yield all of them."""
        for pack in self._packed:
            yield from (RoleBreak(dialogue=label, turn=turn, words=words) for label, turn, words in _unpacked(pack))
        yield from (RoleBreak(dialogue=label, turn=turn, words=words) for label, turn, words in self._loose)


def _unpacked(pack: bytes) -> list[tuple[str, int, str]]:
    rows: list[tuple[str, int, str]] = json.loads(zlib.decompress(pack))
    return rows


class RoleBreakBook:
    """Reads dialogues one at a time and stores their role breaks.

    Args:
        rules: Rules that detect role breaks.
        scenarios: For their turn limits.
    """

    def __init__(self, rules: RoleBreakRules, scenarios: Iterable[Scenario]) -> None:
        self._rules = rules
        self._limits = {scenario.name: scenario.turns for scenario in scenarios}
        self._n: Counter[RoleBreakKind] = Counter()
        self._unread: Counter[RoleBreakKind] = Counter()
        self._found = {rule.kind: PackedLapses() for rule in rules.rules}

    def look(self, dialogue: Dialogue) -> None:
        """Check a dialogue by every applicable rule; only dialogues of simulated users are checked.

        A simulated red teamer insists and plays roles on purpose; that is its strategy, not a role break.
        A model that writes them may still refuse, or say that it is a model.
        """
        if dialogue.held_by is not TesterType.SIMULATED_USER:
            return
        turns = _model_turns(dialogue) if dialogue.strategies else written_turns(dialogue)
        if dialogue.strategies and not turns:
            return
        knows = dialogue.persona is None or self._rules.know(dialogue.persona.language)
        limit, prompts = self._limits.get(dialogue.scenario, 1), [_Prompt.of(turn) for turn in turns]
        for rule in self._rules.rules:
            if dialogue.strategies and rule.kind not in OF_ATTACKERS:
                continue
            self._n[rule.kind] += 1
            self._unread[rule.kind] += bool(rule.words) and not knows
            for role_break in _role_breaks(dialogue, prompts, rule, self._rules, limit):
                self._found[rule.kind].append(role_break)

    def checks(self) -> tuple[RoleBreakCheck, ...]:
        """Return one check for each rule, including those without a finding; empty if no dialogue was read."""
        return tuple(
            RoleBreakCheck(
                kind=rule.kind,
                meaning=rule.meaning,
                n=self._n[rule.kind],
                unread=self._unread[rule.kind],
                role_breaks=self._found[rule.kind],
            )
            for rule in self._rules.rules
            if self._n[rule.kind]
        )


def role_break_checks(evidence: Evidence, rules: RoleBreakRules) -> tuple[RoleBreakCheck, ...]:
    """Check every dialogue of a simulated user by every rule."""
    book = RoleBreakBook(rules, evidence.study.scenarios)
    for dialogue in evidence.archive.dialogues():
        book.look(dialogue)
    return book.checks()


class _Prompt(NamedTuple):
    """A tester's text in a turn, prepared for all rules.

    Attributes:
        turn: The turn.
        plain: Its prompt with plain apostrophes.
        small: Its prompt in lower case; None if it contains letters other than those of English.
    """

    turn: Turn
    plain: str
    small: str | None

    @classmethod
    def of(cls, turn: Turn) -> _Prompt:
        plain = turn.prompt.replace("\u2019", "'")
        return cls(turn, plain, plain.lower() if plain.isascii() else None)


def _role_breaks(
    dialogue: Dialogue, prompts: Sequence[_Prompt], rule: RoleBreakRule, rules: RoleBreakRules, limit: int
) -> Iterator[RoleBreak]:
    if rule.kind is RoleBreakKind.REPETITION:
        yield from _repetitions(dialogue, [prompt.turn for prompt in prompts], rules.same_words)
        return
    if rule.kind is RoleBreakKind.ROLE_FLIP:
        yield from _echoes(dialogue, [prompt.turn for prompt in prompts], rules)
    if rule.kind is RoleBreakKind.EARLY_GOODBYE:
        yield from _left_early(dialogue, rules, limit)
        prompts = [prompt for prompt in prompts if prompt.turn.number < len(dialogue.turns)]
    if rule.words:
        known = _rule(rule.words)
        for prompt in prompts:
            if result := known.first(prompt, rule.hints):
                yield RoleBreak(dialogue=dialogue.label, turn=prompt.turn.number, words=result)


def written_turns(dialogue: Dialogue) -> list[Turn]:
    """Return the turns whose prompts the tester wrote; a fixed first prompt is the study's own."""
    starter = dialogue.persona.starter if dialogue.persona else ""
    return [turn for turn in dialogue.turns if turn.prompt and not (turn.number == 1 and turn.prompt == starter)]


def _model_turns(dialogue: Dialogue) -> list[Turn]:
    """Return the turns of an attack with prompts by a model; the others have the strategy's texts."""
    return [turn for turn in dialogue.turns if turn.prompt and turn.prompt_at is not None]


def _left_early(dialogue: Dialogue, rules: RoleBreakRules, limit: int) -> Iterator[RoleBreak]:
    n_turns = len(dialogue.turns)
    if dialogue.ending is Ending.STOP_RULE and n_turns <= rules.few_turns and limit >= rules.long_limit:
        yield RoleBreak(dialogue=dialogue.label, turn=n_turns, words=f"left after {n_turns} of {limit} turns")


def _echoes(dialogue: Dialogue, turns: Sequence[Turn], rules: RoleBreakRules) -> Iterator[RoleBreak]:
    """Yield the prompts that repeat a reply of the application: the user has taken its role."""
    prepared = cache(_prepared)  # a reply is compared with every prompt that follows
    for turn in turns:
        length = len(turn.prompt)
        earlier = (one.response for one in dialogue.turns[: turn.number - 1])
        near = [prepared(text) for text in earlier if len(text) < 2 * length < 4 * len(text)]  # others need no look
        own = prepared(turn.prompt) if near else ("", set())
        if len(own[1]) >= rules.echoed_words and any(_in_common(own, text) >= rules.same_words for text in near):
            yield RoleBreak(dialogue=dialogue.label, turn=turn.number, words=_beginning(turn.prompt))


def _repetitions(dialogue: Dialogue, turns: Sequence[Turn], same_words: float) -> Iterator[RoleBreak]:
    prompts = [_prepared(turn.prompt) for turn in turns]
    for position, turn in enumerate(turns):
        if any(_in_common(prompts[position], earlier) >= same_words for earlier in prompts[:position]):
            yield RoleBreak(dialogue=dialogue.label, turn=turn.number, words=_beginning(turn.prompt))


def _prepared(text: str) -> tuple[str, set[str]]:
    """Return a text and its words, for comparison with others."""
    return text.strip(), set(_WORD.findall(text.casefold()))


def _beginning(prompt: str) -> str:
    """Return the start of a prompt, enough to recognise it; the dialogue contains all of it."""
    return prompt if len(prompt) <= SHOWN else f"{prompt[: SHOWN - 1]}…"


def _in_common(first: tuple[str, set[str]], second: tuple[str, set[str]]) -> float:
    """Return the number of words in both of two texts over the number in either; fraction."""
    both, either = len(first[1] & second[1]), len(first[1] | second[1])
    return both / either if either else float(first[0] == second[0])


class _Rule(NamedTuple):
    """One rule's compiled patterns.

    Attributes:
        pattern: Finds them.
        in_small: Finds them in a lower-case text, three times as fast; None if the result could differ.
    """

    pattern: re.Pattern[str]
    in_small: re.Pattern[str] | None

    def first(self, prompt: _Prompt, hints: Sequence[str]) -> str:
        """Return the first match in the spelling of the prompt; empty if there is none."""
        small = prompt.small
        if small is not None:
            if hints and not any(map(small.__contains__, hints)):
                return ""
            if self.in_small is not None and self.in_small.search(small) is None:
                return ""
        result = self.pattern.search(prompt.plain)
        return result.group() if result else ""


@cache
def _rule(words: tuple[str, ...]) -> _Rule:
    joined = "|".join(f"(?:{word})" for word in words)
    is_small = joined.isascii() and joined == joined.lower()
    return _Rule(re.compile(joined, re.IGNORECASE), re.compile(joined) if is_small else None)
