"""The form of an instrument: what a template needs to show it, nothing preset.

Annotation pages, questionnaires and previews all render what stands here, so
that a preview is what people see.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from theodolite.assessment.completeness import asked, open_questions
from theodolite.domain.annotation import OWN_WORDS, Answer
from theodolite.domain.instrument import (
    NOT_APPLICABLE,
    UNABLE,
    Exemplar,
    Instrument,
    OpenQuestion,
    Question,
    QuestionLevel,
    Scale,
    ScaleKind,
)
from theodolite.web.questions.blocks import Block, blocks_of
from theodolite.web.questions.field import Field, Option

_OUT = {UNABLE: _("Unable to determine"), NOT_APPLICABLE: _("Does not apply")}
"""What people are shown of the ways out."""

PREFIX = "a"
"""What the names of a form's fields begin with, unless the page says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstrumentForm:
    """An instrument on a page.

    Attributes:
        fields: All questions, those that are not asked included, so that a page can show them without a reload.
    """

    fields: tuple[Field, ...]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The questions as they stand on the page: alone, or several with the same answers as one matrix."""
        return blocks_of(self.fields)

    @property
    def problems(self) -> tuple[Field, ...]:
        """The questions with something wrong, in order."""
        return tuple(field for field in self.fields if field.problem)

    @property
    def focus(self) -> str:
        """Identifier of the question that takes the focus: the first with something wrong."""
        return next((field.tag for field in self.problems), "")

    @property
    def n_open(self) -> int:
        """Questions that wait for an answer; count."""
        return sum(field.is_asked and field.is_open for field in self.fields)


def instrument_form(
    instrument: Instrument,
    answers: Sequence[Answer],
    turns: Sequence[int] = (),
    *,
    prefix: str = PREFIX,
    is_checked: bool = False,
) -> InstrumentForm:
    """Return an instrument as a page shows it.

    Args:
        instrument: The questions.
        answers: What the person has answered so far.
        turns: Numbers of the dialogue's turns; none in a questionnaire.
        prefix: What the names of its fields begin with.
        is_checked: Whether open questions are shown as problems.
    """
    wanted = set(asked(instrument, answers, turns))
    left = set(open_questions(instrument, answers, turns))
    fields = (
        field_of(
            question, place, answers, prefix, is_asked=place in wanted, is_open=place in left, is_checked=is_checked
        )
        for question, place in places(instrument, turns)
    )
    return InstrumentForm(fields=tuple(fields))


def places(instrument: Instrument, turns: Sequence[int] = ()) -> Iterator[tuple[Question, OpenQuestion]]:
    """Yield every question with what it is about: the dialogue, or each of its turns."""
    for question in instrument.questions:
        numbers: Sequence[int | None] = turns if question.level is QuestionLevel.TURN else (None,)
        for turn in numbers:
            yield question, OpenQuestion(question=question.name, turn=turn)


def field_name(place: OpenQuestion, prefix: str = PREFIX) -> str:
    """Return the name of a question's field, e.g. `a:tone@2` for turn 2."""
    at = "" if place.turn is None else f"@{place.turn}"
    return f"{prefix}:{place.question}{at}"


def field_of(
    question: Question,
    place: OpenQuestion,
    answers: Sequence[Answer],
    prefix: str = PREFIX,
    *,
    is_asked: bool,
    is_open: bool,
    is_checked: bool = False,
) -> Field:
    """Return one question at one place as every page draws it.

    Args:
        question: What is asked.
        place: Of the whole, or of which turn.
        answers: What the person has answered so far.
        prefix: What the name of the field begins with.
        is_asked: Whether the answers so far open it.
        is_open: Whether it waits for an answer.
        is_checked: Whether it is shown as a problem while it is open.
    """
    name = field_name(place, prefix)
    tag = "q-" + "-".join(char if char.isalnum() else f"{ord(char):x}" for char in name)
    given = [answer for answer in answers if (answer.question, answer.turn) == (place.question, place.turn)]
    chosen = {answer.value or OWN_WORDS.get(answer.outcome, "") for answer in given}
    low, high = _ends(question.scale)
    wrong = is_checked and is_asked and is_open
    return Field(
        place=place,
        name=name,
        tag=tag,
        kind=_kind(question),
        ask=question.text,
        options=tuple(_options(question, tag, chosen)),
        low=low,
        high=high,
        text=next((answer.value or "" for answer in given), ""),
        least=question.scale.lowest,
        most=question.scale.highest,
        is_asked=is_asked,
        is_open=is_open,
        is_optional=question.is_optional,
        exemplars=tuple(_shown_exemplar(exemplar, question.scale) for exemplar in question.exemplars),
        problem=gettext("This question has no answer yet.") if wrong else "",
    )


def _shown_exemplar(exemplar: Exemplar, scale: Scale) -> Exemplar:
    """Return an example with its answer as the scale shows it."""
    words = next((label.words for label in scale.labels if label.value == exemplar.answer), "")
    return replace(exemplar, answer=words or exemplar.answer)


def _kind(question: Question) -> str:
    if question.several:
        return "several"
    if question.scale.kind is ScaleKind.NUMBERS and len(question.scale.labels) < len(question.scale.categories):
        return "numbers"
    if question.scale.kind is ScaleKind.TEXT:
        return "text"
    return "decimal" if question.scale.kind is ScaleKind.DECIMALS else "list"


def _options(question: Question, tag: str, chosen: set[str]) -> Iterator[Option]:
    meanings = {label.value: label.meaning for label in question.scale.labels}
    shown = {label.value: label.words or label.value for label in question.scale.labels}
    numbered = question.scale.kind is ScaleKind.NUMBERS
    for place, value in enumerate(question.scale.categories):
        meaning = meanings.get(value, "")
        words = f"{value}: {meaning}" if numbered and meaning and _kind(question) == "list" else shown.get(value, value)
        yield Option(
            value=value,
            words=words,
            tag=f"{tag}-{place}",
            meaning="" if numbered else meaning,
            is_chosen=value in chosen,
        )
    aside = [*[UNABLE] * question.may_be_unable, *[NOT_APPLICABLE] * question.may_not_apply]
    for value in aside:
        number = f"{tag}-{value.replace(' ', '-')}"
        yield Option(value=value, words=str(_OUT[value]), tag=number, is_chosen=value in chosen, is_aside=True)


def _ends(scale: Scale) -> tuple[str, str]:
    meanings = {label.value: label.meaning for label in scale.labels}
    return meanings.get(str(scale.lowest), ""), meanings.get(str(scale.highest), "")
