"""The store behind the port: Django's ORM on threads of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import connection

from theodolite.domain.annotation import Adjudication, Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.failure import Failure
from theodolite.domain.identity import Record
from theodolite.domain.plan import Plan
from theodolite.domain.replay import JournalEntry
from theodolite.domain.run import Lease, Run, RunState, Spending, Unit, UnitKind
from theodolite.domain.study import Study
from theodolite.store.contents import Contents, content_of
from theodolite.store.executor import Executor
from theodolite.store.filing import file_record, filed_records
from theodolite.store.fresh import RowNumbers
from theodolite.store.journal import entries_of, journals_of
from theodolite.store.labels import are_there_labels, keep_labels, open_assignments
from theodolite.store.ledger import CHUNK, Ledger
from theodolite.store.owners import Owners
from theodolite.store.reading import CHUNK as AT_ONCE
from theodolite.store.reading import parts_of
from theodolite.store.readings import Readings
from theodolite.store.results import Results
from theodolite.store.sealed import sealed_credentials
from theodolite.store.writes import (
    KeepAdjudications,
    KeepAnnotation,
    KeepDialogue,
    KeepFailure,
    KeepReply,
)

if TYPE_CHECKING:  # a run without people loads none of these
    from theodolite.domain.findings.schema_tally import SchemaTally
    from theodolite.domain.people.participant import PersonProfile
    from theodolite.domain.status import CallsSoFar, RunPace
    from theodolite.store.events.event_repository import EventRepository

R = TypeVar("R", bound=Record)


class DjangoStore:
    """The whole database of one workspace.

    What a flow awaits goes through the writer; everything else runs on the executor,
    from any thread or event loop.
    """

    def __init__(self, workspace: Path, database: Mapping[str, Any]) -> None:
        """Open a workspace whose tables are up to date."""
        contents = Contents(workspace / "blobs")
        self._owners = Owners(workspace / "workers")
        units = RowNumbers()
        self._contents, self._ledger = contents, Ledger(contents, self._owners, units)
        self._readings = Readings(contents)
        self._executor = Executor(workspace, database, Results(contents, units).apply)

    @cached_property
    def events(self) -> EventRepository:
        """The repositories of what people do in events; their tables are loaded by the first use (ADR-0044)."""
        from theodolite.store.events.event_repository import EventRepository

        return EventRepository(self._executor, self._contents)

    def has_event_sessions(self, study: str) -> bool:
        """Tell whether a study has sessions of people, without loading the tables of events."""
        return self._executor.read(partial(_has_event_sessions, study))

    def profile(self, participant: str) -> PersonProfile | None:
        """Return the latest revision of a participant's profile; None if there is none."""
        return self.events.participants.profile(participant)

    def add_profile(self, participant: str, profile: PersonProfile, *, now: datetime) -> int:
        """Store another revision of a participant's profile and return its number, from 1."""
        return self.events.participants.add_profile(participant, profile, now=now)

    async def start(self) -> None:
        """Start the writer of this event loop."""
        self._executor.start()

    async def stop(self) -> None:
        """Write everything that is queued, then stop the writer."""
        await self._executor.stop()
        self._owners.leave_all(self.release)

    def disconnect(self) -> None:
        """Close the connection of the executor; the next work opens it again."""
        self._executor.disconnect()

    def open_run(self, study: Study, plan: Plan, *, new_run: bool = False) -> Run:
        """Return the latest run of this plan, or begin one."""
        return self._executor.write(lambda: self._ledger.open_run(study, plan, new_run=new_run))

    def close_run(self, run: Run, state: RunState) -> None:
        """Write down how a run ended."""
        self._executor.write(lambda: self._ledger.close_run(run, state))

    def add_units(self, run: Run, units: Iterable[Unit], *, adopt: bool = True) -> int:
        """Put units into the ledger; those that are there already stay as they are."""
        rest, n_new = iter(units), 0
        while chunk := list(islice(rest, CHUNK)):
            n_new += self._executor.write(partial(self._ledger.add_units, run, chunk, adopt=adopt))
        return n_new

    def claim(
        self, run: Run, kind: UnitKind, *, owner: str, limit: int, lease_s: float, before: int | None = None
    ) -> list[Unit]:
        """Lease waiting units in order of position, and those whose lease ran out."""
        wanted = partial(self._ledger.claim, run, kind, owner=owner, limit=limit, lease_s=lease_s, before=before)
        return self._executor.write(wanted)

    def origins(self, run: Run) -> dict[str, str]:
        """Return the units that took over an earlier result, and from where."""
        return self._executor.read(lambda: self._ledger.origins(run))

    def renew(self, owner: str, lease_s: float) -> frozenset[str]:
        """Extend all leases of an owner, and return the keys of the units that it still holds."""
        return self._executor.write(lambda: self._ledger.renew(owner, lease_s))

    def release(self, owner: str) -> None:
        """Give back all units that an owner has leased and not finished."""
        self._executor.write(lambda: self._ledger.release(owner))

    def reopen(self, units: Iterable[str]) -> None:
        """Let failed units wait again and strike their failures."""
        rest = iter(units)
        while chunk := list(islice(rest, CHUNK)):
            self._executor.write(partial(self._ledger.reopen, chunk))

    async def append(self, unit: str, entry: JournalEntry) -> None:
        """Store a reply; returns once it is committed."""
        await self._executor.put(KeepReply(unit=unit, entry=entry))

    def entries(self, unit: str) -> list[JournalEntry]:
        """Return the replies of a unit in order of position."""
        return self._executor.read(lambda: entries_of(unit))

    def journals(self, units: Sequence[str]) -> dict[str, list[JournalEntry]]:
        """Return the replies of some units in order of position, by unit."""
        parts = (units[start : start + AT_ONCE] for start in range(0, len(units), AT_ONCE))
        return {
            unit: found for part in parts for unit, found in self._executor.read(partial(journals_of, part)).items()
        }

    async def keep_dialogue(
        self, unit: Unit, dialogue: Dialogue, *, journalled: bool = True, lease: Lease | None = None
    ) -> tuple[Unit, ...]:
        """Store a dialogue and mark its unit as done, in one transaction; lease its annotations if wanted."""
        await self._executor.put(
            write := KeepDialogue(unit=unit, dialogue=dialogue, journalled=journalled, lease=lease)
        )
        return tuple(write.leased)

    async def keep_annotation(self, unit: Unit, annotation: Annotation) -> None:
        """Store an annotation and mark its unit as done, in one transaction."""
        await self._executor.put(KeepAnnotation(unit=unit, annotation=annotation))

    async def keep_failure(self, unit: Unit, failure: Failure) -> None:
        """Store a failure and mark its unit as failed, in one transaction."""
        await self._executor.put(KeepFailure(unit=unit, failure=failure))

    async def keep_adjudications(self, run: Run, adjudications: Sequence[Adjudication]) -> None:
        """Store final labels that a file brought; those already there stay as they are."""
        await self._executor.put(KeepAdjudications(run=run, adjudications=tuple(adjudications)))

    def dialogues(self, run: Run, at: Collection[int] | None = None) -> Iterator[Dialogue]:
        """Yield the dialogues of a run in order of the plan."""
        for part in parts_of(at):
            yield from self._executor.stream(partial(self._readings.dialogues, run, part))

    def dialogues_of(self, units: Sequence[str]) -> dict[str, Dialogue]:
        """Return the dialogues that some session units brought or took over, by unit."""
        found: dict[str, Dialogue] = {}
        rest = iter(units)
        while chunk := list(islice(rest, CHUNK)):
            found |= self._executor.read(partial(self._readings.dialogues_of, chunk))
        return found

    def annotations(self, run: Run, at: Collection[int] | None = None) -> Iterator[Annotation]:
        """Yield the latest revisions of the annotations of a run, in order of the plan."""
        for part in parts_of(at):
            yield from self._executor.stream(partial(self._readings.annotations, run, part))

    def adjudications(self, run: Run, at: Collection[int] | None = None) -> Iterator[Adjudication]:
        """Yield the final labels of a run's dialogues, in order of the plan."""
        for part in parts_of(at):
            yield from self._executor.stream(partial(self._readings.adjudications, run, part))

    def failures(self, run: Run, at: Collection[int] | None = None) -> Iterator[Failure]:
        """Yield the failures of a run in order of the plan, those of sessions first."""
        for kind in UnitKind:
            for part in parts_of(at):
                yield from self._executor.stream(partial(self._readings.failures, run, kind, part))

    def spending(self, run: Run) -> Spending:
        """Return what the replies of a run's own units have cost."""
        return self._executor.read(lambda: self._readings.spending(run))

    def schema_tallies(self, run: Run) -> tuple[SchemaTally, ...]:
        """Return how annotators' answers were asked for, by annotator."""
        return self._executor.read(lambda: self._readings.schema_tallies(run))

    def pace(self, run: Run, *, since: datetime, until: datetime) -> RunPace:
        """Return what a run's own units brought in a stretch of time."""
        return self._executor.read(lambda: self._readings.pace(run, since, until))

    def calls_so_far(self, run: Run) -> dict[UnitKind, CallsSoFar]:
        """Return what a run's own units have asked for, by kind."""
        return self._executor.read(lambda: self._readings.calls_so_far(run))

    def study(self, version: str) -> Study:
        """Return a study by content hash."""
        return self._executor.read(lambda: self._readings.study(version))

    def latest_run(self, study_name: str) -> Run:
        """Return the latest run of a study of that name."""
        return self._executor.read(lambda: self._ledger.latest_run(study_name))

    def runs(self, study_name: str) -> list[Run]:
        """Return all runs of studies of that name, in order of their numbers."""
        return self._executor.read(lambda: self._ledger.runs(study_name))

    def run_of(self, plan: Plan) -> Run:
        """Return the latest run of a plan."""
        return self._executor.read(lambda: self._ledger.run_of(plan))

    def count_units(self, run: Run, kind: UnitKind) -> dict[str, int]:
        """Return the units by state."""
        return self._executor.read(lambda: self._ledger.count_units(run, kind))

    def count_orphans(self, run: Run, kind: UnitKind) -> int:
        """Return the leased units that nobody works on any more; count."""
        return self._executor.read(lambda: self._ledger.count_orphans(run, kind))

    def sealed_credentials(self, study: str) -> dict[str, bytes]:
        """Return what teams left in the vault for the applications of a study, sealed, by the submission's token."""
        return self._executor.read(lambda: sealed_credentials(study))

    def keep(self, record: Record) -> str:
        """Store a record unless it is there, and return its version."""
        content = content_of(record)
        self._executor.write(lambda: self._contents.keep([content]))
        return content.version

    def file(self, subject: str, record: Record) -> str:
        """Keep a record under the hash of what it is about, and return its version."""
        return self._executor.write(partial(file_record, self._contents, subject, record))

    def filed(self, kind: type[R], subject: str) -> list[R]:
        """Return the records of one kind that lie under a subject, the oldest first."""
        return self._executor.read(partial(filed_records, self._contents, kind, subject))

    def keep_labels(self, annotations: Sequence[Annotation]) -> None:
        """Store annotations that people gave by hand, all or none."""
        self._executor.write(partial(keep_labels, annotations))

    def open_assignments(self, study: str) -> list[tuple[str, str, str]]:
        """Return the dialogues that annotators of a study's queues have reserved and not submitted."""
        if not self._executor.read(are_there_labels):
            return []
        return self._executor.read(partial(open_assignments, study))

    def labels(self, run: Run, at: Collection[int] | None = None) -> Iterator[Annotation]:
        """Yield what people labelled by hand of a run's dialogues, latest revisions."""
        if not self._executor.read(are_there_labels):
            return
        for part in parts_of(at):
            yield from self._executor.stream(partial(self._readings.labels, run, part))


def _has_event_sessions(study: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM store_session WHERE study = %s LIMIT 1", [study])
        return cursor.fetchone() is not None
