"""The dialogues of a study: filter, list page by page, and save filters as views."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from django.contrib import messages
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from theodolite.annotation import listing
from theodolite.annotation.listing import Listing
from theodolite.domain.annotating.bulk import BulkAct
from theodolite.domain.annotating.case import FlagKind
from theodolite.domain.annotating.listing import DialogueFilter, ItemStage, ListedDialogue, ListedItem
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.people.role import Role
from theodolite.web.access import AccessContext, allowed, audit
from theodolite.web.annotator.context import AnnotatorContext, annotator_context, queue_view
from theodolite.web.models import Membership, SavedView
from theodolite.web.questions.form import humanize
from theodolite.web.senior.context import Pages, page_number

_BOTH = frozenset({Role.SENIOR, Role.ORGANISER})
_SENIOR = frozenset({Role.SENIOR})


@dataclass(frozen=True, slots=True, kw_only=True)
class ActWords:
    """One act as pages speak of it.

    Attributes:
        button: What its button says.
        done: What was done, after a count.
        undone: What was done by taking it back, after a count.
        roles: Who may do it: the roles that may do the same with one dialogue.
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
"""The words of each act."""


def acts_for(role: Role) -> list[tuple[str, ActWords]]:
    """Return name and words of the acts that a role may do."""
    return [(act.value, words) for act, words in ACTS.items() if role in words.roles]


NAMES = ("scenario", "level", "stage", "category", "alike", "flag", "who", "group", "words")
"""What an address may name, in the order in which it is written."""

MOST_WORDS = 100
"""Letters of the words sought at most; count."""

_ALIKE = {"no": True, "yes": False}
_E = TypeVar("_E", bound=Enum)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFilters:
    """What an address asks for.

    Attributes:
        given: What it names, as written; only what is not empty.
        filter: The same as a filter.
        is_level_left_out: Whether it names a level of testing to somebody who is blind to it.
    """

    given: Mapping[str, str]
    filter: DialogueFilter
    is_level_left_out: bool

    @property
    def query(self) -> str:
        """What stands behind the question mark of its address."""
        return self.with_(())

    def with_(self, changes: Iterable[tuple[str, str]]) -> str:
        """Return what stands behind the question mark of an address that asks for something else here and there."""
        wanted = {**self.given, **dict(changes)}
        made = QueryDict(mutable=True)
        made.update({name: wanted[name] for name in NAMES if wanted.get(name)})
        return made.urlencode()


def knows_level(access: AccessContext) -> bool:
    """Tell whether somebody may know at which level dialogues were held: seniors review blindly, organisers do not."""
    return access.role is Role.ORGANISER


def filters_of(query: QueryDict, access: AccessContext) -> ListFilters:
    """Return what an address asks for, as far as whoever asks may know it.

    Raises:
        InputError: If it names something that there is not.
    """
    given = {name: query.get(name, "").strip()[:MOST_WORDS] for name in NAMES}
    given = {name: value for name, value in given.items() if value}
    is_left_out = "level" in given and not knows_level(access)
    if is_left_out:
        del given["level"]
    found = DialogueFilter(
        scenario=given.get("scenario", ""),
        level=_one_of(Level, given, "level"),
        stage=_one_of(ItemStage, given, "stage"),
        category=given.get("category", ""),
        disputed=_disputed(given.get("alike", "")),
        flag=_one_of(FlagKind, given, "flag"),
        annotator=_annotator(access, given.get("who", "")),
        group=_group(given.get("group", "")),
        words=given.get("words", ""),
    )
    return ListFilters(given=given, filter=found, is_level_left_out=is_left_out)


def _one_of(kind: type[_E], given: Mapping[str, str], name: str) -> _E | None:
    value = given.get(name, "")
    known = {str(one.value): one for one in kind}
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
    held = Membership.objects.filter(hosted=access.hosted, role=Role.ANNOTATOR.value, token=token).first()
    if held is None:
        message = "no annotator of this study has this code"
        raise InputError(message)
    return held.participant


def _group(value: str) -> tuple[str, str] | None:
    name, is_one, rest = value.partition("=")
    if value and not is_one:
        message = f"`group` of a list is a name, `=` and a value; got `{value}`"
        raise InputError(message)
    return (name, rest) if value else None


CODE = 4
"""Letters of a membership's token by which seniors know an annotator."""

BATCHES = 5
"""Acts on many dialogues that the list remembers; count."""

Choice = tuple[str, str, bool]
"""What an address says, what a page says, and whether it is chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterField:
    """One way to filter: its name in addresses, its label, and what may be chosen."""

    name: str
    label: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemView:
    """How far one category of a dialogue is, in words; `token` leads to its page."""

    token: str
    title: str
    words: str

    @classmethod
    def of(cls, one: ListedItem) -> ItemView:
        """Return a category of a dialogue as the list shows it."""
        passes = f"{one.n_done} of {one.passes} passes"
        told = {
            ItemStage.WAITING: one.stage.value + (", first" if one.is_first else ""),
            ItemStage.IN_WORK: f"{one.stage.value}, {passes}" + (", first" if one.is_first else ""),
            ItemStage.DISPUTED: f"{one.stage.value} in {one.n_disputed}",
        }
        return cls(
            token=one.item,
            title=humanize(one.category) + (", again" if one.again else ""),
            words=told.get(one.stage, one.stage.value),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueLine:
    """One dialogue of the list, with its categories in words."""

    token: str
    name: str
    opening: str
    scenario: str
    level: Level
    flags: tuple[FlagKind, ...]
    items: tuple[ItemView, ...]


def _line(one: ListedDialogue) -> DialogueLine:
    return DialogueLine(
        token=one.token,
        name=one.name,
        opening=one.opening,
        scenario=humanize(one.scenario),
        level=one.level,
        flags=one.flags,
        items=tuple(map(ItemView.of, one.items)),
    )


def said_on_list(request: HttpRequest, annotator: AnnotatorContext, error: Exception) -> HttpResponse:
    """Say on the list why something was not done."""
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
    """Show the dialogues that the address asks for."""
    annotator = annotator_context(access)
    if annotator is None:
        return render(request, "web/senior/dialogues.html", {"access": access})
    try:
        sought = filters_of(request.GET, access)
        found = Listing.of(annotator.records, annotator.queue, sought.filter)
    except InputError as error:
        plain = filters_of(QueryDict(), access)
        return render(
            request, "web/senior/dialogues.html", _around(annotator, plain) | {"problem": str(error)}, status=400
        )
    return render(
        request, "web/senior/dialogues.html", _around(annotator, sought) | _listed(request, annotator, sought, found)
    )


def _listed(
    request: HttpRequest, annotator: AnnotatorContext, sought: ListFilters, found: Listing
) -> dict[str, object]:
    page = page_number(request)
    n, stages = found.count(), found.stages()
    return {
        "n": n,
        "found": [_line(one) for one in found.page(annotator.records, reader=annotator.participant, page=page)],
        "pages": Pages(page=page, n=n, size=listing.PAGE),
        "keep": sought.query + "&" if sought.query else "",
        "stages": [
            (sought.with_([("stage", one.value)]), one.value, stages.get(one, 0), one is sought.filter.stage)
            for one in ItemStage
        ],
        "any_stage": sought.with_([("stage", "")]),
    }


def _around(annotator: AnnotatorContext, sought: ListFilters) -> dict[str, object]:
    """Return what stands around a list: ways to filter, views, acts."""
    access, queue = annotator.access, annotator.queue
    people = annotators_of(access)
    categories = [(one.name, humanize(one.name)) for one in annotator.design.categories]
    return {
        "access": access,
        "annotator": annotator,
        "sought": sought,
        "knows_level": knows_level(access),
        "fields": _fields(access, queue, sought, categories, people),
        "views": [(one, list_address(access, one.query)) for one in views_of(access)],
        "acts": acts_for(access.role),
        "people": people,
        "categories": [(name, words, name == sought.filter.category) for name, words in categories],
        "batches": [(one, ACTS[one.as_act].done) for one in access.hosted.batches.all()[:BATCHES]],
    }


def _fields(
    access: AccessContext,
    queue: str,
    sought: ListFilters,
    categories: Sequence[tuple[str, str]],
    people: Sequence[tuple[str, str]],
) -> list[FilterField]:
    levels = [(one, one) for one in listing.levels_in(queue)] if knows_level(access) else []
    groups = [(f"{name}={value}", f"{humanize(name)}: {value}") for name, value in listing.groups_in(queue)]
    told = (
        ("scenario", "Scenario", [(one, humanize(one)) for one in listing.scenarios_in(queue)]),
        ("level", "Level", levels),
        ("category", "Category", categories),
        ("alike", "Agreement", [("yes", "yes"), ("no", "no")]),
        ("flag", "Flagged", _values(FlagKind)),
        ("who", "Annotator", people),
        ("group", "Group of the case", groups),
    )
    return [_field(name, label, choices, sought) for name, label, choices in told if choices]


def _values(kind: type[Enum]) -> list[tuple[str, str]]:
    return [(str(one.value), str(one.value)) for one in kind]


def _field(name: str, label: str, choices: Iterable[tuple[str, str]], sought: ListFilters) -> FilterField:
    given = sought.given.get(name, "")
    return FilterField(
        name=name, label=label, choices=tuple((value, words, value == given) for value, words in choices)
    )


def annotators_of(access: AccessContext) -> list[tuple[str, str]]:
    """Return token and words of each annotator of a study: seniors know them by code, organisers by name too."""
    held = Membership.objects.filter(hosted=access.hosted, role=Role.ANNOTATOR.value, left_at=None)
    named = access.role is Role.ORGANISER
    return [
        (one.token, f"{one.account} ({one.token[:CODE]})" if named else one.token[:CODE])
        for one in held.select_related("account").order_by("id")
    ]


def views_of(access: AccessContext) -> QuerySet[SavedView]:
    """Return one's own views of a study, and those that others share."""
    return access.hosted.saved_views.filter(Q(account=access.account) | Q(is_shared=True))


MOST_VIEWS = 50
"""Views that one person keeps of one study; count."""

LONGEST = 80
"""Letters of a view's name at most; count."""


@allowed(Role.SENIOR, Role.ORGANISER)
@require_POST
@list_view
def save(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Keep the view that is shown under a name."""
    access = annotator.access
    query = filters_of(QueryDict(request.POST.get("query", "")[:1000]), access).query
    name, is_shared = _name(request), request.POST.get("shared") == "on"
    if SavedView.objects.filter(hosted=access.hosted, account=access.account).count() >= MOST_VIEWS:
        message = f"you already have {MOST_VIEWS} views of this study; delete one first"
        raise Conflict(message)
    with transaction.atomic():
        view = _kept(
            SavedView(hosted=access.hosted, account=access.account, name=name, query=query, is_shared=is_shared)
        )
        audit(access.account, "saved a view", f"view {view.token}", hosted=access.hosted, shared=is_shared)
    messages.success(request, f"Saved as “{view}”.")
    return redirect(list_address(access, query))


@allowed(Role.SENIOR, Role.ORGANISER)
@require_POST
@list_view
def change(request: HttpRequest, annotator: AnnotatorContext, view: str) -> HttpResponse:
    """Call a view of one's own otherwise, share it or not, or forget it."""
    access = annotator.access
    found = SavedView.objects.filter(hosted=access.hosted, account=access.account, token=view).first()
    if found is None:
        raise Http404
    is_forgotten = request.POST.get("step") == "forget"
    with transaction.atomic():
        if is_forgotten:
            found.delete()
        else:
            found.name, found.is_shared = _name(request), request.POST.get("shared") == "on"
            _kept(found)
        verb = "deleted a view" if is_forgotten else "changed a view"
        audit(access.account, verb, f"view {view}", hosted=access.hosted, shared=found.is_shared)
    messages.success(request, "Forgotten." if is_forgotten else "Changed.")
    return redirect(list_address(access, request.POST.get("query", "")))


def _name(request: HttpRequest) -> str:
    name = " ".join(request.POST.get("name", "").split())
    if not 0 < len(name) <= LONGEST:
        message = f"the name of a view has 1 to {LONGEST} characters; got {len(name)}"
        raise InputError(message)
    return name


def _kept(view: SavedView) -> SavedView:
    try:
        with transaction.atomic():
            view.save()
    except IntegrityError as error:
        message = f"you have another view with the name {view.name!r}"
        raise Conflict(message) from error
    return view
