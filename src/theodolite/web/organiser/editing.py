"""The page on which organisers edit a study."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from theodolite.config.editable_files import EditableFiles
from theodolite.config.permissions import USUAL, study_file
from theodolite.config.required_access import host_shown
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.event import Role
from theodolite.events.results import spent_on_event
from theodolite.web.access import AccessContext, allowed
from theodolite.web.events import environment_of, event_of
from theodolite.web.models import HostedStudy, Submission
from theodolite.web.study_editor import edit
from theodolite.web.study_trials import EditedStudy, TrialSetting


@allowed(Role.ORGANISER)
@require_http_methods(["GET", "POST"])
def edit_study(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Edit the study; saving creates a draft, and publishing changes the event."""
    hosted = access.hosted
    edited = EditedStudy(
        title=str(hosted),
        files=files_of(hosted),
        template="web/base.html",
        address=reverse("organiser:edit_study", args=[hosted.token]),
        context={"access": access},
        publishing=reverse("organiser:editions", args=[hosted.token]),
        trials=TrialSetting(
            environ=lambda: environment_of(hosted),
            public_only=not settings.ALLOW_PRIVATE,
            stored=lambda: _stored(hosted),
            spent=lambda: spent_on_event(event_of(hosted)),
        ),
        record=lambda verb, **facts: access.audit(verb, f"study {hosted.token}", **facts),
    )
    return edit(request, edited)


def _stored(hosted: HostedStudy) -> Iterator[Dialogue]:
    """Yield the completed dialogues of an event."""
    event = event_of(hosted)
    yield from event.store.dialogues(event.run)


def files_of(hosted: HostedStudy) -> EditableFiles:
    """Return the files of a hosted study for editing as drafts.

    Raises:
        Http404: If it has no files.
    """
    if not hosted.folder:
        raise Http404
    file = study_file(Path(hosted.folder))
    return EditableFiles(
        folder=Path(hosted.folder),
        storage=Path(str(settings.WORKSPACE)) / "edited" / hosted.token,
        main=file.name if isinstance(file, Path) else USUAL,
        has_drafts=True,
        accepted_keys=_accepted_keys(hosted),
    )


def _accepted_keys(hosted: HostedStudy) -> frozenset[str]:
    """Return the keys of accepted applications with their hosts; organisers accepted both together."""
    accepted = hosted.submissions.filter(state=Submission.State.ACCEPTED).exclude(url="")
    return frozenset(f"{row.key_variable} to {host_shown(row.url)}" for row in accepted)
