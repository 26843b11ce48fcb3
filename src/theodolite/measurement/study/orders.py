"""Orders: whether people's and judges' answers hang on the order in which they were asked."""

from __future__ import annotations

from collections.abc import Iterator

from theodolite.domain.answers import AnswerRecord, AnswerTable
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.order_effect import OrderEffect, OrderFactor
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Question
from theodolite.domain.shown_order import ShownOrder, labels_reversed
from theodolite.measurement.answer_arrays import AnswerArrays, answer_arrays
from theodolite.measurement.order_effects import order_effects


def order_findings(evidence: Evidence) -> Iterator[OrderEffect]:
    """Yield what orders did to the answers to each question, over all applications.

    People's sittings are told apart by what they showed and in which turn they
    came. Judges that read several times read every second time with the labels
    in reverse; no reading knows of another, so that nothing else is told of them.

    Args:
        evidence: All records of one run.
    """
    for guideline in evidence.study.guidelines:
        for question in guideline.instrument.questions:
            yield from order_effects(guideline, question, _by_people(evidence, guideline, question))
        for judge in (one.name for one in evidence.study.annotators if one.guideline == guideline.name):
            for question in guideline.instrument.questions:
                given = _by_judge(evidence.answers, judge, guideline, question)
                found = order_effects(guideline, question, given, annotator=judge)
                yield from (one for one in found if one.factor is OrderFactor.OPTIONS)


def _by_people(evidence: Evidence, guideline: Guideline, question: Question) -> AnswerArrays:
    """Return the first answers of people whose annotations are counted, with the order that each showed."""
    table = evidence.answers
    people = [one.name for one in evidence.study.annotators if one.by_hand and one.guideline == guideline.name]
    return answer_arrays(
        _row(person, position, record, *order)
        for person in people
        for position, records in table.columns(person, guideline.name, question.name).by_position()
        if (order := table.shown_orders.get(person, {}).get(position)) is not None
        for record in records
        if record.replicate == 1
    )


def _by_judge(table: AnswerTable, judge: str, guideline: Guideline, question: Question) -> AnswerArrays:
    """Return all readings of a judge, with the order of labels that each showed."""
    columns = table.votes.get((judge, guideline.name, question.name))
    return answer_arrays(
        _row(judge, position, record, ShownOrder(options=labels_reversed(record.replicate)).text)
        for position, records in (columns.by_position() if columns else ())
        for record in records
    )


def _row(annotator: str, position: int, record: AnswerRecord, shown: str, sitting: int = 0) -> tuple[object, ...]:
    unit = (position, record.turn, record.replicate)
    return annotator, unit, position, record.value, 0.0, shown, sitting, record.turn or 0
