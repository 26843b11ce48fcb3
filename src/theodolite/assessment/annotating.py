"""Annotations of one dialogue by each kind of annotator: judges, rules, signs and labels."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import assert_never

from theodolite.assessment.json_schema import reply_mismatch
from theodolite.assessment.judge.judging import BelowHalf, Judgement, judgement
from theodolite.assessment.judge.prompt import PROMPT_VERSION
from theodolite.assessment.judge.verdict import unread, verdict_of
from theodolite.domain.annotation import Adjudication, AdjudicationOrigin, Annotation, Answer, Outcome
from theodolite.domain.annotator import (
    VOTE_VERSION,
    Annotator,
    HandLabels,
    ModelJudge,
    PacketRule,
    PythonLabeller,
    RecordedLabels,
    Side,
    TextCheck,
    WordRule,
)
from theodolite.domain.dialogue import Dialogue, Turn
from theodolite.domain.errors import InputError
from theodolite.domain.flow import AskFunction, Exchange, Flow
from theodolite.domain.guideline import DefectRule, Guideline, Violation
from theodolite.domain.identity import digest
from theodolite.domain.instrument import Operator, Question, QuestionLevel
from theodolite.domain.scenario import TestPacket, found
from theodolite.domain.study import Reference


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationTask:
    """Everything that annotating one dialogue needs to know.

    Attributes:
        unit: Key of the unit of work.
        annotator: Who labels.
        annotator_version: Content hash of the annotator with guideline and model.
        guideline: The questions.
        guideline_version: Content hash of the guideline.
        dialogue: The dialogue of the questions.
        rows: The recorded rows of the dialogue, by turn; empty for live ones.
        packet: The test packet of the dialogue's scenario.
        expected: Expected answer of the test case; empty for none.
        below_half: Probability that a Beta variable is below one half, for votes that stop when a call no longer pays.
    """

    unit: str
    annotator: Annotator
    annotator_version: str
    guideline: Guideline
    guideline_version: str
    dialogue: Dialogue
    rows: Sequence[Mapping[str, str]]
    below_half: BelowHalf
    packet: TestPacket = field(default_factory=TestPacket)
    expected: str = ""

    @property
    def material(self) -> Dialogue:
        """The dialogue, with the expected answer added to its source material, for judges and functions."""
        if not self.expected:
            return self.dialogue
        context = "\n\n".join(filter(None, (self.dialogue.context, f"Expected answer:\n{self.expected}")))
        return replace(self.dialogue, context=context)


def task_version(annotator: Annotator | None = None) -> str:
    """Return the hash of an annotator's rules; those of votes count for voting judges."""
    votes = (
        annotator is not None and isinstance(annotator.labelling, ModelJudge) and annotator.labelling.voting.most > 1
    )
    return digest("annotation", str(PROMPT_VERSION), *([str(VOTE_VERSION)] if votes else []))


def annotate(task: AnnotationTask) -> Flow[Annotation]:
    """Annotate one dialogue; only judges and functions make requests."""
    labelling = task.annotator.labelling
    match labelling:
        case ModelJudge():
            return (yield from _judge(task, labelling))
        case PythonLabeller():
            return (yield from _by_function(task))
        case WordRule():
            return _annotation(task, by_words(labelling, task.guideline, task.dialogue, task.expected))
        case PacketRule():
            return _annotation(task, by_packet(task.packet, task.guideline, task.dialogue))
        case RecordedLabels():
            return _annotation(task, _recorded(_question(task.guideline, labelling), labelling, task.rows))
        case HandLabels():
            message = f"`{task.annotator.name}` labels by hand and cannot be asked by a run"
            raise InputError(message)
        case _:
            assert_never(labelling)


def _question(guideline: Guideline, labels: RecordedLabels) -> Question:
    return guideline.instrument.question(labels.question) if labels.question else guideline.question


def adjudication(
    reference: Reference, guideline: Guideline, dialogue: Dialogue, rows: Sequence[Mapping[str, str]]
) -> Adjudication:
    """Return the final label of a dialogue from its recorded rows: the first that one of them has."""
    labels = RecordedLabels(column=reference.column, spelling=reference.spelling)
    answer = _answer(guideline.question, labels, rows)
    return Adjudication(
        dialogue=dialogue.key,
        guideline=guideline.name,
        question=answer.question,
        outcome=answer.outcome,
        value=answer.value,
        origin=AdjudicationOrigin.RECORDED,
        raw=answer.raw,
    )


def _judge(task: AnnotationTask, judge: ModelJudge) -> Flow[Annotation]:
    if task.dialogue.withheld:
        return _annotation(task, unread(task.guideline, Outcome.MISSING, reasoning=NOT_SHOWN))
    result = yield from judgement(judge, task.guideline, task.material, below_half=task.below_half)
    return _annotation_of(task, result)


def _by_function(task: AnnotationTask) -> Flow[Annotation]:
    if task.dialogue.withheld:
        return _annotation(task, unread(task.guideline, Outcome.MISSING, reasoning=NOT_SHOWN))
    return _annotation(task, (yield from by_function(task.annotator.name, task.guideline, task.material)))


def _recorded(question: Question, labels: RecordedLabels, rows: Sequence[Mapping[str, str]]) -> tuple[Answer, ...]:
    """Return the recorded answers of a dialogue: one for each turn, or one for the whole dialogue."""
    if question.level is QuestionLevel.TURN and rows:
        return tuple(_answer(question, labels, [row], turn=turn) for turn, row in enumerate(rows, start=1))
    return (_answer(question, labels, rows),)


def _answer(
    question: Question, labels: RecordedLabels, rows: Sequence[Mapping[str, str]], *, turn: int | None = None
) -> Answer:
    """Return the first label of the rows; `check` rejects rows that contradict each other."""
    texts = (row.get(labels.column, "").strip() for row in rows)
    written = next((text for text in texts if text), "")
    if not written:
        return Answer(question=question.name, outcome=Outcome.MISSING, turn=turn)
    value = labels.spelling.get(written) or question.scale.matched(written)
    if value is None or not question.scale.admits(value):
        return Answer(question=question.name, outcome=Outcome.UNPARSEABLE, raw=written, turn=turn)
    return Answer(question=question.name, outcome=Outcome.ANSWERED, value=value, turn=turn)


def _annotation(task: AnnotationTask, answers: tuple[Answer, ...]) -> Annotation:
    return _annotation_of(task, Judgement(answers=answers))


def _annotation_of(task: AnnotationTask, found: Judgement) -> Annotation:
    return Annotation(
        unit=task.unit,
        dialogue=task.dialogue.key,
        annotator=task.annotator.name,
        annotator_version=task.annotator_version,
        guideline=task.guideline.name,
        instrument_version=task.guideline_version,
        answers=found.answers,
        scripted=found.scripted,
        votes=found.votes,
        control=found.control,
        answered_as="\n".join(" ".join(name.split()) for name in found.answered_as),
    )


def by_function(annotator: str, guideline: Guideline, dialogue: Dialogue) -> Flow[tuple[Answer, ...]]:
    """Call a function on a dialogue and return its answers.

    It may return only the label if there is one question, or a mapping from
    questions to labels, with optional `reason` and `quotes`. True and false
    mean yes and no; None means unknown.
    """
    reply = yield AskFunction(
        annotator=annotator,
        turns=tuple(Exchange(prompt=turn.prompt, response=turn.response) for turn in dialogue.turns),
        guideline=guideline.name,
        questions=tuple(question.name for question in guideline.instrument.questions),
        context=dialogue.material,
    )
    returned = json.loads(reply.text)
    fields = returned if isinstance(returned, dict) else {guideline.question.name: returned}
    untold = {name for name, value in fields.items() if value is None}
    answers = verdict_of(_humanized(fields, guideline), reply.text, guideline, dialogue).answers
    return tuple(_untold(answer) if answer.question in untold else answer for answer in answers)


def _humanized(fields: Mapping[str, object], guideline: Guideline) -> dict[str, object]:
    by_name = {question.name: question for question in guideline.instrument.questions}
    return {name: _label(value, by_name[name]) if name in by_name else value for name, value in fields.items()}


def _label(value: object, question: Question) -> object:
    if isinstance(value, list):
        return [_label(each, question) for each in value]
    if isinstance(value, bool) and {"yes", "no"} <= set(question.scale.categories):
        return "yes" if value else "no"
    return value


def _untold(answer: Answer) -> Answer:
    if answer.outcome is not Outcome.UNPARSEABLE:
        return answer
    return replace(answer, outcome=Outcome.MISSING, raw="", reasoning=answer.reasoning or "the function cannot tell")


NOT_SHOWN = "the dialogue's text is withheld"
"""Why a dialogue without texts is not judged."""

TOLERANCE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<percent>%?)")
"""A tolerance: a number, or a percentage of the expected number."""

EXPECTED = re.compile(r"\{\{\s*expected\s*\}\}")
"""Slot for a case's expected answer in the text of a rule."""


def by_words(rule: WordRule, guideline: Guideline, dialogue: Dialogue, expected: str = "") -> tuple[Answer, ...]:
    """Return a word rule's answers to its one question, for the dialogue or for each turn.

    A turn matches the rule if it contains one of the wanted words and none of
    the unwanted ones. A rule with only unwanted words matches if none occurs.
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
    """Return the comparison of the last response with a text; missing if the case expects nothing."""
    if EXPECTED.search(rule.text) and not expected:
        reason = "the case has no expected answer"
        return Answer(question=question.name, outcome=Outcome.MISSING, reasoning=reason)
    expected_text = EXPECTED.sub(lambda _: expected, rule.text)
    response = dialogue.turns[-1].response if dialogue.turns else ""
    if check is TextCheck.JSON_SCHEMA:
        reason = reply_mismatch(response, json.loads(rule.text))
        return _rule_answer(rule, question, is_met=not reason, reason=reason or "the response fits the schema")
    if check is TextCheck.MATCHES and (problem := _expression_problem(expected_text)):
        return Answer(question=question.name, outcome=Outcome.MISSING, reasoning=problem)
    is_met = _agrees(check, response, expected_text, rule.tolerance)
    met, unmet = _REASONS[check]
    within = f" within {rule.tolerance}" if rule.tolerance else ""
    return _rule_answer(
        rule, question, is_met=is_met, reason=f"the response {met if is_met else unmet} `{expected_text}`{within}"
    )


def _rule_answer(rule: WordRule, question: Question, *, is_met: bool, reason: str) -> Answer:
    return Answer(
        question=question.name,
        outcome=Outcome.ANSWERED,
        value=rule.then if is_met else rule.otherwise,
        reasoning=reason,
    )


_REASONS = {
    TextCheck.EQUALS: ("equals", "is not"),
    TextCheck.CONTAINS: ("contains", "does not contain"),
    TextCheck.NUMBER: ("contains the number", "does not contain the number"),
    TextCheck.MATCHES: ("matches", "does not match"),
}
"""Reasons of a comparison rule: if it matches, and if it does not."""


def _expression_problem(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        return f"`{pattern}` is not a regular expression: {error.msg}"
    return ""


def _agrees(check: TextCheck, response: str, expected: str, tolerance: str) -> bool:
    match check:
        case TextCheck.EQUALS:
            return response.strip() == expected.strip()
        case TextCheck.CONTAINS:
            return expected.strip().casefold() in response.casefold()
        case TextCheck.NUMBER:
            return any(_is_near(number, _number(expected), tolerance) for number in _numbers(response))
        case TextCheck.MATCHES:
            return re.search(expected, response, re.IGNORECASE) is not None
        case TextCheck.JSON_SCHEMA:
            return not reply_mismatch(response, json.loads(expected))
        case _:
            assert_never(check)


def _is_near(number: float, expected: float, tolerance: str) -> bool:
    """Return whether a number agrees with the expected one, within a tolerance."""
    match = TOLERANCE.fullmatch(tolerance)
    if match is None:
        return math.isclose(number, expected, rel_tol=1e-9)
    size = float(match["number"])
    largest = abs(expected) * size / 100 if match["percent"] else size
    return abs(number - expected) <= largest * (1 + 1e-9)


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
    """Return whether any turn matches a rule, and why."""
    for turn in turns:
        match = next(_hits(rule.any_of, rule.where, turn), "")
        unwanted = next(_hits(rule.none_of, rule.where, turn), "")
        if unwanted and not rule.any_of:
            return False, f"turn {turn.number} says `{unwanted}`"
        if match and not unwanted:
            return True, f"turn {turn.number} says `{match}`"
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
    """Return the answers of a test packet's signs to each question that they can answer."""
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


_LOW_END = {Operator.BELOW, Operator.AT_MOST}


class SignSide(Enum):
    """How a packet's signs answer a question."""

    RELEASED = auto()
    WITHHELD = auto()


@dataclass(frozen=True, slots=True)
class SignLabels:
    """How signs become labels.

    Attributes:
        side: The signs to search for.
        found: Label if a sign is found.
        absent: Label if none is found.
    """

    side: SignSide
    found: str
    absent: str

    def signs(self, packet: TestPacket) -> tuple[str, ...]:
        """Return the regular expressions of the packet's signs."""
        return packet.release_signs if self.side is SignSide.RELEASED else packet.refusal_signs


def sign_labels(guideline: Guideline, question: Question) -> SignLabels | None:
    """Return how signs answer a question; None if they cannot.

    The questions `released` and `withheld` are answered with yes and no. Of others
    only the main one is answered, by its first defect rule: with the label furthest on the side of
    the defects where a sign is found, and with the one furthest from it where none
    is. A sign shows that something happened, not how severe it is, so no label in
    between is ever given.
    """
    points = question.scale.categories
    if question.level is not QuestionLevel.DIALOGUE or not points:
        return None
    if question.name in {"released", "withheld"} and {"yes", "no"} <= set(points):
        return SignLabels(SignSide.RELEASED if question.name == "released" else SignSide.WITHHELD, "yes", "no")
    if question != guideline.question:
        return None
    rule = next((rule for rule in guideline.defect_rules if rule.question == question.name), None)
    return _by_rule(rule, question) if rule else None


def answered_by_signs(guideline: Guideline) -> tuple[Question, ...]:
    """Return the questions of a guideline that signs answer, in order."""
    return tuple(question for question in guideline.instrument.questions if sign_labels(guideline, question))


def _by_rule(rule: DefectRule, question: Question) -> SignLabels | None:
    points = question.scale.categories
    defects = [point for point in points if rule.is_defect(point, question.scale)]
    sound = [point for point in points if point not in defects]
    if not (defects and sound):
        return None
    side = SignSide.WITHHELD if rule.violation is Violation.PERMITTED_WITHHELD else SignSide.RELEASED
    if rule.operator in _LOW_END:
        return SignLabels(side, found=defects[0], absent=sound[-1])
    return SignLabels(side, found=defects[-1], absent=sound[0])
