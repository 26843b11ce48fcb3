"""Stating criteria: how annotators are sought, chosen and given work, each statement kept beside the earlier ones."""

from __future__ import annotations

from datetime import datetime

from theodolite.domain.criteria import CriteriaSubject, StatedCriteria
from theodolite.domain.errors import Conflict, InputError
from theodolite.ports.store import Store


def state_criteria(
    store: Store,
    study: str,
    about: CriteriaSubject,
    text: str,
    *,
    by: str,
    now: datetime,
    why: str = "",
    follows: int = 0,
) -> StatedCriteria:
    """Keep a statement as the one that holds from now on.

    Args:
        store: The database.
        study: Name of the study.
        about: What the criteria are about.
        text: The criteria, in words.
        by: Opaque key or name of who states them.
        now: The time; UTC.
        why: What has changed and why; demanded from the second statement on.
        follows: Revision that the writer had before them; 0 for none.

    Raises:
        Conflict: If somebody else has stated others meanwhile.
        InputError: If there are no words, nothing has changed, or nothing says why.
    """
    earlier = [one for one in criteria_of(store, study) if one.about is about]
    last = earlier[-1] if earlier else None
    if (last.revision if last else 0) != follows:
        message = f"somebody has stated revision {last.revision if last else 0} meanwhile; look at it, then go on"
        raise Conflict(message)
    if last and last.text == text.strip():
        message = f"the criteria of {about.value} say this already"
        raise InputError(message)
    if last and not why.strip():
        message = "say in a few words what has changed and why; the documentation tells it"
        raise InputError(message)
    made = StatedCriteria(
        study=study, about=about, text=text.strip(), revision=follows + 1, by=by, at=now, why=why.strip()
    )
    store.file(StatedCriteria.subject(study), made)
    return made


def criteria_of(store: Store, study: str) -> tuple[StatedCriteria, ...]:
    """Return all statements of a study, in the order in which they were made."""
    return tuple(store.filed(StatedCriteria, StatedCriteria.subject(study)))
