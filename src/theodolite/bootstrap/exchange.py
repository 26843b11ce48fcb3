"""Exchange: a run's answers given away, and labels from elsewhere taken in."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from theodolite.bootstrap.files import write_whole
from theodolite.bootstrap.labels import keep_read
from theodolite.bootstrap.workbench import Workbench
from theodolite.config.label_imports import ImportColumns, read_import
from theodolite.config.loading import StudyFaults
from theodolite.domain.errors import InputError, StorageUnavailable
from theodolite.domain.evidence import Evidence
from theodolite.domain.fault import did_you_mean
from theodolite.domain.guideline import Guideline
from theodolite.domain.label_sample import KeptLabels, item_of
from theodolite.reporting.exporting import export_files
from theodolite.usecases.keeping_labels import label_key
from theodolite.usecases.label_studio import label_config, tasks_of

_ANY_DAY = (1980, 1, 1, 0, 0, 0)
"""The day that stands in the archive, so that equal evidence makes equal bytes."""


def write_export(bench: Workbench, path: Path) -> int:
    """Write the disaggregated export of the latest run and return how many answers it holds; count.

    Raises:
        StorageUnavailable: If it cannot be written.
    """
    archive, n_answers = export_archive(bench.evidence())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(archive)
    except OSError as error:
        message = f"`{path}` cannot be written: {error.strerror}. Name another place with --out"
        raise StorageUnavailable(message) from error
    return n_answers


def export_archive(evidence: Evidence) -> tuple[bytes, int]:
    """Return the disaggregated export as a zip archive, and how many answers it holds; count."""
    n_answers, files = 0, {}
    for name, text in export_files(evidence):
        files[name] = text
        n_answers += text.count("\n") - 1 if name == "answers.csv" else 0
    return _zipped(files), n_answers


def _zipped(texts: Mapping[str, str]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as files:
        for name, text in texts.items():
            files.writestr(zipfile.ZipInfo(name, _ANY_DAY), text, zipfile.ZIP_DEFLATED)
    return archive.getvalue()


def write_label_studio(bench: Workbench, path: Path, *, guideline: str = "") -> int:
    """Write tasks for Label Studio, with its labelling configuration beside them, and return how many; count.

    Raises:
        InputError: If the study has no such guideline.
        StorageUnavailable: If they cannot be written.
    """
    tasks, config, n_tasks = _label_studio(bench.evidence(), guideline)
    write_whole(path, tasks)
    write_whole(path.with_suffix(".xml"), config)
    return n_tasks


def label_studio_archive(evidence: Evidence, guideline: str) -> bytes:
    """Return the same tasks and configuration as a zip archive.

    Raises:
        InputError: If the study has no such guideline.
    """
    tasks, config, _ = _label_studio(evidence, guideline)
    return _zipped({"tasks.json": tasks, "config.xml": config})


def _label_studio(evidence: Evidence, guideline: str) -> tuple[str, str, int]:
    named = guideline_named(evidence, guideline)
    tasks = list(tasks_of(evidence, named))
    text = json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"
    return text, label_config(named, list(evidence.archive.dialogues())), len(tasks)


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
    bench: Workbench, path: Path, columns: ImportColumns, *, by: str = "", repeats: bool = False, store: bool = True
) -> KeptLabels:
    """Take in labels from a foreign file, all or nothing, as if they had been given here.

    Raises:
        StudyFaults: If the file holds faults; says all of them.
    """
    evidence = bench.evidence()
    # Whoever labelled elsewhere need not stand in the study, however near a name comes to one that does.
    key = replace(label_key(evidence), annotators=())
    read = read_import(path, key, names_of_dialogues(evidence), columns, by=by, repeats=repeats)
    if read.faults:
        raise StudyFaults(read.faults, ending="Nothing was stored.")
    return keep_read(bench, evidence, read, store=store)


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
