"""The conformance check of a submitted application: the calls of `check-application`, made by the server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from asgiref.sync import sync_to_async
from django.utils import timezone

from theodolite.bootstrap.examining import examine_alone
from theodolite.domain.application import Application
from theodolite.domain.errors import InputError
from theodolite.usecases.examining import Examination
from theodolite.web.credentials import opened
from theodolite.web.models import Submission
from theodolite.web.teams.connecting import application_of
from theodolite.web.thread_pool import Background

_background = Background()


@asynccontextmanager
async def conformance_bench() -> AsyncIterator[None]:
    """Let checks run as long as the server does; those that were cut off by its end are struck."""
    await sync_to_async(_strike_unfinished)()
    async with _background.open():
        yield


async def check(submission: Submission) -> None:
    """Begin the check of an application, unless one is under way; without a running server it ends before this does."""
    since = await sync_to_async(_begin)(submission)
    if since is not None:
        await _background.do(_checked(submission, since))


async def _checked(submission: Submission, since: datetime) -> None:
    try:
        application, environ = await sync_to_async(prepared)(submission)
        found = await examine_alone(application, folder=Path(submission.hosted.folder or "."), environ=environ)
    except InputError as error:
        found = Examination(name=submission.name)
        found.note(str(error))
    except Exception as error:  # noqa: BLE001 - a foreign class may raise whatever it likes, and no check may stay open
        found = Examination(name=submission.name, unexamined=f"the check broke off ({type(error).__name__})")
    await sync_to_async(_keep)(submission, since, found)


def prepared(submission: Submission) -> tuple[Application, dict[str, str]]:
    """Return a submitted application and the variable that holds its credentials, for the calls that need them.

    Raises:
        InputError: If the credentials were sealed under another key than the operator's.
    """
    environ = {submission.key_variable: opened(submission.sealed)} if submission.sealed else {}
    return application_of(submission), environ


def _begin(submission: Submission) -> datetime | None:
    now, fresh = timezone.now(), Submission.objects.filter(pk=submission.pk, examining_since=None)
    return now if fresh.update(examining_since=now) else None


def _keep(submission: Submission, since: datetime, found: Examination) -> None:
    """Write down what was found, unless the submission has been changed since the check began."""
    Submission.objects.filter(pk=submission.pk, examining_since=since).update(
        examined=as_json(found), examined_at=timezone.now(), examining_since=None
    )


def _strike_unfinished() -> None:
    Submission.objects.exclude(examining_since=None).update(examining_since=None)


def as_json(found: Examination) -> dict[str, Any]:
    """Return what a check found, as it is kept."""
    return {
        "calls": found.calls,
        "slowest_s": round(found.slowest_s, 3),
        "version": found.version,
        "unexamined": found.unexamined,
        "remarks": [{"severity": one.severity.value, "message": one.message} for one in found.remarks],
    }
