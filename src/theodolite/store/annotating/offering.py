"""Offering: many items to one annotator at once, each by the rules by which they would get it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from theodolite.assessment.queue.queueing import why_not
from theodolite.domain.annotating.bulk import BulkLine
from theodolite.domain.annotating.work import AtWork, ItemState, ReservationState, WorkItem
from theodolite.domain.people.event import AnnotationProcess
from theodolite.store.annotating.claims import LIVE, participant_id
from theodolite.store.annotating.library import Library
from theodolite.store.annotating.many import in_chunks, locked, note_all, rows_under
from theodolite.store.annotating.qualified import qualified_for
from theodolite.store.annotating.queues import new_token, queue_of
from theodolite.store.annotating.taking import candidates
from theodolite.store.ledger import CHUNK, database_now
from theodolite.store.models.annotating import QueueRow, ReservationRow, WorkItemRow

OFFERED, _RELEASED = ReservationState.OFFERED.value, ReservationState.RELEASED.value


def offer_many(library: Library, queue: str, items: Sequence[str], participant: str, *, by: str) -> list[BulkLine]:
    """Offer items to one annotator before anything else, as far as they may take them.

    An offer takes no pass until they come, and what is offered counts towards their share.

    Args:
        library: Where the queue's design is kept.
        queue: Token of the queue.
        items: Tokens of what is offered; those that are not of the queue are passed over.
        participant: Opaque key of the annotator.
        by: Who offers.
    """
    row = queue_of(queue)
    with locked(row):
        offering = _Offering.to(library, row, participant)
        lines = [offering.line(item) for item in rows_under(row, items)]
        offering.write(by)
    return lines


@dataclass(slots=True, kw_only=True)
class _Offering:
    """Offers to one annotator, as they are made one after the other.

    Attributes:
        row: The queue.
        process: Its rules.
        number: Number of the annotator's row.
        now: The present moment.
        who: The annotator as the queue knows them; their share grows with each offer.
        free: Numbers of the items that they might take now.
        own: Their claims by item.
        new: Claims that begin with an offer.
        again: Claims that are offered again.
    """

    row: QueueRow
    process: AnnotationProcess
    number: int
    now: datetime
    who: AtWork
    free: Collection[int]
    own: Mapping[int, ReservationRow]
    new: list[ReservationRow]
    again: list[ReservationRow]

    @classmethod
    def to(cls, library: Library, row: QueueRow, participant: str) -> _Offering:
        """Look up what decides whether an annotator may take something."""
        own = list(ReservationRow.objects.filter(item__queue=row, participant__key=participant).select_related("item"))
        live = [claim for claim in own if claim.state in LIVE]
        met: defaultdict[str, set[str]] = defaultdict(set)
        for claim in live:
            met[str(claim.item.dialogue_id)].add(claim.item.category)
        had = [c for c in own if c.state in {*LIVE, "voided"} or (c.state == _RELEASED and c.reason)]
        categories = WorkItemRow.objects.filter(queue=row).values_list("category", flat=True)
        who = AtWork(
            participant=participant,
            qualified=qualified_for(library, row, participant),
            had=frozenset(str(claim.item_id) for claim in had),
            met={dialogue: frozenset(names) for dialogue, names in met.items()},
            n_taken=Counter(claim.item.category for claim in own if claim.state in {*LIVE, OFFERED}),
            n_items=Counter(categories),
        )
        free = set(candidates(library, row, participant).order_by().values_list("id", flat=True))
        process = library.design(row.design_id).process
        return cls(
            row=row,
            process=process,
            number=participant_id(participant),
            now=database_now(),
            who=who,
            free=free,
            own={claim.item_id: claim for claim in own},
            new=[],
            again=[],
        )

    def line(self, item: WorkItemRow) -> BulkLine:
        """Offer one item, or say why it is not offered."""
        claim = self.own.get(item.pk)
        refused = self._refused(item, claim)
        if refused:
            return BulkLine(item=item.token or "", refused=refused)
        made = claim or ReservationRow(token=new_token(), item=item, participant_id=self.number, created=self.now)
        made.state = OFFERED
        (self.again if claim else self.new).append(made)
        self.who.n_taken[item.category] = self.who.n_taken.get(item.category, 0) + 1
        place = str(item.dialogue_id)
        self.who.met[place] = self.who.met.get(place, frozenset()) | {item.category}
        return BulkLine(item=item.token or "", made=made.token)

    def _refused(self, item: WorkItemRow, claim: ReservationRow | None) -> str:
        if claim is not None and claim.state == OFFERED:
            return "it is offered to them already"
        told = why_not(_record(item), self.who, self.process)
        return told or ("" if item.pk in self.free else "it is not for them")

    def write(self, by: str) -> None:
        """Write the offers down."""
        made = ReservationRow.objects.bulk_create(self.new)
        ReservationRow.objects.bulk_update(self.again, ["state"], batch_size=CHUNK)
        note_all([*made, *self.again], by)


def _record(item: WorkItemRow) -> WorkItem:
    return WorkItem(
        key=str(item.pk),
        dialogue=str(item.dialogue_id),
        category=item.category,
        passes=item.passes,
        n_live=item.live,
        tester=item.tester,
        state=ItemState(item.state),
    )


def undo_offers(queue: str, made: Collection[str], *, by: str) -> int:
    """Take back those offers that nobody has taken up; return their count."""
    row = queue_of(queue)
    with locked(row):
        rows = [
            claim
            for tokens in in_chunks(made)
            for claim in ReservationRow.objects.filter(token__in=tokens, item__queue=row, state=OFFERED)
        ]
        take_back_offers(rows, by)
    return len(rows)


def take_back_offers(offers: Sequence[ReservationRow], by: str) -> None:
    """Take back offers; whoever had them may be offered the same again."""
    for claim in offers:
        claim.state = _RELEASED
    ReservationRow.objects.bulk_update(offers, ["state"], batch_size=CHUNK)
    note_all(offers, by)
