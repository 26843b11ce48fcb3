"""Queueing: which dialogue an annotator gets next.

The rules are written twice on purpose: here, where they can be read and held to
their laws, and as one query in the store, where they choose among ten thousand
items. A test holds the query to these functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

from theodolite.domain.annotating.work import AtWork, ItemState, QueueCategory, QueueDesign, WorkItem
from theodolite.domain.identity import version_of
from theodolite.domain.people.event import AnnotationProcess
from theodolite.domain.schema import AnnotationSchema


def next_of(items: Sequence[WorkItem], who: AtWork, process: AnnotationProcess) -> WorkItem | None:
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


def _turn(item: WorkItem, who: AtWork) -> tuple[bool, bool, bool, int, float]:
    waits, way = who.after_heavy and item.is_heavy, -1 if who.backwards else 1
    return item.key not in who.offered, waits, not item.is_first, item.n_live, way * item.draw


def why_not(item: WorkItem, who: AtWork, process: AnnotationProcess) -> str:
    """Return why an annotator may not have an item, in words; empty where they may."""
    elsewhere = who.met.get(item.dialogue, frozenset()) - {item.category}
    share = most_items(who.n_items.get(item.category, 0), process)
    obstacles = {
        f"it is {item.state.value}": item.state is not ItemState.OPEN,
        "all its passes are taken": item.n_live >= item.passes,
        "they are not qualified for its category": item.category not in who.qualified,
        "they had it before": item.key in who.had,
        "they held the dialogue themselves": bool(item.tester) and item.tester == who.participant,
        "it touches what they would rather not meet": item.scenario in who.avoided,
        "they annotated another category of the same dialogue": process.apart and bool(elsewhere),
        "they have their share of its category": who.n_taken.get(item.category, 0) >= share,
    }
    return next((reason for reason, stands in obstacles.items() if stands), "")


def most_items(n_items: int, process: AnnotationProcess) -> int:
    """Return how many items of a category one annotator may take; count, 1 at least.

    Example:
        >>> most_items(10, AnnotationProcess(most_share=0.6))
        6
    """
    return max(1, floor(n_items * process.most_share + 1e-9))


def design_of(study: str, schema: AnnotationSchema, process: AnnotationProcess) -> QueueDesign:
    """Return what a queue for a schema asks of whom.

    Args:
        study: Name of the study.
        schema: The categories and where dialogues go between them.
        process: Passes, routing, expiry, tests and shares.
    """
    routing = schema.routing
    return QueueDesign(
        study=study,
        categories=tuple(
            QueueCategory(name=category.name, version=version_of(category.guideline)) for category in schema.categories
        ),
        process=process,
        first=routing.first if routing else "",
        on_violation=routing.on_violation if routing else (),
        otherwise=routing.otherwise if routing else (),
    )
