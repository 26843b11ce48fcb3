"""Pages on which organisers edit a study and store its API keys."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from theodolite.bootstrap.permission import STORED_VARIABLES
from theodolite.bootstrap.webhook_sender import host_problem
from theodolite.config.editable_files import EditableFiles
from theodolite.config.permissions import USUAL, study_file
from theodolite.config.required_access import host_shown
from theodolite.config.serving import LOOPBACK
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import InputError
from theodolite.domain.event import Role
from theodolite.events.results import spent_on_event
from theodolite.web.access import AccessContext, allowed
from theodolite.web.events import can_seal, environment_of, event_of, reopen_event, seal
from theodolite.web.models import HostedStudy, StoredKey, Submission
from theodolite.web.study_editor import edit
from theodolite.web.study_trials import EditedStudy, OfferedApplication, TrialSetting


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
            environ=lambda study: environment_of(hosted, study),
            public_only=not settings.ALLOW_PRIVATE,
            stored=lambda: _stored(hosted),
            spent=lambda: spent_on_event(event_of(hosted)),
        ),
        offers=_offers(hosted),
        record=lambda verb, **facts: access.audit(verb, f"study {hosted.token}", **facts),
    )
    return edit(request, edited)


def _offers(hosted: HostedStudy) -> list[OfferedApplication]:
    """Return the accepted applications of teams."""
    accepted = hosted.submissions.filter(state=Submission.State.ACCEPTED).select_related("team__account")
    return [
        OfferedApplication(
            name=row.name,
            team=str(row.team.account),
            address=reverse("organiser:add_application", args=[hosted.token, row.token]),
        )
        for row in accepted.order_by("name")
    ]


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
        host_problem=None if settings.ALLOW_PRIVATE else partial(host_problem, resolver=settings.HOST_RESOLVER),
    )


def _accepted_keys(hosted: HostedStudy) -> frozenset[str]:
    """Return the keys of accepted applications and of organisers with their hosts: both were accepted together."""
    accepted = hosted.submissions.filter(state=Submission.State.ACCEPTED).exclude(url="")
    teams = (f"{row.key_variable} to {host_shown(row.url)}" for row in accepted)
    return frozenset((*teams, *(f"{key.variable} to {key.receiver}" for key in hosted.stored_keys.all())))


class KeyForm(forms.Form):
    """An API key with its name and its host."""

    name = forms.RegexField(
        label="Name",
        regex=r"[A-Za-z][A-Za-z0-9_]{0,40}",
        error_messages={"invalid": "Use letters, digits and underscores; start with a letter."},
        help_text="For example JUDGE. The study names the key by this name after STUDY_KEY_.",
    )
    address = forms.CharField(
        label="Address of the service",
        max_length=500,
        help_text="For example https://api.example.org/v1. Only this host gets the key.",
    )
    value = forms.CharField(
        label="Key",
        max_length=4000,
        help_text="It is stored encrypted and never shown again.",
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )

    def clean_address(self) -> str:
        """Return the host with its port.

        Raises:
            ValidationError: If the address has no host, or would send the key without encryption.
        """
        text = str(self.cleaned_data["address"]).strip()
        address = text if "://" in text else f"https://{text}"
        host = host_shown(address)
        is_local = (urlsplit(address).hostname or "") in LOOPBACK
        if not host or "@" in address or not (address.startswith("https://") or is_local):
            message = "Enter an address with https:// and without a password."
            raise forms.ValidationError(message)
        return host


@allowed(Role.ORGANISER)
@require_http_methods(["GET", "POST"])
def keys(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """List the keys of a study without their values, or store one."""
    form = KeyForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            key = _store_key(access, form)
            messages.success(request, f"{key.variable} is stored.")
            return redirect("organiser:keys", study=access.hosted.token)
        except InputError as error:
            form.add_error(None, f"Not stored: {error}.")
    context = {"access": access, "form": form, "keys": access.hosted.stored_keys.all(), "can_seal": can_seal()}
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    return render(request, "web/organiser/keys.html", context, status=status)


@transaction.atomic
def _store_key(access: AccessContext, form: KeyForm) -> StoredKey:
    """Store a key, or replace its value.

    Raises:
        InputError: If the operator has set no key, or a key of the name belongs to another host.
    """
    variable, receiver = STORED_VARIABLES + form.cleaned_data["name"].upper(), form.cleaned_data["address"]
    before = access.hosted.stored_keys.select_for_update().filter(variable=variable).first()
    if before is not None and before.receiver != receiver:
        message = f"{variable} belongs to {before.receiver}; remove it first, or choose another name"
        raise InputError(message)
    values = {"receiver": receiver, "sealed": seal(form.cleaned_data["value"]), "made_by": access.account}
    key, is_new = StoredKey.objects.update_or_create(hosted=access.hosted, variable=variable, defaults=values)
    access.audit("stored key" if is_new else "replaced key", f"key {variable}", receiver=receiver)
    reopen_event(access.hosted)
    return key


@allowed(Role.ORGANISER)
@require_POST
def remove_key(request: HttpRequest, access: AccessContext, key: str) -> HttpResponse:
    """Delete a key; later calls go without it."""
    row = get_object_or_404(StoredKey, hosted=access.hosted, token=key)
    with transaction.atomic():
        access.audit("removed key", f"key {row.variable}", receiver=row.receiver)
        row.delete()
    reopen_event(access.hosted)
    messages.success(request, f"{row.variable} is removed.")
    return redirect("organiser:keys", study=access.hosted.token)
