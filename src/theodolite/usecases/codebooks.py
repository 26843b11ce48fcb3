"""Codebooks and coders: by what answers in own words are coded, and who has left."""

from __future__ import annotations

from dataclasses import replace

from theodolite.domain.codings.coded import CodingWork, books_by_version
from theodolite.domain.codings.coding import Codebook, CoderAbsence
from theodolite.domain.errors import Conflict, InputError
from theodolite.ports.store import Store


def keep_codebook(store: Store, book: Codebook) -> Codebook:
    """Keep a codebook, or a further revision of one, and return it with its number.

    Args:
        store: The database.
        book: All of it; its revision is that which the writer had before them, 0 for none.

    Raises:
        Conflict: If somebody else has kept another one in the meantime.
        InputError: If nothing has changed, nothing says why, or another codebook is for one of its questions.
    """
    current = CodingWork(codebooks=books_by_version(store.filed(Codebook, Codebook.subject(book.study)))).current
    last = current.get(book.name)
    if (last.revision if last else 0) != book.revision:
        message = f"somebody has written revision {last.revision if last else 0} meanwhile; look at it, then go on"
        raise Conflict(message)
    if last and (last.codes, last.covers) == (book.codes, book.covers):
        message = "nothing has changed in the codebook"
        raise InputError(message)
    if last and not book.note.strip():
        message = "say in a few words what has changed and why; readers of the results are told"
        raise InputError(message)
    taken = {place: one.name for one in current.values() if one.name != book.name for place in one.covers}
    twice = [f"`{place}` (`{taken[place]}`)" for place in book.covers if place in taken]
    if twice:
        message = f"another codebook is for {', '.join(twice)}; take the question out there first"
        raise InputError(message)
    kept = replace(book, revision=book.revision + 1, note=book.note.strip())
    store.file(Codebook.subject(book.study), kept)
    return kept


def keep_absence(store: Store, study: str, coder: str, *, is_away: bool, by: str, reason: str) -> None:
    """Write down that a coder has left, so that others code what they would code again, or that they are back.

    Args:
        store: The database.
        study: Name of the study.
        coder: Opaque key of the person.
        is_away: Whether they have left.
        by: Opaque key of who writes it down.
        reason: Why, in their words.

    Raises:
        InputError: If nothing says why, or that is how it stands already.
    """
    if is_away is (coder in away_in(store, study)):
        message = f"that they {'have left' if is_away else 'are here'} is written down already"
        raise InputError(message)
    if not reason.strip():
        message = "say in a few words why; whoever looks into the coding later will ask"
        raise InputError(message)
    subject = CoderAbsence.subject(study)
    revision = 1 + sum(one.coder == coder for one in store.filed(CoderAbsence, subject))
    absence = CoderAbsence(study=study, coder=coder, is_away=is_away, by=by, reason=reason.strip(), revision=revision)
    store.file(subject, absence)


def away_in(store: Store, study: str) -> frozenset[str]:
    """Return the opaque keys of a study's coders of whom it is written down that they have left."""
    written = store.filed(CoderAbsence, CoderAbsence.subject(study))
    latest = {one.coder: one for one in sorted(written, key=lambda one: one.revision)}
    return frozenset(one.coder for one in latest.values() if one.is_away)
