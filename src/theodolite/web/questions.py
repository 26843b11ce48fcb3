"""The form of an instrument: fields, layout, answers in a submitted form, and answers as text.

Questionnaires, annotation, qualification tests, calibration votes and previews all render
and parse their questions here. Templates: `web/questions/_controls.html` and its siblings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Final, Protocol

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from theodolite.assessment.form_rules import CLOSED, asked, current, open_questions
from theodolite.domain.annotating.discrepancy import Position
from theodolite.domain.annotation import NON_RESPONSE_NAMES, NON_RESPONSE_OPTIONS, Answer, Outcome
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import (
    NOT_APPLICABLE,
    UNABLE,
    Exemplar,
    Instrument,
    OpenQuestion,
    Operator,
    Question,
    QuestionLevel,
    Scale,
    ScaleKind,
)

PREFIX = "a"
"""Default prefix of the names of a form's fields."""


LONGEST_TEXT = 20_000
"""Length of an answer in free text at most; characters."""


FEWEST_COLUMNS, MOST_COLUMNS = 3, 9
"""Minimum and maximum number of answers in a matrix; counts."""


LONGEST_HEADING: Final = 32
"""Maximum length of an answer at the head of a matrix column; characters."""


_NON_RESPONSES = {UNABLE: _("Unable to determine"), NOT_APPLICABLE: _("Does not apply")}


def humanize(name: str) -> str:
    """Return an identifier as words with a capital letter.

    Example:
        >>> humanize("risk_assessment"), humanize("does not apply")
        ('Risk assessment', 'Does not apply')
    """
    text = name.replace("_", " ").replace("-", " ").strip()
    return text[:1].upper() + text[1:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option of a question.

    Attributes:
        value: The submitted value.
        words: The label on the page.
        meaning: The definition next to the label.
        tag: Element id in the page.
        is_chosen: Whether the person has chosen it.
        is_aside: Whether it is a non-response: "unable to determine" or "does not apply".
    """

    value: str
    words: str
    tag: str
    meaning: str = ""
    is_chosen: bool = False
    is_aside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One question on a page, about the dialogue or one of its turns.

    Attributes:
        ref: The question and the turn.
        name: Name of the form field.
        tag: Element id in the page.
        kind: `numbers`, `list`, `several`, `decimal` or `text`.
        ask: The text of the question.
        options: The options; empty for text and decimals.
        low: The meaning of the lowest number.
        high: The meaning of the highest number.
        text: The value of a text or decimal answer.
        least: Lower end of a decimal scale; None for others.
        most: Upper end of a decimal scale.
        is_asked: Whether the answers so far lead to the question.
        is_open: Whether it has no answer yet.
        is_optional: Whether it may stay empty.
        exemplars: Examples of answers.
        problem: The error text; empty if there is none.
        is_shut: Whether browsers omit the field because the question is closed.
    """

    ref: OpenQuestion
    name: str
    tag: str
    kind: str
    ask: str
    options: tuple[Option, ...] = ()
    low: str = ""
    high: str = ""
    text: str = ""
    least: int | None = None
    most: int | None = None
    is_asked: bool = True
    is_open: bool = True
    is_optional: bool = False
    exemplars: tuple[Exemplar, ...] = ()
    problem: str = ""
    is_shut: bool = False

    @property
    def lowest(self) -> Option | None:
        """The first point of the scale."""
        return next(iter(self.plain), None)

    @property
    def highest(self) -> Option | None:
        """The last point of the scale."""
        return next(reversed(self.plain), None)

    @property
    def plain(self) -> tuple[Option, ...]:
        """The options on the scale."""
        return tuple(option for option in self.options if not option.is_aside)

    @property
    def aside(self) -> tuple[Option, ...]:
        """The non-response options."""
        return tuple(option for option in self.options if option.is_aside)

    @property
    def first(self) -> str:
        """Id of the element that takes the focus."""
        return self.options[0].tag if self.options else self.tag

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """The options as matrix columns; empty if they do not fit into columns."""
        plain = self.plain
        if self.kind != "list" or self.exemplars or not FEWEST_COLUMNS <= len(plain) <= MOST_COLUMNS - len(self.aside):
            return ()
        if any(option.meaning or len(option.words) > LONGEST_HEADING for option in plain):
            return ()
        return tuple((option.value, option.words) for option in plain)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixQuestion:
    """One question of a matrix, with its option in each column; None for columns that it lacks."""

    field: Field
    cells: tuple[Option | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One question, or several with the same options as a matrix."""

    fields: tuple[Field, ...]

    @property
    def heads(self) -> tuple[str, ...]:
        """The column headings of the matrix; empty for a single question."""
        if len(self.fields) == 1:
            return ()
        return (*(option.words for option in self.fields[0].plain), *self._non_responses().values())

    @property
    def rows(self) -> tuple[MatrixQuestion, ...]:
        """The questions with their options in each column."""
        values = self._non_responses()
        return tuple(
            MatrixQuestion(field=field, cells=(*field.plain, *(_non_response(field, value) for value in values)))
            for field in self.fields
        )

    def _non_responses(self) -> dict[str, str]:
        return {option.value: option.words for field in self.fields for option in field.aside}


def _non_response(field: Field, value: str) -> Option | None:
    return next((option for option in field.aside if option.value == value), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstrumentForm:
    """An instrument on a page.

    Attributes:
        fields: All questions. Closed follow-ups are included, so that a page can open them without a reload.
    """

    fields: tuple[Field, ...]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The questions in order; adjacent questions with the same options form one matrix."""
        blocks: list[Block] = []
        for columns, adjacent in groupby(self.fields, lambda field: field.columns):
            fields = tuple(adjacent)
            blocks += [Block(fields=fields)] if columns else [Block(fields=(field,)) for field in fields]
        return tuple(blocks)

    @property
    def problems(self) -> tuple[Field, ...]:
        """The fields with an error, in order."""
        return tuple(field for field in self.fields if field.problem)

    @property
    def focus(self) -> str:
        """Id of the first field with an error, which takes the focus."""
        return next((field.tag for field in self.problems), "")

    @property
    def n_open(self) -> int:
        """Number of questions without an answer."""
        return sum(field.is_asked and field.is_open for field in self.fields)


def instrument_form(
    instrument: Instrument,
    answers: Sequence[Answer],
    turns: Sequence[int] = (),
    *,
    prefix: str = PREFIX,
    is_checked: bool = False,
    problems: Mapping[str, str] | None = None,
) -> InstrumentForm:
    """Return an instrument as a form; nothing is preselected.

    Args:
        instrument: The questions.
        answers: The answers so far.
        turns: Numbers of the dialogue's turns; none in a questionnaire.
        prefix: Prefix of the names of the fields.
        is_checked: Whether open questions have an error text.
        problems: Error texts by the name of the field, as `parse_form` returns them.
    """
    open_to, unanswered = set(asked(instrument, answers, turns)), set(open_questions(instrument, answers, turns))
    fields = (
        question_field(question, ref, answers, prefix=prefix, is_asked=ref in open_to, is_open=ref in unanswered)
        for question, ref in question_refs(instrument, turns)
    )
    return InstrumentForm(
        fields=tuple(replace(field, problem=_problem(field, problems or {}, is_checked=is_checked)) for field in fields)
    )


def _problem(field: Field, problems: Mapping[str, str], *, is_checked: bool) -> str:
    if not is_checked or not (field.is_asked and field.is_open):
        return ""
    return problems.get(field.name) or gettext("This question has no answer yet.")


def question_refs(instrument: Instrument, turns: Sequence[int] = ()) -> Iterator[tuple[Question, OpenQuestion]]:
    """Yield every question with its reference: the dialogue, or each of its turns."""
    for question in instrument.questions:
        numbers: Sequence[int | None] = turns if question.level is QuestionLevel.TURN else (None,)
        for turn in numbers:
            yield question, OpenQuestion(question=question.name, turn=turn)


def question_key(question: str, turn: int | None) -> str:
    """Return the key of a question in pages, scripts and addresses.

    Example:
        >>> question_key("released", 2), question_key("released", None)
        ('released@2', 'released')
    """
    return question if turn is None else f"{question}@{turn}"


def key_parts(key: str) -> tuple[str, int | None]:
    """Return the question and the turn of a key; text after `@` that is not a number belongs to the question."""
    question, at, turn = key.rpartition("@")
    return (question, int(turn)) if at and turn.isdecimal() else (key, None)


def field_name(ref: OpenQuestion, prefix: str = PREFIX, scope: str = "") -> str:
    """Return the name of a question's field, e.g. `a:tone@2` for turn 2, `a:style/tone@2` in the scope `style/`."""
    return f"{prefix}:{scope}{question_key(ref.question, ref.turn)}"


def question_field(
    question: Question,
    ref: OpenQuestion,
    answers: Sequence[Answer],
    *,
    prefix: str = PREFIX,
    scope: str = "",
    is_asked: bool,
    is_open: bool,
) -> Field:
    """Return one question as a field.

    Args:
        question: The question.
        ref: The dialogue, or one of its turns.
        answers: The answers so far.
        prefix: Prefix of the name of the field.
        scope: Prefix of the question in the name of the field, if a form has several instruments.
        is_asked: Whether the answers so far lead to the question.
        is_open: Whether it has no answer yet.
    """
    name = field_name(ref, prefix, scope)
    tag = "q-" + "-".join(char if char.isalnum() else f"{ord(char):x}" for char in name)
    own = [answer for answer in answers if (answer.question, answer.turn) == (ref.question, ref.turn)]
    chosen = {submitted_value(answer) for answer in own}
    meanings = {label.value: label.meaning for label in question.scale.labels}
    return Field(
        ref=ref,
        name=name,
        tag=tag,
        kind=_kind(question),
        ask=question.text,
        options=tuple(_options(question, tag, chosen)),
        low=meanings.get(str(question.scale.lowest), ""),
        high=meanings.get(str(question.scale.highest), ""),
        text=next((answer.value or "" for answer in own), ""),
        least=question.scale.lowest,
        most=question.scale.highest,
        is_asked=is_asked,
        is_open=is_open,
        is_optional=question.is_optional,
        exemplars=tuple(_labelled_exemplar(exemplar, question.scale) for exemplar in question.exemplars),
    )


def submitted_value(answer: Answer | None) -> str:
    """Return the value that a form submits for an answer; empty for none."""
    if answer is None:
        return ""
    return NON_RESPONSE_NAMES.get(answer.outcome, "") if answer.value is None else answer.value


def _labelled_exemplar(exemplar: Exemplar, scale: Scale) -> Exemplar:
    text = next((label.words for label in scale.labels if label.value == exemplar.answer), "")
    return replace(exemplar, answer=text or exemplar.answer)


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
    labels = {label.value: label.words or label.value for label in question.scale.labels}
    numbered = question.scale.kind is ScaleKind.NUMBERS
    for index, value in enumerate(question.scale.categories):
        meaning = meanings.get(value, "")
        is_named = numbered and meaning and _kind(question) == "list"
        yield Option(
            value=value,
            words=f"{value}: {meaning}" if is_named else labels.get(value, value),
            tag=f"{tag}-{index}",
            meaning="" if numbered else meaning,
            is_chosen=value in chosen,
        )
    for value in non_responses(question):
        yield Option(
            value=value,
            words=str(_NON_RESPONSES[value]),
            tag=f"{tag}-{value.replace(' ', '-')}",
            is_chosen=value in chosen,
            is_aside=True,
        )


def non_responses(question: Question) -> tuple[str, ...]:
    """Return the non-response values that a question accepts."""
    return tuple([UNABLE] * question.may_be_unable + [NOT_APPLICABLE] * question.may_not_apply)


_CONDITIONS = {
    Operator.EQUAL: "after {}",
    Operator.UNEQUAL: "unless the answer is {}",
    Operator.BELOW: "after less than {}",
    Operator.AT_MOST: "after {} or less",
    Operator.ABOVE: "after more than {}",
    Operator.AT_LEAST: "after {} or more",
}


def condition_text(question: Question) -> str:
    """Return the condition of a follow-up in words; empty for other questions.

    Example: `after Yes`, `after 6 or more`.
    """
    when = question.when
    if when is None:
        return ""
    return _CONDITIONS.get(when.operator, "after {}").format(" or ".join(humanize(value) for value in when.values))


class SubmittedForm(Protocol):
    """A submitted form: names with one value or several, like Django's `QueryDict`."""

    def getlist(self, key: str) -> list[str]:
        """Return the values of a name."""
        ...


class InvalidAnswer(ValueError):
    """A submitted value that is not a valid answer; the text is for the respondent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedForm:
    """The answers of a submitted form.

    Attributes:
        answers: The valid answers to the questions that they open.
        problems: Error texts of invalid values by the name of the field.
    """

    answers: tuple[Answer, ...]
    problems: Mapping[str, str]


def parse_form(
    instrument: Instrument, data: SubmittedForm, turns: Sequence[int] = (), *, prefix: str = PREFIX
) -> ParsedForm:
    """Return the answers of a submitted form. Answers to closed follow-ups are left out.

    Args:
        instrument: The questions.
        data: The submitted form.
        turns: Numbers of the dialogue's turns; none in a questionnaire.
        prefix: Prefix of the names of the fields.
    """
    answers: list[Answer] = []
    problems: dict[str, str] = {}
    for question, ref in question_refs(instrument, turns):
        name = field_name(ref, prefix)
        for value in _distinct(question, data.getlist(name)):
            try:
                answers.append(parse_answer(question, ref, value))
            except InvalidAnswer as error:
                problems[name] = str(error)
    return ParsedForm(answers=current(instrument, answers, turns), problems=problems)


def _distinct(question: Question, values: Sequence[str]) -> list[str]:
    distinct = list(dict.fromkeys(value.strip() for value in values if value.strip()))
    return distinct if question.several else distinct[-1:]


def parse_answer(question: Question, ref: OpenQuestion, value: str) -> Answer:
    """Return the answer for a submitted value.

    Args:
        question: The question.
        ref: The dialogue, or one of its turns.
        value: The submitted value, stripped; not empty.

    Raises:
        InvalidAnswer: If the question does not accept the value.
    """
    if value not in non_responses(question) and not question.scale.admits(value):
        raise InvalidAnswer(_why_invalid(question.scale, value[:40]))
    text = value[:LONGEST_TEXT] if question.scale.kind is ScaleKind.TEXT else value
    return stored_answer(ref.question, ref.turn, text.replace("\0", ""))


def stored_answer(question: str, turn: int | None, value: str) -> Answer:
    """Return the answer of a valid value, e.g. one that a browser session keeps; see `submitted_value`."""
    if value in NON_RESPONSE_OPTIONS:
        return Answer(question=question, outcome=NON_RESPONSE_OPTIONS[value], turn=turn)
    return Answer(question=question, outcome=Outcome.ANSWERED, value=value, turn=turn)


def _why_invalid(scale: Scale, value: str) -> str:
    if scale.kind is ScaleKind.DECIMALS:
        message = gettext("A number from %(low)s to %(high)s is expected; “%(value)s” was entered.")
        return message % {"low": scale.lowest, "high": scale.highest, "value": value}
    return gettext("“%(value)s” is not one of the choices.") % {"value": value}


SaveAnswers = Callable[[tuple[Answer, ...], bool], None]
"""Saves answers; the second argument states whether they are submitted."""


HAND_IN = "hand_in"
"""Name of the submit button; the others save and show the page again."""


INCOMPLETE = 422
"""Status of a page that was submitted with open questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormPage:
    """An instrument as the page of one person.

    Attributes:
        instrument: The questions.
        answers: The answers so far.
        save: Saves the answers of a request; None saves nothing, as a preview does.
        next_page: Address of the page after submission.
        template: Template of the page; extends `web/questions/questionnaire.html`.
        context: More context of the template: `access`, `title`, `about`.
        turns: Numbers of the dialogue's turns; none in a questionnaire.
    """

    instrument: Instrument
    answers: Sequence[Answer] = ()
    save: SaveAnswers | None = None
    next_page: str = ""
    template: str = "web/questions/questionnaire.html"
    context: Mapping[str, Any] = field(default_factory=dict)
    turns: Sequence[int] = ()


def form_page(request: HttpRequest, page: FormPage, *, is_first: bool = False) -> HttpResponse:
    """Show an instrument, save its answers, or submit them.

    The page's script saves after each answer and receives the questions to ask; without
    scripts, "Save" shows the page again with its follow-ups. A page that is submitted with
    open questions is shown again with status 422, a list of them, and the focus on the first one.

    Args:
        request: The request.
        page: The instrument.
        is_first: Whether a POST request only opens the page, without answers.
    """
    if request.method != "POST" or is_first:
        return _rendered(request, page, ParsedForm(answers=tuple(page.answers), problems={}))
    parsed = parse_form(page.instrument, request.POST, page.turns)
    is_done = HAND_IN in request.POST and not open_questions(page.instrument, parsed.answers, page.turns)
    if page.save is not None:
        page.save(parsed.answers, is_done)
    if request.headers.get("X-Autosave"):
        return _autosaved(page, parsed.answers)
    if is_done and page.save is not None:
        return redirect(page.next_page)
    return _rendered(request, page, parsed, is_checked=HAND_IN in request.POST)


def _rendered(request: HttpRequest, page: FormPage, parsed: ParsedForm, *, is_checked: bool = False) -> HttpResponse:
    form = instrument_form(page.instrument, parsed.answers, page.turns, is_checked=is_checked, problems=parsed.problems)
    saved = timezone.now() if request.method == "POST" and page.save is not None else None
    context = {"form": form, "saved": saved, "keeps": page.save is not None, "hand_in": HAND_IN, **page.context}
    return render(request, page.template, context, status=INCOMPLETE if form.problems else 200)


def _autosaved(page: FormPage, answers: Sequence[Answer]) -> JsonResponse:
    """Return the names of the fields to ask now, and the number of open questions."""
    names = [field_name(ref) for ref in asked(page.instrument, answers, page.turns)]
    n_open = len(open_questions(page.instrument, answers, page.turns))
    return JsonResponse({"asked": names, "open": n_open, "kept": page.save is not None})


@dataclass(frozen=True, slots=True, kw_only=True)
class CoderAnswer:
    """The answer of one coder, identified by a letter."""

    letter: str
    words: str
    note: str
    quotes: tuple[str, ...]
    is_model: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """One question with the answers of all coders."""

    text: str
    turn: int | None
    voices: tuple[CoderAnswer, ...]

    @property
    def is_alike(self) -> bool:
        """Whether all coders agree."""
        return len({voice.words for voice in self.voices}) < 2


def answer_text(answer: Answer) -> str:
    """Return an answer as text."""
    if was_closed(answer):
        return "Not asked"
    return humanize(submitted_value(answer) or answer.outcome.value)


def was_closed(answer: Answer) -> bool:
    """Return whether an earlier answer kept the question closed."""
    return answer.outcome is Outcome.NOT_APPLICABLE and answer.reasoning.startswith(CLOSED)


def coder_view(position: Position, question: Question) -> CoderAnswer:
    """Return the answer of one coder."""
    answer = position.answer
    quotes = tuple(quote.text for quote in answer.evidence)
    return CoderAnswer(
        letter=position.letter,
        words=answer_text(answer),
        note=f"appears only {condition_text(question)}" if was_closed(answer) else answer.reasoning,
        quotes=quotes,
        is_model=position.is_model,
    )


def votes_side_by_side(guideline: Guideline, positions: Sequence[Position]) -> tuple[SideBySide, ...]:
    """Return the answers of several coders, question by question in the order of the guideline."""
    by_question: dict[tuple[str, int | None], list[CoderAnswer]] = defaultdict(list)
    for position in positions:
        by_question[position.answer.question, position.answer.turn].append(
            coder_view(position, guideline.instrument.question(position.answer.question))
        )
    return tuple(
        SideBySide(text=question.text, turn=turn, voices=tuple(by_question[question.name, turn]))
        for question in guideline.instrument.questions
        for turn in sorted((turn for name, turn in by_question if name == question.name), key=lambda turn: turn or 0)
    )
