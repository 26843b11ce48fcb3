"""Lists of dialogues, cases and calibration sessions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Case, CharField, Count, Exists, IntegerField, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from theodolite.annotation.assignment import n_heavy_lately, n_waiting_in
from theodolite.annotation.cases import case_page
from theodolite.annotation.records import RecordCache
from theodolite.annotation.rules import stage_of
from theodolite.assessment.blinding import MASKED, blind_name, mask_for, masked_dialogue
from theodolite.assessment.redaction import redacted
from theodolite.domain.annotating.case import (
    CaseAct,
    CaseView,
    DialogueFilter,
    FlagKind,
    ItemStage,
    ListedCase,
    ListedDialogue,
    ListedItem,
    ListedRoom,
    SensitiveCase,
)
from theodolite.domain.annotating.discrepancy import RoomState
from theodolite.domain.annotating.work import ItemState, ReservationState
from theodolite.domain.dialogue import Dialogue, Level
from theodolite.domain.errors import InputError
from theodolite.domain.event import MUCH_DIALOGUES
from theodolite.domain.text import BLOCK
from theodolite.store.annotation_queue import queue_of, redactions_in
from theodolite.store.dialogues import dialogues_of
from theodolite.store.models import DialogueGroupRow, DialogueRow, JournalEntryRow, TurnRow
from theodolite.store.models.annotating import (
    CaseRow,
    CaseStepRow,
    QueueRow,
    ReservationRow,
    ResolutionRow,
    RoomRow,
    RoomVoteRow,
    WorkItemRow,
)
from theodolite.store.statements import grouped

SHORTEST = 3
"""Minimum length of a search text; characters."""


MOST_SOUGHT = 400
"""Maximum number of dialogues that a text search reads; count."""


EVERYWHERE = ""
"""No category: words redacted for any category are redacted."""


def seen_dialogues(
    records: RecordCache, queue: QueueRow, rows: Sequence[DialogueRow], *, turn: int | None = None
) -> dict[int, Dialogue]:
    """Return dialogues, redacted and masked, by row number, in a constant number of queries.

    Args:
        records: Store of study and dialogues.
        queue: The queue; its study names the terms that are masked.
        rows: The dialogues.
        turn: Number of the only turn to return; None for all.
    """
    mask = mask_for(records.study(queue.study_content_id))
    hidden = redactions_in([row.pk for row in rows])
    dialogues = dialogues_of([row.unit_id for row in rows], records.contents)
    return {
        row.pk: masked_dialogue(redacted(_only(dialogue, turn), hidden.get(row.pk, ()), EVERYWHERE), mask)
        for row, dialogue in zip(rows, dialogues, strict=True)
    }


def _only(dialogue: Dialogue, turn: int | None) -> Dialogue:
    stored = tuple(replace(one, context="") for one in dialogue.turns if turn is None or one.number == turn)
    return replace(dialogue, turns=stored, context="")


def speaking_of(records: RecordCache, queue: QueueRow, rows: QuerySet[DialogueRow], words: str) -> tuple[int, ...]:
    """Return the numbers of those dialogues in which annotators see some words.

    The database searches the original texts; each hit is
    searched again after redaction and masking, so that a search reveals nothing that is hidden.

    Raises:
        InputError: If the words are too short, or occur in too many dialogues.
    """
    phrase = " ".join(words.split())
    if len(phrase) < SHORTEST:
        message = f"a search text has at least {SHORTEST} characters; got {phrase!r}"
        raise InputError(message)
    matches = list(rows.filter(_says(phrase)).order_by("id")[: MOST_SOUGHT + 1])
    if len(matches) > MOST_SOUGHT:
        message = (
            f"{phrase!r} stands in more than {MOST_SOUGHT} of these dialogues; use a longer search text, or add filters"
        )
        raise InputError(message)
    dialogues = seen_dialogues(records, queue, matches)
    return tuple(number for number, dialogue in dialogues.items() if _stands_in(phrase, dialogue))


def _says(phrase: str) -> Q:
    # SQLite ignores case only in ASCII.
    result = Q()
    for written in {phrase, phrase.lower(), phrase.upper(), phrase.capitalize()}:
        turns = TurnRow.objects.filter(Q(prompt__icontains=written) | Q(response__icontains=written))
        replies = JournalEntryRow.objects.filter(unit=OuterRef("unit"), text__icontains=written)
        result |= Q(Exists(turns.filter(dialogue=OuterRef("pk")))) | Q(Exists(replies))
    return result


def _stands_in(phrase: str, dialogue: Dialogue) -> bool:
    return any(phrase.casefold() in " ".join(text.split()).casefold() for text in _texts(dialogue))


def _texts(dialogue: Dialogue) -> Iterator[str]:
    for turn in dialogue.turns:
        yield turn.prompt
        yield turn.response


PAGE = 50
"""Dialogues per page of the list; count."""


MOST_GROUPS = 200
"""Maximum number of groups of cases to filter by; count."""


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
class ListingPage:
    """Dialogues of a list from one position on.

    Attributes:
        dialogues: The dialogues.
        after: Position of the last one; None if no more follow.
    """

    dialogues: tuple[ListedDialogue, ...]
    after: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The dialogues of a queue that match a search; the words are searched once.

    Attributes:
        queue: The queue.
        sought: The search.
        spoken: Numbers of the dialogues that contain the words; None without a search.
    """

    queue: QueueRow
    sought: DialogueFilter
    spoken: tuple[int, ...] | None

    @classmethod
    def of(cls, records: RecordCache, queue: str, filters: DialogueFilter) -> Listing:
        """Look for dialogues.

        Raises:
            InputError: If the words are too short, or occur in too many dialogues.
        """
        row = queue_of(queue)
        whole = cls(queue=row, sought=filters, spoken=None)
        if not filters.words.strip():
            return whole
        dialogues = speaking_of(records, row, whole._at(None).order_by(), filters.words)
        return cls(queue=row, sought=filters, spoken=dialogues)

    @property
    def rows(self) -> QuerySet[DialogueRow]:
        """The dialogues, in order of arrival."""
        return self._at(self.sought.stage).order_by("id")

    @property
    def items(self) -> QuerySet[WorkItemRow]:
        """Their work items that match the filter."""
        items = found_items(self.queue, self.sought)
        return items if self._is_about_items else items.filter(dialogue__in=self.rows.order_by())

    def count(self) -> int:
        """Return the number of dialogues; count."""
        return self.rows.count()

    def page(self, records: RecordCache, *, reader: str, page: int = 0) -> list[ListedDialogue]:
        """Return one page of the dialogues, under the names that one reader's pages give them."""
        return listed(records, self.queue, self.rows, reader=reader, page=page)

    def after(self, records: RecordCache, *, reader: str, start: int, limit: int) -> ListingPage:
        """Return the dialogues that arrived after a position, which neither skips nor repeats one that is listed.

        Args:
            records: Store of study and dialogues.
            reader: Key of the reader, whose pages name the dialogues.
            start: Position of the last dialogue of the previous page; 0 for the first page.
            limit: Dialogues at most; count.
        """
        rows = list(self.rows.filter(id__gt=start)[: limit + 1])
        shown = rows[:limit]
        return ListingPage(
            dialogues=tuple(_listed(records, self.queue, shown, reader)),
            after=shown[-1].pk if len(rows) > limit else None,
        )

    def item_tokens(self, others: Collection[str] | None = None, *, category: str = "") -> list[str]:
        """Return the tokens of the work items, in order of arrival.

        Args:
            others: Tokens of items; only items of the same dialogues are returned. None for all.
            category: Only items of this category; empty for all.
        """
        items = self.items.filter(category=category) if category else self.items
        if others is not None:
            named = WorkItemRow.objects.filter(queue=self.queue, token__in=others)
            items = items.filter(dialogue_id__in=named.values("dialogue_id"))
        return [token for token in items.order_by("id").values_list("token", flat=True) if token]

    def stages(self) -> Mapping[ItemStage, int]:
        """Return the number of dialogues at each stage, if it replaced the filter's; counts."""
        items = found_items(self.queue, replace(self.sought, stage=None))
        items = items if self._is_about_items else items.filter(dialogue__in=self._at(None).order_by())
        counted = items.annotate(at=_STAGE).values_list("at").annotate(n=Count("dialogue_id", distinct=True))
        return {ItemStage(stage): n for stage, n in counted.order_by()}

    @property
    def _is_about_items(self) -> bool:
        """Whether the filter concerns only work items."""
        sought = self.sought
        return not any((sought.scenario, sought.level, sought.flag, sought.group, self.spoken is not None))

    def _at(self, stage: ItemStage | None) -> QuerySet[DialogueRow]:
        items = found_items(self.queue, replace(self.sought, stage=stage))
        rows = _matching(self.queue, self.sought).filter(id__in=items.values("dialogue_id"))
        return rows if self.spoken is None else rows.filter(id__in=self.spoken)


def found_items(queue: QueueRow, filters: DialogueFilter) -> QuerySet[WorkItemRow]:
    """Return the work items of a queue that match the item part of a filter."""
    items = WorkItemRow.objects.filter(queue=queue)
    if filters.category:
        items = items.filter(category=filters.category)
    if filters.disputed is not None:
        items = items.filter(disputed__gt=0) if filters.disputed else items.filter(disputed=0)
    if filters.annotator:
        reservations = ReservationRow.objects.filter(item=OuterRef("pk"), participant__key=filters.annotator)
        items = items.filter(Exists(reservations.filter(state__in=_AT_HAND)))
    if filters.stage is not None:
        items = items.annotate(at=_STAGE).filter(at=filters.stage.value)
    return items


def _matching(queue: QueueRow, filters: DialogueFilter) -> QuerySet[DialogueRow]:
    """Return the dialogues that match a filter by facts that are known before annotation."""
    facts = {"scenario": filters.scenario, "level": filters.level.value if filters.level else ""}
    rows = DialogueRow.objects.filter(**{name: value for name, value in facts.items() if value})
    if filters.group is not None:
        name, value = filters.group
        groups = DialogueGroupRow.objects.filter(dialogue=OuterRef("pk"), name=name, value=value)
        rows = rows.filter(Exists(groups))
    if filters.flag is not None:
        rows = rows.filter(Exists(_undismissed_cases(queue).filter(dialogue=OuterRef("pk"), kind=filters.flag.value)))
    return rows


def _undismissed_cases(queue: QueueRow) -> QuerySet[CaseRow]:
    dismissed = CaseStepRow.objects.filter(case=OuterRef("pk"), act=CaseAct.DISMISSED.value)
    return CaseRow.objects.filter(~Exists(dismissed), study=queue.study)


def listed(
    records: RecordCache, queue: QueueRow, rows: QuerySet[DialogueRow], *, reader: str, page: int = 0
) -> list[ListedDialogue]:
    """Return one page of some dialogues, under the names that one reader's pages give them."""
    return _listed(records, queue, list(rows[page * PAGE : (page + 1) * PAGE]), reader)


def _listed(records: RecordCache, queue: QueueRow, shown: Sequence[DialogueRow], reader: str) -> list[ListedDialogue]:
    numbers = [row.pk for row in shown]
    items, flags = _items_of(queue, numbers), _flags_of(queue, numbers)
    dialogues = seen_dialogues(records, queue, shown, turn=1)
    return [
        ListedDialogue(
            name=blind_name(dialogues[row.pk].key, reader, queue.salt),
            opening=opening_of(dialogues[row.pk]),
            scenario=row.scenario,
            level=Level(row.level),
            items=tuple(items.get(row.pk, ())),
            flags=flags.get(row.pk, ()),
        )
        for row in shown
    ]


def opening_of(dialogue: Dialogue) -> str:
    """Return the first text of a dialogue; empty if it has none."""
    return next((turn.prompt for turn in dialogue.turns), "")


def _items_of(queue: QueueRow, dialogues: Sequence[int]) -> dict[int, list[ListedItem]]:
    rows = WorkItemRow.objects.filter(queue=queue, dialogue_id__in=dialogues)
    matches = grouped(rows.annotate(n_resolved=_N_RESOLVED).order_by("id"), "dialogue_id")
    return {dialogue: [_item(item) for item in items] for dialogue, items in matches.items()}


def _item(row: Any) -> ListedItem:  # a work item with the questions that its reviews have resolved
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
    rows = _undismissed_cases(queue).filter(dialogue_id__in=dialogues).order_by("dialogue_id", "kind")
    raised: defaultdict[int, dict[FlagKind, None]] = defaultdict(dict)
    for dialogue, kind in rows.values_list("dialogue_id", "kind"):
        raised[dialogue][FlagKind(kind)] = None
    return {dialogue: tuple(kinds) for dialogue, kinds in raised.items()}


def item_names(tokens: Sequence[str], reader: str) -> dict[str, tuple[str, str]]:
    """Return the reader's name of the dialogue, and the category, of each work item by its token."""
    rows = WorkItemRow.objects.filter(token__in=tokens).select_related("dialogue__unit", "queue")
    return {row.token or "": (blind_name(row.dialogue.unit.key, reader, row.queue.salt), row.category) for row in rows}


def scenarios_in(queue: str) -> list[str]:
    """Return the names of the scenarios of a queue's dialogues, sorted."""
    return _of_dialogues(queue, "scenario")


def levels_in(queue: str) -> list[str]:
    """Return the levels of testing of a queue's dialogues, sorted."""
    return _of_dialogues(queue, "level")


def groups_in(queue: str) -> list[tuple[str, str]]:
    """Return the first names and values of the groups of a queue's dialogues."""
    items = WorkItemRow.objects.filter(queue__token=queue)
    rows = DialogueGroupRow.objects.filter(dialogue_id__in=items.values("dialogue_id"))
    return list(rows.values_list("name", "value").distinct().order_by("name", "value")[:MOST_GROUPS])


def _of_dialogues(queue: str, column: str) -> list[str]:
    rows = DialogueRow.objects.filter(id__in=WorkItemRow.objects.filter(queue__token=queue).values("dialogue_id"))
    return sorted(set(rows.values_list(column, flat=True).distinct().order_by()))


ROOMS = 20
"""Calibration sessions per page of the list; count."""


_AROUND = 45
"""Letters on either side of a hidden part; count."""


def case_lines(records: RecordCache, queue: str, view: CaseView, *, reader: str, page: int = 0) -> list[ListedCase]:
    """Return one page of the cases of a queue's study, the latest first, for one reader's eyes."""
    row = queue_of(queue)
    result = case_page(row.study, view, page)
    dialogues = _seen_by_key(records, row, {case.dialogue for case in result})
    return [
        ListedCase(
            case=case,
            name=blind_name(case.dialogue, reader, row.salt),
            scenario=dialogues[case.dialogue].scenario,
            words=_around_hidden(dialogues[case.dialogue], case),
        )
        for case in result
    ]


def _seen_by_key(records: RecordCache, queue: QueueRow, keys: Collection[str]) -> dict[str, Dialogue]:
    rows = list(DialogueRow.objects.filter(unit__key__in=keys))
    return {dialogue.key: dialogue for dialogue in seen_dialogues(records, queue, rows).values()}


def _around_hidden(dialogue: Dialogue, case: SensitiveCase) -> str:
    """Return the context of the first redacted words of a case; empty if there are none."""
    turns = [turn for turn in dialogue.turns if case.flag.turn in {None, turn.number}]
    names_itself = case.flag.kind is FlagKind.SELF_IDENTIFICATION
    hidden = [BLOCK] * bool(case.redactions) + [MASKED] * names_itself
    for mark in hidden:
        for text in (text for turn in turns for text in (turn.prompt, turn.response)):
            if mark in text:
                return _excerpt(text, text.index(mark), mark)
    return ""


def _excerpt(text: str, start: int, mark: str) -> str:
    end = start
    while text.startswith(mark, end):
        end += len(mark)
    first, last = max(0, start - _AROUND), min(len(text), end + _AROUND)
    return ("… " if first else "") + text[first:last].strip() + (" …" if last < len(text) else "")


def room_lines(records: RecordCache, queue: str, *, reader: str, page: int = 0) -> list[ListedRoom]:
    """Return one page of the calibration sessions of a queue, open ones first, then the latest."""
    row = queue_of(queue)
    is_over = Case(When(state=RoomState.CLOSED.value, then=Value(1)), default=Value(0), output_field=IntegerField())
    rows = RoomRow.objects.filter(queue=row).select_related("dialogue").order_by(is_over, "-id")
    shown = list(rows[page * ROOMS : (page + 1) * ROOMS])
    votes = RoomVoteRow.objects.filter(room__in=shown).values_list("room_id")
    n_voted = dict(votes.annotate(n=Count("participant_id", distinct=True)).order_by())
    dialogues = seen_dialogues(records, row, list({room.dialogue_id: room.dialogue for room in shown}.values()), turn=1)
    return [
        ListedRoom(
            token=room.token,
            category=room.category,
            state=RoomState(room.state),
            name=blind_name(dialogues[room.dialogue_id].key, reader, row.salt),
            scenario=dialogues[room.dialogue_id].scenario,
            opening=opening_of(dialogues[room.dialogue_id]),
            n_voted=n_voted.get(room.pk, 0),
            opened=room.created,
        )
        for room in shown
    ]


def n_rooms(queue: str) -> int:
    """Return the number of calibration sessions of a queue; count."""
    return RoomRow.objects.filter(queue__token=queue).count()


_SUBMITTED = "submitted"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDemand:
    """Annotations that are open in some scenarios; counts.

    Attributes:
        waiting: Dialogues and categories that wait for an annotator.
        overlap: Different annotators that each of them needs.
    """

    waiting: int = 0
    overlap: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HeavyWorkload:
    """Much recent work of one annotator on one heavy topic.

    Attributes:
        participant: Opaque key of the annotator.
        topic: Title of the topic.
        dialogues: Dialogues submitted lately; count.
    """

    participant: str
    topic: str
    dialogues: int


def has_queue(name: str) -> bool:
    """Return whether there is a queue of that name."""
    return QueueRow.objects.filter(name=name).exists()


def topic_demand(records: RecordCache, name: str, scenarios: Collection[str]) -> TopicDemand:
    """Return why some scenarios need annotators; empty if there is no queue."""
    queue = QueueRow.objects.filter(name=name).first()
    if queue is None:
        return TopicDemand()
    return TopicDemand(
        waiting=n_waiting_in(queue.token, scenarios), overlap=records.design(queue.design_id).process.passes
    )


def heavy_workloads(records: RecordCache, name: str) -> Iterator[HeavyWorkload]:
    """Yield the annotators with much recent work on a heavy topic; none if there is no queue."""
    queue = QueueRow.objects.filter(name=name).first()
    if queue is None:
        return
    titles = {topic.name: topic.title for topic in records.study(queue.study_content_id).topics}
    for participant, counts in n_heavy_lately(records, queue.token).items():
        for topic, n in counts.items():
            if n >= MUCH_DIALOGUES:
                yield HeavyWorkload(participant=participant, topic=titles[topic], dialogues=n)


def dialogue_names(name: str, limit: int) -> set[str]:
    """Return keys and labels of the latest dialogues of a queue.

    Args:
        name: Name of the queue.
        limit: Work items that are read; count.
    """
    items = WorkItemRow.objects.filter(queue__name=name).order_by("-id")[:limit]
    return {text for names in items.values_list("dialogue__unit__key", "dialogue__unit__label") for text in names}


def latest_submissions(name: str, participant: str, limit: int) -> list[str]:
    """Return the tokens of an annotator's latest submitted reservations.

    Args:
        name: Name of the queue.
        participant: Opaque key of the annotator.
        limit: Maximum number of reservations; count.
    """
    own = ReservationRow.objects.filter(item__queue__name=name, participant__key=participant, state=_SUBMITTED)
    return list(own.order_by("-id").values_list("token", flat=True)[:limit])
