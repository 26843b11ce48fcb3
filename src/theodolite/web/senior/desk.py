"""Where a senior annotator's pages find the queue; the same as an annotator's, under addresses of their own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from theodolite.domain.errors import Conflict, InputError, NotFound
from theodolite.store.models.annotating import WorkItemRow
from theodolite.web.access import Here
from theodolite.web.annotator.desk import Desk, desk_of


def at_senior_desk(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Call a view as `view(request, desk, ...)`; what the store refuses is said on the page one came from."""

    @functools.wraps(view)
    def seated(request: HttpRequest, here: Here, **rest: Any) -> HttpResponse:
        desk = desk_of(here)
        if desk is None:
            raise Http404
        try:
            return view(request, desk, **rest)
        except NotFound as error:
            raise Http404 from error
        except (Conflict, InputError) as error:
            messages.warning(request, f"Not done: {error}.".replace("..", "."))
            return redirect(page_of(desk, "home"))

    return seated


def page_of(desk: Desk, name: str, **parts: str | int) -> str:
    """Return the address of a page of seniors."""
    return reverse(f"senior:{name}", kwargs={"study": desk.here.hosted.token, **parts})


def own_item(desk: Desk, item: str) -> str:
    """Return the token of a work item of this study's queue; others do not exist."""
    if not WorkItemRow.objects.filter(token=item, queue__token=desk.queue).exists():
        raise Http404
    return item
