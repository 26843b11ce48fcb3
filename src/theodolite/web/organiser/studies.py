"""Studies on this server: from a folder that is on it, or from a shipped pack."""

from __future__ import annotations

from http import HTTPStatus
from pathlib import Path

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from theodolite.config.diagnostics import render_diagnostics
from theodolite.config.loading import InvalidStudyError
from theodolite.config.packs import pack_names
from theodolite.config.writing.starters import StarterKind, write_starter
from theodolite.domain.errors import InputError
from theodolite.domain.people.role import Role
from theodolite.web.access import account_of, hosts_only
from theodolite.web.hosting import host_study
from theodolite.web.models import HostedStudy


class StudyForm(forms.Form):
    """Where a study comes from."""

    folder = forms.CharField(
        label="Folder on this server",
        required=False,
        help_text="As you would type it where the server was started, e.g. spoilers. Empty to begin with a pack.",
    )
    pack = forms.ChoiceField(label="Scenario pack", required=False)
    name = forms.SlugField(
        label="Name of the new study",
        required=False,
        help_text="For a pack: letters, numbers and hyphens. Its files are written beside those of this server.",
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type] # handed on as they came
        self.fields["pack"].choices = [("", "none"), *((name, name) for name in pack_names())]  # type: ignore[attr-defined] # a field of choices


@hosts_only
def studies(request: HttpRequest) -> HttpResponse:
    """Show the studies on this server; put another one there."""
    form, faults = StudyForm(request.POST if request.method == "POST" else None), ""
    if request.method == "POST" and form.is_valid():
        try:
            hosted = host_study(_folder(form.cleaned_data), account_of(request))
            return redirect("organiser:editions", hosted.token)
        except InvalidStudyError as found:
            faults = render_diagnostics(found.placed, limit=None, ending="Nothing was put on the server.")
        except InputError as error:
            form.add_error(None, str(error))
    mine = HostedStudy.objects.filter(memberships__account=account_of(request), memberships__role=Role.ORGANISER.value)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if request.method == "POST" else HTTPStatus.OK
    shown = {"form": form, "faults": faults, "studies": mine.order_by("made_at")}
    return render(request, "web/organiser/studies.html", shown, status=status)


def _folder(filled: dict[str, str]) -> str:
    """Return the folder that is meant; one with the first files of a study where a pack was chosen.

    Raises:
        InputError: If neither or both were named, or the files cannot be written.
    """
    folder, pack, name = filled["folder"], filled["pack"], filled["name"]
    if bool(folder) == bool(pack):
        message = "Name either a folder that is on this server, or a pack."
        raise InputError(message)
    if folder:
        return folder
    if not name:
        message = "A study from a pack needs a name."
        raise InputError(message)
    place = Path(str(settings.WORKSPACE)).parent / name
    write_starter(place, StarterKind.EVENT, {"pack": pack})
    return str(place)
