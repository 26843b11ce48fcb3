"""The store behind the port: Django's ORM on separate threads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import connection, transaction
from django.db.models import Aggregate, Count, Q, Sum
from django.db.models.functions import Coalesce

from theodolite.domain.annotation import Adjudication, Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import NotFound
from theodolite.domain.flow import JournalEntry, SchemaUse
from theodolite.domain.identity import Record
from theodolite.domain.plan import Plan
from theodolite.domain.run import Failure, Lease, Run, RunState, Spending, SpendingPart, Unit, UnitKind, UnitState
from theodolite.domain.study import Study
from theodolite.ports.progress import Sample
from theodolite.store.contents import Contents, content_of, file_record, filed_records, record_of
from theodolite.store.dialogues import dialogues_of, entries_of, journals_of
from theodolite.store.executor import (
    Executor,
    KeepAdjudications,
    KeepAnnotation,
    KeepDialogue,
    KeepFailure,
    KeepReply,
)
from theodolite.store.ledger import CHUNK, Ledger, Owners, RowNumbers, id_of_run
from theodolite.store.limits import WorkerLimits
from theodolite.store.models import AdjudicationRow, AnnotationRow, DialogueRow, JournalEntryRow, UnitRow
from theodolite.store.results import (
    SUM,
    Results,
    adjudications_of,
    annotations_of,
    are_there_labels,
    failure_spending_parts,
    failures_of,
    keep_labels,
    labels_of,
    open_assignments,
    spending_of_row,
    spent_on_failures,
)
from theodolite.store.statements import UNITS_AT_ONCE, Bookmark, Chunk, next_units, parts_of

if TYPE_CHECKING:
    from theodolite.domain.annotating.case import SensitiveCase
    from theodolite.domain.event import PersonProfile
    from theodolite.domain.findings.number import SchemaTally
    from theodolite.domain.shards import MergeOutcome, UnitResult
    from theodolite.domain.status import CallsSoFar, RunPace, WorkerStatus
    from theodolite.store.event_withdrawal import EventRepository
    from theodolite.store.statistics import Statistics


R = TypeVar("R", bound=Record)


def _spending_sums() -> dict[str, Aggregate]:
    """Return the sums over stored replies that make up a cost."""
    from_a_model = Q(tokens_in__gt=0) | Q(tokens_out__gt=0) | ~Q(finish="")
    return {
        # Computed first, because the sums after it are named after the columns that it queries.
        "unpriced_calls": Count("id", filter=Q(cost_microusd__isnull=True, scripted=False) & from_a_model),
        "calls": Count("id", filter=Q(attempts__gt=0)),  # the cache needs no attempt
        "attempts": Sum("attempts", default=0),
        "tokens_in": Sum("tokens_in", default=0),
        "tokens_out": Sum("tokens_out", default=0),
        "cost_microusd": Sum("cost_microusd", default=0),
        "estimated_tokens": Sum("estimated_tokens", default=0),
        "estimated_microusd": Sum("estimated_microusd", default=0),
    }


def _spending_on(units: Q) -> Spending:
    """Return the cost of the calls of some units, failed calls included."""
    sums = JournalEntryRow.objects.filter(units).aggregate(**_spending_sums())
    return Spending(**{name: int(value) for name, value in sums.items()}) + spent_on_failures(units)


class DjangoStore:
    """The whole database of one workspace.

    Awaited writes go through the writer; everything else runs on the executor,
    from any thread or event loop.
    """

    def __init__(self, workspace: Path, database: Mapping[str, Any]) -> None:
        """Open a workspace with current tables."""
        contents = Contents(workspace / "blobs")
        self._owners = Owners(workspace / "workers")
        units = RowNumbers()
        self._contents, self._ledger = contents, Ledger(contents, self._owners, units)
        self._readings = Readings(contents)
        self._results = Results(contents, units)
        self._executor = Executor(workspace, database, self._results.apply)

    def statistics(self) -> list[Sample]:
        """Return the counts of the whole database for monitoring systems."""
        return self._executor.read(self._statistics.read)

    @cached_property
    def _statistics(self) -> Statistics:
        from theodolite.store.statistics import Statistics  # runs without metrics do not need it

        return Statistics(self._readings.spending_of)

    @cached_property
    def events(self) -> EventRepository:
        """The repositories of people's actions in events; their tables are loaded by the first use (ADR-0044)."""
        from theodolite.store.event_withdrawal import EventRepository

        return EventRepository(self._executor, self._contents)

    def has_event_sessions(self, study: str) -> bool:
        """Return whether a study has sessions of people, without loading the tables of events."""
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
        """Close the connection of the executor; the next operation opens it again."""
        self._executor.disconnect()

    def open_run(self, study: Study, plan: Plan, *, new_run: bool = False) -> Run:
        """Return the latest run of this plan, or start one."""
        return self._executor.write(lambda: self._ledger.open_run(study, plan, new_run=new_run))

    def close_run(self, run: Run, state: RunState) -> None:
        """Write down how a run ended."""
        self._executor.write(lambda: self._ledger.close_run(run, state))

    def add_units(self, run: Run, units: Iterable[Unit], *, adopt: bool = True) -> int:
        """Add units to the ledger; existing units are unchanged."""
        rest, n_new = iter(units), 0
        while chunk := list(islice(rest, CHUNK)):
            n_new += self._executor.write(partial(self._ledger.add_units, run, chunk, adopt=adopt))
        return n_new

    def claim(
        self, run: Run, kind: UnitKind, *, owner: str, limit: int, lease_s: float, within: Sequence[int] | None = None
    ) -> list[Unit]:
        """Lease waiting units, and those with an expired lease, in order of position."""
        requested = partial(self._ledger.claim, run, kind, owner=owner, limit=limit, lease_s=lease_s, within=within)
        return self._executor.write(requested)

    def origins(self, run: Run) -> dict[str, str]:
        """Return the units that took over an earlier result, and from where."""
        return self._executor.read(lambda: self._ledger.origins(run))

    def renew(self, owner: str, lease_s: float) -> frozenset[str]:
        """Extend all leases of an owner, and return the keys of the units that it still leases."""
        return self._executor.write(lambda: self._ledger.renew(owner, lease_s))

    def release(self, owner: str) -> None:
        """Release all unfinished units of an owner."""
        self._executor.write(lambda: self._ledger.release(owner))

    def reopen(self, units: Iterable[str]) -> None:
        """Queue failed units again and delete their failures."""
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
        parts = (units[start : start + UNITS_AT_ONCE] for start in range(0, len(units), UNITS_AT_ONCE))
        return {
            unit: result for part in parts for unit, result in self._executor.read(partial(journals_of, part)).items()
        }

    async def keep_dialogue(
        self, unit: Unit, dialogue: Dialogue, *, journalled: bool = True, lease: Lease | None = None
    ) -> tuple[Unit, ...]:
        """Store a dialogue and mark its unit as done, in one transaction; lease its annotations if requested."""
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
        """Store final labels of a file; existing ones are unchanged."""
        await self._executor.put(KeepAdjudications(run=run, adjudications=tuple(adjudications)))

    def merge(self, results: Sequence[UnitResult]) -> list[MergeOutcome]:
        """Store results of other workspaces in one transaction, and return the outcome of each."""
        from theodolite.store.merging import merge_results

        def work() -> list[MergeOutcome]:
            with transaction.atomic():
                return merge_results(results, apply=self._results.apply, reopen=self._ledger.reopen)

        return self._executor.write(work)

    def dialogues(self, run: Run, at: Collection[int] | None = None) -> Iterator[Dialogue]:
        """Yield the dialogues of a run in order of the plan."""
        for part in parts_of(at):
            yield from self._executor.stream(partial(self._readings.dialogues, run, part))

    def dialogues_of(self, units: Sequence[str]) -> dict[str, Dialogue]:
        """Return the dialogues of some session units, own or adopted, by unit."""
        result: dict[str, Dialogue] = {}
        rest = iter(units)
        while chunk := list(islice(rest, CHUNK)):
            result |= self._executor.read(partial(self._readings.dialogues_of, chunk))
        return result

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
        """Return the cost of replies of a run's own units."""
        return self._executor.read(lambda: self._readings.spending(run))

    def annotation_spending(self, run: Run) -> Spending:
        """Return the cost of the calls of a run's annotators, failed calls included."""
        return self._executor.read(lambda: self._readings.annotation_spending(run))

    def spending_parts(self, run: Run) -> tuple[SpendingPart, ...]:
        """Return these costs by application, stage, annotator and model, in this order."""
        return self._executor.read(lambda: self._readings.spending_parts(run))

    def schema_tallies(self, run: Run) -> tuple[SchemaTally, ...]:
        """Return how annotators' answers were requested, by annotator."""
        return self._executor.read(lambda: self._readings.schema_tallies(run))

    def pace(self, run: Run, *, since: datetime, until: datetime) -> RunPace:
        """Return the results of a run's own units in a period."""
        return self._executor.read(lambda: self._readings.pace(run, since, until))

    def calls_so_far(self, run: Run) -> dict[UnitKind, CallsSoFar]:
        """Return the calls of a run's own units, by kind."""
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

    def open_runs(self) -> list[Run]:
        """Return unfinished runs that workers can join, in order of their start; see `Ledger.open_runs`."""
        return self._executor.read(self._ledger.open_runs)

    def run_of(self, plan: Plan) -> Run:
        """Return the latest run of a plan."""
        return self._executor.read(lambda: self._ledger.run_of(plan))

    def count_units(self, run: Run, kind: UnitKind) -> dict[str, int]:
        """Return the units by state."""
        return self._executor.read(lambda: self._ledger.count_units(run, kind))

    def workers(self, run: Run) -> tuple[WorkerStatus, ...]:
        """Return the workers of a run in order of their start."""
        return self._executor.read(lambda: self._ledger.workers(run))

    def limits_of(self, owner: str) -> WorkerLimits:
        """Return the shared limits of a worker."""
        return WorkerLimits(self._executor, owner, self._readings.spending_of)

    def count_open(self, run: Run, kind: UnitKind, *, owner: str, within: Sequence[int] | None = None) -> int:
        """Return the units that an owner can lease now or later; count."""
        return self._executor.read(lambda: self._ledger.count_open(run, kind, owner=owner, within=within))

    def count_orphans(self, run: Run, kind: UnitKind) -> int:
        """Return the leased units without a live worker; count."""
        return self._executor.read(lambda: self._ledger.count_orphans(run, kind))

    def sealed_credentials(self, study: str) -> dict[str, bytes]:
        """Return the teams' encrypted credentials for the applications of a study, by the submission's token."""
        return self._executor.read(lambda: sealed_credentials(study))

    def stored_keys(self, study: str) -> list[tuple[str, str, bytes]]:
        """Return variable, receiver and encrypted value of each key that organisers have stored for a study."""
        return self._executor.read(lambda: stored_keys(study))

    def keep(self, record: Record) -> str:
        """Store a record unless it exists, and return its version."""
        content = content_of(record)
        self._executor.write(lambda: self._contents.keep([content]))
        return content.version

    def file(self, subject: str, record: Record) -> str:
        """Store a record under the hash of its subject, and return its version."""
        return self._executor.write(partial(file_record, self._contents, subject, record))

    def filed(self, kind: type[R], subject: str) -> list[R]:
        """Return the records of one kind that are under a subject, the oldest first."""
        return self._executor.read(partial(filed_records, self._contents, kind, subject))

    def records(self, kind: type[R], versions: Collection[str]) -> dict[str, R]:
        """Return stored records of one kind by content hash."""
        texts = self._executor.read(lambda: self._contents.texts(versions))
        return {version: record_of(kind, text) for version, text in texts.items()}

    def cases(self, study: str) -> list[SensitiveCase]:
        """Return the cases of sensitive content in a study, the latest first."""
        from theodolite.store.annotation_queue import cases_in_study, cases_of

        return self._executor.read(lambda: cases_of(list(cases_in_study(study))))

    def keep_labels(self, annotations: Sequence[Annotation]) -> None:
        """Store annotations that people gave by hand, all or none."""
        self._executor.write(partial(keep_labels, annotations))

    def open_assignments(self, study: str) -> list[tuple[str, str, str]]:
        """Return the dialogues that annotators of a study's queues have reserved and not submitted."""
        if not self._executor.read(are_there_labels):
            return []
        return self._executor.read(partial(open_assignments, study))

    def labels(self, run: Run, at: Collection[int] | None = None) -> Iterator[Annotation]:
        """Yield labels by hand of a run's dialogues, latest revisions."""
        if not self._executor.read(are_there_labels):
            return
        for part in parts_of(at):
            yield from self._executor.stream(partial(self._readings.labels, run, part))


def _has_event_sessions(study: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM store_session WHERE study = %s LIMIT 1", [study])
        return cursor.fetchone() is not None


_OVER = (UnitState.DONE.value, UnitState.FAILED.value)


class Readings:
    """Reads one workspace; called on a thread that is bound to its database."""

    def __init__(self, contents: Contents) -> None:
        """Set the stores of personas, source material and studies."""
        self._contents = contents

    def study(self, version: str) -> Study:
        """Return a study by content hash."""
        return record_of(Study, self._contents.texts([version])[version])

    def dialogues(self, run: Run, at: Sequence[int] | None, after: Bookmark) -> Chunk[Dialogue]:
        """Return the next dialogues of a run."""
        unit_range = next_units(id_of_run(run), UnitKind.SESSION, UnitState.DONE, after, at)
        return dialogues_of(unit_range.origins, self._contents), unit_range.end

    def dialogues_of(self, units: Sequence[str]) -> dict[str, Dialogue]:
        """Return the dialogues of some session units, own or adopted, by unit."""
        rows = UnitRow.objects.filter(key__in=units).values_list("key", "id", "adopted_from_id", "adopted_from__key")
        brought_by = {key: origin or key for key, _, _, origin in rows}
        ids = list(dict.fromkeys(origin or own for _, own, origin, _ in rows))
        result = {dialogue.key: dialogue for dialogue in dialogues_of(ids, self._contents)}
        lacking = [unit for unit in units if brought_by.get(unit) not in result]
        if lacking:
            message = f"{len(lacking)} units have brought no dialogue, {lacking[0]} among them"
            raise NotFound(message)
        return {unit: result[brought_by[unit]] for unit in units}

    def annotations(self, run: Run, at: Sequence[int] | None, after: Bookmark) -> Chunk[Annotation]:
        """Return the next annotations of a run, latest revisions."""
        unit_range = next_units(id_of_run(run), UnitKind.ANNOTATION, UnitState.DONE, after, at)
        return annotations_of(unit_range.origins), unit_range.end

    def labels(self, run: Run, at: Sequence[int] | None, after: Bookmark) -> Chunk[Annotation]:
        """Return labels by hand of the next dialogues of a run, latest revisions."""
        unit_range = next_units(id_of_run(run), UnitKind.SESSION, UnitState.DONE, after, at)
        return labels_of(unit_range.origins), unit_range.end

    def adjudications(self, run: Run, at: Sequence[int] | None, after: Bookmark) -> Chunk[Adjudication]:
        """Return the final labels of the next dialogues of a run."""
        run_id = id_of_run(run)
        if not AdjudicationRow.objects.filter(run_id=run_id).exists():  # most runs have none
            return [], None
        unit_range = next_units(run_id, UnitKind.SESSION, UnitState.DONE, after, at)
        return adjudications_of(run_id, unit_range.origins), unit_range.end

    def failures(self, run: Run, kind: UnitKind, at: Sequence[int] | None, after: Bookmark) -> Chunk[Failure]:
        """Return the next failures of a run among units of one kind."""
        unit_range = next_units(id_of_run(run), kind, UnitState.FAILED, after, at)
        return failures_of(unit_range.origins), unit_range.end

    def spending(self, run: Run) -> Spending:
        """Return the cost of calls of a run's own units, failed calls included.

        A call without a cost is an unpriced one if a model was called, which its
        tokens or its stop reason show; applications report neither.
        """
        return self.spending_of(id_of_run(run))

    def spending_of(self, run_id: int) -> Spending:
        """Return this cost by the number of the run's row."""
        return _spending_on(Q(unit__run_id=run_id))

    def annotation_spending(self, run: Run) -> Spending:
        """Return the cost of the calls of a run's annotators, failed calls included."""
        return _spending_on(Q(unit__run_id=id_of_run(run), unit__kind=UnitKind.ANNOTATION.value))

    def spending_parts(self, run: Run) -> tuple[SpendingPart, ...]:
        """Return these costs by application, stage, annotator and model, in this order."""
        run_id = id_of_run(run)
        of = ("unit__application", "unit__kind", "unit__annotator")
        result: dict[tuple[str, ...], Spending] = {}
        replies = JournalEntryRow.objects.filter(unit__run_id=run_id).values(*of, "answered_as")
        sums = {f"{SUM}{name}": total for name, total in _spending_sums().items()}  # columns have the plain names
        for row in replies.annotate(**sums):
            key = tuple(row[name] for name in (*of, "answered_as"))
            result[key] = spending_of_row(row)
        for key, spending in failure_spending_parts(run_id):
            result[(*key, "")] = result.get((*key, ""), Spending()) + spending
        return tuple(
            SpendingPart(application=key[0], stage=UnitKind(key[1]), annotator=key[2], model=key[3], spending=spending)
            for key, spending in sorted(result.items())
            if spending != Spending()
        )

    def schema_tallies(self, run: Run) -> tuple[SchemaTally, ...]:
        """Return how annotators' answers were requested, by annotator; adopted ones count."""
        brought_by = (
            UnitRow.objects.filter(run_id=id_of_run(run), kind=UnitKind.ANNOTATION)
            .annotate(origin=Coalesce("adopted_from_id", "id"))
            .values("origin")
        )
        counted = (
            JournalEntryRow.objects.filter(unit_id__in=brought_by)
            .exclude(schema_use=SchemaUse.NONE)
            .values_list("unit__annotator", "schema_use")
            .annotate(n=Count("id"))
        )
        by_annotator: dict[str, dict[str, int]] = defaultdict(dict)
        for annotator, use, n in counted:
            by_annotator[annotator][use] = n
        from theodolite.domain.findings.number import SchemaTally

        return tuple(SchemaTally(annotator=name, **by_annotator[name]) for name in sorted(by_annotator))

    def pace(self, run: Run, since: datetime, until: datetime) -> RunPace:
        """Return the results of a run's own units in a period."""
        run_id = id_of_run(run)
        calls, dialogues, annotations = (
            rows.filter(unit__run_id=run_id, created__gte=since, created__lte=until).count()
            for rows in (JournalEntryRow.objects, DialogueRow.objects, AnnotationRow.objects)
        )
        from theodolite.domain.status import RunPace

        return RunPace(calls=calls, units=dialogues + annotations, over_s=(until - since).total_seconds())

    def calls_so_far(self, run: Run) -> dict[UnitKind, CallsSoFar]:
        """Return the calls of a run's own units, by kind."""
        units = UnitRow.objects.filter(run_id=id_of_run(run), adopted_from__isnull=True)
        n_over = dict(units.filter(state__in=_OVER).values_list("kind").annotate(n=Count("id")))
        replies = JournalEntryRow.objects.filter(unit__in=units).values_list("unit__kind")
        over = dict(replies.filter(unit__state__in=_OVER).annotate(n=Count("id")))
        under_way = dict(replies.exclude(unit__state__in=_OVER).annotate(n=Count("id")))
        from theodolite.domain.status import CallsSoFar

        return {
            kind: CallsSoFar(over=over.get(kind, 0), n_over=n_over.get(kind, 0), under_way=under_way.get(kind, 0))
            for kind in UnitKind
        }


_SUBMISSIONS = "web_submission"


_ACCEPTED = """
SELECT submission.token, submission.sealed FROM web_submission submission
JOIN web_hosted_study hosted ON hosted.id = submission.hosted_id
WHERE hosted.name = %s AND submission.state = 'accepted'
"""


_STORED_KEYS = "web_stored_key"

_KEYS_OF_STUDY = """
SELECT hosted.id, stored.variable, stored.receiver, stored.sealed FROM web_stored_key stored
JOIN web_hosted_study hosted ON hosted.id = stored.hosted_id
WHERE hosted.name = %s
"""


def stored_keys(study: str) -> list[tuple[str, str, bytes]]:
    """Return variable, receiver and encrypted value of each key that organisers have stored for a study.

    Nothing if several studies of a server have the name: a key belongs to one of them.
    """
    with connection.cursor() as cursor:
        if _STORED_KEYS not in connection.introspection.table_names(cursor):
            return []
        cursor.execute(_KEYS_OF_STUDY, [study])
        rows = cursor.fetchall()
    if len({hosted for hosted, *_ in rows}) > 1:
        return []
    return [(variable, receiver, bytes(sealed)) for _, variable, receiver, sealed in rows]


def sealed_credentials(study: str) -> dict[str, bytes]:
    """Return the sealed credentials of a study's accepted applications, by the submission's token.

    Empty if no server ever used the workspace, because its tables do not exist then.
    """
    with connection.cursor() as cursor:
        if _SUBMISSIONS not in connection.introspection.table_names(cursor):
            return {}
        cursor.execute(_ACCEPTED, [study])
        return {token: bytes(sealed) for token, sealed in cursor.fetchall() if sealed}
