"""Exchange: a run's answers given away, and labels from elsewhere taken in."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from theodolite.bootstrap.files import write_whole
from theodolite.bootstrap.labels import keep_read
from theodolite.bootstrap.permission import require_output_inside
from theodolite.bootstrap.study_context import StudyContext
from theodolite.config.brought.label_imports import ImportColumns, read_import
from theodolite.config.loading import InvalidStudyError
from theodolite.domain.annotating.label_sample import KeptLabels, item_of
from theodolite.domain.errors import InputError
from theodolite.domain.evidence import Evidence
from theodolite.domain.fault import did_you_mean
from theodolite.domain.guideline import Guideline
from theodolite.gateways.parquet import has_parquet, parquet_bytes, require_parquet
from theodolite.reporting.exporting.tables import WHOLE_NUMBERS, ExportTable, csv_text, export_tables, export_texts
from theodolite.usecases.argilla import datasets_of, users_table
from theodolite.usecases.keeping_labels import label_key
from theodolite.usecases.label_studio import label_config, tasks_of

_ANY_DAY = (1980, 1, 1, 0, 0, 0)
"""The day that stands in the archive, so that equal evidence makes equal bytes."""


class ExportForm(StrEnum):
    """What answers are given away as.

    Attributes:
        CSV: Tables of text, in one archive.
        PARQUET: Tables with typed columns, in one archive.
        ARGILLA: Datasets that Argilla reads, beside the tables.
        LABEL_STUDIO: Tasks that Label Studio reads.
    """

    CSV = "csv"
    PARQUET = "parquet"
    ARGILLA = "argilla"
    LABEL_STUDIO = "label-studio"


def can_write(form: ExportForm) -> bool:
    """Whether what writes a form is installed."""
    return form is not ExportForm.PARQUET or has_parquet()


def write_export(context: StudyContext, path: Path, form: ExportForm = ExportForm.CSV, *, guideline: str = "") -> int:
    """Write the answers of the latest run and return how many there are, or how many tasks; count.

    Args:
        context: The study at work.
        path: Where to.
        form: What as.
        guideline: Only its answers and the dialogues that are labelled by it; empty for all. Label Studio's tasks are
            always about one.

    Raises:
        InputError: If the study has no such guideline, or what writes the form is not installed.
        StorageUnavailable: If it cannot be written.
    """
    require_output_inside(context.loaded.folder, path, path.with_suffix(".xml"))
    if form is ExportForm.PARQUET:
        require_parquet()
    if form is ExportForm.LABEL_STUDIO:
        return _write_label_studio(context, path, guideline)
    archive, n_answers = export_archive(context.evidence(), form, guideline=guideline)
    write_whole(path, archive)
    return n_answers


def export_archive(evidence: Evidence, form: ExportForm = ExportForm.CSV, *, guideline: str = "") -> tuple[bytes, int]:
    """Return the disaggregated export as a zip archive, and how many answers it holds; count.

    Args:
        evidence: All records of one run.
        form: How tables are written, or with what beside them.
        guideline: Only its answers and the dialogues that are labelled by it; empty for all.

    Raises:
        InputError: If the study has no such guideline, or what writes the form is not installed.
    """
    if form is ExportForm.PARQUET:
        require_parquet()
    named = guideline_named(evidence, guideline).name if guideline else ""
    ending = "parquet" if form is ExportForm.PARQUET else "csv"
    files: dict[str, str | bytes] = {}
    n_answers = 0
    for table in export_tables(evidence, named):
        rows = list(table.rows)
        n_answers += len(rows) if table.name == "answers" else 0
        files[f"{table.name}.{ending}"] = _written(replace(table, rows=rows), form, evidence)
    files |= dict(export_texts(evidence, ending, named))
    if form is ExportForm.ARGILLA:
        files |= _argilla(evidence, guideline)
    return _zipped(files), n_answers


def _written(table: ExportTable, form: ExportForm, evidence: Evidence) -> str | bytes:
    if form is not ExportForm.PARQUET:
        return csv_text(table)
    about = {"study": evidence.study.name, "run": str(evidence.run.number), "study_version": evidence.run.study_version}
    return parquet_bytes(table.columns, table.rows, whole_numbers=WHOLE_NUMBERS, about=about)


def _argilla(evidence: Evidence, guideline: str) -> dict[str, str]:
    """Return the files of Argilla's datasets, and who stands behind their users."""
    named = [guideline_named(evidence, guideline)] if guideline else evidence.study.guidelines
    files = {"argilla/users.csv": csv_text(users_table(evidence))}
    for dataset in (each for one in named for each in datasets_of(evidence, one)):
        folder = f"argilla/{dataset.name}"
        parts = {".argilla/settings": dataset.settings, ".argilla/dataset": dataset.dataset, "records": dataset.records}
        files |= {f"{folder}/{name}.json": _json(entry) for name, entry in parts.items()}
    return files


def _json(entry: object) -> str:
    return json.dumps(entry, ensure_ascii=False, indent=1) + "\n"


def _zipped(files: Mapping[str, str | bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _ANY_DAY), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _write_label_studio(context: StudyContext, path: Path, guideline: str) -> int:
    """Write tasks for Label Studio, with its labelling configuration beside them, and return how many; count."""
    tasks, config, n_tasks = _label_studio(context.evidence(), guideline)
    write_whole(path, tasks)
    write_whole(path.with_suffix(".xml"), config)
    return n_tasks


def label_studio_archive(evidence: Evidence, guideline: str) -> bytes:
    """Return tasks and configuration for Label Studio as a zip archive.

    Raises:
        InputError: If the study has no such guideline.
    """
    tasks, config, _ = _label_studio(evidence, guideline)
    return _zipped({"tasks.json": tasks, "config.xml": config})


def _label_studio(evidence: Evidence, guideline: str) -> tuple[str, str, int]:
    named = guideline_named(evidence, guideline)
    tasks = list(tasks_of(evidence, named))
    about = [one for one in evidence.archive.dialogues() if evidence.study.labelled_by(one, named.name)]
    return _json(tasks), label_config(named, about), len(tasks)


def guideline_named(evidence: Evidence, name: str) -> Guideline:
    """Return the guideline of that name, or the study's only one.

    Raises:
        InputError: If there is no such guideline, or none was named among several.
    """
    names = [guideline.name for guideline in evidence.study.guidelines]
    if name in names:
        return evidence.study.guideline(name)
    if not name and len(names) == 1:
        return evidence.study.guidelines[0]
    near = did_you_mean(name, names) if name else ""
    message = f"name one of the study's guidelines with --guideline: {', '.join(names)}{near}"
    raise InputError(message)


def import_labels(
    context: StudyContext,
    path: Path,
    columns: ImportColumns,
    *,
    by: str = "",
    repeats: bool = False,
    store: bool = True,
) -> KeptLabels:
    """Take in labels from a foreign file, all or nothing, as if they had been given here.

    Raises:
        InvalidStudyError: If the file holds faults; says all of them.
    """
    evidence = context.evidence()
    # Whoever labelled elsewhere need not stand in the study, however near a name comes to one that does.
    key = replace(label_key(evidence), annotators=())
    read = read_import(path, key, names_of_dialogues(evidence), columns, by=by, repeats=repeats)
    if read.faults:
        raise InvalidStudyError(read.faults, ending="Nothing was stored.")
    return keep_read(context, evidence, read, store=store)


def names_of_dialogues(evidence: Evidence) -> dict[str, str]:
    """Return what a file may call a dialogue: its label, the last part of that where it is unique, its item."""
    names: dict[str, str] = {}
    twice: set[str] = set()
    for dialogue in evidence.archive.dialogues():
        item = item_of(dialogue.key)
        short = dialogue.label.rsplit("/", 1)[-1]
        if names.setdefault(short, item) != item:
            twice.add(short)
        names |= {dialogue.label: item, item: item}
    return {name: item for name, item in names.items() if name not in twice}
