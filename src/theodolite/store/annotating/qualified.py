"""Who may annotate which category of a queue."""

from __future__ import annotations

from collections.abc import Collection

from theodolite.domain.identity import digest
from theodolite.domain.work import QueueDesign
from theodolite.store.annotating.library import Library
from theodolite.store.models.annotating import OnboardingRow, QualificationRow, QueueRow

BACKGROUND = "background"
"""Name of the background material among the texts that are acknowledged."""

RULES = "impartiality rules"
"""Name of the impartiality rules among them."""


def qualified_for(library: Library, queue: QueueRow, participant: str, *, ignore_texts: bool = False) -> frozenset[str]:
    """Return the categories that an annotator may work in.

    None before the background material and the impartiality rules have been
    acknowledged in their present wording. Then all where there is no test, else
    those whose test was passed in this very version.
    """
    design = library.design(queue.design_id)
    if not ignore_texts and not all(has_read(design, participant, subject) for subject in (BACKGROUND, RULES)):
        return frozenset()
    names = frozenset(category.name for category in design.categories)
    if not design.process.pass_mark:
        return names
    passed = set(
        QualificationRow.objects.filter(participant__key=participant, passed=True).values_list("category", "version")
    )
    return frozenset(one.name for one in design.categories if (one.name, one.version) in passed)


def qualified_among(library: Library, queue: QueueRow, participants: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the categories whose tests each of many annotators has passed, in the queue's order; one query."""
    design = library.design(queue.design_id)
    if not design.process.pass_mark:
        return dict.fromkeys(participants, tuple(category.name for category in design.categories))
    rows = QualificationRow.objects.filter(participant__key__in=participants, passed=True)
    passed = set(rows.values_list("participant__key", "category", "version"))
    return {
        who: tuple(one.name for one in design.categories if (who, one.name, one.version) in passed)
        for who in participants
    }


def text_versions(design: QueueDesign) -> dict[str, str]:
    """Return the content hashes of the texts that annotators acknowledge, by subject."""
    return {BACKGROUND: digest(BACKGROUND, design.background), RULES: digest(RULES, *design.rules)}


def has_read(design: QueueDesign, participant: str, subject: str) -> bool:
    """Tell whether an annotator has acknowledged a text as it stands now; a text that is empty needs none."""
    text = design.background if subject == BACKGROUND else "".join(design.rules)
    if not text:
        return True
    version = text_versions(design)[subject]
    return OnboardingRow.objects.filter(participant__key=participant, subject=subject, version=version).exists()
