"""What another version of a category touches: its questions, those that follow them, and what answers them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from theodolite.assessment.drawing import allot, draw
from theodolite.assessment.schema_changes import answers_of, meanings_of
from theodolite.domain.annotating.rewording import DialogueAnswers, QuestionTouch, Touch
from theodolite.domain.guideline import DefectRule, Guideline, Origin
from theodolite.domain.identity import canonical_json
from theodolite.domain.instrument import Question


def touched(before: Guideline, after: Guideline) -> tuple[QuestionTouch, ...]:
    """Return the questions that another version touches, those of the later version first and in its order.

    A definition or notes that read otherwise touch every question of the category in words; a question
    that is asked after a touched one is touched through it, since others are asked it now.

    Args:
        before: The version that was answered by.
        after: The version that follows.
    """
    was = {one.name: one for one in before.instrument.questions}
    now = {one.name: one for one in after.instrument.questions}
    direct = {name: _direct(was.get(name), one, before, after) for name, one in now.items()}
    found = []
    for name, (kinds, told) in direct.items():
        through = _through(name, now, {each for each, (touches, _) in direct.items() if touches})
        if kinds or through:
            found.append(QuestionTouch(question=name, kinds=kinds or (Touch.THROUGH,), told=told, through=through))
    found += [QuestionTouch(question=name, kinds=(Touch.GONE,)) for name in was if name not in now]
    return tuple(found)


def is_same(one: Guideline, other: Guideline) -> bool:
    """Tell whether two guidelines say the same, wherever they come from."""
    here, there = (canonical_json(replace(each, origin=Origin.STUDY)) for each in (one, other))
    return here == there


def _direct(
    was: Question | None, now: Question, before: Guideline, after: Guideline
) -> tuple[tuple[Touch, ...], tuple[str, ...]]:
    """Return how a question itself is touched, and in which words."""
    if was is None:
        return (Touch.NEW,), ()
    compared = (
        (Touch.WORDS, "reads otherwise", was.text, now.text),
        (Touch.WORDS, "explains its answers otherwise", meanings_of(was.scale), meanings_of(now.scale)),
        (Touch.WORDS, "has other notes or examples", (was.guidance, was.exemplars), (now.guidance, now.exemplars)),
        (Touch.WORDS, "stands under another definition", before.definition, after.definition),
        (Touch.WORDS, "stands under other notes of its category", before.guidance, after.guidance),
        (Touch.ANSWERS, "takes other answers", answers_of(was), answers_of(now)),
        (Touch.ANSWERS, "has another bad end", was.scale.orientation, now.scale.orientation),
        (Touch.ANSWERS, "has other answers that are defects", _rules(before, now.name), _rules(after, now.name)),
        (Touch.PLACE, "is asked of something else", was.level, now.level),
        (Touch.PLACE, "is asked after another answer", was.when, now.when),
    )
    differing = [(kind, words) for kind, words, one, other in compared if one != other]
    return tuple(dict.fromkeys(kind for kind, _ in differing)), tuple(words for _, words in differing)


def _rules(guideline: Guideline, question: str) -> list[tuple[str, str, Mapping[str, str]]]:
    rules = (rule for rule in guideline.defect_rules if rule.question == question)
    return [(rule.condition, rule.violation.value, dict(rule.among)) for rule in rules]


def _through(name: str, questions: Mapping[str, Question], touched_ones: set[str]) -> tuple[str, ...]:
    """Return the touched questions that one is asked after, the nearest first."""
    found: list[str] = []
    seen = {name}
    here = questions[name]
    while here.when is not None and here.when.question in questions and here.when.question not in seen:
        seen.add(here.when.question)
        here = questions[here.when.question]
        if here.name in touched_ones:
            found.append(here.name)
    return tuple(found)


def rule_of(guideline: Guideline, question: str) -> DefectRule | None:
    """Return the first rule that says which answers to a question are defects; None where none does."""
    return next((rule for rule in guideline.defect_rules if rule.question == question), None)


def strata_of(answered: Sequence[DialogueAnswers]) -> dict[str, list[str]]:
    """Return the keys of dialogues by scenario and old answers; those without any value are no part of it."""
    strata: dict[str, list[str]] = {}
    for one in sorted(answered, key=lambda one: (one.stratum, one.dialogue)):
        if any(value is not None for _, _, value in one.said):
            strata.setdefault(one.stratum, []).append(one.dialogue)
    return strata


def drawn_again(strata: Mapping[str, Sequence[str]], n: int, seed: int) -> dict[str, tuple[str, ...]]:
    """Return which dialogues of each stratum are annotated again: in proportion, so that none weighs more.

    Args:
        strata: Scenario and old answers to the keys of dialogues.
        n: Dialogues wanted; count.
        seed: Of the draw; a larger sample holds the smaller one of its stratum.
    """
    shares = allot({name: len(keys) for name, keys in strata.items()}, dict.fromkeys(strata, 1.0), n, least=0)
    return draw(strata, shares, seed)
