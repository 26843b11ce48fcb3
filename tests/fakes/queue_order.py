"""The order of the queue as a plain function, to which the query that chooses work is compared."""

from __future__ import annotations

from collections.abc import Sequence

from theodolite.annotation.rules import why_not
from theodolite.domain.annotating.work import AnnotatorState, WorkItem
from theodolite.domain.people.event import AnnotationProcess


def next_of(items: Sequence[WorkItem], who: AnnotatorState, process: AnnotationProcess) -> WorkItem | None:
    """Return the item that an annotator gets next; None where nothing is left for them.

    What was offered to them comes first. After a dialogue on a heavy topic comes one
    without, as long as there is one; within that, what was put first for everybody, then
    what has the fewest passes; ties fall by the seeded draw of the item, or by its
    reverse for who comes from the end. Heavy dialogues wait for one turn by this and are
    passed over for nobody: each gets all its passes.

    Args:
        items: All items of the queue.
        who: The annotator.
        process: The rules.
    """
    left = [item for item in items if not why_not(item, who, process)]
    return min(left, key=lambda item: _turn(item, who), default=None)


def _turn(item: WorkItem, who: AnnotatorState) -> tuple[bool, bool, bool, int, float]:
    waits, way = who.after_heavy and item.is_heavy, -1 if who.backwards else 1
    return item.key not in who.offered, waits, not item.is_first, item.n_live, way * item.draw
