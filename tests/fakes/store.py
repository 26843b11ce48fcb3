"""A store in memory, held to the same contract as the real one."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeVar

from theodolite.bootstrap.connections import SystemClock
from theodolite.domain.annotation import Adjudication, Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import Conflict, NotFound, StoreError
from theodolite.domain.event import PersonProfile
from theodolite.domain.findings.number import SchemaTally
from theodolite.domain.flow import JournalEntry, SchemaUse
from theodolite.domain.identity import Record, digest, version_of
from theodolite.domain.plan import Plan
from theodolite.domain.run import Failure, Lease, Run, RunState, Spending, SpendingPart, Unit, UnitKind, UnitState
from theodolite.domain.status import CallsSoFar, RunPace, WorkerStatus
from theodolite.domain.study import Study

R = TypeVar("R", bound=Record)


@dataclass
class _Kept:
    """A unit with everything that belongs to it."""

    unit: Unit
    run: str
    origin: str
    owner: str = ""
    lease_until: float = 0.0
    journal: list[JournalEntry] = field(default_factory=list)


class FakeStore:
    """Implements `ports.store.Store` with dictionaries; every write is at once."""

    def __init__(self) -> None:
        self.contents: dict[str, Record] = {}
        self.runs_kept: list[Run] = []
        self.units: dict[str, _Kept] = {}
        self.kept_dialogues: dict[str, Dialogue] = {}
        self.kept_annotations: dict[str, list[Annotation]] = {}
        self.kept_failures: dict[str, Failure] = {}
        self.struck_failures: list[Failure] = []
        self.kept_adjudications: dict[tuple[str, str, str, str], Adjudication] = {}
        self.kept_labels: list[Annotation] = []
        self.assignments: dict[str, list[tuple[str, str, str]]] = {}
        self.files: dict[str, list[str]] = {}
        self.moments: list[tuple[str, str, datetime]] = []
        self.started = False
        self.profiles: dict[str, list[PersonProfile]] = {}

    def profile(self, participant: str) -> PersonProfile | None:
        """Return the latest revision of a participant's profile."""
        return self.profiles.get(participant, [None])[-1]

    def add_profile(self, participant: str, profile: PersonProfile, *, now: datetime) -> int:
        """Store another revision of a participant's profile."""
        self.profiles.setdefault(participant, []).append(profile)
        return len(self.profiles[participant])

    async def start(self) -> None:
        self._must(not self.started, "the store was started before")
        self.started = True

    async def stop(self) -> None:
        self.started = False

    def disconnect(self) -> None:
        """Nothing is open."""

    def open_run(self, study: Study, plan: Plan, *, new_run: bool = False) -> Run:
        plan_version = self.keep(plan)
        of_plan = [run for run in self.runs_kept if run.plan_version == plan_version]
        if of_plan and not new_run:
            return of_plan[-1]
        number = 1 + sum(run.study == study.name for run in self.runs_kept)
        run = Run(
            key=digest("run", str(len(self.runs_kept))),
            number=number,
            study=study.name,
            study_version=self.keep(study),
            plan_version=plan_version,
            state=RunState.UNFINISHED,
            started=datetime(2026, 1, 1, tzinfo=UTC),
        )
        self.runs_kept.append(run)
        return run

    def latest_run(self, study_name: str) -> Run:
        found = [run for run in self.runs_kept if run.study == study_name]
        if not found:
            raise NotFound(study_name)
        return found[-1]

    def runs(self, study_name: str) -> list[Run]:
        return [run for run in self.runs_kept if run.study == study_name]

    def run_of(self, plan: Plan) -> Run:
        found = [run for run in self.runs_kept if run.plan_version == version_of(plan)]
        if not found:
            raise NotFound(version_of(plan))
        return found[-1]

    def close_run(self, run: Run, state: RunState) -> None:
        place = self._index(run)
        finished = datetime(2026, 1, 2, tzinfo=UTC) if state is RunState.FINISHED else None
        self.runs_kept[place] = replace(self.runs_kept[place], state=state, finished=finished)

    def add_units(self, run: Run, units: Iterable[Unit], *, adopt: bool = True) -> int:
        self._index(run)
        before = len(self.units)
        for unit in units:
            if unit.key in self.units:
                continue
            origin = self._origin(run, unit) if adopt else None
            state = UnitState.DONE if origin else UnitState.WAITING
            self.units[unit.key] = _Kept(replace(unit, state=state), run.key, origin or unit.key)
        return len(self.units) - before

    def _origin(self, run: Run, unit: Unit) -> str | None:
        work = (unit.kind, unit.work_key, UnitState.DONE)
        found = [
            kept.unit.key
            for kept in self.units.values()
            if (kept.unit.kind, kept.unit.work_key, kept.unit.state) == work
            and kept.run != run.key
            and kept.origin == kept.unit.key
        ]
        return found[-1] if found else None

    def _leased_about(self, subject: str, lease: Lease) -> Iterator[Unit]:
        for kept in self.units.values():
            if kept.unit.subject == subject and kept.unit.state is UnitState.WAITING:
                kept.owner, kept.lease_until = lease.owner, time.monotonic() + lease.seconds
                kept.unit = replace(kept.unit, state=UnitState.LEASED, tries=kept.unit.tries + 1)
                yield kept.unit

    def claim(
        self, run: Run, kind: UnitKind, *, owner: str, limit: int, lease_s: float, within: Sequence[int] | None = None
    ) -> list[Unit]:
        wanted = [kept for kept in self._in_plan(run, kind) if within is None or kept.unit.position in within]
        free = [kept for kept in wanted if _is_free(kept) and self._is_ready(kept)]
        expired = [kept for kept in free if kept.unit.state is UnitState.LEASED and kept.owner != owner]
        waiting = [kept for kept in free if kept.unit.state is UnitState.WAITING]
        taken = (expired + waiting)[:limit]
        for kept in taken:
            kept.owner, kept.lease_until = owner, time.monotonic() + lease_s
            kept.unit = replace(kept.unit, state=UnitState.LEASED, tries=kept.unit.tries + 1)
        return [kept.unit for kept in sorted(taken, key=lambda kept: kept.unit.position)]

    def origins(self, run: Run) -> dict[str, str]:
        mine = [kept for kept in self.units.values() if kept.run == run.key]
        return {kept.unit.key: kept.origin for kept in mine if kept.origin != kept.unit.key}

    def renew(self, owner: str, lease_s: float) -> frozenset[str]:
        held = self._leased(owner)
        for kept in held:
            kept.lease_until = time.monotonic() + lease_s
        return frozenset(kept.unit.key for kept in held)

    def release(self, owner: str) -> None:
        for kept in self._leased(owner):
            kept.unit = replace(kept.unit, state=UnitState.WAITING)

    def reopen(self, units: Iterable[str]) -> None:
        for key in units:
            kept = self.units.get(key)
            if kept is not None and kept.unit.state is UnitState.FAILED:
                kept.unit = replace(kept.unit, state=UnitState.WAITING)
                self.struck_failures.append(self.kept_failures.pop(key))

    def count_units(self, run: Run, kind: UnitKind) -> dict[str, int]:
        states = [kept.unit.state for kept in self._in_plan(run, kind)]
        return {state.value: states.count(state) for state in UnitState}

    def count_open(self, run: Run, kind: UnitKind, *, owner: str, within: Sequence[int] | None = None) -> int:
        wanted = [kept for kept in self._in_plan(run, kind) if within is None or kept.unit.position in within]
        waiting = [kept for kept in wanted if kept.unit.state is UnitState.WAITING and self._is_ready(kept)]
        leased = [kept for kept in wanted if kept.unit.state is UnitState.LEASED and kept.owner != owner]
        return len(waiting) + len(leased)

    def workers(self, run: Run) -> tuple[WorkerStatus, ...]:
        owners = dict.fromkeys(kept.owner for kept in self._of_run(run) if kept.unit.state is UnitState.LEASED)
        return tuple(
            WorkerStatus(
                name=owner,
                host="here",
                process=1,
                started=datetime(2026, 1, 1, tzinfo=UTC),
                units=len(self._leased(owner)),
                is_alive=True,
            )
            for owner in owners
        )

    def _of_run(self, run: Run) -> list[_Kept]:
        return [kept for kept in self.units.values() if kept.run == run.key]

    def count_orphans(self, run: Run, kind: UnitKind) -> int:
        leased = [kept for kept in self._in_plan(run, kind) if kept.unit.state is UnitState.LEASED]
        return sum(map(_is_free, leased))

    async def append(self, unit: str, entry: JournalEntry) -> None:
        self._must(self.started, "the store was not started")
        journal = self._unit(unit).journal
        if any(known.position == entry.position for known in journal):
            raise Conflict(unit)
        journal.append(entry)
        self._note(unit, "reply")
        journal.sort(key=lambda known: known.position)

    def entries(self, unit: str) -> list[JournalEntry]:
        return list(self.units[unit].journal) if unit in self.units else []

    def journals(self, units: Sequence[str]) -> dict[str, list[JournalEntry]]:
        return {unit: self.entries(self.units[unit].origin) if unit in self.units else [] for unit in units}

    async def keep_dialogue(
        self, unit: Unit, dialogue: Dialogue, *, journalled: bool = True, lease: Lease | None = None
    ) -> tuple[Unit, ...]:
        self._must(self.started, "the store was not started")
        self._must(dialogue.key == unit.key, "the key of a dialogue must be that of its unit")
        self._finish(unit, UnitState.DONE)
        self.kept_dialogues[unit.key] = dialogue
        self._note(unit.key, "dialogue")
        return tuple(self._leased_about(unit.key, lease)) if lease is not None else ()

    async def keep_annotation(self, unit: Unit, annotation: Annotation) -> None:
        self._must(self.started, "the store was not started")
        if annotation.dialogue not in self.kept_dialogues:
            raise NotFound(annotation.dialogue)
        revisions = self.kept_annotations.setdefault(unit.key, [])
        if any(known.revision == annotation.revision for known in revisions):
            raise Conflict(unit.key)
        if annotation.revision == 1:
            self._finish(unit, UnitState.DONE)
        revisions.append(annotation)
        self._note(unit.key, "annotation")

    async def keep_failure(self, unit: Unit, failure: Failure) -> None:
        self._must(self.started, "the store was not started")
        if unit.key in self.kept_failures or self._unit(unit.key).unit.tries != unit.tries:
            raise Conflict(unit.key)
        self._finish(unit, UnitState.FAILED)
        self.kept_failures[unit.key] = failure

    async def keep_adjudications(self, run: Run, adjudications: Sequence[Adjudication]) -> None:
        self._must(self.started, "the store was not started")
        self._index(run)
        for label in adjudications:
            if label.dialogue not in self.kept_dialogues:
                raise NotFound(label.dialogue)
            self.kept_adjudications.setdefault((run.key, label.dialogue, label.guideline, label.question), label)

    def dialogues(self, run: Run, at: Collection[int] | None = None) -> Iterator[Dialogue]:
        for kept in self._done(run, UnitKind.SESSION, at):
            yield self.kept_dialogues[kept.origin]

    def dialogues_of(self, units: Sequence[str]) -> dict[str, Dialogue]:
        found: dict[str, Dialogue] = {}
        for unit in units:
            kept = self.units.get(unit)
            if kept is None or kept.origin not in self.kept_dialogues:
                raise NotFound(unit)
            found[unit] = self.kept_dialogues[kept.origin]
        return found

    def annotations(self, run: Run, at: Collection[int] | None = None) -> Iterator[Annotation]:
        for kept in self._done(run, UnitKind.ANNOTATION, at):
            yield max(self.kept_annotations[kept.origin], key=lambda known: known.revision)

    def keep_labels(self, annotations: Sequence[Annotation]) -> None:
        for given in annotations:
            if given.dialogue not in self.kept_dialogues:
                raise NotFound(given.dialogue)
            place = (given.dialogue, given.annotator, given.instrument_version)
            if any(_label_place(known) == (*place, given.revision) for known in self.kept_labels):
                raise Conflict(given.annotator)
        self.kept_labels += annotations

    def open_assignments(self, study: str) -> list[tuple[str, str, str]]:
        return list(self.assignments.get(study, ())) if self.kept_labels else []

    def labels(self, run: Run, at: Collection[int] | None = None) -> Iterator[Annotation]:
        for kept in self._done(run, UnitKind.SESSION, at):
            mine = [given for given in self.kept_labels if given.dialogue == kept.origin]
            yield from {_label_place(given)[:3]: given for given in mine}.values()

    def file(self, subject: str, record: Record) -> str:
        version = self.keep(record)
        lying = self.files.setdefault(subject, [])
        if version not in lying:
            lying.append(version)
        return version

    def filed(self, kind: type[R], subject: str) -> list[R]:
        found = [self.contents[version] for version in self.files.get(subject, ())]
        return [record for record in found if isinstance(record, kind)]

    def adjudications(self, run: Run, at: Collection[int] | None = None) -> Iterator[Adjudication]:
        for kept in self._done(run, UnitKind.SESSION, at):
            for (of_run, dialogue, _, _), label in self.kept_adjudications.items():
                if (of_run, dialogue) == (run.key, kept.origin):
                    yield label

    def failures(self, run: Run, at: Collection[int] | None = None) -> Iterator[Failure]:
        for kind in UnitKind:
            for kept in self._in_plan(run, kind):
                if kept.unit.state is UnitState.FAILED and (at is None or kept.unit.position in at):
                    yield self.kept_failures[kept.unit.key]

    def spending(self, run: Run) -> Spending:
        entries = [entry for kept in self.units.values() if kept.run == run.key for entry in kept.journal]
        replies = [entry.reply for entry in entries]
        from_models = [reply for reply in replies if reply.tokens_in or reply.tokens_out or reply.finish]
        own = {kept.unit.key for kept in self.units.values() if kept.run == run.key}
        failures = [*self.kept_failures.values(), *self.struck_failures]
        in_vain = (failure.spent for failure in failures if failure.unit in own)
        of_replies = Spending(
            calls=sum(not reply.cached for reply in replies),
            attempts=sum(reply.attempts for reply in replies),
            tokens_in=sum(reply.tokens_in for reply in replies),
            tokens_out=sum(reply.tokens_out for reply in replies),
            cost_microusd=sum(reply.cost_microusd or 0 for reply in replies),
            unpriced_calls=sum(reply.cost_microusd is None and not reply.scripted for reply in from_models),
            estimated_tokens=sum(entry.estimated_tokens for entry in entries),
            estimated_microusd=sum(entry.estimated_microusd for entry in entries),
        )
        return sum(in_vain, start=of_replies)

    def annotation_spending(self, run: Run) -> Spending:
        parts = self.spending_parts(run)
        return sum((part.spending for part in parts if part.stage is UnitKind.ANNOTATION), start=Spending())

    def spending_parts(self, run: Run) -> tuple[SpendingPart, ...]:
        found: dict[tuple[str, str, str, str], Spending] = {}
        failures = {failure.unit: failure for failure in [*self.kept_failures.values(), *self.struck_failures]}
        for kept in (kept for kept in self.units.values() if kept.run == run.key):
            unit = kept.unit
            for entry in kept.journal:
                reply = entry.reply
                of_model = reply.tokens_in or reply.tokens_out or reply.finish
                key = (unit.application, unit.kind.value, unit.annotator, reply.answered_as)
                found[key] = found.get(key, Spending()) + Spending(
                    calls=int(not reply.cached),
                    attempts=reply.attempts,
                    tokens_in=reply.tokens_in,
                    tokens_out=reply.tokens_out,
                    cost_microusd=reply.cost_microusd or 0,
                    unpriced_calls=int(bool(of_model) and reply.cost_microusd is None and not reply.scripted),
                    estimated_tokens=entry.estimated_tokens,
                    estimated_microusd=entry.estimated_microusd,
                )
            if unit.key in failures:
                key = (unit.application, unit.kind.value, unit.annotator, "")
                found[key] = found.get(key, Spending()) + failures[unit.key].spent
        return tuple(
            SpendingPart(application=key[0], stage=UnitKind(key[1]), annotator=key[2], model=key[3], spending=spending)
            for key, spending in sorted(found.items())
            if spending != Spending()
        )

    def schema_tallies(self, run: Run) -> tuple[SchemaTally, ...]:
        uses: dict[str, Counter[str]] = defaultdict(Counter)
        for kept in self._in_plan(run, UnitKind.ANNOTATION):
            origin = self.units[kept.origin]
            uses[origin.unit.annotator].update(str(entry.reply.schema_use) for entry in origin.journal)
        for counted in uses.values():
            del counted[SchemaUse.NONE.value]
        return tuple(SchemaTally(annotator=name, **counted) for name, counted in sorted(uses.items()) if counted)

    def pace(self, run: Run, *, since: datetime, until: datetime) -> RunPace:
        mine = {kept.unit.key for kept in self.units.values() if kept.run == run.key}
        kinds = [kind for unit, kind, moment in self.moments if unit in mine and since <= moment <= until]
        calls = kinds.count("reply")
        return RunPace(calls=calls, units=len(kinds) - calls, over_s=(until - since).total_seconds())

    def calls_so_far(self, run: Run) -> dict[UnitKind, CallsSoFar]:
        return {kind: self._calls_of(run, kind) for kind in UnitKind}

    def _calls_of(self, run: Run, kind: UnitKind) -> CallsSoFar:
        mine = [kept for kept in self.units.values() if kept.run == run.key and kept.origin == kept.unit.key]
        calls = [
            (len(kept.journal), kept.unit.state in {UnitState.DONE, UnitState.FAILED})
            for kept in mine
            if kept.unit.kind is kind
        ]
        over = [n for n, is_over in calls if is_over]
        return CallsSoFar(over=sum(over), n_over=len(over), under_way=sum(n for n, is_over in calls if not is_over))

    def study(self, version: str) -> Study:
        found = self.contents.get(version)
        if not isinstance(found, Study):
            raise NotFound(version)
        return found

    def keep(self, record: Record) -> str:
        version = version_of(record)
        self.contents.setdefault(version, record)
        return version

    def _note(self, unit: str, what: str) -> None:
        self.moments.append((unit, what, SystemClock().now()))

    def _is_ready(self, kept: _Kept) -> bool:
        subject = self.units.get(kept.unit.subject)
        return not kept.unit.subject or (subject is not None and subject.unit.state is UnitState.DONE)

    def _index(self, run: Run) -> int:
        keys = [known.key for known in self.runs_kept]
        if run.key not in keys:
            raise NotFound(run.key)
        return keys.index(run.key)

    def _unit(self, key: str) -> _Kept:
        if key not in self.units:
            raise NotFound(key)
        return self.units[key]

    def _finish(self, unit: Unit, state: UnitState) -> None:
        kept = self._unit(unit.key)
        if kept.unit.state is UnitState.DONE:
            raise Conflict(unit.key)
        kept.unit = replace(kept.unit, state=state)
        kept.owner = ""

    def _in_plan(self, run: Run, kind: UnitKind) -> list[_Kept]:
        found = [kept for kept in self.units.values() if kept.run == run.key and kept.unit.kind is kind]
        return sorted(found, key=lambda kept: kept.unit.position)

    def _done(self, run: Run, kind: UnitKind, at: Collection[int] | None) -> list[_Kept]:
        done = [kept for kept in self._in_plan(run, kind) if kept.unit.state is UnitState.DONE]
        return [kept for kept in done if at is None or kept.unit.position in at]

    def _leased(self, owner: str) -> list[_Kept]:
        leased = [kept for kept in self.units.values() if kept.unit.state is UnitState.LEASED]
        return [kept for kept in leased if kept.owner == owner]

    def _must(self, holds: bool, message: str) -> None:
        if not holds:
            raise StoreError(message)


def _label_place(given: Annotation) -> tuple[str, str, str, int]:
    return given.dialogue, given.annotator, given.instrument_version, given.revision


def _is_free(kept: _Kept) -> bool:
    if kept.unit.state is UnitState.LEASED:
        return kept.lease_until < time.monotonic()
    return kept.unit.state is UnitState.WAITING
