"""Annotate a dialogue with the questions of all reserved categories: answer them one by one, then submit."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from theodolite.annotation import assignment, cases, quality, submission
from theodolite.annotation.rules import IMPARTIALITY_RULES
from theodolite.domain.annotating.case import Flag, FlagKind
from theodolite.domain.annotating.discrepancy import Anchor, AnchorKind, FeedbackThread, ThreadEnd
from theodolite.domain.annotating.work import AnnotatorTask, ReservationState
from theodolite.domain.errors import Conflict, InputError, TheodoliteError
from theodolite.domain.event import Role
from theodolite.domain.guideline import Guideline
from theodolite.domain.instrument import Question
from theodolite.domain.study import Study
from theodolite.domain.wording import LocalisedStudy, languages_of
from theodolite.web.access import allowed
from theodolite.web.annotator.annotation_page import (
    AnnotationItem,
    AnnotationPage,
    ItemGroup,
    Key,
    annotation_page,
    in_sequence,
    parse_item,
)
from theodolite.web.annotator.home import (
    AnnotatorContext,
    annotator_view,
    must_choose,
    said_time,
    touched_by,
    wants_json,
)
from theodolite.web.events import event_of, read_study
from theodolite.web.middleware import asked_for, chosen, read_language
from theodolite.web.questions import InvalidAnswer, humanize, key_parts, question_key

FLAGS = (
    (FlagKind.PII.value, "Personal data"),
    (FlagKind.SELF_IDENTIFICATION.value, "The application identifies itself"),
    (FlagKind.WELLBEING.value, "Distressing content, or a person may be in danger"),
    (FlagKind.TECHNICAL.value, "Technical error on this page or in the dialogue"),
)
"""Kinds of flags with their labels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The context of an annotation page, for all its variants.

    Attributes:
        address: Prefix of the addresses of its actions.
        progress: Progress, as text.
        saved: Time of the last save, for the page's script; empty for never.
        is_held: Whether the annotator may release or skip it.
        is_work: Whether it is real work, with flags and comments.
        is_preview: Whether it is only a preview of the annotators' page; its answers are not saved.
        threads: The annotator's earlier questions in this category.
        faq: Questions whose decisions apply to all annotators.
        additions: Decisions to add to the guideline; its next version includes them.
        returned: Note of the senior annotator who returned it; empty if none.
        rules: The impartiality rules.
        flags: Possible flags: value and label.
    """

    address: str
    progress: str
    saved: str = ""
    is_held: bool = False
    is_work: bool = False
    is_preview: bool = False
    threads: tuple[FeedbackThread, ...] = ()
    faq: tuple[str, ...] = ()
    additions: tuple[str, ...] = ()
    returned: str = ""
    rules: tuple[str, ...] = IMPARTIALITY_RULES
    flags: tuple[tuple[str, str], ...] = FLAGS

    @property
    def save_address(self) -> str:
        """Address that saves single answers."""
        return f"{self.address}answer/" if self.is_work else self.address

    @property
    def submit_address(self) -> str:
        """Address that submits the form."""
        return f"{self.address}submit/" if self.is_work else self.address


def page_of_task(task: AnnotatorTask, scope: str = "") -> AnnotationPage:
    """Return the questions of a task with the answers so far."""
    title = humanize(task.guideline.name)
    return annotation_page(
        task.guideline,
        task.dialogue,
        task.answers,
        title=title,
        order=task.order,
        suggestions=task.suggestions,
        scope=scope,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSequence:
    """The tasks that one page shows: all categories of a dialogue that the annotator has reserved.

    Attributes:
        main: The task in the address.
        tasks: All tasks in order; those whose text differs from the main task's have a separate page.
    """

    main: AnnotatorTask
    tasks: tuple[AnnotatorTask, ...]

    def scope(self, task: AnnotatorTask) -> str:
        """Return the prefix of a task's questions in their keys."""
        is_main = task.reservation.category == self.main.reservation.category
        return "" if is_main else f"{task.reservation.category}/"

    @property
    def tokens(self) -> tuple[str, ...]:
        """Tokens of the reservations."""
        return tuple(dict.fromkeys(task.reservation.token for task in self.tasks))

    @property
    def categories(self) -> frozenset[str]:
        """Names of the categories."""
        return frozenset(task.reservation.category for task in self.tasks)

    @property
    def page(self) -> AnnotationPage:
        """The page with the questions of all tasks."""
        return in_sequence([page_of_task(task, self.scope(task)) for task in self.tasks])

    def with_task(self, saved: AnnotatorTask) -> TaskSequence:
        """Return the sequence with the current state of a task."""
        name = saved.reservation.category
        tasks = tuple(saved if task.reservation.category == name else task for task in self.tasks)
        return replace(self, tasks=tasks, main=saved if self.main.reservation.category == name else self.main)

    @property
    def following(self) -> str:
        """The categories to which unsubmitted answers lead, as text that changes with the route of the dialogue."""
        return _names(task for task in self.tasks if task.is_following)


def _names(tasks: Iterable[AnnotatorTask]) -> str:
    return " ".join(task.reservation.category for task in tasks)


def sequence_at(annotator: AnnotatorContext, reservation: str) -> TaskSequence:
    """Return the tasks of the page of a reservation."""
    main = submission.task(annotator.records, reservation, annotator.participant)
    tokens = assignment.sequence_of(annotator.records, reservation, annotator.participant)
    tasks = tuple(
        main if token == reservation else submission.task(annotator.records, token, annotator.participant)
        for token in tokens
    )
    same = [task for task in tasks if task.dialogue == main.dialogue]
    following = (submission.following_tasks(annotator.records, task, annotator.participant) for task in same)
    return TaskSequence(main=main, tasks=(*same, *chain.from_iterable(following)))


def task_of_key(annotator: AnnotatorContext, reservation: str, key: Key) -> tuple[AnnotatorTask, str]:
    """Return the task to which a page key belongs, and the scope of the key.

    Raises:
        Conflict: If the category is no longer part of the page.
    """
    category, slash, _ = key.rpartition("/")
    if slash:
        sequence = sequence_at(annotator, reservation)
        task = next((task for task in sequence.tasks if task.reservation.category == category), None)
        if task is None:
            message = f"`{humanize(category)}` is no longer part of this page; its saved answers are kept"
            raise Conflict(message)
        return task, sequence.scope(task)
    return submission.task(annotator.records, reservation, annotator.participant), ""


def frame_of(annotator: AnnotatorContext, sequence: TaskSequence) -> Frame:
    """Return the context of the questions of a page."""
    task, categories = sequence.main, sequence.categories
    token = task.reservation.token
    own = cases.own_threads(annotator.queue, annotator.participant)
    returned = {
        check.reservation: check.comment for check in quality.returned_to(annotator.queue, annotator.participant)
    }
    return Frame(
        address=annotator.address("annotation", reservation=token),
        progress=progress_of(annotator),
        saved=said_time(task.saved),
        is_held=task.reservation.state is ReservationState.RESERVED,
        is_work=True,
        threads=tuple(thread for thread in own if thread.anchor.category in categories),
        faq=tuple(
            text for annotator_task in sequence.tasks for text in _settled(annotator, ThreadEnd.FAQ, annotator_task)
        ),
        additions=tuple(
            text
            for annotator_task in sequence.tasks
            for text in _not_written(annotator_task.guideline, _settled(annotator, ThreadEnd.GUIDELINE, annotator_task))
        ),
        returned=returned.get(token, ""),
    )


def _settled(annotator: AnnotatorContext, end: ThreadEnd, task: AnnotatorTask) -> tuple[str, ...]:
    return tuple(text for _, text in cases.settled(annotator.queue, end=end, category=task.reservation.category))


def _not_written(guideline: Guideline, settled: tuple[str, ...]) -> tuple[str, ...]:
    """Return the outcomes of threads that this version of the guideline does not include yet."""
    notes = {*guideline.guidance, *(note for question in guideline.instrument.questions for note in question.guidance)}
    return tuple(text for text in settled if " ".join(text.split()) not in notes)


def progress_of(annotator: AnnotatorContext) -> str:
    """Return the annotator's submissions today and the rest of the quota; never another person's count.

    Example: `12 of about 40 today`.
    """
    today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    done, n_reserved = assignment.own_today(annotator.queue, annotator.participant, today)
    left = assignment.n_left(annotator.records, annotator.queue, annotator.participant)
    return f"{done} of about {done + n_reserved + left} today"


def spoken(request: HttpRequest, annotator: AnnotatorContext, page: AnnotationPage) -> AnnotationPage:
    """Return a page in the language of the reader; untranslated categories keep their language."""
    if not chosen(request) and not asked_for(request):
        return page
    with suppress(Http404, TheodoliteError):  # a queue without a study's files
        study = event_of(annotator.access.hosted).study
        read = read_study(study, read_language(request, languages_of(study)))
        return in_sequence([in_language(part, study, read) for part in page.sequence])
    return page


def in_language(page: AnnotationPage, study: Study, read: LocalisedStudy) -> AnnotationPage:
    """Return a page translated into a language.

    The page stays unchanged if its category is not fully translated, or if it belongs to another release.

    Args:
        page: The annotation page.
        study: The study in its original language.
        read: The study in the reader's language.
    """
    name = page.guideline.name
    if ("categories", name) not in read.parts or study.guideline(name).instrument != page.guideline.instrument:
        return page
    (title,) = (
        category.title for schema in read.study.schemas for category in schema.categories if category.name == name
    )
    guideline = read.study.guideline(name)
    questions = {question.name: question for question in guideline.instrument.questions}
    cards = tuple(_put(card, questions) for card in page.cards)
    shown = replace(guideline, examples=page.guideline.examples)
    return replace(
        page,
        guideline=shown,
        instrument=guideline.instrument,
        cards=cards,
        title=title or page.title,
        language=read.language,
    )


def _put(card: ItemGroup, questions: dict[str, Question]) -> ItemGroup:
    return replace(card, items=tuple(replace(item, question=questions[item.question.name]) for item in card.items))


UNPROCESSABLE = 422


@allowed(Role.ANNOTATOR)
@require_POST
@annotator_view
def take(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Assign the next dialogue, or reopen the reserved one; content opt-outs come first."""
    if must_choose(annotator):
        return redirect(annotator.address("topics"))
    reservation = assignment.next_work(
        annotator.records,
        annotator.queue,
        annotator.participant,
        category=request.POST.get("category", ""),
        is_sequence=True,
    )
    if reservation is None:
        messages.info(request, "No tasks available.")
        return redirect(annotator.address("home"))
    return redirect(annotator.address("annotation", reservation=reservation.token))


@allowed(Role.ANNOTATOR)
@require_GET
@annotator_view
def annotation(request: HttpRequest, annotator: AnnotatorContext, reservation: str) -> HttpResponse:
    """Show a dialogue with its questions."""
    assignment.resume_sequence(annotator.records, reservation, annotator.participant)
    return _page(request, annotator, sequence_at(annotator, reservation), start=request.GET.get("at", ""))


@allowed(Role.ANNOTATOR)
@require_POST
@annotator_view
def answer(request: HttpRequest, annotator: AnnotatorContext, reservation: str) -> HttpResponse:
    """Save an answer, or all answers of a page without scripts."""
    if key := request.POST.get("key", ""):
        task, scope = task_of_key(annotator, reservation, key)
        task, problems = _saved(request, annotator, task, scope)
        if wants_json(request):
            return _told(annotator, task, scope, problem=next(iter(problems.values()), ""))
    sequence, problems = _all_saved(request, annotator, sequence_at(annotator, reservation))
    if wants_json(request):
        return _told(annotator, sequence.main, "", problem=next(iter(problems.values()), ""))
    if problems:
        return _page(request, annotator, sequence, problems=problems, problem="Not everything could be saved.")
    messages.success(request, "Saved.")
    return redirect(annotator.address("annotation", reservation=reservation))


@allowed(Role.ANNOTATOR)
@require_POST
@annotator_view
def undo(request: HttpRequest, annotator: AnnotatorContext, reservation: str) -> HttpResponse:
    """Undo the last saved answer."""
    tokens = assignment.sequence_of(annotator.records, reservation, annotator.participant)
    token = submission.last_changed(tokens, reservation)
    ref = submission.undo(token, annotator.participant)
    undone = submission.task(annotator.records, token, annotator.participant)
    prefix = "" if token == reservation else f"{undone.reservation.category}/"
    key = prefix + question_key(ref.question, ref.turn) if ref else ""
    if not wants_json(request):
        return redirect(f"{annotator.address('annotation', reservation=reservation)}?at={key}")
    task, scope = (undone, prefix) if prefix else _task_after_undo(annotator, undone, key)
    item = page_of_task(task, scope).item(key)
    problem = "" if ref else "Nothing to undo."
    return _told(annotator, task, scope, undone=_as_before(item) if item else None, problem=problem)


def _task_after_undo(annotator: AnnotatorContext, task: AnnotatorTask, key: Key) -> tuple[AnnotatorTask, str]:
    """Return the task of an undone answer and its scope; the first category if the answer's category is hidden now."""
    tasks = submission.following_tasks(annotator.records, task, annotator.participant) if "/" in key else ()
    category = key.partition("/")[0]
    following = next((other for other in tasks if other.reservation.category == category), None)
    return (following, f"{category}/") if following else (task, "")


@allowed(Role.ANNOTATOR)
@require_POST
@annotator_view
def submit(request: HttpRequest, annotator: AnnotatorContext, reservation: str) -> HttpResponse:
    """Submit, and take the next dialogue; with open answers, go to the first of them."""
    before = sequence_at(annotator, reservation)
    _, problems = _all_saved(request, annotator, before)
    sequence = sequence_at(annotator, reservation)
    if problems or not submission.submit_sequence(
        annotator.records, reservation, sequence.tokens, annotator.participant
    ):
        missing = dict.fromkeys(sequence.page.all_open, "This question is not answered yet.") | problems
        questions = "question is" if len(missing) == 1 else "questions are"
        message = f"Not submitted: {len(missing)} {questions} not answered or unclear."
        if not problems and sequence.following and sequence.following != before.following:
            message = f"Not submitted: these answers lead to {len(missing)} more question{'s'[: len(missing) - 1]}."
        return _page(request, annotator, sequence, problems=missing, problem=message)
    again = assignment.next_work(annotator.records, annotator.queue, annotator.participant, is_sequence=True)
    if again is None:
        messages.success(request, "Submitted. No more tasks available.")
        return redirect(annotator.address("home"))
    messages.success(request, "Submitted. This is the next dialogue.")
    return redirect(annotator.address("annotation", reservation=again.token))


@allowed(Role.ANNOTATOR)
@require_POST
@annotator_view
def release(request: HttpRequest, annotator: AnnotatorContext, reservation: str) -> HttpResponse:
    """Release a dialogue; its answers are kept."""
    for token in assignment.sequence_of(annotator.records, reservation, annotator.participant):
        assignment.release(token, annotator.participant)
    messages.info(request, "Returned to the queue. Your answers are kept in case you get the dialogue again.")
    return redirect(annotator.address("home"))


@allowed(Role.ANNOTATOR)
@require_POST
@annotator_view
def skip(request: HttpRequest, annotator: AnnotatorContext, reservation: str) -> HttpResponse:
    """Skip a dialogue with a reason; it is assigned to another annotator."""
    for token in assignment.sequence_of(annotator.records, reservation, annotator.participant):
        assignment.skip(token, annotator.participant, request.POST.get("reason", "")[:500])
    messages.info(request, "Skipped. Another annotator will get the dialogue.")
    return redirect(annotator.address("home"))


@allowed(Role.ANNOTATOR)
@require_POST
@annotator_view
def flag(request: HttpRequest, annotator: AnnotatorContext, reservation: str) -> HttpResponse:
    """Flag something for the senior annotators; the dialogue stays with its annotator."""
    sent = request.POST
    kind = next((member for member in FlagKind if member.value == sent.get("kind")), None)
    if kind is None:
        message = "select the type of the flag"
        raise InputError(message)
    turn = sent.get("turn", "")
    raised = Flag(kind=kind, turn=int(turn) if turn.isdecimal() else None, note=sent.get("note", "").strip()[:1000])
    cases.flag(reservation, annotator.participant, raised)
    messages.success(request, "Flagged. A senior annotator will review it.")
    return redirect(annotator.address("annotation", reservation=reservation))


@allowed(Role.ANNOTATOR)
@require_POST
@annotator_view
def comment(request: HttpRequest, annotator: AnnotatorContext, reservation: str) -> HttpResponse:
    """Ask the senior annotators about a question, a turn, the dialogue or the guideline, or continue one's thread."""
    thread = request.POST.get("thread", "")
    if thread:
        cases.reply(thread, annotator.participant, request.POST.get("text", "")[:2000])
        messages.success(request, "Sent.")
        return redirect(annotator.address("annotation", reservation=reservation))
    about = request.POST.get("about", "")
    kind = next((member for member in AnchorKind if about.partition(":")[0] == member.value), AnchorKind.DIALOGUE)
    task, scope = task_of_key(annotator, reservation, about.partition(":")[2])
    question, turn = key_parts(about.partition(":")[2].removeprefix(scope))
    anchor = Anchor(
        kind=kind,
        category=task.reservation.category,
        question=question if kind is AnchorKind.QUESTION else "",
        turn=turn if kind is not AnchorKind.TURN else int(question) if question.isdecimal() else None,
        reservation=task.reservation.token,
    )
    cases.begin_thread(
        annotator.records, annotator.queue, annotator.participant, anchor, request.POST.get("text", "")[:2000]
    )
    messages.success(request, "Sent. The answer appears here, under Comment.")
    return redirect(annotator.address("annotation", reservation=reservation))


def _all_saved(
    request: HttpRequest, annotator: AnnotatorContext, sequence: TaskSequence
) -> tuple[TaskSequence, dict[Key, str]]:
    """Save all answers of a form; return the updated tasks, and the errors by page key."""
    problems: dict[Key, str] = {}
    for task in sequence.tasks:
        saved, odd = _saved(request, annotator, task, sequence.scope(task), is_whole=True)
        sequence, problems = sequence.with_task(saved), problems | odd
    return sequence, problems


def _saved(
    request: HttpRequest, annotator: AnnotatorContext, task: AnnotatorTask, scope: str, *, is_whole: bool = False
) -> tuple[AnnotatorTask, dict[Key, str]]:
    """Save the answers of a request; return the updated task, and the errors by page key.

    Args:
        request: Names one question in `key`, or submits the whole form.
        annotator: The annotator.
        task: The task before the change.
        scope: Prefix of the task's questions in the form.
        is_whole: Whether to read the whole form, regardless of the names in the request.
    """
    page, named = page_of_task(task, scope), "" if is_whole else request.POST.get("key", "")
    problems = {}
    for item in page.items:
        if named and item.key != named:
            continue
        try:
            task = _with_item(request, annotator, task, item)
        except InvalidAnswer as error:
            problems[item.key] = str(error)
    return task, problems


def _with_item(
    request: HttpRequest, annotator: AnnotatorContext, task: AnnotatorTask, item: AnnotationItem
) -> AnnotatorTask:
    """Save the answer for an item if it differs from the stored one.

    Raises:
        InvalidAnswer: If the answer is invalid.
    """
    fields = {name: str(request.POST.get(name, "")) for name in item.fields}
    if not any(fields.values()) and item.answer is None:
        return task
    answer = parse_item(fields, item, task.dialogue)
    if answer is None and (fields[item.fields[1]].strip() or fields[item.fields[2]].strip()):
        message = "Not saved yet: a quote or note belongs to an answer. Choose the answer too."
        raise InvalidAnswer(message)
    is_cleared = answer is None and bool(request.POST.get("key"))
    if is_cleared or (answer is not None and not item.has_answer(answer)):
        return submission.save(task, annotator.participant, item.ref, answer)
    return task


def _told(
    annotator: AnnotatorContext, task: AnnotatorTask, scope: str, *, problem: str = "", **more: object
) -> JsonResponse:
    page = page_of_task(task, scope)
    state: dict[str, object] = {"saved": said_time(task.saved), "scope": scope, "asked": page.asked, "open": page.open}
    if not task.is_following:
        state["following"] = _names(submission.following_tasks(annotator.records, task, annotator.participant))
    return JsonResponse({**state, "problem": problem, **more}, status=UNPROCESSABLE if problem else 200)


def _as_before(item: AnnotationItem) -> dict[str, object]:
    return {
        "key": item.key,
        "values": [item.value] if item.value else [],
        "quotes": item.quote_lines.splitlines(),
        "note": item.note,
    }


def _page(
    request: HttpRequest,
    annotator: AnnotatorContext,
    sequence: TaskSequence,
    *,
    problems: dict[str, str] | None = None,
    problem: str = "",
    start: str = "",
) -> HttpResponse:
    page, task = spoken(request, annotator, sequence.page), sequence.main
    marked = page.remarked(problems=problems or {})
    first = start or next(iter(problems or {}), "") or next(iter(marked.all_open), "")
    context = {
        "access": annotator.access,
        "page": marked,
        "frame": frame_of(annotator, sequence),
        "topics": touched_by(request, annotator, task.reservation.token),
        "category": task.reservation.category,
        "start": first,
        "following": sequence.following,
        "problem": problem,
        "is_submitted": task.reservation.state is ReservationState.SUBMITTED,
    }
    return render(request, "web/annotator/annotation.html", context, status=UNPROCESSABLE if problem else 200)
