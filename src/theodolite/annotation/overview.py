"""Overview: what organisers need to know of an annotation queue, by the name of the queue."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from theodolite.annotation.assignment import n_heavy_lately, n_waiting_in
from theodolite.annotation.records import RecordCache
from theodolite.domain.people.exposure import MUCH_DIALOGUES
from theodolite.store.models.annotating import QueueRow, ReservationRow, WorkItemRow

_SUBMITTED = "submitted"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDemand:
    """What annotators are needed for in some scenarios; counts.

    Attributes:
        waiting: Dialogues and categories that wait for an annotator.
        overlap: Different annotators that each of them needs.
    """

    waiting: int = 0
    overlap: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HeavyWorkload:
    """Much recent work of one annotator on one heavy topic.

    Attributes:
        participant: Opaque key of the annotator.
        topic: Title of the topic.
        dialogues: Dialogues submitted lately; count.
    """

    participant: str
    topic: str
    dialogues: int


def has_queue(name: str) -> bool:
    """Tell whether there is a queue of that name."""
    return QueueRow.objects.filter(name=name).exists()


def topic_demand(records: RecordCache, name: str, scenarios: Collection[str]) -> TopicDemand:
    """Return what annotators are needed for in some scenarios; nothing if there is no queue."""
    queue = QueueRow.objects.filter(name=name).first()
    if queue is None:
        return TopicDemand()
    return TopicDemand(
        waiting=n_waiting_in(queue.token, scenarios), overlap=records.design(queue.design_id).process.passes
    )


def heavy_workloads(records: RecordCache, name: str) -> Iterator[HeavyWorkload]:
    """Yield the annotators with much recent work on a heavy topic; none if there is no queue."""
    queue = QueueRow.objects.filter(name=name).first()
    if queue is None:
        return
    titles = {topic.name: topic.title for topic in records.study(queue.study_content_id).topics}
    for participant, counts in n_heavy_lately(records, queue.token).items():
        for topic, n in counts.items():
            if n >= MUCH_DIALOGUES:
                yield HeavyWorkload(participant=participant, topic=titles[topic], dialogues=n)


def dialogue_names(name: str, limit: int) -> set[str]:
    """Return keys and labels of the latest dialogues of a queue.

    Args:
        name: Name of the queue.
        limit: Work items that are read; count.
    """
    items = WorkItemRow.objects.filter(queue__name=name).order_by("-id")[:limit]
    return {text for names in items.values_list("dialogue__unit__key", "dialogue__unit__label") for text in names}


def latest_submissions(name: str, participant: str, limit: int) -> list[str]:
    """Return the tokens of an annotator's latest submitted reservations.

    Args:
        name: Name of the queue.
        participant: Opaque key of the annotator.
        limit: Reservations at most; count.
    """
    own = ReservationRow.objects.filter(item__queue__name=name, participant__key=participant, state=_SUBMITTED)
    return list(own.order_by("-id").values_list("token", flat=True)[:limit])
