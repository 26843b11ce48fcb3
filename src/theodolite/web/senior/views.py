"""Views under a name: saved, shared, called otherwise, and forgotten."""

from __future__ import annotations

from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.people.role import Role
from theodolite.web.access import allowed
from theodolite.web.annotator.desk import Desk
from theodolite.web.audit import audit
from theodolite.web.models import SavedView
from theodolite.web.senior.dialogues import at_list_desk, list_address
from theodolite.web.senior.sought import sought_of

MOST_VIEWS = 50
"""Views that one person keeps of one study; count."""

LONGEST = 80
"""Letters of a view's name at most; count."""


@allowed(Role.SENIOR, Role.ORGANISER)
@require_POST
@at_list_desk
def save(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Keep the view that is shown under a name."""
    here = desk.here
    query = sought_of(QueryDict(request.POST.get("query", "")[:1000]), here).query
    name, is_shared = _name(request), request.POST.get("shared") == "on"
    if SavedView.objects.filter(hosted=here.hosted, account=here.account).count() >= MOST_VIEWS:
        message = f"you keep {MOST_VIEWS} views of this study already; forget one of them first"
        raise Conflict(message)
    with transaction.atomic():
        view = _kept(SavedView(hosted=here.hosted, account=here.account, name=name, query=query, is_shared=is_shared))
        audit(here.account, "saved a view", f"view {view.token}", hosted=here.hosted, shared=is_shared)
    messages.success(request, f"Saved as “{view}”.")
    return redirect(list_address(here, query))


@allowed(Role.SENIOR, Role.ORGANISER)
@require_POST
@at_list_desk
def change(request: HttpRequest, desk: Desk, view: str) -> HttpResponse:
    """Call a view of one's own otherwise, share it or not, or forget it."""
    here = desk.here
    found = SavedView.objects.filter(hosted=here.hosted, account=here.account, token=view).first()
    if found is None:
        raise Http404
    is_forgotten = request.POST.get("step") == "forget"
    with transaction.atomic():
        if is_forgotten:
            found.delete()
        else:
            found.name, found.is_shared = _name(request), request.POST.get("shared") == "on"
            _kept(found)
        verb = "forgot a view" if is_forgotten else "changed a view"
        audit(here.account, verb, f"view {view}", hosted=here.hosted, shared=found.is_shared)
    messages.success(request, "Forgotten." if is_forgotten else "Changed.")
    return redirect(list_address(here, request.POST.get("query", "")))


def _name(request: HttpRequest) -> str:
    name = " ".join(request.POST.get("name", "").split())
    if not 0 < len(name) <= LONGEST:
        message = f"a view is saved under a name of 1 to {LONGEST} letters; got {len(name)}"
        raise InputError(message)
    return name


def _kept(view: SavedView) -> SavedView:
    try:
        with transaction.atomic():
            view.save()
    except IntegrityError as error:
        message = f"you keep another view under the name {view.name!r}"
        raise Conflict(message) from error
    return view
