"""Lapses of simulated users: rules on words, the same for every run.

A judge could see more, but would be one more model to trust; a rule can be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from theodolite.domain.dialogue import Dialogue, Ending, HeldBy, Turn
from theodolite.domain.evidence import Evidence
from theodolite.domain.lapse import Lapse, LapseCheck, LapseKind, LapseRule, LapseRules

_WORD = re.compile(r"\w+")


def lapse_checks(evidence: Evidence, rules: LapseRules) -> tuple[LapseCheck, ...]:
    """Look at every dialogue that a simulated user held, by every rule.

    Args:
        evidence: All records of one run.
        rules: By what lapses are found.

    Returns:
        One check for each rule, those without a finding too; none where no
        simulated user held a dialogue.
    """
    # A simulated red teamer insists and plays parts on purpose; that is its strategy and no lapse.
    simulated = [dialogue for dialogue in evidence.dialogues if dialogue.held_by is HeldBy.SIMULATED_USER]
    held = [dialogue for dialogue in simulated if not dialogue.strategies]
    limits = {scenario.name: scenario.turns for scenario in evidence.study.scenarios}
    return tuple(
        LapseCheck(
            kind=rule.kind,
            meaning=rule.meaning,
            n=len(held),
            lapses=tuple(lapse for one in held for lapse in _lapses(one, rule, rules, limits.get(one.scenario, 1))),
        )
        for rule in rules.rules
        if held
    )


def _lapses(dialogue: Dialogue, rule: LapseRule, rules: LapseRules, limit: int) -> Iterator[Lapse]:
    turns = _written(dialogue)
    if rule.kind is LapseKind.REPETITION:
        yield from _repetitions(dialogue, turns, rules.same_words)
        return
    if rule.kind is LapseKind.EARLY_GOODBYE:
        yield from _left_early(dialogue, rules, limit)
        turns = [turn for turn in turns if turn.number < len(dialogue.turns)]
    for turn in turns:
        found = _first(rule.words, turn.prompt)
        if found:
            yield Lapse(dialogue=dialogue.label, turn=turn.number, words=found)


def _written(dialogue: Dialogue) -> list[Turn]:
    """Return the turns whose prompts the model wrote; a fixed first prompt is the study's own."""
    starter = dialogue.persona.starter if dialogue.persona else ""
    return [turn for turn in dialogue.turns if turn.prompt and not (turn.number == 1 and turn.prompt == starter)]


def _left_early(dialogue: Dialogue, rules: LapseRules, limit: int) -> Iterator[Lapse]:
    n_turns = len(dialogue.turns)
    if dialogue.ending is Ending.STOP_RULE and n_turns <= rules.few_turns and limit >= rules.long_limit:
        yield Lapse(dialogue=dialogue.label, turn=n_turns, words=f"left after {n_turns} of {limit} turns")


def _repetitions(dialogue: Dialogue, turns: list[Turn], same_words: float) -> Iterator[Lapse]:
    for place, turn in enumerate(turns):
        if any(_in_common(turn.prompt, earlier.prompt) >= same_words for earlier in turns[:place]):
            yield Lapse(dialogue=dialogue.label, turn=turn.number, words=turn.prompt)


def _in_common(first: str, second: str) -> float:
    """Return the share of words that two texts have in common: in both / in either; fraction."""
    ours, theirs = (set(_WORD.findall(text.casefold())) for text in (first, second))
    either = ours | theirs
    return len(ours & theirs) / len(either) if either else float(first.strip() == second.strip())


@cache
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{one})" for one in words), re.IGNORECASE)


def _first(words: tuple[str, ...], text: str) -> str:
    found = _pattern(words).search(text.replace("\u2019", "'")) if words else None
    return found.group() if found else ""
