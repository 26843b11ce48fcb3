"""The desk: where an annotator's pages find queue and records, and how they say what went wrong."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse

from theodolite.annotation.records import Library
from theodolite.domain.errors import Conflict, InputError, NotFound
from theodolite.store.contents import Contents
from theodolite.store.models.annotating import QueueRow
from theodolite.web.access import Here


@functools.lru_cache(maxsize=4)
def _library_of(workspace: str) -> Library:
    return Library(Contents(Path(workspace) / "blobs"))


def library() -> Library:
    """Return the records that queues refer to."""
    return _library_of(str(settings.WORKSPACE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """One annotator at the queue of one study.

    Attributes:
        here: Who sits there.
        queue: Token of the study's queue.
    """

    here: Here
    queue: str

    @property
    def participant(self) -> str:
        """Key under which the store knows the annotator."""
        return self.here.membership.participant

    def address(self, name: str, **parts: str | int) -> str:
        """Return the address of a page of this group."""
        return reverse(f"annotator:{name}", kwargs={"study": self.here.hosted.token, **parts})


def desk_of(here: Here) -> Desk | None:
    """Return the desk of whoever asks; None where the study has no queue yet."""
    found = QueueRow.objects.filter(name=here.hosted.token).values_list("token", flat=True).first()
    return Desk(here=here, queue=found) if found else None


def seated(
    refused: Callable[[HttpRequest, Desk, Exception], HttpResponse],
) -> Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponse]]:
    """Call a view as `view(request, desk, ...)`.

    What is not one's own does not exist (404).

    Args:
        refused: Says why the store did not do what was asked.
    """

    def decorated(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @functools.wraps(view)
        def called(request: HttpRequest, here: Here, **rest: Any) -> HttpResponse:
            desk = desk_of(here)
            if desk is None:
                raise Http404
            try:
                return view(request, desk, **rest)
            except NotFound as error:
                raise Http404 from error
            except (Conflict, InputError) as error:
                return refused(request, desk, error)

        return called

    return decorated


def refused(request: HttpRequest, desk: Desk, error: Exception) -> HttpResponse:
    """Say why something was not done: on the next page, or with 409 to a script."""
    messages.warning(request, f"{error}.".replace("..", "."))
    if wants_json(request):
        return JsonResponse({"problem": str(error)}, status=409)
    return redirect(desk.address("home"))


at_desk = seated(refused)
"""Call a view of annotators at their desk; what came too late is told on the next page."""


def wants_json(request: HttpRequest) -> bool:
    """Tell whether a script asks, which reads the answer itself."""
    return request.headers.get("Accept", "").startswith("application/json")


def said_time(moment: datetime | None) -> str:
    """Return a moment for the page's script, which tells it in the reader's own time; empty for none."""
    return moment.astimezone(UTC).isoformat(timespec="seconds") if moment else ""
