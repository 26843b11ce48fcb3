"""Readings: what has been stored, read back as domain records chunk by chunk."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from django.db.models import Count, Q, Sum
from django.db.models.functions import Coalesce

from theodolite.domain.annotation import Adjudication, Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import NotFound
from theodolite.domain.failure import Failure
from theodolite.domain.flow import SchemaUse
from theodolite.domain.run import Run, Spending, UnitKind, UnitState
from theodolite.domain.study import Study
from theodolite.store.annotations import adjudications_of, annotations_of
from theodolite.store.contents import Contents, record_of
from theodolite.store.dialogues import dialogues_of
from theodolite.store.failures import failures_of, spent_on_failures
from theodolite.store.labels import labels_of
from theodolite.store.ledger import id_of_run
from theodolite.store.models import AdjudicationRow, AnnotationRow, DialogueRow, JournalEntryRow, UnitRow
from theodolite.store.reading import Bookmark, next_units

if TYPE_CHECKING:  # loaded by whoever asks for one
    from theodolite.domain.findings.schema_tally import SchemaTally
    from theodolite.domain.status import CallsSoFar, RunPace

R = TypeVar("R")

Chunk: TypeAlias = tuple[list[R], Bookmark | None]
"""Some records, and where to go on; None at the end."""

ReadChunk: TypeAlias = Callable[[Bookmark], Chunk[R]]
"""Reads the records after a bookmark."""

_OVER = (UnitState.DONE.value, UnitState.FAILED.value)


class Readings:
    """Reads one workspace; called on a thread that is bound to its database."""

    def __init__(self, contents: Contents) -> None:
        """Remember where personas, source material and studies are kept."""
        self._contents = contents

    def study(self, version: str) -> Study:
        """Return a study by content hash."""
        return record_of(Study, self._contents.texts([version])[version])

    def dialogues(self, run: Run, at: Sequence[int] | None, after: Bookmark) -> Chunk[Dialogue]:
        """Return the next dialogues of a run."""
        stretch = next_units(id_of_run(run), UnitKind.SESSION, UnitState.DONE, after, at)
        return dialogues_of(stretch.origins, self._contents), stretch.end

    def dialogues_of(self, units: Sequence[str]) -> dict[str, Dialogue]:
        """Return the dialogues that some session units brought or took over, by unit."""
        rows = UnitRow.objects.filter(key__in=units).values_list("key", "id", "adopted_from_id", "adopted_from__key")
        brought_by = {key: origin or key for key, _, _, origin in rows}
        ids = list(dict.fromkeys(origin or own for _, own, origin, _ in rows))
        found = {dialogue.key: dialogue for dialogue in dialogues_of(ids, self._contents)}
        lacking = [unit for unit in units if brought_by.get(unit) not in found]
        if lacking:
            message = f"{len(lacking)} units have brought no dialogue, {lacking[0]} among them"
            raise NotFound(message)
        return {unit: found[brought_by[unit]] for unit in units}

    def annotations(self, run: Run, at: Sequence[int] | None, after: Bookmark) -> Chunk[Annotation]:
        """Return the next annotations of a run, latest revisions."""
        stretch = next_units(id_of_run(run), UnitKind.ANNOTATION, UnitState.DONE, after, at)
        return annotations_of(stretch.origins), stretch.end

    def labels(self, run: Run, at: Sequence[int] | None, after: Bookmark) -> Chunk[Annotation]:
        """Return what people labelled by hand of the next dialogues of a run, latest revisions."""
        stretch = next_units(id_of_run(run), UnitKind.SESSION, UnitState.DONE, after, at)
        return labels_of(stretch.origins), stretch.end

    def adjudications(self, run: Run, at: Sequence[int] | None, after: Bookmark) -> Chunk[Adjudication]:
        """Return the final labels of the next dialogues of a run."""
        run_id = id_of_run(run)
        if not AdjudicationRow.objects.filter(run_id=run_id).exists():  # most runs have none
            return [], None
        stretch = next_units(run_id, UnitKind.SESSION, UnitState.DONE, after, at)
        return adjudications_of(run_id, stretch.origins), stretch.end

    def failures(self, run: Run, kind: UnitKind, at: Sequence[int] | None, after: Bookmark) -> Chunk[Failure]:
        """Return the next failures of a run among units of one kind."""
        stretch = next_units(id_of_run(run), kind, UnitState.FAILED, after, at)
        return failures_of(stretch.origins), stretch.end

    def spending(self, run: Run) -> Spending:
        """Return what the calls of a run's own units have cost, those that brought no reply included.

        A call without a cost is an unpriced one if a model was called, which its
        tokens or its reason to stop show; applications tell neither.
        """
        from_a_model = Q(tokens_in__gt=0) | Q(tokens_out__gt=0) | ~Q(finish="")
        run_id = id_of_run(run)
        sums = JournalEntryRow.objects.filter(unit__run_id=run_id).aggregate(
            # First, because the sums after it take the names of the columns that it asks about.
            unpriced_calls=Count("id", filter=Q(cost_microusd__isnull=True, scripted=False) & from_a_model),
            calls=Count("id", filter=Q(attempts__gt=0)),  # the cache needs no attempt
            attempts=Sum("attempts", default=0),
            tokens_in=Sum("tokens_in", default=0),
            tokens_out=Sum("tokens_out", default=0),
            cost_microusd=Sum("cost_microusd", default=0),
            supposed_tokens=Sum("supposed_tokens", default=0),
            supposed_microusd=Sum("supposed_microusd", default=0),
        )
        return Spending(**{name: int(value) for name, value in sums.items()}) + spent_on_failures(run_id)

    def schema_tallies(self, run: Run) -> tuple[SchemaTally, ...]:
        """Return how annotators' answers were asked for, by annotator; those that a run took over count."""
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
        from theodolite.domain.findings.schema_tally import SchemaTally

        return tuple(SchemaTally(annotator=name, **by_annotator[name]) for name in sorted(by_annotator))

    def pace(self, run: Run, since: datetime, until: datetime) -> RunPace:
        """Return what a run's own units brought in a stretch of time."""
        run_id = id_of_run(run)
        calls, dialogues, annotations = (
            rows.filter(unit__run_id=run_id, created__gte=since, created__lte=until).count()
            for rows in (JournalEntryRow.objects, DialogueRow.objects, AnnotationRow.objects)
        )
        from theodolite.domain.status import RunPace

        return RunPace(calls=calls, units=dialogues + annotations, over_s=(until - since).total_seconds())

    def calls_so_far(self, run: Run) -> dict[UnitKind, CallsSoFar]:
        """Return what a run's own units have asked for, by kind."""
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
