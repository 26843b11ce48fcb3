"""Steps of the study editor, in the order in which a person writes a study file, and files made of uploaded tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config.edit_checks import added_errors
from theodolite.config.editable_files import LARGEST, EditableFiles
from theodolite.config.personas import shipped_personas
from theodolite.config.study_forms import GENERAL, FormField, PartForm, Widget
from theodolite.config.tables import table_of
from theodolite.config.yaml_edits import Path, Value, value_at, with_value
from theodolite.config.yaml_source import LocatedDiagnostic
from theodolite.domain.errors import InputError, NotFound, Severity

PUBLISH = "publish"
"""Key of the last step, which has no part of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EditorStep:
    """A step of the editor.

    Attributes:
        key: The step in addresses.
        title: Displayed name.
        parts: Top-level keys of the study file; a step with one mapping first opens its form.
        opens_part: Whether the step opens the form of its first part.
        is_in_packs: Whether scenario packs contain such parts.
    """

    key: str
    title: str
    parts: tuple[str, ...] = ()
    opens_part: bool = True
    is_in_packs: bool = False


STEPS = (
    EditorStep(
        key="study",
        title="Study",
        parts=(
            *("study", "title", "about", "pack", "language", "contact", "series", "risks", "typology", "topics"),
            *("held_out", "groups", "measures", "budget"),
        ),
        opens_part=False,
    ),
    EditorStep(key="consent", title="Consent", parts=("consent", "warning", "screening", "breaks"), opens_part=False),
    EditorStep(key="applications", title="Applications", parts=("applications", "models", "connection")),
    EditorStep(key="scenarios", title="Scenarios", is_in_packs=True, parts=("scenarios", "personas", "cases")),
    EditorStep(key="levels", title="Levels and quotas", parts=("levels", "assign", "event", "sampling")),
    EditorStep(key="questionnaires", title="Questionnaires", is_in_packs=True, parts=("questionnaires",)),
    EditorStep(
        key="annotation",
        title="Annotation",
        is_in_packs=True,
        parts=("annotation", "schemas", "guidelines", "annotators", "spelling", "reference"),
    ),
    EditorStep(key="judges", title="Judges", parts=("judges", "gates", "corrections", "tree")),
    EditorStep(key=PUBLISH, title="Publish"),
)
"""All steps, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPart:
    """A part of a step as the list of steps shows it.

    Attributes:
        field: Its key in the file.
        address: Address of its form.
        n_faults: Errors in the part; count.
        is_current: Whether the page shows it.
    """

    field: FormField
    address: str
    n_faults: int
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownStep:
    """A step with its state.

    Attributes:
        number: Position, from 1.
        step: The step.
        address: Address of its form.
        parts: Its parts; without those that the form of the step contains.
        n_faults: Errors and open items in its parts; count.
        is_set: Whether the file has one of its parts.
        is_from_pack: Whether it has none of them, and a pack contains such parts.
        is_current: Whether the page shows it.
    """

    number: int
    step: EditorStep
    address: str
    parts: tuple[StepPart, ...]
    n_faults: int
    is_set: bool
    is_from_pack: bool
    is_current: bool

    @property
    def icon(self) -> str:
        """Icon of its state."""
        if self.n_faults:
            return "alert-triangle"
        return "circle-check" if self.is_set or self.is_from_pack else "circle-dashed"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPlace:
    """The place of a page among the steps.

    Attributes:
        base: Address of the study file's page, to which the place is added.
        step: Step that the address names; empty for none.
        part: Top-level key of the form on the page; empty for none.
    """

    base: str
    step: str = ""
    part: str = ""

    def is_at(self, step: EditorStep) -> bool:
        """Return whether the page shows a step."""
        if self.part and self.part != GENERAL:
            return self.part in step.parts
        return self.step == step.key


def shown_steps(top: PartForm, found: Sequence[LocatedDiagnostic], place: StepPlace) -> tuple[ShownStep, ...]:
    """Return the steps of a study file.

    Args:
        top: Form of the whole file.
        found: Errors and open items of the file.
        place: The place of the page.
    """
    fields = {field.key: field for field in (*top.fields, *top.more)}
    counts = _counts(fields, found)
    return tuple(_shown(number, step, fields, counts, place) for number, step in enumerate(STEPS, start=1))


def _shown(
    number: int, step: EditorStep, fields: Mapping[str, FormField], counts: Mapping[str, int], place: StepPlace
) -> ShownStep:
    parts = tuple(
        StepPart(
            field=fields[key],
            address=f"{place.base}&at={_form_of(fields[key])}&step={step.key}",
            n_faults=counts.get(key, 0),
            is_current=_form_of(fields[key]) == place.part,
        )
        for key in step.parts
        if step.opens_part or fields[key].widget is Widget.LINK
    )
    at = step.parts[0] if step.parts and step.opens_part and fields[step.parts[0]].widget is Widget.LINK else GENERAL
    n_faults = sum(counts.values()) if step.key == PUBLISH else sum(counts.get(key, 0) for key in step.parts)
    is_set = any(fields[key].is_set for key in step.parts)
    return ShownStep(
        number=number,
        step=step,
        address=f"{place.base}&at={at}&step={step.key}",
        parts=parts,
        n_faults=n_faults,
        is_set=is_set,
        is_from_pack=not is_set and step.is_in_packs and fields["pack"].is_set,
        is_current=place.is_at(step),
    )


def _form_of(field: FormField) -> str:
    """Return the address of the form with a key: its own form, or that of the step."""
    return field.key if field.widget is Widget.LINK else GENERAL


def _counts(fields: Mapping[str, FormField], found: Sequence[LocatedDiagnostic]) -> dict[str, int]:
    """Return the number of errors and open items by the top-level key in whose lines they are."""
    starts = sorted((field.line, key) for key, field in fields.items() if field.line)
    counts: dict[str, int] = {}
    for item in found:
        if item.severity is Severity.NOTE:
            continue
        key = next((key for line, key in reversed(starts) if line <= item.line), "study")
        counts[key] = counts.get(key, 0) + 1
    return counts


def of_step(form: PartForm, step: str) -> tuple[tuple[FormField, ...], tuple[FormField, ...]]:
    """Return the fields of the form of a whole file that belong to a step, and its further fields.

    Without a step these are all fields.
    """
    parts = next((editor_step.parts for editor_step in STEPS if editor_step.key == step), None)
    if parts is None or form.at != GENERAL:
        return form.fields, form.more
    fields = {field.key: field for field in (*form.fields, *form.more)}
    known = {field.key for field in form.fields}
    first = tuple(fields[key] for key in parts if key in fields and (key in known or key in parts[:4]))
    return first, tuple(fields[key] for key in parts if key in fields and fields[key] not in first)


TABLES = (".csv", ".tsv", ".jsonl")
"""Suffixes of files that the study can name as a table."""

_PERSONAS = "personas"


def sent_file(request: HttpRequest) -> tuple[str, str]:
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


def table_uses(files: EditableFiles) -> list[tuple[str, str, Path]]:
    """Return the keys of a study that can name a table: address, description and path; none if it cannot be read."""
    try:
        text = files.read(files.main).text
        personas, cases = value_at(text, (_PERSONAS,)), value_at(text, ("cases",))
    except (InputError, NotFound):
        return []
    entries = personas.items() if isinstance(personas, dict) else ()
    groups = [str(name) for name, group in entries if isinstance(group, dict)]
    rows = [(f"rows {name}", f"Rows of persona group {name}", (_PERSONAS, name, "rows")) for name in groups]
    return [*rows, ("cases", "Test cases", ("cases", "file") if isinstance(cases, dict) else ("cases",))]


def with_table(files: EditableFiles, name: str, use: str) -> tuple[str, Path]:
    """Return the text of the study that names a table for a use, and the path of the key; no path without a use.

    Raises:
        InputError: If the file is not a table, or the study has no such key.
    """
    if not use:
        return "", ()
    if not name.endswith(TABLES):
        message = f"`{name}` is not a table; expected a name that ends in {', '.join(TABLES)}"
        raise InputError(message)
    path = next((path for known, _, path in table_uses(files) if known == use), ())
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


class RefusedTable(InputError):
    """A pasted table makes no persona group; `errors` lists all reasons with their lines."""

    def __init__(self, message: str, errors: tuple[LocatedDiagnostic, ...] = ()) -> None:
        """Store the message and the errors."""
        super().__init__(message)
        self.errors = errors


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGroup:
    """A persona group as a page describes it.

    Attributes:
        name: Its name; the file of its rows has the same name.
        template: Name of its template.
        model: Name of the model that plays the personas.
        table: The pasted rows, below a row of column names.
    """

    name: str
    template: str
    model: str
    table: str

    @property
    def file(self) -> str:
        """Name of the file of its rows."""
        return f"{self.name}.csv"

    @property
    def rows(self) -> str:
        """Its rows as CSV."""
        return table_text(self.table)

    def added_to(self, text: str) -> str:
        """Return the text of a study with the group.

        Raises:
            RefusedTable: If the name or the table is missing, or the study has a group of this name.
        """
        if not self.name or not self.table.strip():
            missing = "a name" if not self.name else "rows: the first line contains the column names"
            message = f"the new persona group needs {missing}"
            raise RefusedTable(message)
        if value_at(text, (_PERSONAS, self.name)) is not None:
            message = f"the study has a persona group `{self.name}` already; choose another name"
            raise RefusedTable(message)
        keys: dict[str, Value] = {"template": self.template, "rows": self.file, "model": self.model}
        return with_value(text, (_PERSONAS, self.name), {key: value for key, value in keys.items() if value})

    def require_usable(self, files: EditableFiles, text: str) -> None:
        """Refuse rows that cannot be read, or that do not fit the template.

        Args:
            files: The files of the study.
            text: Text of the study with the group.

        Raises:
            RefusedTable: If the table or the group has errors, or a file of the name exists.
        """
        if files.known(self.file) is not None:
            message = f"`{self.file}` exists already; choose another name for the group"
            raise RefusedTable(message)
        errors = table_of(self.rows.encode("utf-8"), self.file).faults
        changes = {self.file: self.rows, files.main: text}
        for error in added_errors(files, changes, resolver=resource_resolver()):
            if error not in errors and (error.file == self.file or self._is_named_in(error)):
                errors = (*errors, error)
        if errors:
            message = "the persona group is not added; correct its errors first"
            raise RefusedTable(message, errors)

    def _is_named_in(self, error: LocatedDiagnostic) -> bool:
        words = (self.name, self.file, self.model, self.template)
        return any(word and f"`{word}`" in error.message for word in words) or self.file in error.message


def group_from(sent: Mapping[str, str]) -> NewGroup:
    """Return the persona group that a form describes."""
    return NewGroup(
        name=sent.get("group_name", "").strip(),
        template=sent.get("group_template", ""),
        model=sent.get("group_model", ""),
        table=sent.get("group_table", ""),
    )


def group_choices(files: EditableFiles, text: str) -> dict[str, list[str]]:
    """Return the templates and the models that a new persona group can name."""
    own = [name.removeprefix("personas/").removesuffix(".md") for name in files.names() if _is_template(name)]
    try:
        models = value_at(text, ("models",))
    except InputError:
        models = None
    shipped = [template.name for template in shipped_personas()]
    return {"templates": [*own, *shipped], "models": list(models) if isinstance(models, dict) else []}


def _is_template(name: str) -> bool:
    return name.startswith("personas/") and name.endswith(".md")
