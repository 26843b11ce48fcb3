"""Things in the queue of the seeded event, for tests that need an address of each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from theodolite.annotation import assignment, cases, review, submission
from theodolite.annotation.cases import begin_thread
from theodolite.bootstrap.releases import REVIEW, review_text
from theodolite.domain.annotating.case import Flag, FlagKind
from theodolite.domain.annotating.discrepancy import Anchor, AnchorKind
from theodolite.domain.annotating.work import BulkAct
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.event import Role
from theodolite.store.annotation_queue import queue_of
from theodolite.store.models.annotating import CaseRow, QueueRow, ReservationRow, RoomRow, ThreadRow, WorkItemRow
from theodolite.web.accounts.invitations import invite
from theodolite.web.annotator.home import records
from theodolite.web.models import (
    Account,
    Batch,
    HostedStudy,
    Invitation,
    Measurement,
    Membership,
    RecruitLink,
    SavedView,
    TimeSlot,
)
from theodolite.web.organiser.schema_drafts import begin_draft


def queue_token(hosted: HostedStudy) -> str:
    """Return the token of the event's queue."""
    return str(QueueRow.objects.get(name=hosted.token).token)


def participant_of(hosted: HostedStudy, role: Role = Role.ANNOTATOR) -> str:
    """Return the key of the first person of a role."""
    return Membership.objects.filter(hosted=hosted, role=role.value).order_by("id")[0].participant


def answer_everything(token: str, participant: str, choose: str = "") -> None:
    """Answer all that a sitting asks: as chosen where the scale allows it, else the last value of the scale."""
    while left := submission.task(records(), token, participant).open:
        guideline = submission.task(records(), token, participant).guideline
        for place in left:
            values = guideline.instrument.question(place.question).scale.categories
            value = choose if choose in values else values[-1]
            answer = Answer(question=place.question, outcome=Outcome.ANSWERED, value=value, turn=place.turn)
            submission.save_answer(token, participant, answer)


def submitted(hosted: HostedStudy, participant: str = "", choose: str = "") -> str:
    """Let somebody submit the next dialogue; return the reservation."""
    who = participant or participant_of(hosted)
    found = ReservationRow.objects.filter(participant__key=who, state="submitted").first()
    if found is not None and not participant:
        return str(found.token)
    work = assignment.next_work(records(), queue_token(hosted), who)
    assert work is not None
    answer_everything(work.token, who, choose)
    assert not submission.submit(records(), work.token, who).open
    return work.token


def an_item(hosted: HostedStudy) -> str:
    """Return a work item."""
    return str(WorkItemRow.objects.filter(queue__name=hosted.token).order_by("id")[0].token)


def a_case(hosted: HostedStudy, note: str = "a name") -> str:
    """Return an open case."""
    cases.flag(submitted(hosted), participant_of(hosted), Flag(kind=FlagKind.PII, note=note))
    return str(CaseRow.objects.order_by("id")[0].token)


def a_measurement(hosted: HostedStudy) -> str:
    """Return a measurement that has its report."""
    found, is_new = Measurement.objects.get_or_create(hosted=hosted, defaults={"edition": "0" * 64})
    if is_new:
        found.folder.mkdir(parents=True)
        (found.folder / "report.html").write_text("<!doctype html>")
        (found.folder / REVIEW).write_text(review_text(()))
    return found.token


def a_room(hosted: HostedStudy) -> str:
    """Return a calibration room."""
    if not RoomRow.objects.exists():
        item = WorkItemRow.objects.filter(queue__name=hosted.token).select_related("dialogue__unit")[0]
        review.open_room(records(), queue_token(hosted), item.dialogue.unit.key, item.category, by="sami")
    return str(RoomRow.objects.order_by("id")[0].token)


def a_batch(hosted: HostedStudy) -> str:
    """Return an act on many dialogues at once, which was done with one of them."""
    by = Account.objects.get(memberships__hosted=hosted, memberships__role=Role.SENIOR.value)
    made, is_new = Batch.objects.get_or_create(
        hosted=hosted, account=by, act=BulkAct.FIRST.value, defaults={"n_done": 1, "n_refused": 0}
    )
    if is_new:
        made.lines.create(item=an_item(hosted), made=an_item(hosted))
    return made.token


def a_view(hosted: HostedStudy) -> str:
    """Return a saved view of the study's dialogues; a senior's."""
    by = Account.objects.get(memberships__hosted=hosted, memberships__role=Role.SENIOR.value)
    return SavedView.objects.get_or_create(hosted=hosted, account=by, name="mine")[0].token


def a_draft(hosted: HostedStudy) -> str:
    """Return a draft of the schema by which the event's study is annotated."""
    by = Account.objects.get(memberships__hosted=hosted, memberships__role=Role.SENIOR.value)
    return begin_draft(hosted, "aria-five-categories", "aria-five-categories", by).token


def an_invitation(hosted: HostedStudy) -> str:
    """Return an invitation that nobody has used."""
    email = "invited@example.org"
    found = Invitation.objects.filter(hosted=hosted, email=email).first()
    made = found or invite(hosted.made_by, hosted, Role.ANALYST, email=email)
    return made.token


def a_slot(hosted: HostedStudy) -> str:
    """Return a time slot that nobody has booked."""
    begins = datetime(2031, 1, 1, 9, tzinfo=UTC)
    known = {"role": Role.RED_TEAMER.value, "begins": begins, "ends": begins + timedelta(hours=1)}
    return TimeSlot.objects.get_or_create(hosted=hosted, **known, defaults={"places": 1})[0].token


def a_link(hosted: HostedStudy) -> str:
    """Return a recruiting link."""
    return RecruitLink.objects.get_or_create(hosted=hosted, name="poster")[0].token


def a_thread(hosted: HostedStudy, text: str = "what counts?") -> str:
    """Return a thread that an annotator has begun."""
    found = ThreadRow.objects.filter(queue__name=hosted.token).order_by("id").first()
    if found is not None:
        return str(found.token)
    queue = queue_of(queue_token(hosted))
    anchor = Anchor(kind=AnchorKind.GUIDELINE, category=records().design(queue.design_id).categories[0].name)
    return begin_thread(records(), str(queue.token), participant_of(hosted), anchor, text)
