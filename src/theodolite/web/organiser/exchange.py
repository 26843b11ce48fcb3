"""Exchange: every answer taken along as a row of its own, and labels from elsewhere taken in."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from theodolite.bootstrap.event_results import event_bench
from theodolite.bootstrap.exchange import (
    ExportForm,
    can_write,
    export_archive,
    import_labels,
    label_studio_archive,
)
from theodolite.bootstrap.study_context import StudyContext
from theodolite.config.brought.label_imports import ImportColumns, spelling_of
from theodolite.config.loading import StudyFaults
from theodolite.domain.errors import InputError, TheodoliteError
from theodolite.domain.people.role import Role
from theodolite.web.access import Here, allowed
from theodolite.web.annotator.items import worded
from theodolite.web.audit import audit
from theodolite.web.venues import server_store, venue_of

MOST_BYTES = 30_000_000
"""Size of a file of labels at most; bytes."""

SUFFIXES = (".csv", ".tsv", ".jsonl", ".json")
"""Endings of files that are read; `.json` is an export of Label Studio."""


ARCHIVES = (ExportForm.CSV, ExportForm.PARQUET, ExportForm.ARGILLA)
"""Forms in which every answer leaves as a row of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What somebody wrote beside a file of labels, kept so that the form comes back as it was sent."""

    dialogue: str = "dialogue"
    annotator: str = ""
    turn: str = ""
    reason: str = ""
    answers: str = ""
    spelling: str = ""
    by: str = ""
    repeats: bool = False


@allowed(Role.ORGANISER, Role.ANALYST)
@require_http_methods(["GET", "POST"])
def exchange(request: HttpRequest, here: Here) -> HttpResponse:
    """Show what can be taken along and taken in; take labels in."""
    sent, faults = Sent(), ""
    if request.method == "POST":
        sent = _sent(request)
        try:
            told = _taken_in(request, here, sent)
        except (StudyFaults, InputError) as error:
            faults = str(error)
        else:
            messages.success(request, told)
            return redirect("organiser:exchange", study=here.hosted.token)
    guidelines = [(one.name, worded(one.name)) for one in venue_of(here.hosted).study.guidelines]
    context = {"here": here, "guidelines": guidelines, "sent": sent, "faults": faults}
    context |= {"may_bring": here.role is Role.ORGANISER, "has_parquet": can_write(ExportForm.PARQUET)}
    return render(request, "web/organiser/exchange.html", context, status=422 if faults else 200)


@allowed(Role.ORGANISER, Role.ANALYST)
@require_GET
def archive(request: HttpRequest, here: Here) -> HttpResponse:
    """Give every answer as a row of its own, with codebook and schema; nobody is named in it."""
    form = next((one for one in ARCHIVES if one.value == request.GET.get("form", ExportForm.CSV.value)), None)
    if form is None:
        raise Http404
    try:
        packed, n = export_archive(_bench(here).evidence(), form)
    except TheodoliteError as error:
        return _refused(request, here, error)
    told = {"answers": n, "form": form.value}
    audit(request.user, "exported answers", f"study {here.hosted.token}", hosted=here.hosted, **told)
    return _file(packed, f"{here.hosted.name}-answers{'' if form is ExportForm.CSV else f'-{form.value}'}.zip")


@allowed(Role.ORGANISER, Role.ANALYST)
@require_GET
def label_studio(request: HttpRequest, here: Here, guideline: str) -> HttpResponse:
    """Give blinded tasks for Label Studio with its configuration."""
    if guideline not in {one.name for one in venue_of(here.hosted).study.guidelines}:
        raise Http404
    try:
        packed = label_studio_archive(_bench(here).evidence(), guideline)
    except TheodoliteError as error:
        return _refused(request, here, error)
    audit(request.user, "exported tasks", f"study {here.hosted.token}", hosted=here.hosted, guideline=guideline)
    return _file(packed, f"{here.hosted.name}-{guideline}-label-studio.zip")


def _bench(here: Here) -> StudyContext:
    venue = venue_of(here.hosted)
    return event_bench(here.hosted.folder, Path(str(settings.WORKSPACE)), server_store(), venue.study)


def _taken_in(request: HttpRequest, here: Here, sent: Sent) -> str:
    """Take labels in, all or nothing; return what came of it in words."""
    file = request.FILES.get("file")
    if not isinstance(file, UploadedFile) or Path(str(file.name)).suffix not in SUFFIXES:
        message = f"choose a file that ends in {', '.join(SUFFIXES)}; got {getattr(file, 'name', 'none')!r}"
        raise InputError(message)
    if (file.size or 0) > MOST_BYTES:
        message = f"a file of labels has at most {MOST_BYTES // 1_000_000} MB; `{file.name}` has more. Cut it in parts"
        raise InputError(message)
    columns = ImportColumns(
        dialogue=sent.dialogue,
        annotator=sent.annotator,
        turn=sent.turn,
        reason=sent.reason,
        answers=spelling_of(_lines(sent.answers)) or None,
        spelling=spelling_of(_lines(sent.spelling)) or None,
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(str(file.name)).name
        path.write_bytes(file.read())
        is_check = "check" in request.POST
        kept = import_labels(_bench(here), path, columns, by=sent.by, repeats=sent.repeats, store=not is_check)
    facts = {"new": len(kept.new), "revised": len(kept.revised), "unchanged": kept.unchanged}
    if not is_check:
        audit(request.user, "imported labels", f"study {here.hosted.token}", hosted=here.hosted, **facts)
    counts = f"{len(kept.new)} new, {len(kept.revised)} revised, {kept.unchanged} there already"
    return f"{'Checked, nothing stored' if is_check else 'Stored'}: labels of dialogues: {counts}."


def _sent(request: HttpRequest) -> Sent:
    names = ("dialogue", "annotator", "turn", "reason", "answers", "spelling", "by")
    texts = {name: request.POST.get(name, "").strip()[:4000] for name in names}
    return Sent(**texts, repeats="repeats" in request.POST)


def _lines(text: str) -> list[str]:
    """Return the lines of a field that say NAME=VALUE.

    Raises:
        InputError: If one does not.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if strange := [line for line in lines if "=" not in line]:
        message = f"each line says NAME=VALUE; got `{strange[0]}`"
        raise InputError(message)
    return lines


def _refused(request: HttpRequest, here: Here, error: TheodoliteError) -> HttpResponse:
    messages.warning(request, f"Nothing to take along: {error}")
    return redirect("organiser:exchange", study=here.hosted.token)


def _file(packed: bytes, name: str) -> HttpResponse:
    response = HttpResponse(packed, content_type="application/zip")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
