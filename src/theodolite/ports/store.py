"""The ports to the database: runs and their units, results, contents, and live replies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeVar

from theodolite.domain.annotation import Adjudication, Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.flow import JournalEntry
from theodolite.domain.identity import Record
from theodolite.domain.plan import Plan
from theodolite.domain.run import Failure, Lease, Run, RunState, Spending, SpendingPart, Unit, UnitKind
from theodolite.domain.study import Study

if TYPE_CHECKING:  # a port is a signature
    from theodolite.domain.event import PersonProfile
    from theodolite.domain.findings.number import SchemaTally
    from theodolite.domain.live import LiveEnding
    from theodolite.domain.status import CallsSoFar, RunPace, WorkerStatus

R = TypeVar("R", bound=Record)


class LedgerStore(Protocol):
    """Runs and their units of work: owners and states."""

    def open_run(self, study: Study, plan: Plan, *, new_run: bool = False) -> Run:
        """Return the latest run of this plan; start one if there is none.

        Args:
            study: Stored under its content hash.
            plan: Stored under its content hash.
            new_run: Start a new run even if one of this plan exists.
        """
        ...

    def latest_run(self, study_name: str) -> Run:
        """Return the latest run of a study of that name.

        Raises:
            NotFound: If this database has no run of the study.
        """
        ...

    def runs(self, study_name: str) -> list[Run]:
        """Return all runs of studies of that name, by number; empty if there is none."""
        ...

    def run_of(self, plan: Plan) -> Run:
        """Return the latest run of a plan.

        Raises:
            NotFound: If this database has no run of the plan.
        """
        ...

    def close_run(self, run: Run, state: RunState) -> None:
        """Store how a run ended."""
        ...

    def add_units(self, run: Run, units: Iterable[Unit], *, adopt: bool = True) -> int:
        """Add units to the ledger; existing units are unchanged.

        With `adopt`, a unit whose `work_key` was done in an earlier run of the
        workspace takes over that result instead of being done again.

        Returns:
            Units that were new; count.
        """
        ...

    def claim(
        self, run: Run, kind: UnitKind, *, owner: str, limit: int, lease_s: float, within: Sequence[int] | None = None
    ) -> list[Unit]:
        """Lease waiting units in order of position, and those with an expired lease.

        With `within`, only units at these positions of the plan are leased. No unit is ever leased to two owners at
        one time. Annotations are leased only once the session that they are about is done.
        """
        ...

    def origins(self, run: Run) -> dict[str, str]:
        """Return the units with an adopted result: own key to the key of the unit that produced it."""
        ...

    def renew(self, owner: str, lease_s: float) -> frozenset[str]:
        """Extend all leases of an owner, and return the keys of the units that it still leases."""
        ...

    def release(self, owner: str) -> None:
        """Release all unfinished units of an owner."""
        ...

    def reopen(self, units: Iterable[str]) -> None:
        """Queue failed units again and delete their failures."""
        ...

    def count_units(self, run: Run, kind: UnitKind) -> dict[str, int]:
        """Return the units by state (the values of `UnitState`); counts."""
        ...

    def count_open(self, run: Run, kind: UnitKind, *, owner: str, within: Sequence[int] | None = None) -> int:
        """Return the units that an owner can lease now or later: ready units and those of other owners.

        With `within`, only units at these positions of the plan are counted.
        """
        ...

    def workers(self, run: Run) -> tuple[WorkerStatus, ...]:
        """Return the workers of a run in order of their start."""
        ...

    def count_orphans(self, run: Run, kind: UnitKind) -> int:
        """Return the leased units without a live worker; count.

        Their worker died on this machine, or their lease expired; the next request for units gets them.
        """
        ...


class Journal(Protocol):
    """Replies, each stored before the next request is made."""

    async def append(self, unit: str, entry: JournalEntry) -> None:
        """Store a reply; returns once it is committed.

        Raises:
            Conflict: If the unit has a reply at that position already.
            StorageUnavailable: If it could not be stored.
        """
        ...

    def entries(self, unit: str) -> list[JournalEntry]:
        """Return the replies of a unit in order of position."""
        ...


class ResultStore(Protocol):
    """Results of units."""

    async def keep_dialogue(
        self, unit: Unit, dialogue: Dialogue, *, journalled: bool = True, lease: Lease | None = None
    ) -> tuple[Unit, ...]:
        """Store a dialogue and mark its unit as done, in one transaction.

        Args:
            unit: The unit that held it.
            dialogue: The dialogue.
            journalled: Whether its texts are in the unit's journal already.
            lease: Lease of its annotations for the same worker; None leaves them to any worker.

        Returns:
            The annotation units that are leased with it; none if no lease was asked for.
        """
        ...

    async def keep_annotation(self, unit: Unit, annotation: Annotation) -> None:
        """Store an annotation and mark its unit as done, in one transaction."""
        ...

    def keep_labels(self, annotations: Sequence[Annotation]) -> None:
        """Store annotations that people gave by hand, all or none; they belong to their dialogues, not to a run.

        Raises:
            Conflict: If a revision of one of them exists already.
            NotFound: If one of the dialogues is not stored.
        """
        ...

    async def keep_failure(self, unit: Unit, failure: Failure) -> None:
        """Store a failure and mark its unit as failed, in one transaction.

        Raises:
            Conflict: If the unit has been leased again, is done, or has failed already.
        """
        ...

    async def keep_adjudications(self, run: Run, adjudications: Sequence[Adjudication]) -> None:
        """Store final labels of a file; existing ones are unchanged."""
        ...


class ReadingStore(Protocol):
    """Stored records, as domain objects.

    A run's records can be read for some positions of its plan; None means all.
    """

    def dialogues(self, run: Run, at: Collection[int] | None = None) -> Iterator[Dialogue]:
        """Yield the dialogues of a run in order of the plan."""
        ...

    def dialogues_of(self, units: Sequence[str]) -> dict[str, Dialogue]:
        """Return the dialogues of some session units, own or adopted, by unit.

        Raises:
            NotFound: If one of them has none.
        """
        ...

    def journals(self, units: Sequence[str]) -> dict[str, list[JournalEntry]]:
        """Return the replies of some units in order of position, by unit.

        Those of a unit that took over an earlier result are the replies that led
        to it. A unit without any, or an unknown unit, has an empty list.
        """
        ...

    def annotations(self, run: Run, at: Collection[int] | None = None) -> Iterator[Annotation]:
        """Yield the latest revisions of the annotations of a run, in order of the plan."""
        ...

    def labels(self, run: Run, at: Collection[int] | None = None) -> Iterator[Annotation]:
        """Yield labels by hand of a run's dialogues, in order of the plan.

        There is one annotation for each dialogue, annotator and version of the instrument: the latest revision.
        """
        ...

    def open_assignments(self, study: str) -> list[tuple[str, str, str]]:
        """Return the dialogues that annotators of a study have been assigned and have not labelled yet.

        Returns:
            Key of the participant, name of the guideline and key of the dialogue, of each
            assignment; empty until a person labels by hand in this workspace.
        """
        ...

    def adjudications(self, run: Run, at: Collection[int] | None = None) -> Iterator[Adjudication]:
        """Yield the final labels of a run's dialogues, in order of the plan."""
        ...

    def failures(self, run: Run, at: Collection[int] | None = None) -> Iterator[Failure]:
        """Yield the failures of a run in order of the plan."""
        ...

    def spending(self, run: Run) -> Spending:
        """Return the cost of replies of a run's own units."""
        ...

    def annotation_spending(self, run: Run) -> Spending:
        """Return the cost of the calls of a run's annotators, failed calls included."""
        ...

    def spending_parts(self, run: Run) -> tuple[SpendingPart, ...]:
        """Return these costs by application, stage, annotator and model, in this order."""
        ...

    def schema_tallies(self, run: Run) -> tuple[SchemaTally, ...]:
        """Return how annotators' answers were requested, by annotator; adopted answers count."""
        ...

    def pace(self, run: Run, *, since: datetime, until: datetime) -> RunPace:
        """Return the results of a run's own units in a period; UTC, aware."""
        ...

    def calls_so_far(self, run: Run) -> dict[UnitKind, CallsSoFar]:
        """Return the calls of a run's own units, by kind; units that reused a result made none."""
        ...

    def study(self, version: str) -> Study:
        """Return a study by content hash.

        Raises:
            NotFound: If no such study is stored.
        """
        ...


class ContentStore(Protocol):
    """Records kept under their content hash."""

    def keep(self, record: Record) -> str:
        """Store a record unless it exists, and return its version."""
        ...


class Files(Protocol):
    """Records that are found by their subject."""

    def file(self, subject: str, record: Record) -> str:
        """Store a record under a subject unless it exists, and return its version.

        Args:
            subject: Hash of its subject; 64 hexadecimal digits.
            record: The record to store.
        """
        ...

    def filed(self, kind: type[R], subject: str) -> list[R]:
        """Return the records of one kind that are under a subject, the oldest first."""
        ...


class Profiles(Protocol):
    """Statements of annotators and testers about themselves."""

    def profile(self, participant: str) -> PersonProfile | None:
        """Return the latest revision of a participant's profile; None if there is none."""
        ...

    def add_profile(self, participant: str, profile: PersonProfile, *, now: datetime) -> int:
        """Store another revision of a participant's profile and return its number, from 1."""
        ...


class Store(LedgerStore, Journal, ResultStore, ReadingStore, ContentStore, Files, Profiles, Protocol):
    """The whole database."""

    async def start(self) -> None:
        """Start the writer of this event loop."""
        ...

    async def stop(self) -> None:
        """Write everything that is queued, then stop the writer."""
        ...

    def disconnect(self) -> None:
        """Close the calling thread's connection."""
        ...


class ReplySink(Protocol):
    """Stores the shown text of replies; acknowledged text outlives the process."""

    async def hold(self, partials: Mapping[str, str]) -> None:
        """Store partial replies: key of the turn to the text shown so far.

        Raises:
            StoreError: If they could not be stored; the next call repeats them.
        """
        ...

    async def end(self, key: str, ending: LiveEnding) -> None:
        """Store how the reply of a turn ended.

        Raises:
            StoreError: If it could not be stored.
        """
        ...
