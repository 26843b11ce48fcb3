"""What stands around a sheet: whose it is, how far one is, and what may be done with it."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.utils import timezone

from theodolite.domain.work import AnnotatorSitting, ReservationState
from theodolite.store.annotating import sittings, taking
from theodolite.store.models.annotating import ReservationRow
from theodolite.web.annotator.desk import Desk, library, said_time
from theodolite.web.annotator.rules import RULES
from theodolite.web.annotator.sheet import Sheet, sheet_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSitting:
    """One sitting in its frame.

    Attributes:
        sitting: What the store says.
        sheet: The same, question by question.
        address: Below which its acts lie.
        progress: How far one is today, in words.
    """

    sitting: AnnotatorSitting
    sheet: Sheet
    address: str
    progress: str
    rules: tuple[str, ...] = RULES
    may_flag: bool = False
    may_comment: bool = False
    flags: tuple[tuple[str, str], ...] = ()
    threads: tuple[object, ...] = field(default=())
    faq: tuple[object, ...] = field(default=())
    returned: str = ""

    @property
    def saved(self) -> str:
        """When anything was saved last, for the page's script."""
        return said_time(self.sitting.saved)

    @property
    def is_held(self) -> bool:
        """Whether it is neither submitted nor given back, so that it may be released or skipped."""
        return self.sitting.reservation.state is ReservationState.RESERVED


def shown(desk: Desk, claim: str) -> ShownSitting:
    """Return a sitting of one's own.

    Raises:
        NotFound: If it is not one's own.
    """
    found = sittings.sitting(library(), claim, desk.participant)
    return ShownSitting(
        sitting=found,
        sheet=sheet_of(found.guideline, found.dialogue, found.answers),
        address=desk.address("sheet", claim=claim),
        progress=progress_of(desk),
    )


def progress_of(desk: Desk) -> str:
    """Return how many one has submitted today, and how many more may come; never anybody else's count.

    Example: `12 of about 40 today`.
    """
    today = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    mine = ReservationRow.objects.filter(item__queue__token=desk.queue, participant__key=desk.participant)
    done = mine.filter(state=ReservationState.SUBMITTED.value, submitted__gte=today).count()
    held = mine.filter(state=ReservationState.RESERVED.value).count()
    return f"{done} of about {done + held + taking.n_left(library(), desk.queue, desk.participant)} today"
