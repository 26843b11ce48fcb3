"""Role breaks of simulated users, found by rules that people can read.

A judge could see more, but would be one more model to trust; a rule can be read.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from theodolite.domain.dialogue import Dialogue, Ending, TesterType, Turn
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.role_break import (
    RoleBreak,
    RoleBreakCheck,
    RoleBreakKind,
    RoleBreakRule,
    RoleBreakRules,
)
from theodolite.domain.scenario import Scenario

SHOWN = 80
"""Letters of a repeated prompt that a finding shows at most; count."""

OF_ATTACKERS = frozenset({RoleBreakKind.REFUSAL, RoleBreakKind.SPEAKS_AS_MODEL})
"""Role breaks that a model may have which writes the words of an attack; the others belong to its trade."""

_WORD = re.compile(r"\w+")

_AT_ONCE = 256
"""Role breaks that are packed together; count."""


class PackedLapses:
    """Role breaks in order, packed: a run of many dialogues has many, and each with words of its own."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self._packed: list[bytes] = []
        self._loose: list[tuple[str, int, str]] = []

    def append(self, role_break: RoleBreak) -> None:
        """Put a role break at the end."""
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
    """Looks at dialogues, one at a time, and keeps the role breaks that it finds.

    Args:
        rules: By what role breaks are found.
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

        A simulated red teamer insists and plays parts on purpose; that is its strategy and no role break.
        Where a model writes its words, it may decline to, or say what it is, as any other.
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
        """Return one check for each rule, those without a finding too; none where it looked at no dialogue."""
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
    """What a tester wrote in a turn, ready for all rules.

    Attributes:
        turn: The turn.
        plain: Its prompt with plain apostrophes.
        small: The same in small letters; None where letters are not only those of English.
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
            if found := known.first(prompt, rule.hints):
                yield RoleBreak(dialogue=dialogue.label, turn=prompt.turn.number, words=found)


def written_turns(dialogue: Dialogue) -> list[Turn]:
    """Return the turns whose prompts the tester wrote; a fixed first prompt is the study's own."""
    starter = dialogue.persona.starter if dialogue.persona else ""
    return [turn for turn in dialogue.turns if turn.prompt and not (turn.number == 1 and turn.prompt == starter)]


def _model_turns(dialogue: Dialogue) -> list[Turn]:
    """Return the turns of an attack whose prompts a model wrote; the others' words are those of the strategy."""
    return [turn for turn in dialogue.turns if turn.prompt and turn.prompt_at is not None]


def _left_early(dialogue: Dialogue, rules: RoleBreakRules, limit: int) -> Iterator[RoleBreak]:
    n_turns = len(dialogue.turns)
    if dialogue.ending is Ending.STOP_RULE and n_turns <= rules.few_turns and limit >= rules.long_limit:
        yield RoleBreak(dialogue=dialogue.label, turn=n_turns, words=f"left after {n_turns} of {limit} turns")


def _echoes(dialogue: Dialogue, turns: Sequence[Turn], rules: RoleBreakRules) -> Iterator[RoleBreak]:
    """Yield the prompts that repeat a reply of the application: the user has taken its role."""
    told = cache(_told)  # a reply is compared with every prompt that follows
    for turn in turns:
        length = len(turn.prompt)
        earlier = (one.response for one in dialogue.turns[: turn.number - 1])
        near = [told(text) for text in earlier if len(text) < 2 * length < 4 * len(text)]  # others need no look
        own = told(turn.prompt) if near else ("", set())
        if len(own[1]) >= rules.echoed_words and any(_in_common(own, text) >= rules.same_words for text in near):
            yield RoleBreak(dialogue=dialogue.label, turn=turn.number, words=_beginning(turn.prompt))


def _repetitions(dialogue: Dialogue, turns: Sequence[Turn], same_words: float) -> Iterator[RoleBreak]:
    said = [_told(turn.prompt) for turn in turns]
    for place, turn in enumerate(turns):
        if any(_in_common(said[place], earlier) >= same_words for earlier in said[:place]):
            yield RoleBreak(dialogue=dialogue.label, turn=turn.number, words=_beginning(turn.prompt))


def _told(text: str) -> tuple[str, set[str]]:
    """Return a text and its words, to be compared with others."""
    return text.strip(), set(_WORD.findall(text.casefold()))


def _beginning(prompt: str) -> str:
    """Return as much of a prompt as it is known again by; all of it stands in its dialogue."""
    return prompt if len(prompt) <= SHOWN else f"{prompt[: SHOWN - 1]}…"


def _in_common(first: tuple[str, set[str]], second: tuple[str, set[str]]) -> float:
    """Return the share of words that two texts, each with its words, have in common: in both / in either; fraction."""
    both, either = len(first[1] & second[1]), len(first[1] | second[1])
    return both / either if either else float(first[0] == second[0])


class _Rule(NamedTuple):
    """One rule's words, ready to be looked for.

    Attributes:
        pattern: Finds them.
        in_small: Finds them in a text of small letters, three times as fast; None where that need not be the same.
    """

    pattern: re.Pattern[str]
    in_small: re.Pattern[str] | None

    def first(self, prompt: _Prompt, hints: Sequence[str]) -> str:
        """Return the first words that are found, in the letters of the prompt; empty where there are none."""
        small = prompt.small
        if small is not None:
            if hints and not any(map(small.__contains__, hints)):
                return ""
            if self.in_small is not None and self.in_small.search(small) is None:
                return ""
        found = self.pattern.search(prompt.plain)
        return found.group() if found else ""


@cache
def _rule(words: tuple[str, ...]) -> _Rule:
    joined = "|".join(f"(?:{one})" for one in words)
    is_small = joined.isascii() and joined == joined.lower()
    return _Rule(re.compile(joined, re.IGNORECASE), re.compile(joined) if is_small else None)
