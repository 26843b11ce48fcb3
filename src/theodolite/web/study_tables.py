"""New files of a study from a page: uploaded texts, pasted tables, and persona groups made from a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest

from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config.edit_checks import added_errors
from theodolite.config.editable_files import LARGEST, EditableFiles
from theodolite.config.personas import shipped_personas
from theodolite.config.tables import table_of
from theodolite.config.yaml_edits import Path, Value, value_at, with_value
from theodolite.config.yaml_source import LocatedDiagnostic
from theodolite.domain.errors import InputError, NotFound

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
