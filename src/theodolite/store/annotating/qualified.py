"""Who may annotate which category of a queue."""

from __future__ import annotations

from theodolite.store.annotating.library import Library
from theodolite.store.models.annotating import QualificationRow, QueueRow


def qualified_for(library: Library, queue: QueueRow, participant: str) -> frozenset[str]:
    """Return the categories that an annotator may work in.

    All of them where there is no test, else those whose test was passed in this very version.
    """
    design = library.design(queue.design_id)
    names = frozenset(category.name for category in design.categories)
    if not design.process.pass_mark:
        return names
    passed = set(
        QualificationRow.objects.filter(participant__key=participant, passed=True).values_list("category", "version")
    )
    return frozenset(one.name for one in design.categories if (one.name, one.version) in passed)
