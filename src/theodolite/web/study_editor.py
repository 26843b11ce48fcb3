"""The page on which a study is edited: its files, a text view with diagnostics, and forms that change the same text.

`theodolite view` and the organiser's pages share it. The page works without scripts; scripts save without
a reload.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils import timezone

from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config.crosschecks import TEST_BY_COMMAND
from theodolite.config.edit_checks import DraftReading, added_errors, apply, check
from theodolite.config.editable_files import EditableFiles, EditConflict, StudyText
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
from theodolite.config.yaml_edits import line_of, paths_of, source_at
from theodolite.config.yaml_source import InvalidStudyError, LocatedDiagnostic
from theodolite.domain.errors import Conflict, InputError, NotFound, Severity
from theodolite.web import study_trials
from theodolite.web.study_steps import (
    PUBLISH,
    RefusedTable,
    StepPlace,
    group_choices,
    group_from,
    of_step,
    sent_file,
    shown_steps,
    table_uses,
    with_table,
)
from theodolite.web.study_trials import EditedStudy, OfferedApplication, UnsavedText

FIELD = "field:"
"""Prefix of inputs that contain the value of a key."""

_SUGGESTED = re.compile(r"Did you mean `([^`]+)`\?")

PARTIALS = ("head", "findings", "side", "form", "versions")
"""Parts of the page that a save changes."""

_SHOWN_VERSIONS = 30

FormRow = tuple[FormField, list["ShownDiagnostic"], list[tuple[str, study_trials.TrialButton]]]
"""A field with the errors on its line, and with the headings and buttons that try it."""

Act = Callable[[HttpRequest, EditedStudy, str, str], HttpResponse]
"""Effect of a button on the file of a name; the last text is the button's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDiagnostic:
    """A diagnostic as the page lists it.

    Attributes:
        item: The diagnostic.
        is_here: Whether it belongs to the file on the page.
        suggested: The suggested word; empty for none.
        address: Address of its line in another file of the study; empty if it cannot be edited there.
    """

    item: LocatedDiagnostic
    is_here: bool
    suggested: str = ""
    address: str = ""

    @property
    def replacement(self) -> str:
        """Line, column, width and word of the suggestion, as sent by the button."""
        return f"{self.item.line}:{self.item.column}:{self.item.width}:{self.suggested}"

    @property
    def is_fault(self) -> bool:
        """Whether it prevents a run of the study."""
        return self.item.severity is Severity.ERROR

    @property
    def is_problem(self) -> bool:
        """Whether something is to be done about it: an error or an open item."""
        return self.item.severity is not Severity.NOTE


@dataclass(frozen=True, slots=True, kw_only=True)
class _RefusedText:
    """A text that was not saved, with the reason."""

    text: str
    why: str
    current: str = ""
    errors: tuple[LocatedDiagnostic, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """A change of a file that the person has to confirm.

    Attributes:
        heading: The question.
        act: Value of the button, `delete` or `rename`.
        button: Text of the button.
        errors: Errors that the change would add.
        new_name: New name of the file; empty for a deletion.
    """

    heading: str
    act: str
    button: str
    errors: tuple[LocatedDiagnostic, ...] = ()
    new_name: str = ""


def edit(request: HttpRequest, edited: EditedStudy) -> HttpResponse:
    """Show a file of a study with its form and its diagnostics, or save the submitted text."""
    name = request.POST.get("file") or request.GET.get("file") or edited.files.main
    if request.method != "POST":
        return _page(request, edited, _shown(edited.files, name))
    act, _, rest = _sent_act(request).partition(":")
    try:
        if act in _ACTS:
            return _ACTS[act](request, edited, name, rest)
        return _save(request, edited, name, act, rest)
    except EditConflict as conflict:
        change = "was deleted or renamed" if conflict.current.is_missing else "has changed"
        why = f"Not saved: the file {change} since you opened the page. Your text is in the editor"
        why += "." if conflict.current.is_missing else "; the other text is below."
        why += f" To {'add the file again' if conflict.current.is_missing else 'replace the other text'}, save again."
        text = request.POST.get("text", conflict.current.text)
        unsaved = _RefusedText(text=text, why=why, current=conflict.current.text)
        return _page(request, edited, conflict.current, unsaved, HTTPStatus.CONFLICT)
    except (InputError, Conflict, NotFound, InvalidStudyError) as error:
        shown = _shown_or_main(edited.files, name)
        text = request.POST.get("text", shown.text) if shown.name == name else shown.text
        errors = error.errors if isinstance(error, RefusedTable) else ()
        unsaved = _RefusedText(text=text, why=f"Not saved: {error}", errors=errors)
        return _page(request, edited, shown, unsaved, HTTPStatus.UNPROCESSABLE_ENTITY)


def _sent_act(request: HttpRequest) -> str:
    """Return the value of the pressed button; Enter in a field presses the button of its part of the form."""
    act = request.POST.get("act", "save")
    if act == "save" and request.POST.get("group_table", "").strip():
        return "new_group"
    if act == "save" and request.POST.get("new_name", "").strip():
        return "add_text" if "new_value" in request.POST else "open_entry"
    return act


def _shown(files: EditableFiles, name: str) -> StudyText:
    """Return the text of a file, or a missing text if the file has stored versions.

    Raises:
        Http404: If the name is not allowed, or there never was such a file.
    """
    try:
        shown = files.read_or_missing(name)
    except InputError as error:
        raise Http404 from error
    if shown.is_missing and not files.versions(name):
        raise Http404
    return shown


def _shown_or_main(files: EditableFiles, name: str) -> StudyText:
    try:
        return _shown(files, name)
    except Http404:
        return files.read(files.main)


def _save(request: HttpRequest, edited: EditedStudy, name: str, act: str, rest: str) -> HttpResponse:
    """Save the text with the changed fields of the form."""
    saved = _saved(request, edited, name, act, rest)
    at = request.POST.get("at", "")
    if _is_script(request) and act != "remove":
        return _page(request, edited, saved)
    messages.success(request, "Draft saved." if edited.files.has_drafts else "Saved.")
    at = (at.rpartition("/")[0] or GENERAL) if act == "remove" else at
    step = request.POST.get("step", "")
    return redirect(edited.page(name, at) + (f"&{urlencode({'step': step})}" if step and at else ""))


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
        text = _with_word(text, rest, checked=edited.files.read_or_missing(name).text)
    saved = edited.files.save(name, text, seen=sent.get("seen", ""))
    _record(edited, "saved file of the study", [name])
    return saved


def _sent_text(request: HttpRequest, edited: EditedStudy, name: str) -> tuple[str, PartForm | None]:
    """Return the text in the editor with the values of the form, and the form."""
    shown, sent = edited.files.read_or_missing(name), request.POST
    text = sent.get("text", shown.text).replace("\r\n", "\n")
    form = _form(request, edited, shown)
    if form is None:
        return text, None
    values = {key.removeprefix(FIELD): str(value) for key, value in sent.items() if key.startswith(FIELD)}
    return with_fields(text, form, values), form


def _record(edited: EditedStudy, verb: str, names: Sequence[str]) -> None:
    edited.recorded(verb, files=", ".join(names))


def _with_word(text: str, place: str, *, checked: str) -> str:
    """Return the text with a replacement at `line:column:width:word`.

    Args:
        text: Text in the editor.
        place: Place in the checked text, and the new word.
        checked: The text whose check found the place; lines above it may have changed since.

    Raises:
        InputError: If the line itself has changed.
    """
    line, column, width, word = place.split(":", 3)
    row, start = int(line) - 1, int(column) - 1
    lines, before = text.split("\n"), checked.split("\n")[row : row + 1]
    same = [index for index, one in enumerate(lines) if [one] == before]
    if row not in same and len(same) != 1:
        message = f"line {line} has changed since the check; save first, then replace the word"
        raise InputError(message)
    row = row if row in same else same[0]
    lines[row] = lines[row][:start] + word + lines[row][start + int(width) :]
    return "\n".join(lines)


def _new_file(request: HttpRequest, edited: EditedStudy, _name: str, _rest: str) -> HttpResponse:
    """Add a file with an uploaded text or a pasted table, or an empty one; on request the study names the table."""
    name, text = sent_file(request)
    main = edited.files.main
    with_name, path = with_table(edited.files, name, request.POST.get("table_use", ""))
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


def _new_group(request: HttpRequest, edited: EditedStudy, name: str, _rest: str) -> HttpResponse:
    """Add a persona group whose rows are a pasted table; the rows become a file."""
    files, group = edited.files, group_from(request.POST)
    text, _ = _sent_text(request, edited, name)
    current = files.read(name)
    if name != files.main or current.version != request.POST.get("seen", ""):
        raise EditConflict(current)
    text = group.added_to(text)
    group.require_usable(files, text)
    files.save(group.file, group.rows, seen="")
    files.save(name, text, seen=current.version)
    _record(edited, "added file of the study", [group.file])
    _record(edited, "saved file of the study", [name])
    line = line_of(text, ("personas", group.name))
    messages.success(request, f"Added {group.file} and persona group {group.name} in line {line} of {name}.")
    return redirect(edited.page(name, "personas"))


def _delete(request: HttpRequest, edited: EditedStudy, name: str, _rest: str) -> HttpResponse:
    """Delete a file once the person has confirmed it."""
    changes = edited.files.after_deleting(name)
    if "confirmed" not in request.POST:
        errors = added_errors(edited.files, changes, resolver=resource_resolver())
        asked = Confirmation(heading=f"Delete {name}?", act="delete", button=f"Delete {name}", errors=errors)
        return _page(request, edited, edited.files.read(name), confirmation=asked)
    edited.files.delete(name, seen=request.POST.get("seen", ""))
    _record(edited, "deleted file of the study", [name])
    is_draft = name in edited.files.drafts()
    messages.success(request, f"{name} is deleted{' in the draft' if is_draft else ''}. Its versions are kept.")
    return redirect(edited.page(name))


def _rename(request: HttpRequest, edited: EditedStudy, name: str, _rest: str) -> HttpResponse:
    """Rename a file; new errors of the study need a confirmation."""
    files, new = edited.files, request.POST.get("rename_to", "").strip()
    changes = files.after_renaming(name, new)
    errors = added_errors(files, changes, new_names={name: new}, resolver=resource_resolver())
    if errors and "confirmed" not in request.POST:
        heading, button = f"Rename {name} to {new}?", f"Rename {name}"
        asked = Confirmation(heading=heading, act="rename", button=button, errors=errors, new_name=new)
        return _page(request, edited, files.read(name), confirmation=asked)
    files.rename(name, new, seen=request.POST.get("seen", ""))
    _record(edited, "renamed file of the study", [name, new])
    text = files.read(files.main).text
    lines = [str(line_of(text, path)) for path in paths_of(text, new)]
    named = f" {files.main} names it in line {', '.join(lines)}." if lines else ""
    messages.success(request, f"{name} is now {new}.{named}")
    return redirect(edited.page(new))


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
        try:
            text, _ = _sent_text(request, edited, name)
        except (InputError, InvalidStudyError) as error:
            return study_trials.refused(request, edited, error)
        return show(request, edited, UnsavedText(name=name, text=text), rest)

    return act


_ACTS: Mapping[str, Act] = {
    "new_file": _new_file,
    "new_group": _new_group,
    "delete": _delete,
    "rename": _rename,
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
    confirmation: Confirmation | None = None,
) -> HttpResponse:
    reading = check(edited.files, resolver=resource_resolver(), environ=edited.environ)
    context = _context(request, edited, shown, reading) | {"unsaved": unsaved, "confirmation": confirmation}
    context["is_deleted"] = shown.is_missing and not unsaved
    if unsaved:
        context |= {"sent": request.POST, **_as_sent(context, request.POST)}
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
    names = edited.files.names()
    findings = [_finding(item, shown.name, edited, names) for item in reading.diagnostics]
    faults = [found for found in findings if found.is_fault]
    buttons = study_trials.trial_buttons(reading.loaded.study) if reading.loaded is not None else {}
    steps = _steps(request, edited, shown, [found for found in findings if found.is_problem], form)
    return {
        **edited.context,
        "edited": edited,
        "shown": shown,
        "is_yaml": shown.name.endswith((".yaml", ".yml")),
        "form": form,
        "kind": (request.POST if request.method == "POST" else request.GET).get("kind", ""),
        **_rows(form, findings, buttons, str(steps["step"])),
        **steps,
        "files": [(name, edited.page(name), _n_in(faults, name)) for name in names],
        "drafts": edited.files.drafts() if edited.files.has_drafts else (),
        "findings": sorted(findings, key=lambda found: (not found.is_fault, not found.is_here)),
        "table_uses": table_uses(edited.files),
        "n_faults": len(faults),
        "deleted": [(name, edited.page(name)) for name in edited.files.deleted()],
        "can_move": shown.name != edited.files.main and not shown.is_missing,
        "groups": group_choices(edited.files, shown.text) if form and form.path == ("personas",) else None,
        "versions": edited.files.versions(shown.name)[:_SHOWN_VERSIONS],
        "version": _version(request, edited, shown.name),
        "added_access": reading.added_access,
        "buttons": buttons,
        "part_buttons": [
            (head, button) for head, group in buttons.items() for button in group if _is_part(button, form, shown.name)
        ],
        "part_lines": _part_lines(shown.text, form),
        "offers": _offers(edited, shown, form),
    }


def _as_sent(context: Mapping[str, Any], sent: Mapping[str, str]) -> dict[str, object]:
    """Return the fields of a form with the values that were sent and not saved."""
    return {
        key: [(replace(item, value=sent.get(FIELD + item.at, item.value)), *rest) for item, *rest in context[key]]
        for key in ("rows", "more_rows")
    }


def _part_lines(text: str, form: PartForm | None) -> tuple[int, int]:
    """Return the first and the last line of the part that a form shows, from 1; zeros if the file has none."""
    first = line_of(text, form.path) if form and form.path else 0
    n = source_at(text, form.path).rstrip().count("\n") if form and first else 0
    is_below = bool(first) and not text.split("\n")[first - 1].partition(":")[2].partition("#")[0].strip()
    return first, first + n + (1 if is_below and form and form.is_set else 0)


def _offers(edited: EditedStudy, shown: StudyText, form: PartForm | None) -> list[OfferedApplication]:
    """Return the accepted applications that the form of applications offers."""
    if form is None or form.path != ("applications",) or shown.name != edited.files.main:
        return []
    known = {field.key for field in form.fields}
    return [offer for offer in edited.offers if offer.name not in known]


def _is_part(button: study_trials.TrialButton, form: PartForm | None, file: str) -> bool:
    """Return whether a button tries the part that the form shows: in the study file, or in a file of its own."""
    if form is None:
        return False
    folder, _, name = button.part.partition("/")
    is_category = folder == "schemas" and ("categories", name) in pairwise(form.path)
    return is_category or file == f"{button.part}.yaml" or f"{form.at}/".startswith(f"{button.part}/")


def _version(request: HttpRequest, edited: EditedStudy, name: str) -> tuple[TextVersion, str] | None:
    """Return the stored version named by the address, with its text."""
    number = request.GET.get("version", "")
    found = next((item for item in edited.files.versions(name) if str(item.number) == number), None)
    return (found, edited.files.version(name, found.number)) if found else None


def _finding(item: LocatedDiagnostic, name: str, edited: EditedStudy, names: Sequence[str]) -> ShownDiagnostic:
    item = replace(item, message=item.message.replace(TEST_BY_COMMAND, "use Test connection"))
    word = _SUGGESTED.search(item.message)
    is_here = item.file == name
    suggested = word[1] if word and is_here and item.line and item.column else ""
    is_linked = item.file in names and not is_here and item.line
    address = f"{edited.page(item.file)}#line-{item.line}" if is_linked else ""
    return ShownDiagnostic(item=item, is_here=is_here, suggested=suggested, address=address)


def _rows(
    form: PartForm | None,
    findings: Sequence[ShownDiagnostic],
    buttons: Mapping[str, Sequence[study_trials.TrialButton]],
    step: str,
) -> dict[str, list[FormRow]]:
    """Return the fields of a form, each with the errors on its line and the buttons that try it."""
    lines: dict[int, list[ShownDiagnostic]] = {}
    for found in findings:
        if found.is_here and found.is_fault:
            lines.setdefault(found.item.line, []).append(found)
    tries = [(heading, button) for heading, group in buttons.items() for button in group]
    fields, more = of_step(form, step) if form else ((), ())
    return {
        key: [
            (item, lines.get(item.line, []), [(head, one) for head, one in tries if one.part == item.at])
            for item in items
        ]
        for key, items in (("rows", fields), ("more_rows", more))
    }


def _n_in(faults: Sequence[ShownDiagnostic], name: str) -> int:
    return sum(found.item.file == name for found in faults)


def _steps(
    request: HttpRequest,
    edited: EditedStudy,
    shown: StudyText,
    faults: Sequence[ShownDiagnostic],
    form: PartForm | None,
) -> dict[str, object]:
    """Return the steps of the study file, or the parts of another file that has forms."""
    files = edited.files
    step = (request.POST if request.method == "POST" else request.GET).get("step", "")
    schema = schema_name(shown.name, main=files.main)
    part = form.at.split("/")[0] if form else ""
    result: dict[str, object] = {"step": step, "is_last_step": step == PUBLISH and part == GENERAL}
    try:
        if shown.name != files.main:
            top = study_form(shown.text, schema, "") if schema else None
            links = [field for field in (*top.fields, *top.more) if field.widget is Widget.LINK] if top else []
            result["parts"] = [(field, edited.page(shown.name, field.at), field.key == part) for field in links]
        main = files.read(files.main)
        top = study_form(main.text, schema_name(main.name, main=files.main), "")
    except (InputError, NotFound):
        return result
    place = StepPlace(base=edited.page(files.main), step=step, part=part if shown.name == files.main else "")
    found = [found.item for found in faults if found.item.file == files.main]
    return result | {"steps": shown_steps(top, found, place)}
