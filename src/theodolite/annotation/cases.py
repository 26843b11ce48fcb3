"""Sensitive cases, and threads of questions and comments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db import transaction

from theodolite.annotation.records import RecordCache
from theodolite.assessment.blinding import identifying_names
from theodolite.assessment.redaction import Suspicion, redactions_of, suspicions
from theodolite.domain.annotating.case import (
    CaseAct,
    CaseView,
    Flag,
    OriginalAccess,
    Redaction,
    SensitiveCase,
)
from theodolite.domain.annotating.discrepancy import Anchor, FeedbackThread, ThreadEnd
from theodolite.domain.annotating.work import ItemState
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import Conflict, InputError, NotFound
from theodolite.domain.run import UnitState
from theodolite.store.annotation_queue import (
    add_post,
    add_step,
    case_row,
    cases_in_study,
    cases_in_view,
    cases_of,
    has_begun,
    new_token,
    own_reservation,
    queue_of,
    redaction_row,
    thread_row,
    threads_of,
)
from theodolite.store.dialogues import dialogues_of
from theodolite.store.ledger import CHUNK
from theodolite.store.models import DialogueRow
from theodolite.store.models.annotating import (
    CaseRow,
    CaseStepRow,
    OriginalAccessRow,
    PostRow,
    RedactionRow,
    ThreadRow,
    WorkItemRow,
)
from theodolite.store.statements import database_now, one_at_a_time

CASES_PAGE = 50
"""Cases per page of the list; count."""


def flag(token: str, participant: str, raised: Flag) -> str:
    """Flag something from an annotation page; return the token of the case.

    A second flag of the same kind on the same turn joins the open case.

    Raises:
        NotFound: If the reservation belongs to another annotator.
    """
    item = own_reservation(token, participant).item
    return open_case(item.queue.study, item.dialogue_id, raised, by=participant)


def flag_dialogue(study: str, dialogue: str, raised: Flag, *, by: str) -> str:
    """Flag a passage of a dialogue outside of a reservation, as a detector or as a senior.

    Raises:
        NotFound: If the dialogue does not exist.
    """
    row = DialogueRow.objects.filter(unit__key=dialogue).values_list("id", flat=True).first()
    if row is None:
        message = f"no dialogue is stored under the key {dialogue}"
        raise NotFound(message)
    return open_case(study, row, raised, by=by)


def open_case(study: str, dialogue_id: int, raised: Flag, *, by: str) -> str:
    """Open a case, or add a flag to the open one of the same kind and turn; return its token."""
    with transaction.atomic():
        one_at_a_time(f"cases {dialogue_id}")
        rows = CaseRow.objects.filter(dialogue_id=dialogue_id, kind=raised.kind.value, turn=raised.turn)
        for row in rows.order_by("id"):
            if not case_of(row.token).is_closed:
                add_step(row, CaseAct.FLAGGED, by, raised.note or raised.words)
                return str(row.token)
        made = CaseRow.objects.create(
            token=new_token(),
            study=study,
            dialogue_id=dialogue_id,
            kind=raised.kind.value,
            turn=raised.turn,
            words=raised.words,
            note=raised.note,
            by_detector=raised.by_detector,
        )
        add_step(made, CaseAct.OPENED, by, raised.note)
        return str(made.token)


def restrict(token: str, *, by: str, note: str = "") -> None:
    """Hide the dialogue from annotators: its items are set aside until it is redacted or the case is closed."""
    with transaction.atomic():
        row = case_row(token)
        add_step(row, CaseAct.RESTRICTED, by, note)
        _set_aside(row)


def redact(
    records: RecordCache, token: str, words: str, *, by: str, shown_in: Sequence[str] = (), note: str = ""
) -> tuple[Redaction, ...]:
    """Redact words for annotators everywhere in the dialogue, which returns to the queue.

    Args:
        records: Store of the dialogues.
        token: Token of the case.
        words: The words as written in the dialogue.
        by: The person who hides them.
        shown_in: Categories whose annotators see the words because they judge them.
        note: The reason, for the record.

    Raises:
        InputError: If the words occur nowhere in the dialogue.
    """
    with transaction.atomic():
        row = case_row(token)
        dialogue = records.dialogue(row.dialogue.unit_id)
        result = redactions_of(dialogue, words, shown_in=tuple(shown_in))
        RedactionRow.objects.bulk_create(redaction_row(row, redaction) for redaction in result)
        add_step(row, CaseAct.REDACTED, by, note)
        _bring_back(row)
    return result


def confirm(token: str, *, by: str, note: str = "") -> None:
    """Confirm a detector's finding; its redactions are kept.

    Raises:
        Conflict: If a person has decided the case before.
    """
    with transaction.atomic():
        add_step(_suggested(token), CaseAct.CONFIRMED, by, note)


def dismiss(token: str, *, by: str, note: str = "") -> None:
    """Reject a detector's finding; its redactions end.

    Raises:
        Conflict: If a person has decided the case before.
    """
    with transaction.atomic():
        add_step(_suggested(token), CaseAct.DISMISSED, by, note)


def _suggested(token: str) -> CaseRow:
    row = case_row(token)
    if not cases_of([row])[0].is_suggestion:
        message = "only unconfirmed detections by a program can be confirmed or dismissed; close the case"
        raise Conflict(message)
    return row


def notify(token: str, *, by: str, note: str) -> None:
    """Record the people informed of a case, and the channel."""
    add_step(case_row(token), CaseAct.NOTIFIED, by, note)


def close(token: str, *, by: str, note: str = "") -> None:
    """Close a case; its redactions are kept, and its dialogue returns to the queue."""
    with transaction.atomic():
        row = case_row(token)
        add_step(row, CaseAct.CLOSED, by, note)
        _bring_back(row)


def original(records: RecordCache, token: str, *, by: str, reason: str) -> Dialogue:
    """Return the unredacted dialogue of a case, after recording reader, time and reason.

    Raises:
        InputError: If there is no reason.
    """
    if not reason.strip():
        message = "a reason is required to view the original; got none"
        raise InputError(message)
    row = case_row(token)
    OriginalAccessRow.objects.create(dialogue_id=row.dialogue_id, by=by, reason=reason.strip(), created=database_now())
    return records.dialogue(row.dialogue.unit_id)


def accesses(token: str) -> list[OriginalAccess]:
    """Return the readers of a case's unredacted dialogue, with date and reason, in order of time."""
    rows = OriginalAccessRow.objects.filter(dialogue_id=case_row(token).dialogue_id).order_by("id")
    return [OriginalAccess(by=row.by, at=row.created, reason=row.reason) for row in rows]


def case_of(token: str) -> SensitiveCase:
    """Return a case.

    Raises:
        NotFound: If there is no row with that token.
    """
    return cases_of([case_row(token)])[0]


def is_case_of(study: str, token: str) -> bool:
    """Return whether a case belongs to a study."""
    return CaseRow.objects.filter(token=token, study=study).exists()


def cases(study: str) -> list[SensitiveCase]:
    """Return the cases of a study, the latest first."""
    return cases_of(list(cases_in_study(study)))


def case_page(study: str, view: CaseView, page: int = 0) -> list[SensitiveCase]:
    """Return one page of the cases of a study in a view, latest first."""
    return cases_of(list(cases_in_view(study, view)[page * CASES_PAGE : (page + 1) * CASES_PAGE]))


def n_cases(study: str) -> dict[CaseView, int]:
    """Return the number of cases in each view of a study; counts."""
    return {view: cases_in_view(study, view).count() for view in CaseView}


def n_open_cases(study: str) -> int:
    """Return the number of cases of a study that a senior has to decide; count."""
    return cases_in_view(study, CaseView.OPEN).count()


def _set_aside(row: CaseRow) -> None:
    items = WorkItemRow.objects.filter(dialogue_id=row.dialogue_id, state=ItemState.OPEN.value)
    items.update(state=ItemState.ASIDE.value)


def _bring_back(row: CaseRow) -> None:
    """Open the items that were set aside, unless another case still restricts the dialogue or it was withdrawn."""
    others = CaseRow.objects.filter(dialogue_id=row.dialogue_id).select_related("dialogue__unit")
    if not any(case.is_restricted for case in cases_of(list(others))):
        items = WorkItemRow.objects.filter(dialogue_id=row.dialogue_id, state=ItemState.ASIDE.value)
        items.exclude(dialogue__unit__state=UnitState.WITHDRAWN.value).update(state=ItemState.OPEN.value)


DETECTOR = "a program"
"""Name under which the program opens cases."""


def unseen(queue: str, dialogues: Sequence[str]) -> list[str]:
    """Return the keys of those dialogues that are not in a queue yet."""
    known = set(WorkItemRow.objects.filter(queue__token=queue).values_list("dialogue__unit__key", flat=True))
    return [key for key in dialogues if key not in known]


def suspect(records: RecordCache, queue: str, dialogues: Sequence[str]) -> int:
    """Scan dialogues and open a case for each finding; another scan opens no case twice.

    Args:
        records: Store of study and dialogues.
        queue: Token of the queue; its first category still sees personal details, because it judges them.
        dialogues: Keys of dialogues that are stored.

    Returns:
        Cases that are new; count.
    """
    row = queue_of(queue)
    study, design = records.study(row.study_content_id), records.design(row.design_id)
    names, shown_in = identifying_names(study), (design.first,) if design.first else ()
    n_new = 0
    for start in range(0, len(dialogues), CHUNK):
        rows = list(DialogueRow.objects.filter(unit__key__in=dialogues[start : start + CHUNK]).select_related("unit"))
        numbers = {row.unit.key: row.pk for row in rows}
        matches = [
            (numbers[dialogue.key], suspicion)
            for dialogue in dialogues_of([row.unit_id for row in rows], records.contents)
            for suspicion in suspicions(dialogue, names, shown_in=shown_in)
        ]
        n_new += _open(row.study, matches)
    return n_new


def _open(study: str, found: Iterable[tuple[int, Suspicion]]) -> int:
    found = list(found)
    seen = CaseRow.objects.filter(dialogue_id__in={number for number, _ in found}, by_detector=True)
    known = set(seen.values_list("dialogue_id", "kind", "turn"))
    new = [(number, one) for number, one in found if (number, one.flag.kind.value, one.flag.turn) not in known]
    with transaction.atomic():
        now = database_now()
        cases = CaseRow.objects.bulk_create(
            CaseRow(
                token=new_token(),
                study=study,
                dialogue_id=number,
                kind=one.flag.kind.value,
                turn=one.flag.turn,
                note=one.flag.note,
                by_detector=True,
            )
            for number, one in new
        )
        CaseStepRow.objects.bulk_create(
            CaseStepRow(case=case, act=CaseAct.OPENED.value, by=DETECTOR, note=case.note, created=now) for case in cases
        )
        RedactionRow.objects.bulk_create(
            redaction_row(case, hidden) for case, (_, one) in zip(cases, new, strict=True) for hidden in one.hidden
        )
    return len(cases)


THREADS_PAGE = 20
"""Threads per page of the list; count."""


def begin_thread(records: RecordCache, queue: str, participant: str, anchor: Anchor, text: str) -> str:
    """Start a thread and return its token.

    Raises:
        InputError: If there is no text, or the queue has no such category.
        NotFound: If it depends on a reservation of another annotator.
    """
    row = queue_of(queue)
    category = records.design(row.design_id).category(anchor.category)
    if category is None or not text.strip():
        message = f"a thread needs a category of the queue and some words; got {anchor.category!r} and {text!r}"
        raise InputError(message)
    reservation = own_reservation(anchor.reservation, participant) if anchor.reservation else None
    with transaction.atomic():
        thread = ThreadRow.objects.create(
            token=new_token(),
            queue=row,
            reservation=reservation,
            kind=anchor.kind.value,
            category=anchor.category,
            version=reservation.item.version if reservation else category.version,
            question=anchor.question,
            turn=anchor.turn,
            created=database_now(),
        )
        add_post(thread, participant, text)
    return str(thread.token)


def reply(token: str, participant: str, text: str, *, senior: bool = False) -> None:
    """Add to a thread: to one's own, or to any as a senior.

    Raises:
        Conflict: If it has ended.
        InputError: If there is no text.
        NotFound: If there is none, or it belongs to another person.
    """
    if not text.strip():
        message = "a post cannot be empty"
        raise InputError(message)
    with transaction.atomic():
        one_at_a_time(f"thread {token}")
        thread = thread_row(token)
        if not senior and not has_begun(thread, participant):
            message = f"no thread has the token `{token}` for this annotator"
            raise NotFound(message)
        if thread.end:
            message = "this thread is resolved; start another one"
            raise Conflict(message)
        add_post(thread, participant, text)


def end_thread(token: str, end: ThreadEnd, *, by: str, text: str = "") -> None:
    """End a thread as a senior: into guideline text, into the list of questions, or without a change.

    Raises:
        Conflict: If it has ended before.
        InputError: If the text for the guideline or the list is missing.
    """
    if end is not ThreadEnd.NOTHING and not text.strip():
        message = f"a text is required to resolve a thread as `{end.value}`"
        raise InputError(message)
    with transaction.atomic():
        one_at_a_time(f"thread {token}")
        thread = thread_row(token)
        if thread.end:
            message = f"this thread is already resolved as `{thread.end}`"
            raise Conflict(message)
        thread.end, thread.text, thread.by, thread.ended = end.value, text.strip(), by, database_now()
        thread.save()


def own_threads(queue: str, participant: str) -> list[FeedbackThread]:
    """Return the threads that an annotator started, the latest first."""
    own_posts = PostRow.objects.filter(thread__queue__token=queue, participant__key=participant)
    rows = ThreadRow.objects.filter(id__in=own_posts.values("thread_id"), queue__token=queue).order_by("-id")
    return [thread for thread in threads_of(list(rows), participant) if thread.posts[0].is_own]


def thread_page(queue: str, participant: str = "", *, is_open: bool = True, page: int = 0) -> list[FeedbackThread]:
    """Return one page of the threads of a queue that are open, or have ended, for seniors, the latest first."""
    rows = ThreadRow.objects.filter(queue__token=queue).order_by("-id")
    rows = rows.filter(end="") if is_open else rows.exclude(end="")
    return threads_of(list(rows[page * THREADS_PAGE : (page + 1) * THREADS_PAGE]), participant)


def n_open_threads(queue: str) -> int:
    """Return the number of threads of a queue that wait for an end; count."""
    return ThreadRow.objects.filter(queue__token=queue, end="").count()


def n_threads(queue: str) -> tuple[int, int]:
    """Return the number of open and of ended threads of a queue; counts."""
    n_open = n_open_threads(queue)
    return n_open, ThreadRow.objects.filter(queue__token=queue).count() - n_open


def is_thread_of(queue: str, token: str) -> bool:
    """Return whether a thread belongs to a queue."""
    return ThreadRow.objects.filter(queue__token=queue, token=token).exists()


def settled(queue: str, *, end: ThreadEnd = ThreadEnd.FAQ, category: str = "") -> list[tuple[str, str]]:
    """Return category and text of the outcomes of threads; they identify neither dialogues nor people."""
    rows = ThreadRow.objects.filter(queue__token=queue, end=end.value).order_by("id")
    return list((rows.filter(category=category) if category else rows).values_list("category", "text"))


def settled_threads(queue: str, end: ThreadEnd) -> list[FeedbackThread]:
    """Return the threads that led to guideline text or the list of questions, for seniors, oldest first."""
    rows = ThreadRow.objects.filter(queue__token=queue, end=end.value).order_by("id")
    return threads_of(list(rows), "")
