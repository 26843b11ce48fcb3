"""The report on a series: each study's own results, side by side."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from theodolite.bootstrap.clock import SystemClock
from theodolite.bootstrap.files import write_whole
from theodolite.bootstrap.permission import require_output_inside
from theodolite.bootstrap.reports import write_reports
from theodolite.bootstrap.study_context import open_study
from theodolite.config.load_context import report_assets
from theodolite.config.series import SeriesStudies, series_studies
from theodolite.domain.errors import InputError, NotFound, RunStopped
from theodolite.domain.study import Study
from theodolite.reporting.series.document import series_document
from theodolite.reporting.series.page import series_html
from theodolite.reporting.series.sides import SeriesResults, SeriesStudy

PAGE = "series.html"
DATA = "series.json"

_NO_FILE_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSeries:
    """A series' report.

    Attributes:
        results: What it shows.
        page: Path of the page.
        data: Path of the JSON document.
        absent: Files of studies that have not been run.
    """

    results: SeriesResults
    page: str
    data: str
    absent: tuple[str, ...] = ()


def write_series_report(path: str, *, out: str | None = None, partial: bool = False) -> WrittenSeries:
    """Write the report of each study of a series, and one over all of them.

    Args:
        path: File of the series.
        out: Folder for all files; `series-report-NAME` beside the studies where None.
        partial: Whether studies that are not finished are reported, and those that were never run left out.

    Raises:
        InputError: If a study belongs to another series, or two have one name.
        NotFound: If a study has not been run.
        RunStopped: If a study is not finished.
    """
    series = series_studies(Path(path))
    folder = Path(out) if out else series.folder / f"series-report-{series.name}"
    studies: list[SeriesStudy] = []
    absent: list[str] = []
    for file in series.files:
        try:
            studies.append(_study(series, file, folder, studies, partial=partial))
        except NotFound:
            if not partial:
                raise
            absent.append(str(file))
    if not studies:
        message = f"no study of series `{series.name}` has been run here: {', '.join(absent)}"
        raise NotFound(message)
    results = SeriesResults(
        name=series.name,
        preregistered=series.preregistered,
        studies=tuple(studies),
        generated=SystemClock().now(),
        package_version=version("theodolite"),
    )
    _require_inside(series, folder, PAGE, DATA)
    document = series_document(results) | {"not_run": absent}
    write_whole(folder / PAGE, series_html(results, report_assets(), absent=absent))
    write_whole(folder / DATA, json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    return WrittenSeries(results=results, page=str(folder / PAGE), data=str(folder / DATA), absent=tuple(absent))


def _require_inside(series: SeriesStudies, folder: Path, *files: str) -> None:
    """Refuse links within the series' folder that lead out of it; another folder is the operator's choice."""
    require_output_inside(folder, *(folder / file for file in files))
    home = series.folder.resolve()
    if folder.absolute().is_relative_to(series.folder) and not folder.resolve().is_relative_to(home):
        message = f"`{folder}` leads out of the series' folder, to `{folder.resolve()}`. Name another place with --out"
        raise InputError(message)


def _study(
    series: SeriesStudies, file: Path, folder: Path, before: Sequence[SeriesStudy], *, partial: bool
) -> SeriesStudy:
    """Return one study with its results, after its own report has been written."""
    context = open_study(str(series.folder / file))
    try:
        study = context.loaded.study
        _check(series, file, study, before)
        evidence = context.evidence()
        is_finished = context.is_finished()
        if not is_finished and not partial:
            message = (
                f"study `{study.name}` is not finished, and half a run must not look whole."
                f" Resume  theodolite run {context.path}  or add  --partial"
            )
            raise RunStopped(message)
        name = _folder_name(study.name)
        _require_inside(series, folder / name)
        findings = context.findings(evidence)
        written = write_reports(context, evidence, findings, out=str(folder / name))
        return SeriesStudy(
            path=file.as_posix(),
            study=study,
            findings=findings,
            results=json.loads(Path(written.results).read_text(encoding="utf-8")),
            is_finished=is_finished,
            report=f"{name}/{Path(written.report).name}",
        )
    finally:
        context.close()


def _folder_name(study: str) -> str:
    return _NO_FILE_NAME.sub("-", study)


def _check(series: SeriesStudies, file: Path, study: Study, before: Sequence[SeriesStudy]) -> None:
    """Refuse a study of another series, and a second one of the same name.

    Raises:
        InputError: For either.
    """
    if study.series != series.name:
        message = f"`{file}` belongs to series `{study.series or 'none'}`; expected `series: {series.name}` in it"
        raise InputError(message)
    for one in before:
        if _folder_name(one.study.name) == _folder_name(study.name):
            message = (
                f"two studies of series `{series.name}` are called `{study.name}`: {one.path} and {file};"
                " give each its own name under `study`"
            )
            raise InputError(message)
