"""The context of an annotator's request: the queue of the study, and how a refused request is answered."""

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

from theodolite.annotation import queues
from theodolite.annotation.records import RecordCache
from theodolite.domain.annotating.work import QueueDesign
from theodolite.domain.errors import Conflict, InputError, NotFound
from theodolite.domain.study import Study
from theodolite.web.access import AccessContext


@functools.lru_cache(maxsize=4)
def _records_of(workspace: str) -> RecordCache:
    return RecordCache.at(Path(workspace) / "blobs")


def records() -> RecordCache:
    """Return the records that queues of this server refer to."""
    return _records_of(str(settings.WORKSPACE))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorContext:
    """One annotator at the queue of one study; seniors and organisers look at the queue through the same.

    Attributes:
        access: The account, study and membership of the request.
        queue: Token of the study's queue.
    """

    access: AccessContext
    queue: str

    @property
    def participant(self) -> str:
        """Key under which the store knows the annotator."""
        return self.access.membership.participant

    @property
    def records(self) -> RecordCache:
        """The records that the queue refers to."""
        return records()

    @property
    def design(self) -> QueueDesign:
        """The design of the queue."""
        return queues.design_of(self.records, self.queue)

    @property
    def study(self) -> Study:
        """The study of the queue."""
        return queues.study_of(self.records, self.queue)

    def address(self, name: str, **parts: str | int) -> str:
        """Return the address of an annotator's page."""
        return reverse(f"annotator:{name}", kwargs={"study": self.access.hosted.token, **parts})


def annotator_context(access: AccessContext) -> AnnotatorContext | None:
    """Return the context of the account that asks; None where the study has no queue yet."""
    queue = queues.queue_named(access.hosted.token)
    return AnnotatorContext(access=access, queue=queue) if queue else None


def queue_view(
    refused: Callable[[HttpRequest, AnnotatorContext, Exception], HttpResponse],
) -> Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponse]]:
    """Call a view as `view(request, annotator, ...)`.

    A reservation, item or thread of somebody else does not exist for the caller (404).

    Args:
        refused: Answers a request that a service refuses.
    """

    def decorated(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @functools.wraps(view)
        def called(request: HttpRequest, access: AccessContext, **rest: Any) -> HttpResponse:
            annotator = annotator_context(access)
            if annotator is None:
                raise Http404
            try:
                return view(request, annotator, **rest)
            except NotFound as error:
                raise Http404 from error
            except (Conflict, InputError) as error:
                return refused(request, annotator, error)

        return called

    return decorated


def refused(request: HttpRequest, annotator: AnnotatorContext, error: Exception) -> HttpResponse:
    """Report why an action failed: on the next page, or with 409 to a script."""
    messages.warning(request, f"{error}.".replace("..", "."))
    if wants_json(request):
        return JsonResponse({"problem": str(error)}, status=409)
    return redirect(annotator.address("home"))


annotator_view = queue_view(refused)
"""Call a view of annotators as `view(request, annotator, ...)`; a refusal is shown on the next page."""


def wants_json(request: HttpRequest) -> bool:
    """Tell whether a script asks, which reads the answer itself."""
    return request.headers.get("Accept", "").startswith("application/json")


def said_time(moment: datetime | None) -> str:
    """Return a moment for the page's script, which tells it in the reader's own time; empty for none."""
    return moment.astimezone(UTC).isoformat(timespec="seconds") if moment else ""
