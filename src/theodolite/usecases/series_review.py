"""The review of a series: entries, decisions that the next series adopts, and the terms of the programme."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime

from theodolite.domain.errors import Conflict, InputError, NotFound
from theodolite.domain.event import Series
from theodolite.domain.identity import digest
from theodolite.domain.series_review import (
    DecisionState,
    DecisionUpdate,
    EntryKind,
    FeedbackSource,
    NumberedEntry,
    ProgrammeTerms,
    ReviewEntry,
    SeriesPart,
)
from theodolite.ports.store import Store


def review_of(store: Store, study: str) -> tuple[NumberedEntry, ...]:
    """Return the review of a study, the oldest entry first."""
    entries = store.filed(ReviewEntry, ReviewEntry.subject(study))
    updates = store.filed(DecisionUpdate, ReviewEntry.subject(study))
    numbers = {entry.key: number for number, entry in enumerate(entries, 1)}
    return tuple(
        NumberedEntry(
            number=numbers[entry.key],
            entry=entry,
            updates=tuple(update for update in updates if update.entry == entry.key),
            because=tuple(numbers[key] for key in entry.because if key in numbers),
        )
        for entry in entries
    )


def add_entry(
    store: Store,
    study: str,
    *,
    part: SeriesPart,
    kind: EntryKind,
    text: str,
    by: str,
    now: datetime,
    source: FeedbackSource | None = None,
    evidence: Iterable[str] = (),
    because: Collection[int] = (),
) -> ReviewEntry:
    """Store an entry in the review of a study.

    Args:
        store: The database.
        study: Name of the study.
        part: The reviewed part.
        kind: Assessment, feedback or decision.
        text: The assessment, remark or decision.
        by: Opaque key of the account.
        now: The time; UTC.
        source: Who gave the feedback.
        evidence: Results that an assessment rests on, as text.
        because: Numbers of the entries behind a decision.

    Raises:
        InputError: If there is no text, feedback has no source, or a decision has no basis.
        NotFound: If there is no entry with such a number.
    """
    lines = {line.number: line.entry for line in review_of(store, study)}
    missing = [number for number in because if number not in lines]
    if missing:
        message = f"there is no entry {missing[0]}; the review has {len(lines)}"
        raise NotFound(message)
    if kind is EntryKind.DECISION and not because:
        message = "a decision names the assessments or feedback that it rests on"
        raise InputError(message)
    entry = ReviewEntry(
        study=study,
        key=digest("review entry", study, by, now.isoformat(), text)[:16],
        part=part,
        kind=kind,
        text=text.strip(),
        by=by,
        at=now,
        source=source,
        evidence=tuple(evidence) if kind is EntryKind.ASSESSMENT else (),
        because=tuple(lines[number].key for number in because) if kind is EntryKind.DECISION else (),
    )
    store.file(ReviewEntry.subject(study), entry)
    return entry


MOST_FEEDBACK = 20
"""Entries of feedback that one person may send about a study; count."""


def feedback_by(store: Store, study: str, by: str) -> tuple[tuple[NumberedEntry, tuple[DecisionState, ...]], ...]:
    """Return the feedback of one person, each with the states of the decisions based on it."""
    lines = review_of(store, study)
    return tuple(
        (line, tuple(entry.state for entry in lines if line.number in entry.because and entry.state is not None))
        for line in lines
        if line.entry.kind is EntryKind.FEEDBACK and line.entry.by == by
    )


def add_feedback(
    store: Store, study: str, *, part: SeriesPart, source: FeedbackSource, text: str, by: str, now: datetime
) -> ReviewEntry:
    """Store feedback that a person enters on an own page.

    Args:
        store: The database.
        study: Name of the study.
        part: The part that it is about.
        source: The role of the person.
        text: The feedback.
        by: Opaque key of the account; for a tester, the key of the participant.
        now: The time; UTC.

    Raises:
        InputError: If there is no text.
        Conflict: If the person sent the same text before, or as many entries as one may.
    """
    own = [line.entry for line, _ in feedback_by(store, study, by)]
    if any((entry.part, entry.text) == (part, text.strip()) for entry in own):
        message = "this feedback is stored already"
        raise Conflict(message)
    if len(own) >= MOST_FEEDBACK:
        message = f"one person sends at most {MOST_FEEDBACK} entries; write to the organisers"
        raise Conflict(message)
    return add_entry(store, study, part=part, kind=EntryKind.FEEDBACK, text=text, by=by, now=now, source=source)


def update_decision(
    store: Store, study: str, key: str, state: DecisionState, *, note: str, by: str, now: datetime
) -> DecisionUpdate:
    """Store a new state of a decision.

    Raises:
        NotFound: If the study has no such decision.
        InputError: If the action or its reason is missing.
    """
    keys = {line.entry.key for line in review_of(store, study) if line.state is not None}
    if key not in keys:
        message = "the review has no such decision"
        raise NotFound(message)
    if not note.strip():
        message = "state what was done, or why not"
        raise InputError(message)
    update = DecisionUpdate(study=study, entry=key, state=state, note=note.strip(), by=by, at=now)
    store.file(ReviewEntry.subject(study), update)
    return update


def open_decisions(store: Store, studies: Iterable[str]) -> tuple[NumberedEntry, ...]:
    """Return the open decisions of some studies, in the order of the studies."""
    return tuple(line for study in studies for line in review_of(store, study) if line.state is DecisionState.OPEN)


def carry_over(store: Store, line: NumberedEntry, study: str, *, by: str, now: datetime) -> ReviewEntry:
    """Store an open decision of an earlier series in the review of a study, and mark the earlier one.

    Raises:
        Conflict: If it is not open any more.
    """
    earlier = line.entry
    current = next(
        (
            numbered_entry
            for numbered_entry in review_of(store, earlier.study)
            if numbered_entry.entry.key == earlier.key
        ),
        None,
    )
    if current is None or current.state is not DecisionState.OPEN:
        message = "the decision is not open any more; look at the earlier series"
        raise Conflict(message)
    entry = ReviewEntry(
        study=study,
        key=digest("carried entry", study, earlier.study, earlier.key)[:16],
        part=earlier.part,
        kind=EntryKind.DECISION,
        text=earlier.text,
        by=by,
        at=now,
        carried_from=(earlier.study, earlier.key),
    )
    store.file(ReviewEntry.subject(study), entry)
    note = f"taken over by study {study}"
    update_decision(store, earlier.study, earlier.key, DecisionState.CARRIED, note=note, by=by, now=now)
    return entry


def terms_of(store: Store, study: str, series: Series | None, shipped: ProgrammeTerms) -> ProgrammeTerms:
    """Return the criteria and terms of a study: those stated on the page, else those of its series, else the defaults.

    Args:
        store: The database.
        study: Name of the study.
        series: The published series; None if there is none.
        shipped: Criteria and terms of the package.
    """
    stated = store.filed(ProgrammeTerms, ProgrammeTerms.subject(study))
    if stated:
        return stated[-1]
    if series is None:
        return shipped
    return ProgrammeTerms(criteria=series.submission_criteria or shipped.criteria, terms=series.terms or shipped.terms)


def state_terms(
    store: Store,
    study: str,
    before: ProgrammeTerms,
    *,
    criteria: Iterable[str],
    terms: Iterable[str],
    by: str,
    now: datetime,
    why: str,
    follows: int,
) -> ProgrammeTerms:
    """Store new current criteria and terms; earlier signatures keep their version.

    Args:
        store: The database.
        study: Name of the study.
        before: The current ones.
        criteria: Sentences on applications.
        terms: Sentences on participation.
        by: Opaque key of the account.
        now: The time; UTC.
        why: Change and reason.
        follows: Revision on which the change is based.

    Raises:
        Conflict: If another person has stated others meanwhile.
        InputError: If a list is empty, nothing has changed, or no reason is stated.
    """
    if before.revision != follows:
        message = f"somebody has stated revision {before.revision} meanwhile; look at it, then go on"
        raise Conflict(message)
    stated = ProgrammeTerms(
        criteria=tuple(filter(None, (line.strip() for line in criteria))),
        terms=tuple(filter(None, (line.strip() for line in terms))),
        study=study,
        revision=follows + 1,
        by=by,
        at=now,
        why=why.strip(),
    )
    if stated.version == before.version:
        message = "criteria and terms say this already"
        raise InputError(message)
    if not stated.why:
        message = "state what has changed and why; teams read it"
        raise InputError(message)
    store.file(ProgrammeTerms.subject(study), stated)
    return stated
