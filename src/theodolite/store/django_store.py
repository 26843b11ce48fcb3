"""The store behind the port: Django's ORM on threads of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theodolite.domain.annotation import Adjudication, Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.failure import Failure
from theodolite.domain.plan import Plan
from theodolite.domain.replay import JournalEntry
from theodolite.domain.run import Lease, Run, RunState, Spending, Unit, UnitKind
from theodolite.domain.study import Study
from theodolite.store.coding_office import CodingOffice
from theodolite.store.contents import Contents
from theodolite.store.fresh import RowNumbers
from theodolite.store.journal import entries_of, journals_of
from theodolite.store.ledger import CHUNK, Ledger
from theodolite.store.owners import Owners
from theodolite.store.reading import CHUNK as AT_ONCE
from theodolite.store.reading import parts_of
from theodolite.store.readings import Readings
from theodolite.store.reception import Guestbook
from theodolite.store.results import Results
from theodolite.store.runs import Runs
from theodolite.store.workplace import Workplace
from theodolite.store.writes import (
    KeepAdjudications,
    KeepAnnotation,
    KeepDialogue,
    KeepFailure,
    KeepReply,
)

if TYPE_CHECKING:  # loaded by whoever asks for one
    from theodolite.domain.findings.schema_tally import SchemaTally
    from theodolite.domain.status import CallsSoFar, RunPace


class DjangoStore(CodingOffice, Guestbook, Runs):
    """The whole database of one workspace.

    What a flow waits for goes through the writer; everything else is done at the
    desk, whichever thread or event loop asks.
    """

    def __init__(self, workspace: Path, database: Mapping[str, Any]) -> None:
        """Open a workspace whose tables are up to date."""
        contents = Contents(workspace / "blobs")
        self._owners = Owners(workspace / "workers")
        units = RowNumbers()
        self._contents, self._ledger = contents, Ledger(contents, self._owners, units)
        self._readings = Readings(contents)
        self._work = Workplace(workspace, database, Results(contents, units).apply)
        Runs.__init__(self, self._work, contents, self._readings, self._ledger)

    async def start(self) -> None:
        """Start the writer of this event loop."""
        self._work.start()

    async def stop(self) -> None:
        """Write everything that is queued, then stop the writer."""
        await self._work.stop()
        self._owners.leave_all(self.release)

    def disconnect(self) -> None:
        """Close the connection at the desk; whoever asks next opens it again."""
        self._work.disconnect()

    def open_run(self, study: Study, plan: Plan, *, new_run: bool = False) -> Run:
        """Return the latest run of this plan, or begin one."""
        return self._work.write(lambda: self._ledger.open_run(study, plan, new_run=new_run))

    def close_run(self, run: Run, state: RunState) -> None:
        """Write down how a run ended."""
        self._work.write(lambda: self._ledger.close_run(run, state))

    def add_units(self, run: Run, units: Iterable[Unit], *, adopt: bool = True) -> int:
        """Put units into the ledger; those that are there already stay as they are."""
        rest, n_new = iter(units), 0
        while chunk := list(islice(rest, CHUNK)):
            n_new += self._work.write(partial(self._ledger.add_units, run, chunk, adopt=adopt))
        return n_new

    def claim(
        self, run: Run, kind: UnitKind, *, owner: str, limit: int, lease_s: float, before: int | None = None
    ) -> list[Unit]:
        """Lease waiting units in order of position, and those whose lease ran out."""
        wanted = partial(self._ledger.claim, run, kind, owner=owner, limit=limit, lease_s=lease_s, before=before)
        return self._work.write(wanted)

    def origins(self, run: Run) -> dict[str, str]:
        """Return the units that took over an earlier result, and from where."""
        return self._work.read(lambda: self._ledger.origins(run))

    def renew(self, owner: str, lease_s: float) -> frozenset[str]:
        """Extend all leases of an owner, and return the keys of the units that it still holds."""
        return self._work.write(lambda: self._ledger.renew(owner, lease_s))

    def release(self, owner: str) -> None:
        """Give back all units that an owner has leased and not finished."""
        self._work.write(lambda: self._ledger.release(owner))

    def reopen(self, units: Iterable[str]) -> None:
        """Let failed units wait again and strike their failures."""
        rest = iter(units)
        while chunk := list(islice(rest, CHUNK)):
            self._work.write(partial(self._ledger.reopen, chunk))

    async def append(self, unit: str, entry: JournalEntry) -> None:
        """Store a reply; returns once it is committed."""
        await self._work.put(KeepReply(unit=unit, entry=entry))

    def entries(self, unit: str) -> list[JournalEntry]:
        """Return the replies of a unit in order of position."""
        return self._work.read(lambda: entries_of(unit))

    def journals(self, units: Sequence[str]) -> dict[str, list[JournalEntry]]:
        """Return the replies of some units in order of position, by unit."""
        parts = (units[start : start + AT_ONCE] for start in range(0, len(units), AT_ONCE))
        return {unit: found for part in parts for unit, found in self._work.read(partial(journals_of, part)).items()}

    async def keep_dialogue(
        self, unit: Unit, dialogue: Dialogue, *, journalled: bool = True, lease: Lease | None = None
    ) -> tuple[Unit, ...]:
        """Store a dialogue and mark its unit as done, in one transaction; lease its annotations if wanted."""
        await self._work.put(write := KeepDialogue(unit=unit, dialogue=dialogue, journalled=journalled, lease=lease))
        return tuple(write.leased)

    async def keep_annotation(self, unit: Unit, annotation: Annotation) -> None:
        """Store an annotation and mark its unit as done, in one transaction."""
        await self._work.put(KeepAnnotation(unit=unit, annotation=annotation))

    async def keep_failure(self, unit: Unit, failure: Failure) -> None:
        """Store a failure and mark its unit as failed, in one transaction."""
        await self._work.put(KeepFailure(unit=unit, failure=failure))

    async def keep_adjudications(self, run: Run, adjudications: Sequence[Adjudication]) -> None:
        """Store final labels that a file brought; those already there stay as they are."""
        await self._work.put(KeepAdjudications(run=run, adjudications=tuple(adjudications)))

    def dialogues(self, run: Run, at: Collection[int] | None = None) -> Iterator[Dialogue]:
        """Yield the dialogues of a run in order of the plan."""
        for part in parts_of(at):
            yield from self._work.stream(partial(self._readings.dialogues, run, part))

    def dialogues_of(self, units: Sequence[str]) -> dict[str, Dialogue]:
        """Return the dialogues that some session units brought or took over, by unit."""
        found: dict[str, Dialogue] = {}
        rest = iter(units)
        while chunk := list(islice(rest, CHUNK)):
            found |= self._work.read(partial(self._readings.dialogues_of, chunk))
        return found

    def annotations(self, run: Run, at: Collection[int] | None = None) -> Iterator[Annotation]:
        """Yield the latest revisions of the annotations of a run, in order of the plan."""
        for part in parts_of(at):
            yield from self._work.stream(partial(self._readings.annotations, run, part))

    def adjudications(self, run: Run, at: Collection[int] | None = None) -> Iterator[Adjudication]:
        """Yield the final labels of a run's dialogues, in order of the plan."""
        for part in parts_of(at):
            yield from self._work.stream(partial(self._readings.adjudications, run, part))

    def failures(self, run: Run, at: Collection[int] | None = None) -> Iterator[Failure]:
        """Yield the failures of a run in order of the plan, those of sessions first."""
        for kind in UnitKind:
            for part in parts_of(at):
                yield from self._work.stream(partial(self._readings.failures, run, kind, part))

    def spending(self, run: Run) -> Spending:
        """Return what the replies of a run's own units have cost."""
        return self._work.read(lambda: self._readings.spending(run))

    def schema_tallies(self, run: Run) -> tuple[SchemaTally, ...]:
        """Return how annotators' answers were asked for, by annotator."""
        return self._work.read(lambda: self._readings.schema_tallies(run))

    def pace(self, run: Run, *, since: datetime, until: datetime) -> RunPace:
        """Return what a run's own units brought in a stretch of time."""
        return self._work.read(lambda: self._readings.pace(run, since, until))

    def calls_so_far(self, run: Run) -> dict[UnitKind, CallsSoFar]:
        """Return what a run's own units have asked for, by kind."""
        return self._work.read(lambda: self._readings.calls_so_far(run))

    def study(self, version: str) -> Study:
        """Return a study by content hash."""
        return self._work.read(lambda: self._readings.study(version))
