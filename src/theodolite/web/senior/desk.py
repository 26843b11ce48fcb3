"""Where a senior annotator's pages find the queue; the same as an annotator's, under addresses of their own."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from theodolite.store.models.annotating import WorkItemRow
from theodolite.web.annotator.desk import Desk, seated


def _said_on_home(request: HttpRequest, desk: Desk, error: Exception) -> HttpResponse:
    messages.warning(request, f"Not done: {error}.".replace("..", "."))
    return redirect(page_of(desk, "home"))


at_senior_desk = seated(_said_on_home)
"""Call a view of seniors at their desk; what the store refuses is said on their first page."""


def page_of(desk: Desk, name: str, **parts: str | int) -> str:
    """Return the address of a page of seniors."""
    return reverse(f"senior:{name}", kwargs={"study": desk.here.hosted.token, **parts})


def own_item(desk: Desk, item: str) -> str:
    """Return the token of a work item of this study's queue; others do not exist."""
    if not WorkItemRow.objects.filter(token=item, queue__token=desk.queue).exists():
        raise Http404
    return item
