"""The dialogues of a study: looked for, listed page by page, and kept as views under names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from theodolite.annotation import listing
from theodolite.annotation.listing import Listing
from theodolite.domain.annotating.case import FlagKind
from theodolite.domain.annotating.listing import ItemStage, ListedDialogue, ListedItem
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import InputError
from theodolite.domain.people.role import Role
from theodolite.store.annotating.queues import queue_of
from theodolite.store.models.annotating import QueueRow
from theodolite.web.access import Here, allowed
from theodolite.web.annotator.desk import Desk, desk_of, library, seated
from theodolite.web.annotator.items import worded
from theodolite.web.models import Membership, SavedView
from theodolite.web.senior.acts import ACTS, acts_for
from theodolite.web.senior.paging import Pages, page_number
from theodolite.web.senior.sought import Sought, knows_level, sought_of

CODE = 4
"""Letters of a membership's token by which seniors know an annotator."""

BATCHES = 5
"""Acts on many dialogues that the list remembers; count."""

Choice = tuple[str, str, bool]
"""What an address says, what a page says, and whether it is chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
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
            title=worded(one.category) + (", again" if one.again else ""),
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
        scenario=worded(one.scenario),
        level=one.level,
        flags=one.flags,
        items=tuple(map(ItemView.of, one.items)),
    )


def said_on_list(request: HttpRequest, desk: Desk, error: Exception) -> HttpResponse:
    """Say on the list why something was not done."""
    messages.warning(request, f"Not done: {error}.".replace("..", "."))
    return redirect(list_address(desk.here, request.POST.get("query", "")))


at_list_desk = seated(said_on_list)
"""Call a view of seniors and organisers at their desk; what the store refuses is said on the list."""


def list_address(here: Here, query: str) -> str:
    """Return the address of a view."""
    address = reverse("senior:dialogues", args=[here.hosted.token])
    return f"{address}?{QueryDict(query[:2000]).urlencode()}" if query else address


@allowed(Role.SENIOR, Role.ORGANISER)
@require_GET
def dialogues(request: HttpRequest, here: Here) -> HttpResponse:
    """Show the dialogues that the address asks for."""
    desk = desk_of(here)
    if desk is None:
        return render(request, "web/senior/dialogues.html", {"here": here})
    try:
        sought = sought_of(request.GET, here)
        found = Listing.of(library(), queue_of(desk.queue), sought.filter)
    except InputError as error:
        plain = sought_of(QueryDict(), here)
        return render(request, "web/senior/dialogues.html", _around(desk, plain) | {"problem": str(error)}, status=400)
    return render(request, "web/senior/dialogues.html", _around(desk, sought) | _listed(request, desk, sought, found))


def _listed(request: HttpRequest, desk: Desk, sought: Sought, found: Listing) -> dict[str, object]:
    rows, page = found.rows, page_number(request)
    n, stages = rows.count(), found.stages()
    return {
        "n": n,
        "found": [
            _line(one) for one in listing.listed(library(), found.queue, rows, reader=desk.participant, page=page)
        ],
        "pages": Pages(page=page, n=n, size=listing.PAGE),
        "keep": sought.query + "&" if sought.query else "",
        "stages": [
            (sought.with_([("stage", one.value)]), one.value, stages.get(one, 0), one is sought.filter.stage)
            for one in ItemStage
        ],
        "any_stage": sought.with_([("stage", "")]),
    }


def _around(desk: Desk, sought: Sought) -> dict[str, object]:
    """Return what stands around a list: ways to filter, views, acts."""
    here, queue = desk.here, queue_of(desk.queue)
    people = annotators_of(here)
    categories = [(one.name, worded(one.name)) for one in library().design(queue.design_id).categories]
    return {
        "here": here,
        "desk": desk,
        "sought": sought,
        "knows_level": knows_level(here),
        "fields": _fields(here, queue, sought, categories, people),
        "views": [(one, list_address(here, one.query)) for one in views_of(here)],
        "acts": acts_for(here.role),
        "people": people,
        "categories": [(name, words, name == sought.filter.category) for name, words in categories],
        "batches": [(one, ACTS[one.as_act].done) for one in here.hosted.batches.all()[:BATCHES]],
    }


def _fields(
    here: Here,
    queue: QueueRow,
    sought: Sought,
    categories: Sequence[tuple[str, str]],
    people: Sequence[tuple[str, str]],
) -> list[Field]:
    levels = [(one, one) for one in listing.levels_in(queue)] if knows_level(here) else []
    groups = [(f"{name}={value}", f"{worded(name)}: {value}") for name, value in listing.groups_in(queue)]
    told = (
        ("scenario", "Scenario", [(one, worded(one)) for one in listing.scenarios_in(queue)]),
        ("level", "Level", levels),
        ("category", "Category", categories),
        ("alike", "Answered alike", [("yes", "yes"), ("no", "no")]),
        ("flag", "Flagged", _values(FlagKind)),
        ("who", "Annotator", people),
        ("group", "Group of the case", groups),
    )
    return [_field(name, label, choices, sought) for name, label, choices in told if choices]


def _values(kind: type[Enum]) -> list[tuple[str, str]]:
    return [(str(one.value), str(one.value)) for one in kind]


def _field(name: str, label: str, choices: Iterable[tuple[str, str]], sought: Sought) -> Field:
    given = sought.given.get(name, "")
    return Field(name=name, label=label, choices=tuple((value, words, value == given) for value, words in choices))


def annotators_of(here: Here) -> list[tuple[str, str]]:
    """Return token and words of each annotator of a study: seniors know them by code, organisers by name too."""
    held = Membership.objects.filter(hosted=here.hosted, role=Role.ANNOTATOR.value, left_at=None)
    named = here.role is Role.ORGANISER
    return [
        (one.token, f"{one.account} ({one.token[:CODE]})" if named else one.token[:CODE])
        for one in held.select_related("account").order_by("id")
    ]


def views_of(here: Here) -> QuerySet[SavedView]:
    """Return one's own views of a study, and those that others share."""
    return here.hosted.saved_views.filter(Q(account=here.account) | Q(is_shared=True))
