"""The page on which analysts begin: measure what is there, read the report, take the files along."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from theodolite.bootstrap.reports import REPORT, RESULTS
from theodolite.domain.errors import TheodoliteError
from theodolite.domain.people.role import Role
from theodolite.web.access import Here, allowed
from theodolite.web.audit import audit
from theodolite.web.models import Measurement
from theodolite.web.organiser.measuring import measure

REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-popups; default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
)
"""The report is one file with its own script; a sandbox keeps it away from everything that a session may do here.

The file narrows this down to the hashes of its own script and style.
"""

_TYPES = {REPORT: "text/html; charset=utf-8", RESULTS: "application/json"}


@allowed(Role.ORGANISER, Role.ANALYST)
def results(request: HttpRequest, here: Here) -> HttpResponse:
    """List what was measured so far."""
    measured = list(here.hosted.measurements.select_related("asked_by").order_by("-asked_at"))
    numbers = dict(here.hosted.editions.values_list("version", "number"))
    lines = [(one, numbers.get(one.edition)) for one in measured]
    is_under_way = any(one.done_at is None for one in measured)
    return render(request, "web/organiser/results.html", {"here": here, "lines": lines, "is_under_way": is_under_way})


@allowed(Role.ORGANISER, Role.ANALYST)
@require_POST
async def measure_now(request: HttpRequest, here: Here) -> HttpResponse:
    """Measure what is there now, in the background."""
    try:
        if not await measure(here.hosted, here.account):
            messages.info(request, "A measurement is under way already.")
    except TheodoliteError as error:
        messages.warning(request, f"Nothing was measured: {error}")
    return redirect("organiser:results", study=here.hosted.token)


@allowed(Role.ORGANISER, Role.ANALYST)
@require_GET
def measured_file(request: HttpRequest, here: Here, measurement: str, file: str) -> HttpResponse:
    """Give the report or the results of one measurement; who looked is written down."""
    found = Measurement.objects.filter(hosted=here.hosted, token=measurement).first()
    if found is None or file not in _TYPES or not (found.folder / file).is_file():
        raise Http404
    audit(request.user, "opened results", f"measurement {found.token}", hosted=here.hosted, file=file)
    response = HttpResponse((found.folder / file).read_bytes(), content_type=_TYPES[file])
    if file == REPORT:
        response.headers["Content-Security-Policy"] = REPORT_POLICY
    else:
        response.headers["Content-Disposition"] = f'attachment; filename="{here.hosted.name}-{file}"'
    return response
