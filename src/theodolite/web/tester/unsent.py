"""The text in a tester's box while it is being written: kept as it grows, gone once it is sent."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_POST

from theodolite.testing.steps import Step
from theodolite.web.models import UnsentText
from theodolite.web.tester.arrival import for_testers
from theodolite.web.tester.sheet import Sheet, sheet_of
from theodolite.web.tester.visit import Visit

LONGEST = 20_000
"""Letters of a message at most; count."""


@for_testers(Step.CHAT)
@require_POST
def unsent(request: HttpRequest, visit: Visit, place: int) -> JsonResponse:
    """Keep what stands in the box, unless the dialogue has gone on since it was written."""
    sheet = sheet_of(visit, place)
    text = request.POST.get("text", "").replace("\r\n", "\n")[:LONGEST].replace("\0", "")
    is_late = request.POST.get("number") != str(sheet.next_number)
    if is_late or not sheet.is_open:
        return JsonResponse({"kept": False})
    if text.strip():
        UnsentText.objects.update_or_create(
            membership=visit.here.membership, session=sheet.session.key, defaults={"text": text}
        )
    else:
        forget_unsent(sheet)
    return JsonResponse({"kept": True})


def unsent_text(sheet: Sheet) -> str:
    """Return what stood in the box of a session when it was last heard of; empty for nothing."""
    return _of(sheet).values_list("text", flat=True).first() or ""


def forget_unsent(sheet: Sheet) -> None:
    """Empty the box of a session: its text was sent, or nobody can send it any more."""
    if _of(sheet).exists():  # to look costs others nothing, to delete takes the writer's turn
        _of(sheet).delete()


def _of(sheet: Sheet) -> QuerySet[UnsentText]:
    return UnsentText.objects.filter(membership=sheet.visit.here.membership, session=sheet.session.key)
