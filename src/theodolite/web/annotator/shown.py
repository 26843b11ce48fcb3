"""What stands around a sheet: how far one is, what may be done with it, what was asked and settled."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone

from theodolite.annotation import assignment, quality, submission, threads
from theodolite.domain.annotating.case import FlagKind
from theodolite.domain.annotating.thread import FeedbackThread, ThreadEnd
from theodolite.domain.annotating.work import AnnotatorSitting, ReservationState
from theodolite.domain.guideline import Guideline
from theodolite.store.models.annotating import ReservationRow
from theodolite.web.annotator.desk import Desk, library, said_time
from theodolite.web.annotator.items import worded
from theodolite.web.annotator.rules import RULES
from theodolite.web.annotator.sheet import Sheet, sheet_of

FLAGS = (
    (FlagKind.PII.value, "Somebody's personal data"),
    (FlagKind.SELF_IDENTIFICATION.value, "The application tells who it is"),
    (FlagKind.WELLBEING.value, "Hard to read, or somebody may be in danger"),
    (FlagKind.TECHNICAL.value, "Something is broken on this page or in the dialogue"),
)
"""What may be flagged, in the words of the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What stands around a sheet, whatever it is for.

    Attributes:
        address: Below which its acts lie.
        progress: How far one is, in words.
        saved: When anything was saved last, for the page's script; empty for never.
        is_held: Whether it may be given back or skipped.
        is_work: Whether it is real work: flags and comments belong to it.
        is_preview: Whether it only shows what annotators will see; what is tried on it stays on the page.
        threads: What one asked before in this category.
        faq: What was asked and settled for everybody.
        additions: What was settled as words of the guideline, which its next version takes up.
        returned: What a senior annotator wrote when returning it; empty for nothing.
        rules: The impartiality rules.
        flags: What may be flagged: value and words.
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
    rules: tuple[str, ...] = RULES
    flags: tuple[tuple[str, str], ...] = FLAGS

    @property
    def save_address(self) -> str:
        """Where single answers are sent to."""
        return f"{self.address}answer/" if self.is_work else self.address

    @property
    def submit_address(self) -> str:
        """Where the whole is sent to."""
        return f"{self.address}submit/" if self.is_work else self.address


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSitting:
    """One sitting in its frame: what the store says, the same question by question, and what stands around it."""

    sitting: AnnotatorSitting
    sheet: Sheet
    frame: Frame


def shown(desk: Desk, claim: str) -> ShownSitting:
    """Return a sitting of one's own.

    Raises:
        NotFound: If it is not one's own.
    """
    found = submission.sitting(library(), claim, desk.participant)
    title = worded(found.guideline.name)
    return ShownSitting(
        sitting=found,
        sheet=sheet_of(found.guideline, found.dialogue, found.answers, title=title, order=found.order),
        frame=_frame(desk, found),
    )


def _frame(desk: Desk, found: AnnotatorSitting) -> Frame:
    category, token = found.reservation.category, found.reservation.token
    own = threads.own_threads(desk.queue, desk.participant)
    returned = {one.reservation: one.comment for one in quality.returned_to(desk.queue, desk.participant)}
    return Frame(
        address=desk.address("sheet", claim=token),
        progress=progress_of(desk),
        saved=said_time(found.saved),
        is_held=found.reservation.state is ReservationState.RESERVED,
        is_work=True,
        threads=tuple(one for one in own if one.anchor.category == category),
        faq=_settled(desk, ThreadEnd.FAQ, category),
        additions=_not_written(found.guideline, _settled(desk, ThreadEnd.GUIDELINE, category)),
        returned=returned.get(token, ""),
    )


def _settled(desk: Desk, end: ThreadEnd, category: str) -> tuple[str, ...]:
    return tuple(text for _, text in threads.settled(desk.queue, end=end, category=category))


def _not_written(guideline: Guideline, settled: tuple[str, ...]) -> tuple[str, ...]:
    """Return what was settled and does not stand in this version of the guideline yet."""
    notes = {*guideline.guidance, *(note for one in guideline.instrument.questions for note in one.guidance)}
    return tuple(text for text in settled if " ".join(text.split()) not in notes)


def progress_of(desk: Desk) -> str:
    """Return how many one has submitted today, and how many more may come; never anybody else's count.

    Example: `12 of about 40 today`.
    """
    today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    mine = ReservationRow.objects.filter(item__queue__token=desk.queue, participant__key=desk.participant)
    done = mine.filter(state=ReservationState.SUBMITTED.value, submitted__gte=today).count()
    held = mine.filter(state=ReservationState.RESERVED.value).count()
    return f"{done} of about {done + held + assignment.n_left(library(), desk.queue, desk.participant)} today"
