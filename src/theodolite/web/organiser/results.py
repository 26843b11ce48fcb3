"""Results: measurements in a process of their own, and their files."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from theodolite.bootstrap.database import DATABASE_VARIABLE
from theodolite.bootstrap.reports import REPORT, RESULTS
from theodolite.domain.errors import TheodoliteError
from theodolite.domain.event import Role
from theodolite.domain.identity import version_of
from theodolite.web.access import AccessContext, allowed, audit
from theodolite.web.events import event_of
from theodolite.web.models import Account, HostedStudy, Measurement
from theodolite.web.thread_pool import Background

CUT_OFF = "The server stopped before the measurement finished; measure again."

_background = Background()


@asynccontextmanager
async def measuring_bench() -> AsyncIterator[None]:
    """Run measurements while the server runs; those that its end interrupted are marked."""
    await sync_to_async(_strike_unfinished)()
    async with _background.open():
        yield


async def measure(hosted: HostedStudy, by: Account) -> bool:
    """Start a measurement of a study; return False if one is in progress.

    Raises:
        Http404: If the study has no files.
        StudyError: If its files contain errors.
    """
    begun = await sync_to_async(_begin)(hosted, by)
    if begun is None:
        return False
    await _background.do(_measured(begun))
    return True


def _begin(hosted: HostedStudy, by: Account) -> Measurement | None:
    if hosted.measurements.filter(done_at=None).exists():
        return None
    return Measurement.objects.create(hosted=hosted, asked_by=by, edition=version_of(event_of(hosted).study))


async def _measured(measurement: Measurement) -> None:
    command = [measurement.hosted.folder, str(settings.WORKSPACE), str(measurement.folder), measurement.edition]
    environ = {**os.environ, DATABASE_VARIABLE: settings.DATABASE_URL or ""}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "theodolite.bootstrap.events", *command,
        env=environ, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        _, output = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        raise
    problem = "" if process.returncode == 0 else _last_line(output.decode(errors="replace"))
    await sync_to_async(_keep)(measurement, problem)


def _last_line(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "The measurement stopped without an error message."


def _keep(measurement: Measurement, problem: str) -> None:
    """Store how a measurement ended; the files of a deleted one are removed."""
    if not Measurement.objects.filter(pk=measurement.pk).update(done_at=timezone.now(), problem=problem):
        shutil.rmtree(measurement.folder, ignore_errors=True)


def _strike_unfinished() -> None:
    Measurement.objects.filter(done_at=None).update(done_at=timezone.now(), problem=CUT_OFF)


REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-popups; default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
)
"""The report is one file with its own script; a sandbox keeps it away from everything that a session may do here.

The file narrows this down to the hashes of its own script and style.
"""

_TYPES = {REPORT: "text/html; charset=utf-8", RESULTS: "application/json"}


@allowed(Role.ORGANISER, Role.ANALYST)
def results(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """List the measurements."""
    measured = list(access.hosted.measurements.select_related("asked_by").order_by("-asked_at"))
    numbers = dict(access.hosted.editions.values_list("version", "number"))
    lines = [(measurement, numbers.get(measurement.edition)) for measurement in measured]
    is_under_way = any(measurement.done_at is None for measurement in measured)
    return render(
        request, "web/organiser/results.html", {"access": access, "lines": lines, "is_under_way": is_under_way}
    )


@allowed(Role.ORGANISER, Role.ANALYST)
@require_POST
async def measure_now(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Start a measurement in the background."""
    try:
        if not await measure(access.hosted, access.account):
            messages.info(request, "A measurement is already running.")
    except TheodoliteError as error:
        messages.warning(request, f"Nothing was measured: {error}")
    return redirect("organiser:results", study=access.hosted.token)


@allowed(Role.ORGANISER, Role.ANALYST)
@require_GET
def measured_file(request: HttpRequest, access: AccessContext, measurement: str, file: str) -> HttpResponse:
    """Return the report or the results of a measurement; the access is logged."""
    row = Measurement.objects.filter(hosted=access.hosted, token=measurement).first()
    if row is None or file not in _TYPES or not (row.folder / file).is_file():
        raise Http404
    audit(request.user, "opened results", f"measurement {row.token}", hosted=access.hosted, file=file)
    response = HttpResponse((row.folder / file).read_bytes(), content_type=_TYPES[file])
    if file == REPORT:
        response.headers["Content-Security-Policy"] = REPORT_POLICY
    else:
        response.headers["Content-Disposition"] = f'attachment; filename="{access.hosted.name}-{file}"'
    return response
