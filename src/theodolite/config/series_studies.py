"""The studies of a series: its file names them, or the studies beside it name the series."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from theodolite.config.diagnostics import LocatedDiagnostic
from theodolite.config.loading import InvalidStudyError
from theodolite.config.locate import SERVING, USUAL, read_file
from theodolite.config.lookup import LoadContext
from theodolite.config.series import preregistered
from theodolite.config.specs.series import SeriesSpec
from theodolite.config.yaml_source import read_yaml
from theodolite.domain.errors import InputError
from theodolite.domain.fault import Severity
from theodolite.domain.people.series import Series

FOLDER = "series"
"""Folder beside the studies that holds the files of series."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesStudies:
    """A series as its file has it.

    Attributes:
        name: The file's name without its ending, as studies name the series.
        folder: The folder in which `series/` lies; paths of studies begin there.
        preregistered: Its plan.
        files: The files of its studies, relative to the folder.
    """

    name: str
    folder: Path
    preregistered: Series | None
    files: tuple[Path, ...]


def is_series_file(path: Path) -> bool:
    """Tell whether a path names a series: a YAML file in a folder `series/`."""
    return path.suffix in {".yaml", ".yml"} and path.absolute().parent.name == FOLDER and path.is_file()


def series_studies(path: Path) -> SeriesStudies:
    """Return a series and where its studies are.

    Raises:
        InvalidStudyError: If the file of the series holds faults.
        InputError: If it has no studies, or names one outside of its folder or one that does not exist.
    """
    folder, name = path.absolute().parent.parent, path.stem
    context = LoadContext(folder=folder)
    entry = context.read_spec(FOLDER, name, SeriesSpec, "series")
    series = preregistered(entry, name, context)
    faults = tuple(fault for fault in context.diagnostics.in_order() if fault.severity is Severity.FAULT)
    if faults or entry is None:
        raise InvalidStudyError(faults, ending="No report was written.")
    named = [_named(study, folder, name) for study in entry.spec.studies]
    files = tuple(named or _found(folder, name))
    if not files:
        message = (
            f"series `{name}` has no studies: no study file in `{folder}` or a folder below it says `series: {name}`."
            f" Add that line to each study, or list their files under `studies` in {FOLDER}/{path.name}"
        )
        raise InputError(message)
    return SeriesStudies(name=name, folder=folder, preregistered=series, files=files)


def _named(study: str, folder: Path, series: str) -> Path:
    file = folder / study
    file = file / USUAL if file.is_dir() else file
    if not file.resolve().is_relative_to(folder.resolve()):
        message = f"series `{series}`: study `{study}` lies outside of the series' folder `{folder}`; move it there"
        raise InputError(message)
    if not file.is_file():
        message = (
            f"series `{series}`: there is no study file `{study}` in `{folder}`; correct the entry under `studies`"
        )
        raise InputError(message)
    return file.relative_to(folder)


def _found(folder: Path, series: str) -> Iterator[Path]:
    """Yield the study files that name the series: those of the folder first, then `study.yaml` one folder below."""
    beside = sorted(file for file in folder.iterdir() if file.suffix in {".yaml", ".yml"} and file.name != SERVING)
    below = sorted(file for file in folder.glob(f"*/{USUAL}") if not file.parent.name.startswith("."))
    for file in (*beside, *below):
        if file.is_file() and file.resolve().is_relative_to(folder.resolve()) and _series_of(file) == series:
            yield file.relative_to(folder)


def _series_of(file: Path) -> str:
    raw = read_file(file)
    content = None if isinstance(raw, LocatedDiagnostic) else read_yaml(raw, file.name).content
    if not isinstance(content, dict) or "study" not in content:
        return ""
    named = content.get("series", "")
    return str(named.get("name", "")) if isinstance(named, dict) else str(named)
