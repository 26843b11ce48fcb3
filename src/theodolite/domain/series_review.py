"""The review of a series: assessments of its parts, feedback, decisions, and the terms of the programme.

Source:
    NIST (2024), ARIA 0.1 Pilot Evaluation, sections 4.1 and 4.3: after each series the validity of scenarios,
    guardrails, annotation and measurement is reviewed, and improvements go into the next series.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from theodolite.domain.errors import InputError
from theodolite.domain.identity import digest


class SeriesPart(StrEnum):
    """Parts of an evaluation whose validity is reviewed."""

    SIMULATION = "simulation of real use"
    SCENARIOS = "scenarios as proxies"
    GUARDRAILS = "guardrails"
    SCHEMA = "annotation process and schema"
    TREE = "measurement tree"
    ORGANISATION = "organisation of the event"


def series_part(name: str) -> SeriesPart:
    """Return the part of a name.

    Raises:
        InputError: If there is no such part.
    """
    try:
        return SeriesPart(name)
    except ValueError as error:
        message = f"choose a part of the series: {', '.join(SeriesPart)}; got {name!r}"
        raise InputError(message) from error


class EntryKind(StrEnum):
    """Kinds of entries in a review."""

    ASSESSMENT = "assessment"
    FEEDBACK = "feedback"
    DECISION = "decision"


class FeedbackSource(StrEnum):
    """People who gave feedback."""

    TEAM = "application team"
    TESTER = "tester"
    ANNOTATOR = "annotator"
    WORKSHOP = "workshop"
    COMMUNITY = "community"


class DecisionState(StrEnum):
    """States of a decision."""

    OPEN = "open"
    DONE = "done"
    REJECTED = "not adopted"
    CARRIED = "carried into the next series"


WITHDRAWN_FEEDBACK = "withdrawn by the person who took part"
"""Text of removed feedback; the entry is kept, because decisions name its number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewEntry:
    """One entry in the review of a series; only a withdrawal changes it.

    Attributes:
        study: Name of the study in whose workspace it was entered.
        key: Identifier within the study.
        part: The reviewed part.
        kind: Assessment, feedback or decision.
        text: The assessment, remark or decision; without names.
        by: Opaque key of the account that entered it, or of the participant; empty after a withdrawal.
        at: Time; UTC.
        source: Author of the feedback; None for other kinds.
        evidence: Results that an assessment rests on, as text.
        because: Keys of the entries that a decision rests on.
        carried_from: Name of the study of an earlier series, and the key of its decision; empty for a new one.
    """

    study: str
    key: str
    part: SeriesPart
    kind: EntryKind
    text: str
    by: str
    at: datetime
    source: FeedbackSource | None = None
    evidence: tuple[str, ...] = ()
    because: tuple[str, ...] = ()
    carried_from: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Reject an entry without text, and feedback without a group."""
        if not self.text.strip():
            message = f"an entry about {self.part.value} needs a text; got none"
            raise InputError(message)
        if (self.source is None) is (self.kind is EntryKind.FEEDBACK):
            message = "feedback names its source, and only feedback has one"
            raise InputError(message)

    def withdrawn(self, mask: Callable[[str], str] | None) -> ReviewEntry:
        """Return the entry of a person who has withdrawn: without the person, and with a masked text or none.

        Args:
            mask: Masks identifying details in a text that is kept; None if the text is removed.
        """
        return replace(self, by="", text=mask(self.text) if mask else WITHDRAWN_FEEDBACK)

    @staticmethod
    def subject(study: str) -> str:
        """Return the hash under which the entries of a study are stored."""
        return digest("series review", study)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionUpdate:
    """A change of the state of a decision; the latest counts.

    Attributes:
        study: Name of the study.
        entry: Key of the decision.
        state: The new state.
        note: The action, or why there was none.
        by: Opaque key of the account.
        at: Time; UTC.
    """

    study: str
    entry: str
    state: DecisionState
    note: str
    by: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedEntry:
    """An entry with its number and, for a decision, its state.

    Attributes:
        number: From 1, in the order of the entries of its study.
        entry: The entry.
        updates: Changes of its state, the oldest first.
        because: Numbers of the entries that it rests on.
    """

    number: int
    entry: ReviewEntry
    updates: tuple[DecisionUpdate, ...] = ()
    because: tuple[int, ...] = ()

    @property
    def state(self) -> DecisionState | None:
        """The state of a decision; None for other kinds."""
        if self.entry.kind is not EntryKind.DECISION:
            return None
        return self.updates[-1].state if self.updates else DecisionState.OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgrammeTerms:
    """The criteria and terms of a programme, as teams accept them; a later statement replaces an earlier one.

    Attributes:
        criteria: Requirements for applications, one sentence each.
        terms: Terms of participation, one sentence each.
        study: Name of the study; empty for terms from a file.
        revision: 1 for the first statement on the page; 0 for terms from a file.
        by: Opaque key of the account; empty for a file.
        at: When; UTC. None for a file.
        why: Change and reason; empty for the first.
    """

    criteria: tuple[str, ...]
    terms: tuple[str, ...]
    study: str = ""
    revision: int = 0
    by: str = ""
    at: datetime | None = None
    why: str = ""

    def __post_init__(self) -> None:
        """Reject terms without criteria or without sentences."""
        if not self.criteria or not self.terms:
            message = "a programme states at least one criterion and one term"
            raise InputError(message)

    @property
    def version(self) -> str:
        """Content hash of the sentences, as a signature names it; 64 hexadecimal digits."""
        return digest("terms of submission", *self.criteria, *self.terms)

    @staticmethod
    def subject(study: str) -> str:
        """Return the hash under which the terms of a study are stored."""
        return digest("terms of the programme", study)
