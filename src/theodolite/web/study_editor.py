"""The page on which a study is edited: its files, a text view with diagnostics, and forms that change the same text.

`theodolite view` and the organiser's pages share it. The page works without scripts; scripts save without
a reload.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlencode

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils import timezone

from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config.edit_checks import DraftReading, apply, check
from theodolite.config.editable_files import LARGEST, EditableFiles, EditConflict, StudyText
from theodolite.config.saved_texts import TextVersion
from theodolite.config.study_forms import (
    GENERAL,
    FormField,
    PartForm,
    Widget,
    removed,
    schema_name,
    study_form,
    with_entry,
    with_fields,
)
from theodolite.config.yaml_edits import Path, line_of, value_at, with_value
from theodolite.config.yaml_source import InvalidStudyError, LocatedDiagnostic
from theodolite.domain.errors import Conflict, InputError, NotFound, Severity
from theodolite.web import study_trials
from theodolite.web.study_trials import EditedStudy, UnsavedText

FIELD = "field:"
"""Prefix of inputs that contain the value of a key."""

_SUGGESTED = re.compile(r"Did you mean `([^`]+)`\?")

PARTIALS = ("findings", "side", "form", "versions")
"""Parts of the page that a save changes."""

_SHOWN_VERSIONS = 30

_TABLES = (".csv", ".tsv", ".jsonl")

Act = Callable[[HttpRequest, EditedStudy, str, str], HttpResponse]
"""Effect of a button on the file of a name; the last text is the button's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDiagnostic:
    """A diagnostic as the page lists it.

    Attributes:
        item: The diagnostic.
        is_here: Whether it belongs to the file on the page.
        suggested: The suggested word; empty for none.
    """

    item: LocatedDiagnostic
    is_here: bool
    suggested: str = ""

    @property
    def replacement(self) -> str:
        """Line, column, width and word of the suggestion, as sent by the button."""
        return f"{self.item.line}:{self.item.column}:{self.item.width}:{self.suggested}"

    @property
    def is_fault(self) -> bool:
        """Whether it prevents a run of the study."""
        return self.item.severity is Severity.ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class _RefusedText:
    """A text that was not saved, with the reason."""

    text: str
    why: str
    current: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartLink:
    """A part of a file in the list of parts.

    Attributes:
        field: Its key.
        address: Address of its form.
        n_faults: Errors in the part; count.
        is_current: Whether the page shows it.
    """

    field: FormField
    address: str
    n_faults: int
    is_current: bool


def edit(request: HttpRequest, edited: EditedStudy) -> HttpResponse:
    """Show a file of a study with its form and its diagnostics, or save the submitted text."""
    name = request.POST.get("file") or request.GET.get("file") or edited.files.main
    if request.method != "POST":
        try:
            return _page(request, edited, edited.files.read(name))
        except (InputError, NotFound) as error:
            raise Http404 from error
    act, _, rest = request.POST.get("act", "save").partition(":")
    if act == "save" and request.POST.get("new_name", "").strip():  # Enter in the name of a new entry
        act = "add_text" if "new_value" in request.POST else "open_entry"
    try:
        if act in _ACTS:
            return _ACTS[act](request, edited, name, rest)
        return _save(request, edited, name, act, rest)
    except EditConflict as conflict:
        why = "Not saved: the file has changed since you opened the page. Your text is in the editor; the other text is"
        why += " below. To replace the other text, save again."
        unsaved = _RefusedText(text=request.POST.get("text", ""), why=why, current=conflict.current.text)
        return _page(request, edited, conflict.current, unsaved, HTTPStatus.CONFLICT)
    except (InputError, Conflict, NotFound, InvalidStudyError) as error:
        unsaved = _RefusedText(text=request.POST.get("text", ""), why=f"Not saved: {error}")
        shown = _read_or_main(edited.files, name)
        return _page(request, edited, shown, unsaved, HTTPStatus.UNPROCESSABLE_ENTITY)


def _read_or_main(files: EditableFiles, name: str) -> StudyText:
    try:
        return files.read(name)
    except (InputError, NotFound):
        return files.read(files.main)


def _save(request: HttpRequest, edited: EditedStudy, name: str, act: str, rest: str) -> HttpResponse:
    """Save the text with the changed fields of the form."""
    saved = _saved(request, edited, name, act, rest)
    at = request.POST.get("at", "")
    if _is_script(request) and act != "remove":
        return _page(request, edited, saved)
    messages.success(request, "Draft saved." if edited.files.has_drafts else "Saved.")
    at = (at.rpartition("/")[0] or GENERAL) if act == "remove" else at
    return redirect(edited.page(name, at))


def _saved(request: HttpRequest, edited: EditedStudy, name: str, act: str, rest: str) -> StudyText:
    """Save the text after the action of a button, and return the saved text."""
    sent = request.POST
    text, form = _sent_text(request, edited, name)
    if form is not None:
        if act == "add_text":
            text = with_entry(text, form, sent.get("new_name", "").strip(), sent.get("new_value", ""))
        if act == "remove":
            text = removed(text, form)
    if act == "replace":
        text = _with_word(text, rest)
    saved = edited.files.save(name, text, seen=sent.get("seen", ""))
    _record(edited, "saved file of the study", [name])
    return saved


def _sent_text(request: HttpRequest, edited: EditedStudy, name: str) -> tuple[str, PartForm | None]:
    """Return the text in the editor with the values of the form, and the form."""
    shown, sent = edited.files.read(name), request.POST
    text = sent.get("text", shown.text).replace("\r\n", "\n")
    form = _form(request, edited, shown)
    if form is None:
        return text, None
    values = {key.removeprefix(FIELD): str(value) for key, value in sent.items() if key.startswith(FIELD)}
    return with_fields(text, form, values), form


def _record(edited: EditedStudy, verb: str, names: Sequence[str]) -> None:
    edited.recorded(verb, files=", ".join(names))


def _with_word(text: str, place: str) -> str:
    """Return the text with a replacement at `line:column:width:word`."""
    line, column, width, word = place.split(":", 3)
    lines = text.split("\n")
    row, start = int(line) - 1, int(column) - 1
    if 0 <= row < len(lines):
        lines[row] = lines[row][:start] + word + lines[row][start + int(width) :]
    return "\n".join(lines)


def _new_file(request: HttpRequest, edited: EditedStudy, _name: str, _rest: str) -> HttpResponse:
    """Add a file with an uploaded text or a pasted table, or an empty one; on request the study names the table."""
    name, text = _sent_file(request)
    main = edited.files.main
    with_name, path = _with_table(edited.files, name, request.POST.get("table_use", ""))
    try:
        edited.files.save(name, text, seen="")
        _record(edited, "added file of the study", [name])
    except EditConflict:
        message = f"`{name}` is there already; choose another name"
        raise InputError(message) from None
    added = f"Added {name}."
    if path:
        edited.files.save(main, with_name, seen=edited.files.read(main).version)
        _record(edited, "saved file of the study", [main])
        added += f" Line {line_of(with_name, path)} of {main} names it."
    messages.success(request, added)
    return redirect(edited.page(name))


def _sent_file(request: HttpRequest) -> tuple[str, str]:
    """Return name and text of a new file.

    Raises:
        InputError: If an uploaded file is too large or not a text, or comes together with a pasted text.
    """
    name, table = request.POST.get("new_file", "").strip(), request.POST.get("table", "")
    file = request.FILES.get("upload")
    if not isinstance(file, UploadedFile):
        return name, table_text(table) if table.strip() and name.endswith(".csv") else table
    name = name or str(file.name)
    if table.strip():
        message = "choose a file or paste its content, not both"
        raise InputError(message)
    if (file.size or 0) > LARGEST:
        message = f"`{name}` is larger than {LARGEST:,} bytes; add it on the machine itself"
        raise InputError(message)
    try:
        return name, file.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"`{name}` is not UTF-8; save it as UTF-8 first"
        raise InputError(message) from error


def _table_uses(files: EditableFiles) -> list[tuple[str, str, Path]]:
    """Return the keys of a study that can name a table: address, description and path; none if it cannot be read."""
    try:
        text = files.read(files.main).text
        personas, cases = value_at(text, ("personas",)), value_at(text, ("cases",))
    except (InputError, NotFound):
        return []
    entries = personas.items() if isinstance(personas, dict) else ()
    groups = [str(name) for name, group in entries if isinstance(group, dict)]
    rows = [(f"rows {name}", f"Rows of persona group {name}", ("personas", name, "rows")) for name in groups]
    return [*rows, ("cases", "Test cases", ("cases", "file") if isinstance(cases, dict) else ("cases",))]


def _with_table(files: EditableFiles, name: str, use: str) -> tuple[str, Path]:
    """Return the text of the study that names a table for a use, and the path of the key; no path without a use.

    Raises:
        InputError: If the file is not a table, or the study has no such key.
    """
    if not use:
        return "", ()
    if not name.endswith(_TABLES):
        message = f"`{name}` is not a table; expected a name that ends in {', '.join(_TABLES)}"
        raise InputError(message)
    path = next((path for known, _, path in _table_uses(files) if known == use), ())
    if not path:
        message = f"`{files.main}` has no `{use}`; reload the page, and choose another use"
        raise InputError(message)
    return with_value(files.read(files.main).text, path, name), path


def table_text(pasted: str) -> str:
    """Convert a table copied from a spreadsheet or a page to CSV; columns are separated by tabs or commas."""
    lines = pasted.replace("\r\n", "\n").strip("\n")
    if "\t" not in lines.split("\n", 1)[0]:
        return lines + "\n"
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(csv.reader(io.StringIO(lines), delimiter="\t"))
    return stream.getvalue()


def _open_entry(request: HttpRequest, edited: EditedStudy, name: str, _rest: str) -> HttpResponse:
    """Open the form of an entry that does not exist yet; its first save adds it. Other changes are saved first."""
    form = _form(request, edited, _saved(request, edited, name, "save", ""))
    if form is None:
        return redirect(edited.page(name))
    entry = request.POST.get("new_name", "").strip() if form.adds == "name" else str(len(form.fields))
    if not entry:
        message = "the new entry needs a name"
        raise InputError(message)
    at = f"{form.at}/{entry.replace('~', '~0').replace('/', '~1')}"
    kind = request.POST.get("kind", "")
    return redirect(edited.page(name, at) + (f"&{urlencode({'kind': kind})}" if kind else ""))


def _restore(request: HttpRequest, edited: EditedStudy, name: str, rest: str) -> HttpResponse:
    """Restore an earlier version by saving it again."""
    number = int(rest) if rest.isdecimal() else 0
    edited.files.save(name, edited.files.version(name, number), seen=request.POST.get("seen", ""))
    _record(edited, "restored file of the study", [name])
    messages.success(request, f"Version {number} is restored.")
    return redirect(edited.page(name))


def _apply(request: HttpRequest, edited: EditedStudy, _name: str, _rest: str) -> HttpResponse:
    """Write the drafts to the files, and open the page that publishes them."""
    _record(edited, "applied drafts of the study", apply(edited.files, resolver=resource_resolver()))
    messages.success(request, "The drafts are written to the study's files. Review the changes, then publish.")
    return redirect(edited.publishing or edited.page())


def _discard(request: HttpRequest, edited: EditedStudy, name: str, _rest: str) -> HttpResponse:
    edited.files.discard(name)
    _record(edited, "discarded draft of the study", [name])
    messages.success(request, f"The draft of {name} is discarded. Its versions are kept.")
    return redirect(edited.page(name if name in edited.files.names() else ""))


def _trial(show: Callable[[HttpRequest, EditedStudy, UnsavedText, str], HttpResponse]) -> Act:
    """Return the effect of a button that tries a part of the text in the editor."""

    def act(request: HttpRequest, edited: EditedStudy, name: str, rest: str) -> HttpResponse:
        return show(request, edited, UnsavedText(name=name, text=_sent_text(request, edited, name)[0]), rest)

    return act


_ACTS: Mapping[str, Act] = {
    "new_file": _new_file,
    "open_entry": _open_entry,
    "restore": _restore,
    "apply": _apply,
    "discard": _discard,
    "preview": _trial(study_trials.preview),
    "connection": _trial(study_trials.connection),
    "trial": _trial(study_trials.trial),
}
"""Effect of a button of the page, in addition to saving."""


def _is_script(request: HttpRequest) -> bool:
    return request.headers.get("Accept", "").startswith("application/json")


def _form(request: HttpRequest, edited: EditedStudy, seen: StudyText) -> PartForm | None:
    """Return the form of the part in the address; None for a file without forms, or with invalid YAML."""
    schema = schema_name(seen.name, main=edited.files.main)
    sent = request.POST if request.method == "POST" else request.GET
    if not schema or not sent.get("at"):
        return None
    try:
        return study_form(seen.text, schema, sent.get("at", ""), kind=sent.get("kind", ""))
    except InputError:
        return None


def _page(
    request: HttpRequest,
    edited: EditedStudy,
    shown: StudyText,
    unsaved: _RefusedText | None = None,
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    reading = check(edited.files, resolver=resource_resolver(), environ=edited.environ)
    context = _context(request, edited, shown, reading) | {"unsaved": unsaved}
    if not _is_script(request):
        return render(request, "web/editing/edit.html", context, status=status)
    parts = {name: render_to_string(f"web/editing/_{name}.html", context, request) for name in PARTIALS}
    saved = f"Saved {timezone.localtime().strftime('%H:%M:%S')}"
    text = unsaved.text if unsaved else shown.text
    problem = unsaved.why if unsaved else ""
    answer = {"version": shown.version, "text": text, "saved": saved, "is_saved": not unsaved, "problem": problem}
    return JsonResponse(answer | parts, status=status)


def _context(request: HttpRequest, edited: EditedStudy, shown: StudyText, reading: DraftReading) -> dict[str, object]:
    form = _form(request, edited, shown)
    findings = [_finding(item, shown.name) for item in reading.diagnostics]
    faults = [found for found in findings if found.is_fault]
    buttons = study_trials.trial_buttons(reading.loaded.study) if reading.loaded is not None else {}
    return {
        **edited.context,
        "edited": edited,
        "shown": shown,
        "form": form,
        "kind": (request.POST if request.method == "POST" else request.GET).get("kind", ""),
        **_rows(form, findings),
        "parts": _parts(edited, shown, faults, form),
        "files": [(name, edited.page(name), _n_in(faults, name)) for name in edited.files.names()],
        "drafts": edited.files.drafts() if edited.files.has_drafts else (),
        "findings": sorted(findings, key=lambda found: (not found.is_fault, not found.is_here)),
        "table_uses": _table_uses(edited.files),
        "n_faults": len(faults),
        "versions": edited.files.versions(shown.name)[:_SHOWN_VERSIONS],
        "version": _version(request, edited, shown.name),
        "added_access": reading.added_access,
        "buttons": buttons,
        "part_buttons": [(head, one) for head, group in buttons.items() for one in group if _is_part(one, form)],
        "tools": edited.tools.get(form.at.split("/")[0], ()) if form else (),
    }


def _is_part(button: study_trials.TrialButton, form: PartForm | None) -> bool:
    """Return whether a button tries the part that the form shows."""
    return form is not None and f"{form.at}/".startswith(f"{button.part}/")


def _version(request: HttpRequest, edited: EditedStudy, name: str) -> tuple[TextVersion, str] | None:
    """Return the stored version named by the address, with its text."""
    number = request.GET.get("version", "")
    found = next((item for item in edited.files.versions(name) if str(item.number) == number), None)
    return (found, edited.files.version(name, found.number)) if found else None


def _finding(item: LocatedDiagnostic, name: str) -> ShownDiagnostic:
    word = _SUGGESTED.search(item.message)
    is_here = item.file == name
    suggested = word[1] if word and is_here and item.line and item.column else ""
    return ShownDiagnostic(item=item, is_here=is_here, suggested=suggested)


def _rows(
    form: PartForm | None, findings: Sequence[ShownDiagnostic]
) -> dict[str, list[tuple[FormField, list[ShownDiagnostic]]]]:
    """Return the fields of a form, each with the errors on its line."""
    lines: dict[int, list[ShownDiagnostic]] = {}
    for found in findings:
        if found.is_here and found.is_fault:
            lines.setdefault(found.item.line, []).append(found)
    fields, more = (form.fields, form.more) if form else ((), ())
    return {
        "rows": [(item, lines.get(item.line, [])) for item in fields],
        "more_rows": [(item, lines.get(item.line, [])) for item in more],
    }


def _n_in(faults: Sequence[ShownDiagnostic], name: str) -> int:
    return sum(found.item.file == name for found in faults)


def _parts(
    edited: EditedStudy, shown: StudyText, faults: Sequence[ShownDiagnostic], form: PartForm | None
) -> list[PartLink]:
    """Return the parts of a file that has forms, with their errors."""
    schema = schema_name(shown.name, main=edited.files.main)
    if not schema:
        return []
    try:
        top = study_form(shown.text, schema, "")
    except InputError:
        return []
    keys = (*top.fields, *top.more)
    starts = sorted(part.line for part in keys if part.line)
    current = form.at.split("/")[0] if form else ""
    general = FormField(key="general", at=GENERAL, is_set=True)
    address = edited.page(shown.name, GENERAL)
    result = [PartLink(field=general, address=address, n_faults=0, is_current=current == GENERAL)]
    for part in keys:
        if part.widget is not Widget.LINK:
            continue
        end = next((line for line in starts if line > part.line), 10**9)
        n = sum(found.is_here and part.line <= found.item.line < end for found in faults) if part.line else 0
        link = PartLink(
            field=part, address=edited.page(shown.name, part.at), n_faults=n, is_current=part.key == current
        )
        result.append(link)
    return result
