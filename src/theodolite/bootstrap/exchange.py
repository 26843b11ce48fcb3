"""Export and import of dialogues and labels."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Generic, TypeVar

from theodolite.bootstrap.files import write_whole
from theodolite.bootstrap.permission import require_output_inside
from theodolite.bootstrap.plugins import plugin_charts, plugin_exporters
from theodolite.bootstrap.study_context import StudyContext
from theodolite.config.label_imports import (
    ImportColumns,
    ReadLabels,
    label_file_text,
    read_import,
    read_label_file,
    read_sent_rows,
)
from theodolite.config.permissions import require_privacy_review
from theodolite.config.yaml_source import InvalidStudyError
from theodolite.domain.annotating.label_sample import KeptLabels, LabelSample, item_of
from theodolite.domain.dialogue import TesterType
from theodolite.domain.errors import InputError, TheodoliteError, did_you_mean
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import Guideline
from theodolite.gateways.extras import has_mlflow, has_png, png_bytes, require_png, write_mlflow
from theodolite.gateways.tables import has_parquet, parquet_bytes, require_parquet
from theodolite.plugins import ExportedRun, Exporter
from theodolite.plugins.discovery import part_named
from theodolite.reporting.exporting.chat_formats import (
    chat_lines,
    convokit_files,
    convokit_utterances,
    dataset_card,
    dialogue_traces,
    rate_metrics,
)
from theodolite.reporting.exporting.dialogue_rows import dialogue_columns, dialogue_rows
from theodolite.reporting.exporting.figures import Figure, figures_of
from theodolite.reporting.exporting.inspect_log import inspect_log_name, write_inspect_log
from theodolite.reporting.exporting.tables import (
    WHOLE_NUMBERS,
    ExportTable,
    csv_lines,
    csv_text,
    export_tables,
    export_texts,
)
from theodolite.reporting.exporting.text_tables import latex_lines, markdown_lines, paper_tables
from theodolite.usecases.labels import (
    DrawnLabels,
    LabelRequest,
    datasets_of,
    draw_labels,
    keep_descriptions,
    label_config,
    label_key,
    labels_to_keep,
    tasks_of,
    users_table,
)


def write_label_sample(context: StudyContext, request: LabelRequest, path: Path, *, by: str = "") -> DrawnLabels:
    """Sample dialogues for people to label, write the label file and store the sampling design.

    Raises:
        InputError: If the file exists already: it may contain labels.
        StorageUnavailable: If it cannot be written.
    """
    if path.exists():
        message = f"`{path}` exists and may contain labels. Name another file"
        raise InputError(message)
    require_output_inside(context.loaded.folder, path)
    sampled = draw_labels(context.evidence(), request)
    write_whole(path, label_file_text(sampled.slips, name=path.name, by=by))
    context.store.file(LabelSample.subject(context.loaded.study.name), sampled.sample)
    return sampled


def read_labels(context: StudyContext, path: Path, *, by: str = "", store: bool = True) -> tuple[KeptLabels, int]:
    """Read labels by people and store them, all or nothing.

    Returns:
        New labels, and the rows without an answer; count.

    Raises:
        InvalidStudyError: If the file has errors; lists all of them.
    """
    evidence = context.evidence()
    read = read_label_file(path, label_key(evidence), by=by)
    if read.faults:
        raise InvalidStudyError(read.faults, ending="Nothing was stored.")
    stored = keep_read(context, evidence, read, store=store)
    return stored, read.n_open


def keep_read(context: StudyContext, evidence: Evidence, read: ReadLabels, *, store: bool) -> KeptLabels:
    """Return the new labels of a file without errors, and store them on request."""
    stored = replace(labels_to_keep(evidence, read.labels), annotator_attributes=read.annotator_attributes)
    if store:
        context.store.keep_labels(stored.to_store)
        keep_descriptions(context.store, stored.annotator_attributes, now=context.clock.now())
    return stored


_TRAIN = "data/train-00000-of-00001.parquet"
"""The table within a data set of Hugging Face."""

Row = TypeVar("Row")

_ANY_DAY = (1980, 1, 1, 0, 0, 0)
"""The day that the archive states, so that equal evidence gives equal bytes."""


class ExportForm(StrEnum):
    """Formats of an export.

    Attributes:
        CSV: The dialogue table as comma-separated values.
        JSONL: The dialogue table as one JSON object a line.
        PARQUET: The dialogue table with typed columns.
        CHAT: One dialogue a line as messages of a chat API, with its labels.
        CONVOKIT: Dialogues with their labels as a corpus of ConvoKit, in a folder.
        HUGGING_FACE: The dialogue table with its card as a data set, in a folder.
        INSPECT: Logs of Inspect, one file for each application, in a folder.
        ANSWERS: Answers, dialogues and codebook without texts: CSV tables in one archive.
        ANSWERS_PARQUET: The same tables with typed columns.
        ARGILLA: Datasets for Argilla, and the tables of `ANSWERS`.
        LABEL_STUDIO: Tasks for Label Studio.
        FIGURES: Figures of the results as SVG, in a folder.
        FIGURES_PNG: The same figures as PNG.
        MARKDOWN: Tables of the results as Markdown.
        LATEX: The same tables as LaTeX.
        MLFLOW: Rates as metrics and dialogues as traces with assessments, on a tracking server of MLflow.
    """

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"
    CHAT = "chat"
    CONVOKIT = "convokit"
    HUGGING_FACE = "hugging-face"
    INSPECT = "inspect"
    ANSWERS = "answers"
    ANSWERS_PARQUET = "answers-parquet"
    ARGILLA = "argilla"
    LABEL_STUDIO = "label-studio"
    FIGURES = "figures"
    FIGURES_PNG = "figures-png"
    MARKDOWN = "markdown"
    LATEX = "latex"
    MLFLOW = "mlflow"


NEED_ARROW = frozenset({ExportForm.PARQUET, ExportForm.HUGGING_FACE, ExportForm.ANSWERS_PARQUET})
"""Formats that Apache Arrow writes."""

_WITH_TEXT = frozenset(
    {
        ExportForm.CSV,
        ExportForm.JSONL,
        ExportForm.PARQUET,
        ExportForm.CHAT,
        ExportForm.CONVOKIT,
        ExportForm.HUGGING_FACE,
        ExportForm.INSPECT,
    }
)
"""Formats that contain texts of dialogues."""

_OF_RESULTS = frozenset({ExportForm.FIGURES, ExportForm.FIGURES_PNG, ExportForm.MARKDOWN, ExportForm.LATEX})
"""Formats that contain results and no texts of dialogues."""


def send_to_mlflow(context: StudyContext, uri: str, *, include_text: bool = False) -> int:
    """Write the latest run to MLflow and return the number of traces; count.

    Args:
        context: The open study.
        uri: Tracking URI of the server.
        include_text: Whether texts of sessions with people are included; needs a finished privacy review.

    Raises:
        InputError: If MLflow's client is not installed, or texts of people were not reviewed.
        StorageUnavailable: If the server does not take the records.
    """
    if include_text:
        _require_review(context)
    evidence = context.evidence()
    return write_mlflow(
        uri,
        experiment=evidence.study.name,
        run_name=f"run {evidence.run.number}",
        params=_metadata(evidence),
        metrics=rate_metrics(context.findings(evidence)),
        traces=dialogue_traces(evidence, include_text=include_text),
    )


def can_write(form: ExportForm) -> bool:
    """Whether the packages that write a format are installed."""
    if form is ExportForm.FIGURES_PNG:
        return has_png()
    if form is ExportForm.MLFLOW:
        return has_mlflow()
    return form not in NEED_ARROW or has_parquet()


def write_export(
    context: StudyContext,
    path: Path,
    form: ExportForm = ExportForm.CSV,
    *,
    guideline: str = "",
    include_text: bool = False,
) -> int:
    """Write the latest run to a file and return the number of rows, answers or tasks; count.

    Args:
        context: The open study.
        path: The file.
        form: Its format.
        guideline: Only its labels and the dialogues that it applies to; empty for all. Label Studio's tasks are
            always about one.
        include_text: Whether the dialogue table contains texts of sessions with people; needs a finished
            privacy review of the run.

    Raises:
        InputError: If the study has no such guideline, a package that writes the format is not installed,
            or texts of people were not reviewed.
        StorageUnavailable: If the file cannot be written.
    """
    require_output_inside(context.loaded.folder, path, path.with_suffix(".xml"))
    if form in NEED_ARROW:
        require_parquet()
    if form in _OF_RESULTS:
        return _write_results(context, path, form)
    if form is ExportForm.LABEL_STUDIO:
        return _write_label_studio(context, path, guideline)
    if form in _WITH_TEXT:
        return _write_dialogues(context, path, form, guideline, include_text=include_text)
    archive, n_answers = export_archive(context.evidence(), form, guideline=guideline)
    write_whole(path, archive)
    return n_answers


def _write_dialogues(context: StudyContext, path: Path, form: ExportForm, guideline: str, *, include_text: bool) -> int:
    """Write the dialogues of a run with their labels and return the number of rows, dialogues or samples; count."""
    if include_text:
        _require_review(context)
    match form:
        case ExportForm.CHAT:
            return _write_chat(context.evidence(), path, guideline, include_text=include_text)
        case ExportForm.CONVOKIT:
            return _write_convokit(context.evidence(), path, guideline, include_text=include_text)
        case ExportForm.HUGGING_FACE:
            return _write_hugging_face(context.evidence(), path, guideline, include_text=include_text)
        case ExportForm.INSPECT:
            return _write_inspect_logs(context, path, include_text=include_text)
        case _:
            return _write_dialogue_table(context.evidence(), path, form, guideline, include_text=include_text)


def _require_review(context: StudyContext) -> None:
    """Refuse texts of people without a finished privacy review; other runs need none."""
    evidence = context.evidence()
    if any(dialogue.held_by is TesterType.PERSON for dialogue in evidence.archive.dialogues()):
        require_privacy_review(context.loaded.folder, evidence.run.number)


def _write_results(context: StudyContext, path: Path, form: ExportForm) -> int:
    """Write figures to a folder, or tables to a file, and return their number; count."""
    if form is ExportForm.FIGURES_PNG:
        require_png()
    evidence = context.evidence()
    findings = context.findings(evidence)
    if form in {ExportForm.FIGURES, ExportForm.FIGURES_PNG}:
        sampled = (*figures_of(evidence, findings), *_plugin_figures(evidence))
        for figure in sampled:
            if form is ExportForm.FIGURES:
                write_whole(path / f"{figure.name}.svg", figure.svg)
            else:
                write_whole(path / f"{figure.name}.png", png_bytes(figure.svg))
        return len(sampled)
    tables, write = paper_tables(evidence, findings), markdown_lines if form is ExportForm.MARKDOWN else latex_lines
    write_whole(path, write(tables, title=evidence.study.title or evidence.study.name))
    return len(tables)


def _exported_run(evidence: Evidence, guideline: str = "", *, include_text: bool = False) -> ExportedRun:
    named = guideline_named(evidence, guideline).name if guideline else ""
    rows = dialogue_rows(evidence, named, include_text=include_text)
    return ExportedRun(
        study=evidence.study.name, run=evidence.run.number, columns=dialogue_columns(evidence), rows=rows
    )


def _plugin_figures(evidence: Evidence) -> Iterator[Figure]:
    """Yield the charts of plugins; texts of sessions with people are left out.

    Raises:
        InputError: If a chart raises an exception or returns no SVG.
    """
    for chart in plugin_charts():
        svg: Any
        try:
            svg = chart.draw(_exported_run(evidence))
        except Exception as error:  # the code of a plugin may raise anything; this is the boundary
            message = f"chart `{chart.name}` failed: {type(error).__name__}: {error}"
            raise InputError(message) from error
        if not isinstance(svg, str) or not svg.lstrip().startswith(("<svg", "<?xml")):
            message = f"chart `{chart.name}` must return SVG text, got {svg!r:.60}"
            raise InputError(message)
        yield Figure(name=chart.name.replace("/", "-"), title=chart.title or chart.name, svg=svg)


def write_plugin_export(
    context: StudyContext, name: str, out: str, *, guideline: str = "", include_text: bool = False
) -> tuple[Path, int]:
    """Write the latest run by the exporter of a plugin; return the path and the number of rows.

    Args:
        context: The open study.
        name: Name of the exporter.
        out: The file or folder; empty for the exporter's own name next to the study.
        guideline: Only its labels; empty for all.
        include_text: Whether texts of sessions with people are included; needs a finished privacy review.

    Raises:
        InputError: If no plugin has this exporter, or it raises an exception or returns no number of rows.
    """
    exporter: Exporter = part_named(plugin_exporters(), name, "exporter")
    path = Path(out) if out else context.loaded.folder / exporter.file
    require_output_inside(context.loaded.folder, path)
    if include_text:
        _require_review(context)
    run = _exported_run(context.evidence(), guideline, include_text=include_text)
    try:
        n: Any = exporter.write(run, path)
    except TheodoliteError:
        raise
    except Exception as error:  # the code of a plugin may raise anything; this is the boundary
        message = f"exporter `{name}` failed: {type(error).__name__}: {error}"
        raise InputError(message) from error
    if isinstance(n, bool) or not isinstance(n, int):
        message = f"exporter `{name}` must return the number of rows, got {n!r:.60}"
        raise InputError(message)
    return path, n


def _write_dialogue_table(
    evidence: Evidence, path: Path, form: ExportForm, guideline: str, *, include_text: bool
) -> int:
    named = guideline_named(evidence, guideline).name if guideline else ""
    counted = _LabelCounts(dialogue_rows(evidence, named, include_text=include_text))
    if form is ExportForm.PARQUET:
        columns = dialogue_columns(evidence)
        cells = ([row[name] for name in columns] for row in counted)
        write_whole(path, parquet_bytes(columns, cells, about=_metadata(evidence)))
    else:
        write_whole(path, _table_lines(evidence, counted, form))
    return counted.n


def _table_lines(evidence: Evidence, rows: Iterable[Mapping[str, object]], form: ExportForm) -> Iterator[str]:
    if form is not ExportForm.CSV:
        return (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    columns = tuple(dialogue_columns(evidence))
    cells = ([row[name] for name in columns] for row in rows)
    return csv_lines(ExportTable(name="dialogues", columns=columns, rows=cells))


def dialogue_table_lines(
    context: StudyContext, form: ExportForm, *, guideline: str = "", include_text: bool = False
) -> Iterator[str]:
    """Return the lines of the dialogue table of a run as CSV or JSON Lines.

    Args:
        context: The study and its run.
        form: `CSV` or `JSONL`.
        guideline: Only its labels; empty for all.
        include_text: Whether texts of sessions with people are included; needs a finished privacy review of the run.

    Raises:
        InputError: If the study has no such guideline, or texts of people were not reviewed.
    """
    if include_text:
        _require_review(context)
    evidence = context.evidence()
    named = guideline_named(evidence, guideline).name if guideline else ""
    return _table_lines(evidence, dialogue_rows(evidence, named, include_text=include_text), form)


def _write_chat(evidence: Evidence, path: Path, guideline: str, *, include_text: bool) -> int:
    named = guideline_named(evidence, guideline).name if guideline else ""
    lines = _LabelCounts(chat_lines(evidence, named, include_text=include_text))
    write_whole(path, lines)
    return lines.n


def _write_convokit(evidence: Evidence, folder: Path, guideline: str, *, include_text: bool) -> int:
    named = guideline_named(evidence, guideline).name if guideline else ""
    lines = _LabelCounts(convokit_utterances(evidence, named, include_text=include_text))
    write_whole(folder / "utterances.jsonl", lines)
    for name, text in convokit_files(evidence, named, include_text=include_text).items():
        write_whole(folder / name, text + "\n")
    return lines.n


def _write_hugging_face(evidence: Evidence, folder: Path, guideline: str, *, include_text: bool) -> int:
    n = _write_dialogue_table(evidence, folder / _TRAIN, ExportForm.PARQUET, guideline, include_text=include_text)
    write_whole(folder / "README.md", dataset_card(evidence, n, _TRAIN))
    return n


def _write_inspect_logs(context: StudyContext, folder: Path, *, include_text: bool) -> int:
    evidence = context.evidence()
    findings = context.findings(evidence)
    n_samples = 0
    for application in evidence.study.applications:
        packed = io.BytesIO()
        n_samples += write_inspect_log(packed, evidence, findings, application.name, include_text=include_text)
        write_whole(folder / inspect_log_name(evidence, application.name), packed.getvalue())
    return n_samples


class _LabelCounts(Generic[Row]):
    """Counts the rows that a writer reads."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.n = 0
        self._rows = rows

    def __iter__(self) -> Iterator[Row]:
        for row in self._rows:
            self.n += 1
            yield row


def _metadata(evidence: Evidence) -> dict[str, str]:
    return {"study": evidence.study.name, "run": str(evidence.run.number), "study_version": evidence.run.study_version}


def export_archive(
    evidence: Evidence, form: ExportForm = ExportForm.ANSWERS, *, guideline: str = ""
) -> tuple[bytes, int]:
    """Return the disaggregated export as a zip archive, and the number of answers; count.

    Args:
        evidence: All records of one run.
        form: Format of tables, or format of the files beside them.
        guideline: Only its answers and the dialogues that are labelled by it; empty for all.

    Raises:
        InputError: If the study has no such guideline, or the packages for the format are not installed.
    """
    if form in NEED_ARROW:
        require_parquet()
    named = guideline_named(evidence, guideline).name if guideline else ""
    ending = "parquet" if form in NEED_ARROW else "csv"
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
    if form not in NEED_ARROW:
        return csv_text(table)
    columns = {name: int if name in WHOLE_NUMBERS else str for name in table.columns}
    return parquet_bytes(columns, table.rows, about=_metadata(evidence))


def _argilla(evidence: Evidence, guideline: str) -> dict[str, str]:
    """Return the files of Argilla's datasets, and the annotators behind their users."""
    named = [guideline_named(evidence, guideline)] if guideline else evidence.study.guidelines
    files = {"argilla/users.csv": csv_text(users_table(evidence))}
    for dataset in (item for element in named for item in datasets_of(evidence, element)):
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
    """Write tasks for Label Studio with their labelling configuration, and return the number of tasks; count."""
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
    about = [dialogue for dialogue in evidence.archive.dialogues() if evidence.study.labelled_by(dialogue, named.name)]
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
    """Import labels from another tool's file, all or none, like labels from this one.

    Raises:
        InvalidStudyError: If the file has errors; lists all of them.
    """
    evidence = context.evidence()
    # An annotator of another tool need not be in the study, even if a similar name is.
    key = replace(label_key(evidence), annotators=())
    read = read_import(path, key, names_of_dialogues(evidence), columns, by=by, repeats=repeats)
    if read.faults:
        raise InvalidStudyError(read.faults, ending="Nothing was stored.")
    return keep_read(context, evidence, read, store=store)


def import_label_rows(context: StudyContext, rows: Sequence[Mapping[str, str]], *, by: str) -> KeptLabels:
    """Import labels that a program sent, all or none, like rows of a label file.

    Args:
        context: The study.
        rows: The columns of a label file; `item` is any name of a dialogue.
        by: The annotator.

    Raises:
        InvalidStudyError: If rows have errors; lists all of them, with the number of the row, from 1, as line.
    """
    evidence = context.evidence()
    read = read_sent_rows(rows, label_key(evidence), names_of_dialogues(evidence), by=by)
    if read.faults:
        raise InvalidStudyError(read.faults, ending="Nothing was stored.")
    return keep_read(context, evidence, read, store=True)


def names_of_dialogues(evidence: Evidence) -> dict[str, str]:
    """Return the names of a dialogue in a file: its label, the last part of that if it is unique, its item."""
    names: dict[str, str] = {}
    twice: set[str] = set()
    for dialogue in evidence.archive.dialogues():
        item = item_of(dialogue.key)
        short = dialogue.label.rsplit("/", 1)[-1]
        if names.setdefault(short, item) != item:
            twice.add(short)
        names |= {dialogue.label: item, item: item}
    return {name: item for name, item in names.items() if name not in twice}
