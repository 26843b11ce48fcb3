"""Pages over several runs or studies: comparisons, monitoring and series."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from theodolite.bootstrap.audience_reports import (
    audience_files,
    audience_results,
    sections_for_organisers,
    write_audience_files,
)
from theodolite.bootstrap.connections import SystemClock
from theodolite.bootstrap.files import write_whole
from theodolite.bootstrap.permission import require_output_inside
from theodolite.bootstrap.reports import facts_of, write_reports
from theodolite.bootstrap.study_context import StudyContext, dialogue_summaries, open_study
from theodolite.config.histories import HistoryForm, ScoreTable, read_history
from theodolite.config.load_context import report_assets, report_words
from theodolite.config.permissions import study_file
from theodolite.config.series import SeriesStudies, series_studies
from theodolite.config.tables import OnRows, read_table
from theodolite.config.yaml_source import LocatedDiagnostic
from theodolite.domain.comparison import ComparedSide, Comparison
from theodolite.domain.dialogue import Dialogue, TesterType
from theodolite.domain.errors import InputError, NotFound, RunStopped, did_you_mean
from theodolite.domain.estimate import Estimate, Findings, Undefined
from theodolite.domain.event import Series
from theodolite.domain.evidence import Evidence
from theodolite.domain.identity import version_of
from theodolite.domain.live import LiveDialogueSummary
from theodolite.domain.monitoring import Alert, History, Watch, WatchRules
from theodolite.domain.run import Run
from theodolite.domain.study import Study
from theodolite.gateways.tables import is_database, query_rows
from theodolite.measurement.sample_size import compare_by_mitigation, compare_sides
from theodolite.reporting.comparing.document import comparison_document, sides_of
from theodolite.reporting.comparing.text import comparison_html
from theodolite.reporting.monitoring.document import watch_document
from theodolite.reporting.monitoring.page import watch_html
from theodolite.reporting.monitoring.text import watch_text
from theodolite.reporting.results.document import results_document
from theodolite.reporting.series.page import series_html
from theodolite.reporting.series.sides import SeriesResults, SeriesStudy, series_document
from theodolite.reporting.words.reading_aids import read_words
from theodolite.testing.people import event_sessions
from theodolite.testing.planning import draw_plan
from theodolite.usecases.audiences import Audience, AudienceKind, audience_named, series_for
from theodolite.usecases.monitoring import Watched, history_of_runs
from theodolite.usecases.series_review import review_of

if TYPE_CHECKING:
    from theodolite.store.django_store import DjangoStore


def context_of_run(context: StudyContext, number: int) -> StudyContext:
    """Return the context of an earlier run.

    Args:
        context: The study as currently written.
        number: Number of the run within the study.

    Raises:
        InputError: If there is no such run, or the study's files no longer contain its recorded rows.
    """
    name, runs = context.loaded.study.name, context.store.runs(context.loaded.study.name)
    run = next((run for run in runs if run.number == number), None)
    if run is None:
        have = f"it has {', '.join(str(run.number) for run in runs)}" if runs else "it was never run here"
        message = f"study `{name}` has no run {number}; {have}"
        raise InputError(message)
    study = context.store.study(run.study_version)
    known = {application.name for application in study.applications}
    recordings = tuple(recording for recording in context.loaded.recordings if recording.application in known)
    plan, sessions = draw_plan(study, recordings)
    if version_of(plan) != run.plan_version:
        message = (
            f"run {number} of study `{name}` cannot be read any more: its recorded rows, or the rules by which"
            " sessions were drawn, have changed since. Its results.json can be compared, where it was kept"
        )
        raise InputError(message)
    loaded = replace(context.loaded, study=study, recordings=recordings)
    sessions = event_sessions(study, sessions, _held_by_then(context.store, run))
    return replace(context, loaded=loaded, plan=plan, sessions=sessions, chosen=run)


def _held_by_then(store: DjangoStore, run: Run) -> list[LiveDialogueSummary]:
    """Return the dialogues of people up to the last one of a run."""
    summaries = dialogue_summaries(store, run.study)
    if not summaries:
        return []
    theirs = {dialogue.key for dialogue in store.dialogues(run) if dialogue.held_by is TesterType.PERSON}
    last = max((item.ordinal for item in summaries if item.unit in theirs), default=-1)
    return [item for item in summaries if item.ordinal <= last]


COMPARISON_PAGE = "compare.html"

COMPARISON_DATA = "compare.json"

_MARK = "#"

_RUN = re.compile(r"(?P<study>.*)@(?P<number>[1-9]\d*)")
"""A study and one of its runs, e.g. `shop@2`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Result of a comparison, and the files written."""

    comparisons: tuple[Comparison, ...]
    page: str
    data: str


@dataclass(slots=True)
class _Desk:
    """Reads each location once, and keeps open the studies whose texts may be needed."""

    stack: ExitStack
    environ: Mapping[str, str] | None
    sides: dict[str, tuple[ComparedSide, ...]] = field(default_factory=dict)
    benches: dict[str, StudyContext] = field(default_factory=dict)

    def sides_at(self, place: str) -> tuple[ComparedSide, ...]:
        """Return the sides of a results file, or of a study's run: the latest, or the one behind `@`."""
        if place not in self.sides:
            self.sides[place] = sides_of(self._results(place), place)
        return self.sides[place]

    def _results(self, source: str) -> Mapping[str, object]:
        if not source.endswith(".json"):
            path, number = _study_and_run(source)
            context = open_study(path, environ=self.environ)
            self.stack.callback(context.close)
            context = context_of_run(context, number) if number else context
            self.benches[source] = context
            evidence = context.evidence()
            return results_document(evidence, context.findings(evidence), facts_of(context))
        try:
            read = json.loads(Path(source).read_text(encoding="utf-8"))
        except OSError as error:
            message = f"`{source}` cannot be read: {error.strerror}"
            raise InputError(message) from error
        except ValueError as error:
            message = f"`{source}` is not JSON: {error}"
            raise InputError(message) from error
        return read if isinstance(read, dict) else {}

    def words_of(self, place: str, side: ComparedSide, labels: set[str]) -> Iterator[tuple[tuple[str, str], Dialogue]]:
        """Yield the dialogues of a side, if its study is available."""
        context = self.benches.get(place)
        if context is None:
            return
        sources = [at for label in labels if (at := context.sessions.find(label)) is not None]
        for dialogue in context.archive().dialogues(at=sources):
            yield (side.name, dialogue.label), dialogue


def compare(
    first: str,
    second: str,
    *,
    study: str = ".",
    by_mitigation: bool = False,
    out: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Compared:
    """Compare two applications, two runs or two results files, and write page and data.

    Args:
        first: An application of `study`, a study, one of its runs (`STUDY@2`), or a results file;
            `PLACE#APPLICATION` names one of several.
        second: In the same form; for mitigations it is empty and `first` names the study.
        study: Study that resolves names of applications.
        by_mitigation: Compare all applications that differ by one mitigation.
        out: Folder for page and data; default: the current folder.
        environ: Environment variables; default: those of the process.

    Raises:
        InputError: If a location contains nothing comparable.
    """
    with ExitStack() as stack:
        desk = _Desk(stack, environ)
        chosen = _by_mitigation(desk, first or study) if by_mitigation else _pairs(desk, first, second, study)
        comparisons = tuple(item for _, item in chosen)
        text = dict(entry for sources, item in chosen for entry in _words(desk, sources, item))
        folder = Path(out) if out else Path()
        page, data = folder / COMPARISON_PAGE, folder / COMPARISON_DATA
        write_whole(page, comparison_html(comparisons, text))
        document = comparison_document(comparisons) | {"package": version("theodolite")}
        write_whole(data, json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    return Compared(comparisons=comparisons, page=str(page), data=str(data))


def differences_from(
    baseline: str,
    context: StudyContext,
    evidence: Evidence,
    findings: Findings,
    *,
    environ: Mapping[str, str] | None = None,
) -> Mapping[tuple[str, str, str, str], Estimate | Undefined]:
    """Return the differences between the rates of a run and of a baseline, for the gates of a study.

    Args:
        baseline: A run (`STUDY@1`, or `@1` of this study), a results file, or an application of this study.
        context: The study.
        evidence: The evidence of its run.
        findings: Everything that was measured on it.
        environ: Environment variables; default: those of the process.

    Returns:
        Difference of the rate to the baseline's, paired, by application, guideline, rule and annotator; fraction.

    Raises:
        InputError: If the baseline contains nothing comparable.
    """
    with ExitStack() as stack:
        source, application = _place(baseline, context.path)
        before = _chosen(_Desk(stack, environ), source, application)
        now = sides_of(results_document(evidence, findings, facts_of(context)), context.path)
        known = {side.application: side for side in before}
        pairs = [
            (before[0] if application else known[side.application], side)
            for side in now
            if (side.application != application if application else side.application in known)
        ]
        compared = [(side, compare_sides(first, side)) for first, side in pairs]
    return {
        (side.application, rate.ruling.subject.guideline, rate.ruling.subject.rule, rate.ruling.subject.annotator): (
            rate.difference
        )
        for side, comparison in compared
        for rate in comparison.rates
    }


_Chosen = tuple[tuple[str, str], Comparison]


def _by_mitigation(desk: _Desk, source: str) -> list[_Chosen]:
    sides = desk.sides_at(source)
    result = compare_by_mitigation(sides)
    if not result:
        have = "; ".join(f"`{side.name}` has {', '.join(side.mitigations) or 'none'}" for side in sides)
        among = " and are variants of one" if any(side.family for side in sides) else ""
        message = (
            f"no two applications of `{source}` differ by one mitigation{among}: {have}."
            " Name them under `mitigations`, and whose variant an application is under `variant_of`"
        )
        raise InputError(message)
    return [((source, source), item) for item in result]


def _pairs(desk: _Desk, first: str, second: str, study: str) -> list[_Chosen]:
    current, there = _place(first, study), _place(second, study)
    sides = _chosen(desk, *current), _chosen(desk, *there)
    if len(sides[0]) == len(sides[1]) == 1:
        pairs = [(sides[0][0], sides[1][0])]
    else:
        others = {side.application: side for side in sides[1]}
        pairs = [(side, others[side.application]) for side in sides[0] if side.application in others]
    if not pairs:
        message = (
            f"`{first}` and `{second}` have no application in common: {_names(sides[0])}; {_names(sides[1])}."
            f" Name one of each:  PLACE{_MARK}APPLICATION"
        )
        raise InputError(message)
    named = [_apart(item, other, (current[0], there[0])) for item, other in pairs]
    return [((current[0], there[0]), compare_sides(item, other)) for item, other in named]


def _place(text: str, study: str) -> tuple[str, str]:
    """Return a location and an application in it; text that is not a location names an application of the study."""
    source, _, application = text.partition(_MARK)
    if (run := _RUN.fullmatch(source)) and not run["study"]:
        return f"{study}{source}", application
    is_source = source.endswith(".json") or _is_study(_study_and_run(source)[0])
    return (source, application) if is_source else (study, text)


def _study_and_run(source: str) -> tuple[str, int]:
    """Return a study's path and the number of its run; 0 for the latest. A folder may have such a name itself."""
    result = _RUN.fullmatch(source)
    if result is None or not result["study"] or _is_study(source):
        return source, 0
    return result["study"], int(result["number"])


def _is_study(source: str) -> bool:
    return not isinstance(study_file(Path(source)), LocatedDiagnostic)


def _chosen(desk: _Desk, source: str, application: str) -> Sequence[ComparedSide]:
    sides = desk.sides_at(source)
    if not application:
        return sides
    known = {side.application: side for side in sides}
    if application not in known:
        near = did_you_mean(application, known)
        message = f"`{application}` is neither a study, a results file, nor an application of `{source}`{near}"
        message += f"; it has {', '.join(known)}" if not near else ""
        raise InputError(message)
    return (known[application],)


def _names(sides: Sequence[ComparedSide]) -> str:
    return ", ".join(side.application for side in sides)


def _apart(
    compared_side: ComparedSide, other: ComparedSide, sources: tuple[str, str]
) -> tuple[ComparedSide, ComparedSide]:
    """Return two sides under distinct names."""
    if compared_side.name != other.name:
        return compared_side, other
    if sources[0] == sources[1]:
        message = f"`{compared_side.name}` of `{sources[0]}` is the same on both sides"
        raise InputError(message)
    return replace(compared_side, name=f"{sources[0]}{_MARK}{compared_side.name}"), replace(
        other, name=f"{sources[1]}{_MARK}{other.name}"
    )


def _words(desk: _Desk, sources: tuple[str, str], comparison: Comparison) -> Iterator[tuple[tuple[str, str], Dialogue]]:
    flips = [flip for rate in comparison.rates for flip in rate.flips]
    yield from desk.words_of(sources[0], comparison.first, {flip.first for flip in flips})
    yield from desk.words_of(sources[1], comparison.second, {flip.second for flip in flips})


MONITOR_PAGE = "monitor.html"

MONITOR_DATA = "monitor.json"

_STUDIES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Target and settings of a monitor.

    Attributes:
        place: A study, a table of scores, or a database.
        query: Query for a database; empty for everything else.
        form: Format of a table's rows.
        watched: Which scores of a study.
        rules: The monitoring rules.
        since: Alerts that ended earlier are listed and do not count; None if all count.
        out: Folder for page and data; default: the folder of the history.
    """

    place: str
    query: str = ""
    form: HistoryForm = field(default_factory=HistoryForm)
    watched: Watched = field(default_factory=Watched)
    rules: WatchRules = field(default_factory=WatchRules)
    since: datetime | None = None
    out: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Result of a monitor, and the files written."""

    watch: Watch
    exit_code: int
    page: str
    data: str

    def screen(self, *, width: int, unicode: bool) -> str:
        """Return the result as a terminal shows it."""
        text = read_words(report_words())
        return watch_text(self.watch, text, width=width, unicode=unicode, chart=self.page, data=self.data)


def keep_watch(request: Request, *, environ: Mapping[str, str] | None = None, on_rows: OnRows | None = None) -> Seen:
    """Read a history, watch it, and write page and data.

    Args:
        request: What to monitor: data and rules.
        environ: Environment variables; default: those of the process.
        on_rows: Called periodically with the step and its rows.

    Raises:
        InputError: If the history cannot be used.
        StorageUnavailable: If it cannot be reached, or a file cannot be written.
    """
    from theodolite.measurement.monitoring import watch_history  # numpy and scipy: slow to import

    history, folder = _history(request, environ, on_rows)
    watch = watch_history(history, request.rules, now=SystemClock().now(), on_rows=on_rows)
    code = 1 if any(counts(alert, request.since) for alert in watch.alerts) else 0
    path = Path(request.out) if request.out else folder
    page, data = path / MONITOR_PAGE, path / MONITOR_DATA
    write_whole(page, watch_html(watch, read_words(report_words())))
    write_whole(data, json.dumps(watch_document(watch, exit_code=code), indent=1, allow_nan=False) + "\n")
    return Seen(watch=watch, exit_code=code, page=str(page), data=str(data))


def counts(alert: Alert, since: datetime | None) -> bool:
    """Return whether an alert counts for the exit code: it lasted until `since` or later, or its time is unknown."""
    return since is None or alert.last_at is None or alert.last_at >= since


def _history(request: Request, environ: Mapping[str, str] | None, on_rows: OnRows | None) -> tuple[History, Path]:
    """Return the history, and the folder beside which it is kept."""
    source = request.place
    if is_database(source):
        if not request.query:
            message = "a database needs a question; add  --query 'SELECT score, at FROM ...'"
            raise InputError(message)
        columns, rows = query_rows(source, request.query)
        cells = ((number, [row[name] for name in columns]) for number, row in enumerate(rows, start=1))
        table = ScoreTable(name="query", columns=columns, rows=cells)
        return read_history(table, request.form, on_rows=on_rows), Path()
    path = Path(source)
    if path.is_dir() or path.suffix in _STUDIES:
        context = open_study(source, environ=environ)
        try:
            return history_of_runs(context.store, context.loaded.study, request.watched), context.loaded.folder
        finally:
            context.close()
    read = read_table(path, path.name, on_rows=on_rows)
    cells = ((line, [row[name] for name in read.columns]) for line, row in zip(read.lines, read.rows, strict=True))
    form = f"{read.encoding}, {read.delimiter}"
    table = ScoreTable(name=path.name, columns=read.columns, rows=cells, form=form, faults=read.faults)
    return read_history(table, request.form, on_rows=on_rows), path.parent


PAGE = "series.html"

DATA = "series.json"

_NO_FILE_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenSeries:
    """A series' report.

    Attributes:
        results: The results to show.
        page: Path of the page.
        data: Path of the JSON document.
        absent: Files of studies that have not been run.
    """

    results: SeriesResults
    page: str
    data: str
    absent: tuple[str, ...] = ()


def write_series_report(
    path: str, *, out: str | None = None, partial: bool = False, audience: str = AudienceKind.ENGINEER.value
) -> WrittenSeries:
    """Write the report of each study of a series, and one over all of them.

    Args:
        path: File of the series.
        out: Folder for all files; default: `series-report-NAME` next to the studies.
        audience: Readers, as `audience_named` takes them; studies without a team's applications are left out.
        partial: Whether to report unfinished studies and omit those that never ran.

    Raises:
        InputError: If a study belongs to another series, or two studies have the same name.
        NotFound: If a study has not been run.
        RunStopped: If a study is not finished.
    """
    series = series_studies(Path(path))
    ending = "" if audience in _COMPLETE else f"-for-{_folder_name(audience)}"
    folder = Path(out) if out else series.folder / f"series-report-{series.name}{ending}"
    studies: list[SeriesStudy] = []
    absent: list[str] = []
    for file in series.files:
        try:
            studies.append(_study(series, file, folder, studies, partial=partial, audience=audience))
        except _NoApplication:
            continue
        except NotFound:
            if not partial:
                raise
            absent.append(str(file))
    if not studies:
        missing = ", ".join(absent) or f"none tests an application of `{audience}`"
        message = f"no study of series `{series.name}` has been run here: {missing}"
        raise NotFound(message)
    results = SeriesResults(
        name=series.name,
        preregistered=series_for(series.preregistered, audience),
        studies=tuple(studies),
        generated=SystemClock().now(),
        package_version=version("theodolite"),
    )
    _require_inside(series, folder, PAGE, DATA)
    document = series_document(results) | {"not_run": absent}
    write_whole(folder / PAGE, series_html(results, report_assets(), absent=absent))
    write_whole(folder / DATA, json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    return WrittenSeries(results=results, page=str(folder / PAGE), data=str(folder / DATA), absent=tuple(absent))


_COMPLETE = {AudienceKind.ENGINEER.value, AudienceKind.ORGANISER.value}
"""Readers of the complete report."""


class _NoApplication(Exception):
    """A study that tests no application of the reading team."""


def _require_inside(series: SeriesStudies, folder: Path, *files: str) -> None:
    """Reject links within the series folder that lead out of it; any other folder is the operator's choice."""
    require_output_inside(folder, *(folder / file for file in files))
    home = series.folder.resolve()
    if folder.absolute().is_relative_to(series.folder) and not folder.resolve().is_relative_to(home):
        message = f"`{folder}` leads out of the series' folder, to `{folder.resolve()}`. Name another place with --out"
        raise InputError(message)


def _study(
    series: SeriesStudies, file: Path, folder: Path, before: Sequence[SeriesStudy], *, partial: bool, audience: str
) -> SeriesStudy:
    """Return one study with its results, after its own report has been written."""
    context = open_study(str(series.folder / file))
    try:
        study = context.loaded.study
        _check(series, file, study, before)
        readers = _readers(audience, study, series.preregistered)
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
        if audience not in _COMPLETE:
            return _for_audience(context, readers, file, folder / name, is_finished=is_finished)
        findings = context.findings(evidence)
        is_organiser = readers.kind is AudienceKind.ORGANISER
        sections = sections_for_organisers(context, evidence, findings) if is_organiser else ()
        written = write_reports(context, evidence, findings, out=str(folder / name), audience=sections)
        return SeriesStudy(
            path=file.as_posix(),
            study=study,
            findings=findings,
            results=json.loads(Path(written.results).read_text(encoding="utf-8")),
            is_finished=is_finished,
            report=f"{name}/{Path(written.report).name}",
            review=review_of(context.store, study.name),
        )
    finally:
        context.close()


def _readers(audience: str, study: Study, series: Series | None) -> Audience:
    """Return the readers of a study's part of a series.

    Raises:
        InputError: If there is no such audience, or the series has no such team.
        _NoApplication: If the study tests no application of the team.
    """
    try:
        return audience_named(audience, study)
    except InputError as error:
        kind, _, name = audience.partition(":")
        known = {part for team in (series.teams if series else ()) for part in (team.name, *team.applications)}
        if kind == AudienceKind.TEAM.value and name in known:
            raise _NoApplication from error
        raise


def _for_audience(
    context: StudyContext, readers: Audience, file: Path, folder: Path, *, is_finished: bool
) -> SeriesStudy:
    """Return one study as an audience sees it, after its own report has been written; the review stays internal."""
    evidence, findings = audience_results(context, readers)
    written = write_audience_files(context, readers, evidence, findings, out=str(folder))
    return SeriesStudy(
        path=file.as_posix(),
        study=evidence.study,
        findings=findings,
        results=json.loads(Path(written.results).read_text(encoding="utf-8")),
        is_finished=is_finished,
        report=f"{folder.name}/{audience_files(readers)[0]}",
    )


def _folder_name(study: str) -> str:
    return _NO_FILE_NAME.sub("-", study)


def _check(series: SeriesStudies, file: Path, study: Study, before: Sequence[SeriesStudy]) -> None:
    """Reject a study of another series, and a second one of the same name.

    Raises:
        InputError: For either.
    """
    if study.series != series.name:
        message = f"`{file}` belongs to series `{study.series or 'none'}`; expected `series: {series.name}` in it"
        raise InputError(message)
    for item in before:
        if _folder_name(item.study.name) == _folder_name(study.name):
            message = (
                f"two studies of series `{series.name}` are called `{study.name}`: {item.path} and {file};"
                " give each its own name under `study`"
            )
            raise InputError(message)
