"""Operations of the annotation queue: tasks of annotators, dialogues for seniors, and labels from other tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest
from ninja import Query, Router

from theodolite.annotation import assignment, review, submission
from theodolite.annotation.listing import Listing, scenarios_in
from theodolite.assessment.form_rules import asked, open_questions
from theodolite.bootstrap.events import study_context_of
from theodolite.bootstrap.exchange import import_label_rows
from theodolite.config.yaml_source import InvalidStudyError
from theodolite.domain.annotating.case import DialogueFilter, ListedDialogue
from theodolite.domain.annotating.work import AnnotatorTask, BlindDialogue
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.errors import Conflict, NotFound, did_you_mean
from theodolite.domain.identity import SHORT, version_of
from theodolite.domain.instrument import ScaleKind
from theodolite.domain.study import Study
from theodolite.web.annotator.annotate import page_of_task
from theodolite.web.annotator.annotation_page import AnnotationItem, parse_item
from theodolite.web.annotator.home import AnnotatorContext, annotator_context, must_choose
from theodolite.web.api import task_records
from theodolite.web.api.requests import (
    ApiProblem,
    cursor_position,
    cursor_text,
    documented,
    permitted,
    token_of,
)
from theodolite.web.events import open_event_of, server_store
from theodolite.web.questions import InvalidAnswer, condition_text, non_responses, submitted_value
from theodolite.web.senior.dialogues import knows_level
from theodolite.web.senior.home import own_item

router = Router(tags=["Annotations"])

RequestFault = dict[str, Any]
"""One fault of a request, as JSON takes it."""

_Place = tuple[str, int | None]
"""A question, and the turn that it is about; None for the dialogue."""


@router.post("studies/{study}/tasks", **documented("next_task", task_records.NextTask))
def next_task(request: HttpRequest, study: str, query: Query[task_records.TaskQuery]) -> dict[str, Any]:
    """Return the task that the annotator has reserved, or reserve the next one by the rules of the queue."""
    annotator = _annotator(request, "next_task", study)
    if must_choose(annotator):
        message = "choose on the page of the study which topics you want to avoid, then ask for a task"
        raise Conflict(message)
    known = [category.name for category in annotator.design.categories]
    if query.category and query.category not in known:
        raise refused([_fault("query.category", f"one of {', '.join(known)}", query.category, known)])
    reservation = assignment.next_work(
        annotator.records, annotator.queue, annotator.participant, category=query.category
    )
    return {"task": None if reservation is None else _task(annotator, reservation.token)}


@router.get("studies/{study}/tasks/{task}", **documented("read_task", task_records.TaskRecord))
def read_task(request: HttpRequest, study: str, task: str) -> dict[str, Any]:
    """Return a task of the annotator with its questions and saved answers."""
    return _task(_annotator(request, "read_task", study), task)


@router.put(
    "studies/{study}/tasks/{task}/answers",
    **documented("write_answers", task_records.TaskRecord),
)
def write_answers(request: HttpRequest, study: str, task: str, body: task_records.TaskAnswers) -> dict[str, Any]:
    """Replace the answers of a task and submit it; the same request may be repeated without a further effect."""
    annotator = _annotator(request, "write_answers", study)
    own = submission.task(annotator.records, task, annotator.participant)
    expected = version_of(own.guideline)
    if body.guideline_version != expected:
        came = body.guideline_version[:80]
        message = f"the task asks version `{expected}` of its guideline; got `{came}`. Read the task again"
        raise Conflict(message)
    answers = _answers(own, body)
    result = submission.replace_answers(annotator.records, task, annotator.participant, answers, is_final=body.submit)
    facts = {"token": token_of(request).token, "submit": body.submit}
    annotator.access.audit("wrote answers by API", f"annotation {task}", **facts)
    return _task(annotator, task) | {"revision": result.revision}


@router.post(
    "studies/{study}/tasks/{task}/release",
    **documented("release_task", task_records.TaskRecord),
)
def release_task(request: HttpRequest, study: str, task: str) -> dict[str, Any]:
    """Return a task to the queue; its answers are kept in case the annotator gets it again."""
    annotator = _annotator(request, "release_task", study)
    assignment.release(task, annotator.participant)
    return _task(annotator, task)


def _annotator(request: HttpRequest, operation: str, study: str) -> AnnotatorContext:
    """Return the context of the annotator who sends a request.

    Raises:
        NotFound: If the study has no queue, or the owner of the token is no annotator in it.
    """
    annotator = annotator_context(permitted(request, operation, study))
    if annotator is None:
        message = f"study `{study}` has no annotation queue yet"
        raise NotFound(message)
    return annotator


def _task(annotator: AnnotatorContext, token: str) -> dict[str, Any]:
    task = submission.task(annotator.records, token, annotator.participant)
    reservation, guideline = task.reservation, task.guideline
    return {
        "id": token,
        "state": reservation.state.value,
        "until": reservation.until,
        "submitted": reservation.submitted,
        "category": reservation.category,
        "guideline_version": version_of(guideline),
        "definition": guideline.definition,
        "guidance": list(guideline.guidance),
        "dialogue": _dialogue(task.dialogue),
        "questions": [_question(item) for item in page_of_task(task).items],
        "answers": [_answer(answer) for answer in task.answers],
        "open": [{"question": place.question, "turn": place.turn} for place in task.open],
    }


def _dialogue(dialogue: BlindDialogue) -> dict[str, Any]:
    reference = dialogue.reference
    return {
        "name": dialogue.name,
        "turns": [{"turn": turn.number, "prompt": turn.prompt, "response": turn.response} for turn in dialogue.turns],
        "material": dialogue.material,
        "withheld": dialogue.withheld,
        "reference": {
            "situation": reference.situation,
            "permitted": list(reference.permitted),
            "prohibited": list(reference.prohibited),
            "facts": dict(reference.facts),
        },
    }


def _question(item: AnnotationItem) -> dict[str, Any]:
    question, scale = item.question, item.question.scale
    values = scale.categories[::-1] if item.is_reversed and scale.kind is ScaleKind.CATEGORIES else scale.categories
    return {
        "question": question.name,
        "turn": item.turn,
        "text": question.text,
        "kind": scale.kind.value,
        "values": [*values, *non_responses(question)],
        "lowest": scale.lowest,
        "highest": scale.highest,
        "is_asked": item.is_asked,
        "is_optional": question.is_optional,
        "condition": item.opened_by,
        "guidance": list(question.guidance),
        "suggestion": item.suggestion,
    }


def _answer(answer: Answer) -> dict[str, Any]:
    return {
        "question": answer.question,
        "turn": answer.turn,
        "value": submitted_value(answer),
        "note": answer.reasoning,
        "quotes": [quote.text for quote in answer.evidence],
    }


def _answers(task: AnnotatorTask, body: task_records.TaskAnswers) -> list[Answer]:
    """Return the answers of a request, checked like those of the page.

    Raises:
        ApiProblem: If any is refused, or a question of a submission is open; names all errors.
    """
    items = {(item.question.name, item.turn): item for item in page_of_task(task).items}
    read: dict[_Place, Answer] = {}
    positions: dict[_Place, int] = {}
    faults: list[RequestFault] = []
    for number, sent in enumerate(body.answers):
        at, place = f"body.answers.{number}", (sent.question, sent.turn)
        item = items.get(place)
        if item is None:
            faults.append(_unknown_place(at, sent, items))
        elif place in read:
            faults.append(_fault(at, "one answer to each question and turn", _place_text(place)))
        else:
            positions[place] = number
            read[place], fault = _read(at, sent, item, task.dialogue)
            faults += fault
    faults += _needless(task, read, positions)
    faults += _missing(task, read) if body.submit else []
    if faults:
        raise refused(faults)
    return list(read.values())


def _read(
    at: str, sent: task_records.AnswerInput, item: AnnotationItem, dialogue: BlindDialogue
) -> tuple[Answer, list[RequestFault]]:
    """Return an answer; an unreadable one with its fault."""
    fields = dict(zip(item.fields, (sent.value.strip(), "\n".join(sent.quotes), sent.note.strip()), strict=True))
    try:
        answer = parse_item(fields, item, dialogue)
    except InvalidAnswer:
        answer = None
    if answer is not None:
        return answer, []
    scale = item.question.scale
    known = [*scale.categories, *non_responses(item.question)]
    expected = "a text" if scale.kind is ScaleKind.TEXT else f"one of {', '.join(known)}"
    if scale.kind is ScaleKind.DECIMALS:
        expected = " or ".join([f"a number from {scale.lowest} to {scale.highest}", *known])
    unread = Answer(question=item.question.name, turn=item.turn, outcome=Outcome.UNPARSEABLE)
    return unread, [_fault(f"{at}.value", expected, sent.value, known)]


def _unknown_place(at: str, sent: task_records.AnswerInput, items: Mapping[_Place, AnnotationItem]) -> RequestFault:
    names = list(dict.fromkeys(question for question, _ in items))
    if sent.question not in names:
        return _fault(f"{at}.question", f"one of {', '.join(names)}", sent.question, names)
    turns = [turn for question, turn in items if question == sent.question]
    expected = "no turn: the question is about the dialogue"
    if turns != [None]:
        expected = f"one of {', '.join(map(str, sorted(turn for turn in turns if turn)))}"
    return _fault(f"{at}.turn", expected, "null" if sent.turn is None else str(sent.turn))


def _needless(
    task: AnnotatorTask, read: Mapping[_Place, Answer], positions: Mapping[_Place, int]
) -> list[RequestFault]:
    """Return the faults of answers to follow-ups that the other answers do not open."""
    instrument, turns = task.guideline.instrument, [turn.number for turn in task.dialogue.turns]
    is_asked = {(place.question, place.turn) for place in asked(instrument, list(read.values()), turns)}
    return [
        _fault(
            f"body.answers.{number}",
            f"no answer: the question is asked only {condition_text(instrument.question(place[0]))}",
            _place_text(place),
        )
        for place, number in positions.items()
        if place not in is_asked
    ]


def _missing(task: AnnotatorTask, read: Mapping[_Place, Answer]) -> list[RequestFault]:
    """Return the faults of questions without an answer."""
    turns = [turn.number for turn in task.dialogue.turns]
    still_open = open_questions(task.guideline.instrument, list(read.values()), turns)
    return [
        _fault("body.answers", f"an answer to {_place_text((place.question, place.turn))}", "none")
        for place in still_open
        if (place.question, place.turn) not in read
    ]


def _place_text(place: _Place) -> str:
    question, turn = place
    return f"`{question}`" if turn is None else f"`{question}` in turn {turn}"


def _fault(where: str, expected: str, came: str, known: Sequence[str] = ()) -> RequestFault:
    return {"where": where, "expected": f"{expected}{did_you_mean(came[:80], known)}", "came": came[:200]}


def refused(faults: Sequence[RequestFault], *, outcome: str = "nothing was stored") -> ApiProblem:
    """Return the refusal of a request that names all its faults.

    Args:
        faults: The faults.
        outcome: Consequence of the refusal.
    """
    shown = "; ".join(f"`{fault['where']}`: expected {fault['expected']}; got {fault['came']}" for fault in faults[:3])
    more = f"; and {len(faults) - 3} more, all in `errors`" if len(faults) > 3 else ""
    return ApiProblem(HTTPStatus.UNPROCESSABLE_ENTITY, f"{outcome}: {shown}{more}", errors=faults)


@router.get("studies/{study}/queue", **documented("list_queue", task_records.QueueList))
def list_queue(request: HttpRequest, study: str, query: Query[task_records.QueueQuery]) -> dict[str, Any]:
    """List the dialogues of the annotation queue in order of arrival, with the stage of each category."""
    reader = _annotator(request, "list_queue", study)
    if query.level is not None and not knows_level(reader.access):
        message = "senior annotators review without the level of testing. Leave `level` out"
        raise ApiProblem(HTTPStatus.FORBIDDEN, message)
    matches = Listing.of(reader.records, reader.queue, _queue_filter(reader, query))
    if not query.cursor:
        reader.access.audit("listed queue by API", f"study {study}", token=token_of(request).token)
    shown = matches.after(
        reader.records,
        reader=reader.participant,
        start=cursor_position(query.cursor, study),
        limit=query.limit,
    )
    after = None if shown.after is None else cursor_text(study, shown.after)
    return {"items": [_queue_dialogue(reader, dialogue) for dialogue in shown.dialogues], "next": after}


@router.get("studies/{study}/queue/{item}", **documented("read_queue_item", task_records.QueueItemDetails))
def read_queue_item(request: HttpRequest, study: str, item: str) -> dict[str, Any]:
    """Return a dialogue in one category as the page of its review shows it: blinded and redacted."""
    senior = _annotator(request, "read_queue_item", study)
    sheet = review.review_sheet(senior.records, own_item(senior, item), senior.participant)
    resolved = {(resolution.question, resolution.turn) for resolution in sheet.resolutions}
    senior.access.audit("read dialogue by API", f"item {item}", token=token_of(request).token)
    return {
        "id": item,
        "category": sheet.guideline.name,
        "guideline_version": version_of(sheet.guideline),
        "is_under_review": sheet.is_frozen,
        "dialogue": _dialogue(sheet.dialogue),
        "disputes": [
            {
                "question": discrepancy.question,
                "turn": discrepancy.turn,
                "is_resolved": (discrepancy.question, discrepancy.turn) in resolved,
            }
            for discrepancy in sheet.discrepancies
        ],
    }


def _queue_filter(reader: AnnotatorContext, query: task_records.QueueQuery) -> DialogueFilter:
    """Return the filter of a query.

    Raises:
        ApiProblem: If it names something that the queue does not have; names all errors.
    """
    name, sign, value = query.group.partition("=")
    faults = []
    if query.group and not sign:
        faults.append(_fault("query.group", "a name, `=` and a value", query.group))
    known = {
        "scenario": (query.scenario, scenarios_in(reader.queue)),
        "category": (query.category, [category.name for category in reader.design.categories]),
    }
    faults += [
        _fault(f"query.{key}", f"one of {', '.join(names)}", asked_for, names)
        for key, (asked_for, names) in known.items()
        if asked_for and asked_for not in names
    ]
    if faults:
        raise refused(faults, outcome="nothing was read")
    return DialogueFilter(
        scenario=query.scenario,
        level=query.level,
        stage=query.stage,
        category=query.category,
        disputed=query.disputed,
        flag=query.flag,
        group=(name, value) if sign else None,
        words=query.text,
    )


def _queue_dialogue(reader: AnnotatorContext, dialogue: ListedDialogue) -> dict[str, Any]:
    return {
        "name": dialogue.name,
        "opening": dialogue.opening,
        "scenario": dialogue.scenario,
        "level": dialogue.level if knows_level(reader.access) else None,
        "flags": list(dialogue.flags),
        "items": [
            {
                "id": item.item,
                "category": item.category,
                "stage": item.stage,
                "required": item.passes,
                "submitted": item.n_done,
                "disputed": item.n_disputed,
                "is_prioritised": item.is_first,
            }
            for item in dialogue.items
        ],
    }


@router.post(
    "studies/{study}/labels",
    **documented("import_labels", task_records.ImportedLabels),
)
def import_labels(request: HttpRequest, study: str, body: task_records.LabelsInput) -> dict[str, Any]:
    """Store labels of a person from another tool, all or none; equal ones change nothing."""
    access = permitted(request, "import_labels", study)
    context = study_context_of(open_event_of(access.hosted), access.hosted.folder, server_store())
    faults = _unfit(body, context.loaded.study)
    if faults:
        raise refused(faults)
    rows = list(_rows(body))
    try:
        stored = import_label_rows(context, [row for _, row in rows], by=body.annotator)
    except InvalidStudyError as error:
        found = [
            {
                "where": rows[fault.line - 1][0],
                "expected": fault.message,
                "came": rows[fault.line - 1][1]["answer"][:200],
            }
            for fault in error.placed
        ]
        message = f"nothing was stored: {found[0]['where']}: {found[0]['expected']}"
        raise ApiProblem(HTTPStatus.UNPROCESSABLE_ENTITY, message, errors=found) from error
    counts = {"new": len(stored.new), "revised": len(stored.revised), "unchanged": stored.unchanged}
    token = token_of(request).token
    access.audit("imported labels by API", f"study {access.hosted.token}", token=token, by=body.annotator, **counts)
    return counts


def _unfit(body: task_records.LabelsInput, study: Study) -> list[RequestFault]:
    """Return the faults of the annotator, the guidelines and their versions."""
    own = {annotator.name: annotator for annotator in study.annotators}
    person, guidelines = own.get(body.annotator), {guideline.name: guideline for guideline in study.guidelines}
    if person is not None and not person.by_hand:
        expected = "the name of a person; judges answer in runs of the study"
        return [_fault("body.annotator", expected, body.annotator)]
    known = [person.guideline] if person is not None else list(guidelines)
    faults = []
    for number, one in enumerate(body.annotations):
        at = f"body.annotations.{number}"
        if one.guideline not in known:
            faults.append(_fault(f"{at}.guideline", f"one of {', '.join(known)}", one.guideline, known))
        elif one.guideline_version != (version := version_of(guidelines[one.guideline])):
            faults.append(_fault(f"{at}.guideline_version", version, one.guideline_version))
    return faults


def _rows(body: task_records.LabelsInput) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield place and row of each answer."""
    for number, one in enumerate(body.annotations):
        for position, answer in enumerate(one.answers):
            yield (
                f"body.annotations.{number}.answers.{position}",
                {
                    "item": one.dialogue,
                    "turn": "" if answer.turn is None else str(answer.turn),
                    "guideline": one.guideline,
                    "version": one.guideline_version[:SHORT],
                    "question": answer.question,
                    "answer": answer.value,
                    "reason": answer.reason,
                    "annotator": body.annotator,
                },
            )
