"""Measuring on the server: asked for by a person, done beside all else, kept as files until somebody withdraws."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from asgiref.sync import sync_to_async
from django.conf import settings
from django.utils import timezone

from theodolite.bootstrap.database import DATABASE_VARIABLE
from theodolite.domain.identity import version_of
from theodolite.web.background import Background
from theodolite.web.models import Account, HostedStudy, Measurement
from theodolite.web.venues import venue_of

CUT_OFF = "The server was stopped before it was through; measure again."

_background = Background()


@asynccontextmanager
async def measuring_bench() -> AsyncIterator[None]:
    """Let measurements run as long as the server does; those that were cut off by its end say so."""
    await sync_to_async(_strike_unfinished)()
    async with _background.open():
        yield


async def measure(hosted: HostedStudy, by: Account) -> bool:
    """Begin to measure what a study holds by now; False where that is under way already.

    Raises:
        Http404: If the study has no files.
        StudyError: If its files hold faults.
    """
    begun = await sync_to_async(_begin)(hosted, by)
    if begun is None:
        return False
    await _background.do(_measured(begun))
    return True


def _begin(hosted: HostedStudy, by: Account) -> Measurement | None:
    if hosted.measurements.filter(done_at=None).exists():
        return None
    return Measurement.objects.create(hosted=hosted, asked_by=by, edition=version_of(venue_of(hosted).study))


async def _measured(measurement: Measurement) -> None:
    words = [measurement.hosted.folder, str(settings.WORKSPACE), str(measurement.folder), measurement.edition]
    environ = {**os.environ, DATABASE_VARIABLE: settings.DATABASE_URL or ""}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "theodolite.bootstrap.event_results", *words,
        env=environ, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        _, said = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        raise
    problem = "" if process.returncode == 0 else _last_line(said.decode(errors="replace"))
    await sync_to_async(_keep)(measurement, problem)


def _last_line(said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()]
    return lines[-1] if lines else "The measurement broke off without a word."


def _keep(measurement: Measurement, problem: str) -> None:
    """Write down how it ended; one that was forgotten meanwhile leaves no files."""
    if not Measurement.objects.filter(pk=measurement.pk).update(done_at=timezone.now(), problem=problem):
        shutil.rmtree(measurement.folder, ignore_errors=True)


def _strike_unfinished() -> None:
    Measurement.objects.filter(done_at=None).update(done_at=timezone.now(), problem=CUT_OFF)
