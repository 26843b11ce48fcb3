"""Rules: labels that follow from the words of a dialogue, without a model."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from theodolite.assessment.signs import answered_by_signs, sign_labels
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.annotator import Side, TextCheck, WordRule
from theodolite.domain.dialogue import Dialogue, Turn
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Question, QuestionLevel
from theodolite.domain.scenario import TestPacket, found

NOT_SHOWN = "the dialogue's text is withheld"
"""Why nobody judges a dialogue whose words are not there."""


EXPECTED = re.compile(r"\{\{\s*expected\s*\}\}")
"""Where the text of a rule names the expected answer of a case."""


def by_words(rule: WordRule, guideline: Guideline, dialogue: Dialogue, expected: str = "") -> tuple[Answer, ...]:
    """Return what a rule on words says of the one question that it answers, for the dialogue or each turn.

    A turn meets the rule if one of the wanted words is found in it and none of
    the unwanted ones. A rule with unwanted words alone is met where none occurs.
    A rule with a `check` compares the last response with its text or with the expected answer.
    """
    question = guideline.instrument.question(rule.question) if rule.question else guideline.question
    if dialogue.withheld:
        return (Answer(question=question.name, outcome=Outcome.MISSING, reasoning=NOT_SHOWN),)
    if rule.check is not None:
        return (_checked(rule, rule.check, question, dialogue, expected),)
    if question.level is QuestionLevel.TURN:
        return tuple(_word_answer(rule, question, (turn,), number=turn.number) for turn in dialogue.turns)
    return (_word_answer(rule, question, dialogue.turns),)


def _checked(rule: WordRule, check: TextCheck, question: Question, dialogue: Dialogue, expected: str) -> Answer:
    """Return what comparing the last response with a text says; missing where the case expects nothing."""
    if EXPECTED.search(rule.text) and not expected:
        reason = "the case has no expected answer"
        return Answer(question=question.name, outcome=Outcome.MISSING, reasoning=reason)
    wanted = EXPECTED.sub(lambda _: expected, rule.text)
    response = dialogue.turns[-1].response if dialogue.turns else ""
    is_met = _agrees(check, response, wanted)
    met, unmet = _REASONS[check]
    return Answer(
        question=question.name,
        outcome=Outcome.ANSWERED,
        value=rule.then if is_met else rule.otherwise,
        reasoning=f"the response {met if is_met else unmet} `{wanted}`",
    )


_REASONS = {
    TextCheck.EQUALS: ("equals", "is not"),
    TextCheck.CONTAINS: ("contains", "does not contain"),
    TextCheck.NUMBER: ("contains the number", "does not contain the number"),
}
"""Reasons of a rule that compares, if it is met and if not."""


def _agrees(check: TextCheck, response: str, wanted: str) -> bool:
    match check:
        case TextCheck.EQUALS:
            return response.strip() == wanted.strip()
        case TextCheck.CONTAINS:
            return wanted.strip().casefold() in response.casefold()
        case TextCheck.NUMBER:
            return any(math.isclose(number, _number(wanted), rel_tol=1e-9) for number in _numbers(response))


def _numbers(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in re.findall(r"-?\d[\d,]*(?:\.\d+)?", text)]


def _number(text: str) -> float:
    return next(iter(_numbers(text)), math.nan)


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
