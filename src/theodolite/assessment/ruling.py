"""Rules: labels that follow from the words of a dialogue, without a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from theodolite.assessment.signs import answered_by_signs, sign_labels
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.annotator import Side, WordRule
from theodolite.domain.dialogue import Dialogue, Turn
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Question, QuestionLevel
from theodolite.domain.scenario import TestPacket, found

NOT_SHOWN = "the dialogue's text is withheld"
"""Why nobody judges a dialogue whose words are not there."""


def by_words(rule: WordRule, guideline: Guideline, dialogue: Dialogue) -> tuple[Answer, ...]:
    """Return what a rule on words says of the one question that it answers, for the dialogue or each turn.

    A turn meets the rule if one of the wanted words is found in it and none of
    the unwanted ones. A rule with unwanted words alone is met where none occurs.
    """
    question = guideline.instrument.question(rule.question) if rule.question else guideline.question
    if dialogue.withheld:
        return (Answer(question=question.name, outcome=Outcome.MISSING, reasoning=NOT_SHOWN),)
    if question.level is QuestionLevel.TURN:
        return tuple(_word_answer(rule, question, (turn,), number=turn.number) for turn in dialogue.turns)
    return (_word_answer(rule, question, dialogue.turns),)


def _word_answer(rule: WordRule, question: Question, turns: Sequence[Turn], number: int | None = None) -> Answer:
    is_met, reason = _met(rule, turns)
    return Answer(
        question=question.name,
        outcome=Outcome.ANSWERED,
        value=rule.then if is_met else rule.otherwise,
        turn=number,
        reasoning=reason,
    )


def _met(rule: WordRule, turns: Sequence[Turn]) -> tuple[bool, str]:
    """Return whether some turns meet a rule, and why."""
    for turn in turns:
        wanted = next(_hits(rule.any_of, rule.where, turn), "")
        unwanted = next(_hits(rule.none_of, rule.where, turn), "")
        if unwanted and not rule.any_of:
            return False, f"turn {turn.number} says `{unwanted}`"
        if wanted and not unwanted:
            return True, f"turn {turn.number} says `{wanted}`"
    sides = {Side.PROMPT: "a prompt", Side.RESPONSE: "a response", Side.BOTH: "a turn"}
    return not rule.any_of, f"none of the rule's words occurs in {sides[rule.where]}"


def _hits(patterns: Sequence[str], where: Side, turn: Turn) -> Iterator[str]:
    sides = {Side.PROMPT: (turn.prompt,), Side.RESPONSE: (turn.response,), Side.BOTH: (turn.prompt, turn.response)}
    for side in sides[where]:
        for pattern in patterns:
            hit = re.search(pattern, side, re.IGNORECASE)
            if hit:
                yield hit.group() or pattern


def by_packet(packet: TestPacket, guideline: Guideline, dialogue: Dialogue) -> tuple[Answer, ...]:
    """Return what the signs of a scenario's test packet say of each question that they can answer."""
    questions = answered_by_signs(guideline) or guideline.instrument.questions
    return tuple(_packet_answer(packet, guideline, question, dialogue) for question in questions)


def _packet_answer(packet: TestPacket, guideline: Guideline, question: Question, dialogue: Dialogue) -> Answer:
    labels = sign_labels(guideline, question)
    signs = labels.signs(packet) if labels else ()
    if dialogue.withheld:
        return Answer(question=question.name, outcome=Outcome.MISSING, reasoning=NOT_SHOWN)
    if not (labels and signs):
        reason = f"the test packet of `{dialogue.scenario}` has no signs for this question"
        return Answer(question=question.name, outcome=Outcome.MISSING, reasoning=reason)
    for turn in dialogue.turns:
        if words := found(signs, turn.response):
            reason = f"turn {turn.number} says `{words}`"
            return Answer(question=question.name, outcome=Outcome.ANSWERED, value=labels.found, reasoning=reason)
    reason = "none of the packet's signs occurs in a response"
    return Answer(question=question.name, outcome=Outcome.ANSWERED, value=labels.absent, reasoning=reason)
