"""Export and import: dialogues, answers and Label Studio projects."""

from __future__ import annotations

import secrets
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from theodolite.annotation.listing import has_queue
from theodolite.bootstrap.events import Looked, bring_looked, event_study_context, look_into
from theodolite.bootstrap.exchange import ExportForm, can_write, export_archive, import_labels, label_studio_archive
from theodolite.bootstrap.study_context import StudyContext
from theodolite.config.dialogue_imports import HOLDERS, NAMES, BringColumns, ReadBrought
from theodolite.config.label_imports import ImportColumns, spelling_of
from theodolite.config.threads import Voices, Ways, silent_among
from theodolite.config.yaml_source import InvalidStudyError
from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.errors import Conflict, InputError, TheodoliteError
from theodolite.domain.event import Role
from theodolite.domain.study import Study
from theodolite.web.access import AccessContext, allowed, audit
from theodolite.web.events import event_of, server_store
from theodolite.web.models import HostedStudy
from theodolite.web.questions import humanize
from theodolite.web.senior.home import fill_queue

KEPT_S = 86_400
"""Time after which an uploaded file is deleted; seconds."""

_FOLDER = "uploads"


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """An uploaded file that waits for confirmation.

    Attributes:
        name: The sender's name for it.
        path: Path of the stored file.
    """

    name: str
    path: Path


def keep_upload(request: HttpRequest, hosted: HostedStudy, *, suffixes: tuple[str, ...], most_bytes: int) -> None:
    """Store an uploaded file in place of the account's earlier upload for the study.

    Raises:
        InputError: If there is no file, its suffix is unknown, or it is too large.
    """
    file = request.FILES.get("file")
    if not isinstance(file, UploadedFile) or not str(file.name).lower().endswith(suffixes):
        message = f"choose a file that ends in {', '.join(suffixes)}; got {getattr(file, 'name', 'none')!r}"
        raise InputError(message)
    if (file.size or 0) > most_bytes:
        message = f"`{file.name}` is larger than the limit of {most_bytes // 1_000_000} MB. Split it into parts"
        raise InputError(message)
    drop_upload(request, hosted)
    folder = _folder()
    folder.mkdir(mode=0o700, exist_ok=True)
    _sweep(folder)
    token = secrets.token_urlsafe(16)
    with (folder / token).open("wb") as target:
        for part in file.chunks():
            target.write(part)
    request.session[_key(hosted)] = {"token": token, "name": Path(str(file.name)).name[:200]}


def upload_of(request: HttpRequest, hosted: HostedStudy) -> Upload | None:
    """Return the account's upload for this study; None if there is none."""
    known = request.session.get(_key(hosted))
    if not known:
        return None
    path = _folder() / Path(known["token"]).name
    return Upload(name=known["name"], path=path) if path.exists() else None


def drop_upload(request: HttpRequest, hosted: HostedStudy) -> None:
    """Delete the account's upload for this study, if there is one."""
    path = upload_of(request, hosted)
    if path:
        path.path.unlink(missing_ok=True)
    request.session.pop(_key(hosted), None)


def _key(hosted: HostedStudy) -> str:
    return f"upload {hosted.token}"


def _folder() -> Path:
    return Path(str(settings.WORKSPACE)) / _FOLDER


def _sweep(folder: Path) -> None:
    """Delete expired uploads."""
    for path in folder.iterdir():
        if path.stat().st_mtime < time.time() - KEPT_S:
            path.unlink(missing_ok=True)


MOST_DIALOGUE_BYTES = 30_000_000
"""Maximum size of a file of dialogues; bytes."""

DIALOGUE_SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".zip", ".json")
"""Suffixes of accepted files: tables, corpora of ConvoKit, tasks of Label Studio."""

SHOWN = 3
"""Number of dialogues in the preview; count."""

COLUMNS = (
    ("prompt", "Tester's message", False),
    ("response", "Application's reply", False),
    ("id", "Dialogue id", True),
    ("turn", "Turn number", True),
    ("tester", "Tester", True),
    ("context", "Source material", True),
    ("withheld", "Reason for a missing text", True),
)
"""Role of a column, its label, and whether it is optional."""

PLACES = (("application", "Application"), ("scenario", "Scenario"), ("level", "Level of testing"))
"""Fields with a constant for all rows or a column."""

HOLDER_WORDS = {TesterType.PERSON: "people", TesterType.RECORDED: "programs, or unknown"}
"""Tester types, as text."""


VALUES_SHOWN = 4
"""Number of example values shown for a field; count."""

WAY_WORDS = {
    Ways.EVERY: "each path to a last utterance is a dialogue",
    Ways.LONGEST: "the longest path is the dialogue",
    Ways.TIME: "the conversation is one dialogue, ordered by time",
}
"""Treatments of a branching conversation, as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChoice:
    """A selection field of the form.

    Attributes:
        name: Name of the field.
        label: Its subject.
        options: Value and label of each option.
        chosen: The selected value.
    """

    name: str
    label: str
    options: Sequence[tuple[str, str]]
    chosen: str


@allowed(Role.ORGANISER)
@require_http_methods(["GET", "POST"])
def import_dialogues(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Upload a table, preview its dialogues, and import them."""
    if request.method == "POST" and "file" in request.FILES:
        return _upload_dialogues(request, access)
    waiting = upload_of(request, access.hosted)
    if waiting is None:
        return _import_page(request, access, error="Choose a file first." if request.method == "POST" else "")
    if "drop" in request.POST:
        drop_upload(request, access.hosted)
        return redirect("organiser:import_dialogues", study=access.hosted.token)
    means, speakers = (_means(request), _voices(request)) if request.method == "POST" else (None, None)
    looked = look_into(waiting.path.read_bytes(), waiting.name, event_of(access.hosted), means, speakers)
    if means and "bring" in request.POST:
        return _import(request, access, waiting, looked)
    return _preview(request, access, waiting, looked)


def _upload_dialogues(request: HttpRequest, access: AccessContext) -> HttpResponse:
    try:
        keep_upload(request, access.hosted, suffixes=DIALOGUE_SUFFIXES, most_bytes=MOST_DIALOGUE_BYTES)
    except InputError as error:
        return _import_page(request, access, error=str(error))
    return redirect("organiser:import_dialogues", study=access.hosted.token)


def _import(request: HttpRequest, access: AccessContext, waiting: Upload, looked: Looked) -> HttpResponse:
    try:
        imported = bring_looked(looked, event_of(access.hosted))
    except (InvalidStudyError, Conflict):
        return _preview(request, access, waiting, looked)
    drop_upload(request, access.hosted)
    n = len(imported.new)
    audit(request.user, "imported dialogues", f"study {access.hosted.token}", hosted=access.hosted, new=n)
    known = f", {imported.known} already stored" if imported.known else ""
    messages.success(request, f"{n} dialogue{'' if n == 1 else 's'} imported{known}.{_queued(access)}")
    return redirect("organiser:exchange", study=access.hosted.token)


def _queued(access: AccessContext) -> str:
    """Add new dialogues to the annotation queue, if there is one; return the result as text."""
    if not has_queue(access.hosted.token):
        return " Annotators get them after a senior annotator opens the queue."
    try:
        n_items = fill_queue(access.hosted, by=access.account.token)
    except (Conflict, InputError) as error:
        return f" They are not in the queue: {error}."
    return f" {n_items} new item{'' if n_items == 1 else 's'} in the queue of annotators."


def _preview(request: HttpRequest, access: AccessContext, waiting: Upload, looked: Looked) -> HttpResponse:
    read = looked.read
    context = {
        "waiting": waiting.name,
        "read": read,
        "notes": looked.notes,
        "choices": _choices(read, looked.means),
        "places": _places(read, looked.means, event_of(access.hosted).study),
        "shown": [(humanize(dialogue.scenario), dialogue) for dialogue in read.dialogues[:SHOWN]],
        "n_turns": sum(len(dialogue.turns) for dialogue in read.dialogues),
        **_speaking(looked),
    }
    return _import_page(request, access, context, status=422 if request.method == "POST" and read.faults else 200)


def _speaking(looked: Looked) -> dict[str, object]:
    """Return the fields that identify the application's speakers; empty for a table."""
    remarks, speakers = looked.remarks, looked.voices
    if remarks is None or speakers is None:
        return {}
    fields = [(name, _with_values(name, list(remarks.values(name)))) for name in remarks.fields]
    ways = [(way.value, WAY_WORDS[way]) for way in Ways]
    return {
        "voices": [
            ColumnChoice(name="speaker_field", label="Speaker field", options=fields, chosen=speakers.speaker_field),
            ColumnChoice(name="ways", label="Branching conversations", options=ways, chosen=speakers.ways.value),
        ],
        "replies": ", ".join(speakers.application),
        "silent": ", ".join(silent_among(speakers, remarks) if speakers.silent is None else speakers.silent),
    }


def _with_values(name: str, values: Sequence[str]) -> str:
    """Return a field with its first values."""
    shown = ", ".join(value[:20] for value in values[:VALUES_SHOWN])
    return f"{name} ({shown}{', ...' if len(values) > VALUES_SHOWN else ''})"


def _import_page(
    request: HttpRequest,
    access: AccessContext,
    context: dict[str, object] | None = None,
    *,
    error: str = "",
    status: int = 200,
) -> HttpResponse:
    known = {
        "access": access,
        "error": error,
        "suffixes": ", ".join(DIALOGUE_SUFFIXES),
        "most": MOST_DIALOGUE_BYTES // 1_000_000,
    }
    return render(
        request, "web/organiser/import_dialogues.html", known | (context or {}), status=422 if error else status
    )


def _means(request: HttpRequest) -> BringColumns:
    return BringColumns(**{name: request.POST.get(name, "")[:200] for name in NAMES})


def _voices(request: HttpRequest) -> Voices:
    """Return the application's speakers from the form."""
    sent = request.POST
    ways = {way.value: way for way in Ways}
    return Voices(
        speaker_field=sent.get("speaker_field", "")[:200],
        application=_listed(sent.get("replies", "")),
        silent=_listed(sent.get("silent", "")),
        ways=ways.get(sent.get("ways", ""), Ways.EVERY),
    )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(value for part in text[:4000].split(",") if (value := part.strip()))


def _choices(read: ReadBrought, means: BringColumns) -> list[ColumnChoice]:
    named = [(column, column) for column in read.columns]
    chosen = {name: getattr(means, name) for name, _, _ in COLUMNS}
    return [
        ColumnChoice(
            name=name,
            label=label,
            options=[("", "no column"), *named] if is_optional or not chosen[name] else named,
            chosen=chosen[name],
        )
        for name, label, is_optional in COLUMNS
    ]


def _places(read: ReadBrought, means: BringColumns, study: Study) -> list[ColumnChoice]:
    """Return two selection fields for application, scenario and level: a constant and a column."""
    known = {
        "application": [(application.name, application.name) for application in study.applications],
        "scenario": [(scenario.name, humanize(scenario.name)) for scenario in study.scenarios],
        "level": [(level.value, level.value) for level in Level],
    }
    columns = [("", "no column"), *((column, column) for column in read.columns)]
    choices = []
    for name, label in PLACES:
        whole = f"of_{name}"
        options = [("", "from a column"), *known[name]]
        choices += [
            ColumnChoice(name=whole, label=label, options=options, chosen=getattr(means, whole)),
            ColumnChoice(
                name=name, label=f"or column with the {label.lower()}", options=columns, chosen=getattr(means, name)
            ),
        ]
    holders = [(holder.value, HOLDER_WORDS[holder]) for holder in HOLDERS]
    return [*choices, ColumnChoice(name="held_by", label="Testers", options=holders, chosen=means.held_by)]


MOST_BYTES = 30_000_000
"""Maximum size of a file of labels; bytes."""

SUFFIXES = (".csv", ".tsv", ".jsonl", ".json")
"""Suffixes of accepted files; `.json` is an export of Label Studio."""


ARCHIVES = (ExportForm.ANSWERS, ExportForm.ANSWERS_PARQUET, ExportForm.ARGILLA)
"""Formats of the archive, with one row per answer."""

_ARCHIVE_NAMES = {
    ExportForm.ANSWERS: "answers",
    ExportForm.ANSWERS_PARQUET: "answers-parquet",
    ExportForm.ARGILLA: "answers-argilla",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelUpload:
    """The fields of a label upload, stored to show the submitted form again."""

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
def exchange(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show exports and imports, or import labels."""
    sent, errors = LabelUpload(), ""
    if request.method == "POST":
        sent = _sent(request)
        try:
            report = _import_labels(request, access, sent)
        except (InvalidStudyError, InputError) as error:
            errors = str(error)
        else:
            messages.success(request, report)
            return redirect("organiser:exchange", study=access.hosted.token)
    guidelines = [(guideline.name, humanize(guideline.name)) for guideline in event_of(access.hosted).study.guidelines]
    context = {"access": access, "guidelines": guidelines, "sent": sent, "errors": errors}
    context |= {"may_bring": access.role is Role.ORGANISER, "has_parquet": can_write(ExportForm.ANSWERS_PARQUET)}
    return render(request, "web/organiser/exchange.html", context, status=422 if errors else 200)


@allowed(Role.ORGANISER, Role.ANALYST)
@require_GET
def archive(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Return all answers, one per row, with codebook and schema and without names."""
    form = next(
        (archive for archive in ARCHIVES if archive.value == request.GET.get("form", ExportForm.ANSWERS.value)),
        None,
    )
    if form is None:
        raise Http404
    try:
        packed, n = export_archive(_study_context(access).evidence(), form)
    except TheodoliteError as error:
        return _refused(request, access, error)
    details = {"answers": n, "form": form.value}
    audit(request.user, "exported answers", f"study {access.hosted.token}", hosted=access.hosted, **details)
    return _file(packed, f"{access.hosted.name}-{_ARCHIVE_NAMES[form]}.zip")


@allowed(Role.ORGANISER, Role.ANALYST)
@require_GET
def label_studio(request: HttpRequest, access: AccessContext, guideline: str) -> HttpResponse:
    """Return blinded tasks and the configuration for Label Studio."""
    if guideline not in {guideline.name for guideline in event_of(access.hosted).study.guidelines}:
        raise Http404
    try:
        packed = label_studio_archive(_study_context(access).evidence(), guideline)
    except TheodoliteError as error:
        return _refused(request, access, error)
    audit(request.user, "exported tasks", f"study {access.hosted.token}", hosted=access.hosted, guideline=guideline)
    return _file(packed, f"{access.hosted.name}-{guideline}-label-studio.zip")


def _study_context(access: AccessContext) -> StudyContext:
    event = event_of(access.hosted)
    return event_study_context(access.hosted.folder, Path(str(settings.WORKSPACE)), server_store(), event.study)


def _import_labels(request: HttpRequest, access: AccessContext, sent: LabelUpload) -> str:
    """Import labels, all or none; return the result as text."""
    file = request.FILES.get("file")
    if not isinstance(file, UploadedFile) or Path(str(file.name)).suffix not in SUFFIXES:
        message = f"choose a file that ends in {', '.join(SUFFIXES)}; got {getattr(file, 'name', 'none')!r}"
        raise InputError(message)
    if (file.size or 0) > MOST_BYTES:
        message = f"`{file.name}` is larger than the limit of {MOST_BYTES // 1_000_000} MB. Split it into parts"
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
        imported = import_labels(
            _study_context(access), path, columns, by=sent.by, repeats=sent.repeats, store=not is_check
        )
    facts = {"new": len(imported.new), "revised": len(imported.revised), "unchanged": imported.unchanged}
    if not is_check:
        audit(request.user, "imported labels", f"study {access.hosted.token}", hosted=access.hosted, **facts)
    counts = f"{len(imported.new)} new, {len(imported.revised)} revised, {imported.unchanged} already stored"
    return f"{'Checked, not stored' if is_check else 'Stored'}: labels of dialogues: {counts}."


def _sent(request: HttpRequest) -> LabelUpload:
    names = ("dialogue", "annotator", "turn", "reason", "answers", "spelling", "by")
    texts = {name: request.POST.get(name, "").strip()[:4000] for name in names}
    return LabelUpload(**texts, repeats="repeats" in request.POST)


def _lines(text: str) -> list[str]:
    """Return the NAME=VALUE lines of a field.

    Raises:
        InputError: If a line has another form.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if strange := [line for line in lines if "=" not in line]:
        message = f"each line has the form NAME=VALUE; got `{strange[0]}`"
        raise InputError(message)
    return lines


def _refused(request: HttpRequest, access: AccessContext, error: TheodoliteError) -> HttpResponse:
    messages.warning(request, f"Nothing to export: {error}")
    return redirect("organiser:exchange", study=access.hosted.token)


def _file(packed: bytes, name: str) -> HttpResponse:
    response = HttpResponse(packed, content_type="application/zip")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
