"""The dialogues of a study: filter, list page by page, save filters as views, and apply bulk actions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from django.contrib import messages
from django.db import IntegrityError, transaction
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from theodolite.annotation import bulk, listing
from theodolite.annotation.listing import Listing
from theodolite.domain.annotating.case import DialogueFilter, FlagKind, ItemStage, ListedDialogue, ListedItem
from theodolite.domain.annotating.work import BulkAct, BulkLine
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.event import Role
from theodolite.web.access import AccessContext, allowed
from theodolite.web.annotator.home import AnnotatorContext, annotator_context, queue_view
from theodolite.web.models import Batch, BatchLine, Membership, SavedView
from theodolite.web.questions import humanize
from theodolite.web.senior.home import Pages, page_number

_BOTH = frozenset({Role.SENIOR, Role.ORGANISER})

_SENIOR = frozenset({Role.SENIOR})


@dataclass(frozen=True, slots=True, kw_only=True)
class ActWords:
    """An action in the words of the pages.

    Attributes:
        button: Text of its button.
        done: Past form of the action, after a count.
        undone: Past form of the reversed action, after a count.
        roles: Roles that may do it: those that may do the same with a single dialogue.
    """

    button: str
    done: str
    undone: str
    roles: frozenset[Role]


ACTS = {
    BulkAct.OFFER: ActWords(button="Offer to", done="offered", undone="undone", roles=_BOTH),
    BulkAct.FIRST: ActWords(button="Prioritise", done="prioritised", undone="back in normal order", roles=_BOTH),
    BulkAct.BACK: ActWords(button="Return to queue", done="returned to the queue", undone="", roles=_BOTH),
    BulkAct.ROOM: ActWords(
        button="Open calibration sessions", done="added to calibration sessions", undone="closed", roles=_SENIOR
    ),
    BulkAct.CHECK: ActWords(
        button="Add to the quality checks",
        done="added to the quality checks",
        undone="left to the sampling plan",
        roles=_SENIOR,
    ),
    BulkAct.REVIEW: ActWords(button="Start review", done="under review", undone="reopened", roles=_SENIOR),
}
"""Texts of each action."""


def acts_for(role: Role) -> list[tuple[str, ActWords]]:
    """Return name and text of the actions that a role may do."""
    return [(act.value, label) for act, label in ACTS.items() if role in label.roles]


NAMES = ("scenario", "level", "stage", "category", "alike", "flag", "who", "group", "words")
"""Parameters of the list, in the order of the address."""


MOST_WORDS = 100
"""Maximum length of a search text; characters."""


_ALIKE = {"no": True, "yes": False}

_E = TypeVar("_E", bound=Enum)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFilters:
    """The filters in an address.

    Attributes:
        given: Non-empty filters, as written.
        filter: The filters in parsed form.
        is_level_left_out: Whether it filters by a level of testing for a person who is blinded to it.
    """

    given: Mapping[str, str]
    filter: DialogueFilter
    is_level_left_out: bool

    @property
    def query(self) -> str:
        """Query string of the address."""
        return self.with_(())

    def with_(self, changes: Iterable[tuple[str, str]]) -> str:
        """Return the query string of an address with some changed values."""
        values = {**self.given, **dict(changes)}
        made = QueryDict(mutable=True)
        made.update({name: values[name] for name in NAMES if values.get(name)})
        return made.urlencode()


def knows_level(access: AccessContext) -> bool:
    """Return whether a role may see the level of testing: organisers may, senior annotators may not."""
    return access.role is Role.ORGANISER


def filters_of(query: QueryDict, access: AccessContext) -> ListFilters:
    """Return the filters of an address that the role may use.

    Raises:
        InputError: If a filter names something unknown.
    """
    values = {name: query.get(name, "").strip()[:MOST_WORDS] for name in NAMES}
    values = {name: value for name, value in values.items() if value}
    is_left_out = "level" in values and not knows_level(access)
    if is_left_out:
        del values["level"]
    dialogue_filter = DialogueFilter(
        scenario=values.get("scenario", ""),
        level=_one_of(Level, values, "level"),
        stage=_one_of(ItemStage, values, "stage"),
        category=values.get("category", ""),
        disputed=_disputed(values.get("alike", "")),
        flag=_one_of(FlagKind, values, "flag"),
        annotator=_annotator(access, values.get("who", "")),
        group=_group(values.get("group", "")),
        words=values.get("words", ""),
    )
    return ListFilters(given=values, filter=dialogue_filter, is_level_left_out=is_left_out)


def _one_of(kind: type[_E], values: Mapping[str, str], name: str) -> _E | None:
    value = values.get(name, "")
    known = {str(member.value): member for member in kind}
    if value and value not in known:
        message = f"`{name}` of a list is one of {', '.join(known)}; got `{value}`"
        raise InputError(message)
    return known.get(value)


def _disputed(value: str) -> bool | None:
    if value and value not in _ALIKE:
        message = f"`alike` of a list is yes or no; got `{value}`"
        raise InputError(message)
    return _ALIKE.get(value)


def _annotator(access: AccessContext, token: str) -> str:
    if not token:
        return ""
    membership = Membership.objects.filter(hosted=access.hosted, role=Role.ANNOTATOR.value, token=token).first()
    if membership is None:
        message = "no annotator of this study has this code"
        raise InputError(message)
    return membership.participant


def _group(value: str) -> tuple[str, str] | None:
    name, is_one, rest = value.partition("=")
    if value and not is_one:
        message = f"`group` of a list is a name, `=` and a value; got `{value}`"
        raise InputError(message)
    return (name, rest) if value else None


CODE = 4
"""Number of characters of a membership's token by which seniors identify an annotator; count."""


BATCHES = 5
"""Number of bulk actions that the list shows; count."""


Choice = tuple[str, str, bool]
"""Value, label, and whether it is selected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterField:
    """A filter: its name in addresses, its label, and its choices."""

    name: str
    label: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemView:
    """Status of one category of a dialogue; `token` is its page."""

    token: str
    title: str
    words: str

    @classmethod
    def of(cls, listed_item: ListedItem) -> ItemView:
        """Return a category of a dialogue in displayed form."""
        passes = f"{listed_item.n_done} of {listed_item.passes} passes"
        texts = {
            ItemStage.WAITING: listed_item.stage.value + (", first" if listed_item.is_first else ""),
            ItemStage.IN_WORK: f"{listed_item.stage.value}, {passes}" + (", first" if listed_item.is_first else ""),
            ItemStage.DISPUTED: f"{listed_item.stage.value} in {listed_item.n_disputed}",
        }
        return cls(
            token=listed_item.item,
            title=humanize(listed_item.category) + (", again" if listed_item.again else ""),
            words=texts.get(listed_item.stage, listed_item.stage.value),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueLine:
    """A dialogue of the list, with its categories as text."""

    token: str
    name: str
    opening: str
    scenario: str
    level: Level
    flags: tuple[FlagKind, ...]
    items: tuple[ItemView, ...]


def _line(listed_dialogue: ListedDialogue) -> DialogueLine:
    return DialogueLine(
        token=listed_dialogue.token,
        name=listed_dialogue.name,
        opening=listed_dialogue.opening,
        scenario=humanize(listed_dialogue.scenario),
        level=listed_dialogue.level,
        flags=listed_dialogue.flags,
        items=tuple(map(ItemView.of, listed_dialogue.items)),
    )


def said_on_list(request: HttpRequest, annotator: AnnotatorContext, error: Exception) -> HttpResponse:
    """Report the failure of an action on the list."""
    messages.warning(request, f"Not done: {error}.".replace("..", "."))
    return redirect(list_address(annotator.access, request.POST.get("query", "")))


list_view = queue_view(said_on_list)
"""Call a view of seniors and organisers as `view(request, annotator, ...)`; a refusal is shown on the list."""


def list_address(access: AccessContext, query: str) -> str:
    """Return the address of a view."""
    address = reverse("senior:dialogues", args=[access.hosted.token])
    return f"{address}?{QueryDict(query[:2000]).urlencode()}" if query else address


@allowed(Role.SENIOR, Role.ORGANISER)
@require_GET
def dialogues(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the dialogues selected by the address."""
    annotator = annotator_context(access)
    if annotator is None:
        return render(request, "web/senior/dialogues.html", {"access": access})
    try:
        sought = filters_of(request.GET, access)
        matches = Listing.of(annotator.records, annotator.queue, sought.filter)
    except InputError as error:
        plain = filters_of(QueryDict(), access)
        return render(
            request, "web/senior/dialogues.html", _around(annotator, plain) | {"problem": str(error)}, status=400
        )
    return render(
        request, "web/senior/dialogues.html", _around(annotator, sought) | _listed(request, annotator, sought, matches)
    )


def _listed(
    request: HttpRequest, annotator: AnnotatorContext, sought: ListFilters, matches: Listing
) -> dict[str, object]:
    page = page_number(request)
    n, stages = matches.count(), matches.stages()
    return {
        "n": n,
        "found": [_line(row) for row in matches.page(annotator.records, reader=annotator.participant, page=page)],
        "pages": Pages(page=page, n=n, size=listing.PAGE),
        "keep": sought.query + "&" if sought.query else "",
        "stages": [
            (
                sought.with_([("stage", item_stage.value)]),
                item_stage.value,
                stages.get(item_stage, 0),
                item_stage is sought.filter.stage,
            )
            for item_stage in ItemStage
        ],
        "any_stage": sought.with_([("stage", "")]),
    }


def _around(annotator: AnnotatorContext, sought: ListFilters) -> dict[str, object]:
    """Return the context of a list: filters, views, actions."""
    access, queue = annotator.access, annotator.queue
    people = annotators_of(access)
    categories = [(category.name, humanize(category.name)) for category in annotator.design.categories]
    return {
        "access": access,
        "annotator": annotator,
        "sought": sought,
        "knows_level": knows_level(access),
        "fields": _fields(access, queue, sought, categories, people),
        "views": [(view, list_address(access, view.query)) for view in views_of(access)],
        "acts": acts_for(access.role),
        "people": people,
        "categories": [(name, label, name == sought.filter.category) for name, label in categories],
        "batches": [(batch, ACTS[batch.as_act].done) for batch in access.hosted.batches.all()[:BATCHES]],
    }


def _fields(
    access: AccessContext,
    queue: str,
    sought: ListFilters,
    categories: Sequence[tuple[str, str]],
    people: Sequence[tuple[str, str]],
) -> list[FilterField]:
    levels = [(level, level) for level in listing.levels_in(queue)] if knows_level(access) else []
    groups = [(f"{name}={value}", f"{humanize(name)}: {value}") for name, value in listing.groups_in(queue)]
    fields = (
        ("scenario", "Scenario", [(scenario, humanize(scenario)) for scenario in listing.scenarios_in(queue)]),
        ("level", "Level", levels),
        ("category", "Category", categories),
        ("alike", "Agreement", [("yes", "yes"), ("no", "no")]),
        ("flag", "Flagged", _values(FlagKind)),
        ("who", "Annotator", people),
        ("group", "Group of the case", groups),
    )
    return [_field(name, label, choices, sought) for name, label, choices in fields if choices]


def _values(kind: type[Enum]) -> list[tuple[str, str]]:
    return [(str(member.value), str(member.value)) for member in kind]


def _field(name: str, label: str, choices: Iterable[tuple[str, str]], sought: ListFilters) -> FilterField:
    chosen = sought.given.get(name, "")
    return FilterField(
        name=name, label=label, choices=tuple((value, label, value == chosen) for value, label in choices)
    )


def annotators_of(access: AccessContext) -> list[tuple[str, str]]:
    """Return token and label of each annotator of a study: seniors see the code, organisers also the name."""
    memberships = Membership.objects.filter(hosted=access.hosted, role=Role.ANNOTATOR.value, left_at=None)
    named = access.role is Role.ORGANISER
    return [
        (view.token, f"{view.account} ({view.token[:CODE]})" if named else view.token[:CODE])
        for view in memberships.select_related("account").order_by("id")
    ]


def views_of(access: AccessContext) -> QuerySet[SavedView]:
    """Return the person's views of a study and the shared views of others."""
    return access.hosted.saved_views.filter(Q(account=access.account) | Q(is_shared=True))


MOST_VIEWS = 50
"""Maximum number of views per person and study; count."""


LONGEST = 80
"""Maximum length of a view's name; characters."""


@allowed(Role.SENIOR, Role.ORGANISER)
@require_POST
@list_view
def save(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Save the current view under a name."""
    access = annotator.access
    query = filters_of(QueryDict(request.POST.get("query", "")[:1000]), access).query
    name, is_shared = _name(request), request.POST.get("shared") == "on"
    if SavedView.objects.filter(hosted=access.hosted, account=access.account).count() >= MOST_VIEWS:
        message = f"you already have {MOST_VIEWS} views of this study; delete one first"
        raise Conflict(message)
    with transaction.atomic():
        view = _save_view(
            SavedView(hosted=access.hosted, account=access.account, name=name, query=query, is_shared=is_shared)
        )
        access.audit("saved a view", f"view {view.token}", shared=is_shared)
    messages.success(request, f"Saved as “{view}”.")
    return redirect(list_address(access, query))


@allowed(Role.SENIOR, Role.ORGANISER)
@require_POST
@list_view
def change(request: HttpRequest, annotator: AnnotatorContext, view: str) -> HttpResponse:
    """Rename, share, unshare or delete one's own view."""
    access = annotator.access
    saved_view = SavedView.objects.filter(hosted=access.hosted, account=access.account, token=view).first()
    if saved_view is None:
        raise Http404
    is_forgotten = request.POST.get("step") == "forget"
    with transaction.atomic():
        if is_forgotten:
            saved_view.delete()
        else:
            saved_view.name, saved_view.is_shared = _name(request), request.POST.get("shared") == "on"
            _save_view(saved_view)
        verb = "deleted a view" if is_forgotten else "changed a view"
        access.audit(verb, f"view {view}", shared=saved_view.is_shared)
    messages.success(request, "Forgotten." if is_forgotten else "Changed.")
    return redirect(list_address(access, request.POST.get("query", "")))


def _name(request: HttpRequest) -> str:
    name = " ".join(request.POST.get("name", "").split())
    if not 0 < len(name) <= LONGEST:
        message = f"the name of a view has 1 to {LONGEST} characters; got {len(name)}"
        raise InputError(message)
    return name


def _save_view(view: SavedView) -> SavedView:
    try:
        with transaction.atomic():
            view.save()
    except IntegrityError as error:
        message = f"you have another view with the name {view.name!r}"
        raise Conflict(message) from error
    return view


PAGE = 100
"""Lines per page of a batch's outcomes; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineView:
    """The result of a bulk action for one dialogue and category; `item` is its page."""

    item: str
    name: str
    category: str
    refused: str


@allowed(Role.SENIOR, Role.ORGANISER)
@require_POST
@list_view
def act(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Apply an action to all selected dialogues."""
    access = annotator.access
    action = next((bulk_act for bulk_act in BulkAct if bulk_act.value == request.POST.get("act", "")), None)
    if action is None or access.role not in ACTS[action].roles:
        raise Http404
    items = _chosen(request, annotator)
    if not items:
        message = "nothing was selected; select some dialogues, or all results"
        raise InputError(message)
    whom = _whom(request, access) if action is BulkAct.OFFER else None
    with transaction.atomic():
        lines = _done(annotator, action, items, whom)
        batch = _store_batch(access, action, lines, whom)
        facts = {"done": batch.n_done, "not": batch.n_refused}
        access.audit(f"bulk action: {action.value}", f"batch {batch.token}", **facts)
    return redirect("senior:batch", study=access.hosted.token, batch=batch.token)


def _chosen(request: HttpRequest, annotator: AnnotatorContext) -> list[str]:
    """Return the tokens of the selected work items: of ticked dialogues, of a page, or of all matches."""
    sought = filters_of(QueryDict(request.POST.get("query", "")[:2000]), annotator.access)
    listed = None
    if request.POST.get("which") != "all":
        listed = request.POST.getlist("shown" if request.POST.get("which") == "page" else "dialogue")[: listing.PAGE]
    matches = Listing.of(annotator.records, annotator.queue, sought.filter)
    return matches.item_tokens(listed, category=request.POST.get("category", ""))


def _whom(request: HttpRequest, access: AccessContext) -> Membership:
    memberships = Membership.objects.filter(hosted=access.hosted, role=Role.ANNOTATOR.value, left_at=None)
    membership = memberships.filter(token=request.POST.get("whom", "")).first()
    if membership is None:
        message = "choose an annotator"
        raise InputError(message)
    return membership


def _done(annotator: AnnotatorContext, bulk_act: BulkAct, items: list[str], whom: Membership | None) -> list[BulkLine]:
    queue, by = annotator.queue, annotator.participant
    match bulk_act:
        case BulkAct.OFFER:
            return bulk.offer_many(annotator.records, queue, items, whom.participant if whom else "", by=by)
        case BulkAct.FIRST:
            return bulk.put_first(queue, items)
        case BulkAct.BACK:
            return bulk.send_back(queue, items, by=by)
        case BulkAct.ROOM:
            return bulk.open_rooms(annotator.records, queue, items, by=by)
        case BulkAct.CHECK:
            return bulk.ask_for_checks(queue, items, by=by)
        case BulkAct.REVIEW:
            return bulk.open_reviews(queue, items)


def _store_batch(access: AccessContext, bulk_act: BulkAct, lines: list[BulkLine], whom: Membership | None) -> Batch:
    n_refused = sum(bool(line.refused) for line in lines)
    batch = Batch.objects.create(
        hosted=access.hosted,
        account=access.account,
        act=bulk_act.value,
        whom=whom.token if whom else "",
        n_done=len(lines) - n_refused,
        n_refused=n_refused,
    )
    BatchLine.objects.bulk_create(
        [BatchLine(batch=batch, item=line.item, made=line.made, refused=line.refused) for line in lines], batch_size=500
    )
    return batch


@allowed(Role.SENIOR, Role.ORGANISER)
@require_GET
@list_view
def batch(request: HttpRequest, annotator: AnnotatorContext, batch: str) -> HttpResponse:
    """Show the outcome of each dialogue, refused ones first."""
    row = _batch(annotator, batch)
    page, size = page_number(request), row.n_done + row.n_refused
    lines = list(row.lines.order_by("-refused", "id")[page * PAGE : (page + 1) * PAGE])
    reasons = Counter(dict(row.lines.exclude(refused="").values_list("refused").annotate(n=Count("id")).order_by()))
    people = dict(annotators_of(annotator.access))
    context = {
        "access": annotator.access,
        "batch": row,
        "words": ACTS[row.as_act],
        "whom": people.get(row.whom, "former member") if row.whom else "",
        "reasons": reasons.most_common(),
        "lines": _views(annotator, lines),
        "pages": Pages(page=page, n=size, size=PAGE),
        "may_undo": row.as_act.is_undoable and row.n_done and not row.undone_at and _may(annotator, row),
    }
    return render(request, "web/senior/batch.html", context)


def _views(annotator: AnnotatorContext, lines: list[BatchLine]) -> list[LineView]:
    names = listing.item_names([line.item for line in lines], annotator.participant)
    return [
        LineView(item=line.item, name=name, category=humanize(category), refused=line.refused)
        for line in lines
        for name, category in [names[line.item]]
    ]


@allowed(Role.SENIOR, Role.ORGANISER)
@require_POST
@list_view
def undo(request: HttpRequest, annotator: AnnotatorContext, batch: str) -> HttpResponse:
    """Undo a batch, except for lines with later changes."""
    with transaction.atomic():
        row = _batch(annotator, batch, is_locked=True)
        if not _may(annotator, row):
            raise Http404
        if row.undone_at or not row.as_act.is_undoable:
            message = "it is already undone" if row.undone_at else "this action cannot be undone"
            raise Conflict(message)
        row.n_undone, row.undone_at = _undone(annotator, row), timezone.now()
        row.save()
        facts = {"undone": row.n_undone}
        annotator.access.audit("undid a bulk action", f"batch {batch}", **facts)
    messages.success(request, f"{row.n_undone} of {row.n_done} {ACTS[row.as_act].undone}.")
    return redirect("senior:batch", study=annotator.access.hosted.token, batch=batch)


def _undone(annotator: AnnotatorContext, batch: Batch) -> int:
    made = list(batch.lines.exclude(made="").values_list("made", flat=True))
    match batch.as_act:
        case BulkAct.OFFER:
            return bulk.undo_offers(annotator.queue, made, by=annotator.participant)
        case BulkAct.FIRST:
            return bulk.undo_first(annotator.queue, made)
        case BulkAct.ROOM:
            return bulk.undo_rooms(annotator.queue, made)
        case BulkAct.CHECK:
            return bulk.undo_checks(annotator.queue, made)
        case BulkAct.REVIEW:
            return bulk.undo_reviews(annotator.queue, made)
        case BulkAct.BACK:
            return 0


def _batch(annotator: AnnotatorContext, token: str, *, is_locked: bool = False) -> Batch:
    rows = annotator.access.hosted.batches.select_for_update() if is_locked else annotator.access.hosted.batches
    row = rows.filter(token=token).first()
    if row is None:
        raise Http404
    return row


def _may(annotator: AnnotatorContext, batch: Batch) -> bool:
    return annotator.access.role in ACTS[batch.as_act].roles
