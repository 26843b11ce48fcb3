"""Listing: the dialogues of a queue that are looked for, page by page.

Every function here takes the same number of queries however many dialogues there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Case, CharField, Count, Exists, IntegerField, OuterRef, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from theodolite.assessment.blinding import blind_name
from theodolite.assessment.queue.stages import stage_of
from theodolite.domain.annotating.case import CaseAct, FlagKind
from theodolite.domain.annotating.listing import DialogueFilter, ItemStage, ListedDialogue, ListedItem
from theodolite.domain.annotating.work import ItemState, ReservationState
from theodolite.domain.dialogue import Dialogue, Level
from theodolite.store.annotating.library import Library
from theodolite.store.annotating.seen_texts import seen_dialogues, speaking_of
from theodolite.store.models import DialogueGroupRow, DialogueRow
from theodolite.store.models.annotating import (
    CaseRow,
    CaseStepRow,
    QueueRow,
    ReservationRow,
    ResolutionRow,
    WorkItemRow,
)
from theodolite.store.reading import grouped

PAGE = 50
"""Dialogues on one page of the list; count."""

MOST_GROUPS = 200
"""Groups of cases that a list is filtered by at most; count."""

_AT_HAND = [ReservationState.OFFERED.value, ReservationState.RESERVED.value, ReservationState.SUBMITTED.value]
_RESOLVED = ResolutionRow.objects.filter(item=OuterRef("pk"), current=True).order_by().values("item")
_N_RESOLVED = Coalesce(Subquery(_RESOLVED.annotate(n=Count("id")).values("n"), output_field=IntegerField()), Value(0))
_STAGE = Case(
    When(state=ItemState.ASIDE.value, then=Value(ItemStage.ASIDE.value)),
    When(state=ItemState.OPEN.value, live=0, then=Value(ItemStage.WAITING.value)),
    When(state=ItemState.OPEN.value, then=Value(ItemStage.IN_WORK.value)),
    When(state=ItemState.COMPLETE.value, disputed=0, then=Value(ItemStage.ANNOTATED.value)),
    When(state=ItemState.COMPLETE.value, then=Value(ItemStage.DISPUTED.value)),
    When(disputed__gt=_N_RESOLVED, then=Value(ItemStage.UNDER_REVIEW.value)),
    default=Value(ItemStage.FINAL.value),
    output_field=CharField(),
)
"""`assessment.stages.stage_of` as an expression on work items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The dialogues of a queue that are looked for; the words sought are looked up once.

    Attributes:
        queue: The queue.
        sought: What is looked for.
        spoken: Numbers of the dialogues in which the words stand; None where none are sought.
    """

    queue: QueueRow
    sought: DialogueFilter
    spoken: tuple[int, ...] | None

    @classmethod
    def of(cls, library: Library, queue: QueueRow, sought: DialogueFilter) -> Listing:
        """Look for dialogues.

        Raises:
            InputError: If the words sought are too short, or stand in too many dialogues.
        """
        whole = cls(queue=queue, sought=sought, spoken=None)
        if not sought.words.strip():
            return whole
        said = speaking_of(library, queue, whole._at(None).order_by(), sought.words)
        return cls(queue=queue, sought=sought, spoken=said)

    @property
    def rows(self) -> QuerySet[DialogueRow]:
        """The dialogues, in the order in which they came in."""
        return self._at(self.sought.stage).order_by("id")

    @property
    def items(self) -> QuerySet[WorkItemRow]:
        """Their work items, as far as the filter lets these through."""
        items = found_items(self.queue, self.sought)
        return items if self._is_about_items else items.filter(dialogue__in=self.rows.order_by())

    def stages(self) -> Mapping[ItemStage, int]:
        """Return how many dialogues there would be at each stage, were it named in place of the filter's; counts."""
        items = found_items(self.queue, replace(self.sought, stage=None))
        items = items if self._is_about_items else items.filter(dialogue__in=self._at(None).order_by())
        counted = items.annotate(at=_STAGE).values_list("at").annotate(n=Count("dialogue_id", distinct=True))
        return {ItemStage(stage): n for stage, n in counted.order_by()}

    @property
    def _is_about_items(self) -> bool:
        """Whether the filter asks nothing of dialogues, so that asking their items alone is enough."""
        sought = self.sought
        return not any((sought.scenario, sought.level, sought.flag, sought.group, self.spoken is not None))

    def _at(self, stage: ItemStage | None) -> QuerySet[DialogueRow]:
        items = found_items(self.queue, replace(self.sought, stage=stage))
        rows = _told(self.queue, self.sought).filter(id__in=items.values("dialogue_id"))
        return rows if self.spoken is None else rows.filter(id__in=self.spoken)


def found_items(queue: QueueRow, sought: DialogueFilter) -> QuerySet[WorkItemRow]:
    """Return the work items of a queue that a filter lets through, as far as it is about items."""
    items = WorkItemRow.objects.filter(queue=queue)
    if sought.category:
        items = items.filter(category=sought.category)
    if sought.disputed is not None:
        items = items.filter(disputed__gt=0) if sought.disputed else items.filter(disputed=0)
    if sought.annotator:
        claims = ReservationRow.objects.filter(item=OuterRef("pk"), participant__key=sought.annotator)
        items = items.filter(Exists(claims.filter(state__in=_AT_HAND)))
    if sought.stage is not None:
        items = items.annotate(at=_STAGE).filter(at=sought.stage.value)
    return items


def _told(queue: QueueRow, sought: DialogueFilter) -> QuerySet[DialogueRow]:
    """Return the dialogues that a filter lets through by what is known of them before anybody annotates them."""
    told = {"scenario": sought.scenario, "level": sought.level.value if sought.level else ""}
    rows = DialogueRow.objects.filter(**{name: value for name, value in told.items() if value})
    if sought.group is not None:
        name, value = sought.group
        groups = DialogueGroupRow.objects.filter(dialogue=OuterRef("pk"), name=name, value=value)
        rows = rows.filter(Exists(groups))
    if sought.flag is not None:
        rows = rows.filter(Exists(_standing_cases(queue).filter(dialogue=OuterRef("pk"), kind=sought.flag.value)))
    return rows


def _standing_cases(queue: QueueRow) -> QuerySet[CaseRow]:
    dismissed = CaseStepRow.objects.filter(case=OuterRef("pk"), act=CaseAct.DISMISSED.value)
    return CaseRow.objects.filter(~Exists(dismissed), study=queue.study)


def listed(
    library: Library, queue: QueueRow, rows: QuerySet[DialogueRow], *, reader: str, page: int = 0
) -> list[ListedDialogue]:
    """Return one page of some dialogues, under the names that one reader's pages give them."""
    shown = list(rows[page * PAGE : (page + 1) * PAGE])
    numbers = [row.pk for row in shown]
    items, flags = _items_of(queue, numbers), _flags_of(queue, numbers)
    told = seen_dialogues(library, queue, shown, turn=1)
    return [
        ListedDialogue(
            name=blind_name(told[row.pk].key, reader, queue.salt),
            opening=opening_of(told[row.pk]),
            scenario=row.scenario,
            level=Level(row.level),
            items=tuple(items.get(row.pk, ())),
            flags=flags.get(row.pk, ()),
        )
        for row in shown
    ]


def opening_of(dialogue: Dialogue) -> str:
    """Return what was said first in a dialogue; empty where nothing was."""
    return next((turn.prompt for turn in dialogue.turns), "")


def _items_of(queue: QueueRow, dialogues: Sequence[int]) -> dict[int, list[ListedItem]]:
    rows = WorkItemRow.objects.filter(queue=queue, dialogue_id__in=dialogues)
    held = grouped(rows.annotate(n_resolved=_N_RESOLVED).order_by("id"), "dialogue_id")
    return {dialogue: [_item(one) for one in items] for dialogue, items in held.items()}


def _item(row: Any) -> ListedItem:  # a work item with what its reviews have dealt with
    return ListedItem(
        item=row.token or "",
        category=row.category,
        stage=stage_of(ItemState(row.state), n_live=row.live, n_disputed=row.disputed, n_resolved=row.n_resolved),
        passes=row.passes,
        n_done=row.done,
        n_disputed=row.disputed,
        is_first=row.is_first,
        again=row.again,
    )


def _flags_of(queue: QueueRow, dialogues: Sequence[int]) -> dict[int, tuple[FlagKind, ...]]:
    rows = _standing_cases(queue).filter(dialogue_id__in=dialogues).order_by("dialogue_id", "kind")
    raised: defaultdict[int, dict[FlagKind, None]] = defaultdict(dict)
    for dialogue, kind in rows.values_list("dialogue_id", "kind"):
        raised[dialogue][FlagKind(kind)] = None
    return {dialogue: tuple(kinds) for dialogue, kinds in raised.items()}


def scenarios_in(queue: QueueRow) -> list[str]:
    """Return the names of the scenarios that a queue's dialogues were held in, by name."""
    return _of_dialogues(queue, "scenario")


def levels_in(queue: QueueRow) -> list[str]:
    """Return the levels of testing at which a queue's dialogues were held, by name."""
    return _of_dialogues(queue, "level")


def groups_in(queue: QueueRow) -> list[tuple[str, str]]:
    """Return name and value of the groups that the cases of a queue's dialogues belong to, the first ones."""
    items = WorkItemRow.objects.filter(queue=queue)
    rows = DialogueGroupRow.objects.filter(dialogue_id__in=items.values("dialogue_id"))
    return list(rows.values_list("name", "value").distinct().order_by("name", "value")[:MOST_GROUPS])


def _of_dialogues(queue: QueueRow, column: str) -> list[str]:
    rows = DialogueRow.objects.filter(id__in=WorkItemRow.objects.filter(queue=queue).values("dialogue_id"))
    return sorted(set(rows.values_list(column, flat=True).distinct().order_by()))
