"""Monitoring: a history from wherever it is kept, watched, and written down."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from theodolite.bootstrap.clock import SystemClock
from theodolite.bootstrap.files import write_whole
from theodolite.bootstrap.study_context import open_study
from theodolite.config.histories import HistoryForm, ScoreTable, read_history
from theodolite.config.load_context import report_words
from theodolite.config.tables import OnRows, read_table
from theodolite.domain.errors import InputError
from theodolite.domain.monitoring import Alert, Watch, WatchRules
from theodolite.domain.score_history import History
from theodolite.gateways.tables import is_database, query_rows
from theodolite.reporting.monitoring.document import watch_document
from theodolite.reporting.monitoring.page import watch_html
from theodolite.reporting.monitoring.text import watch_text
from theodolite.reporting.words.reading_aids import read_words
from theodolite.usecases.monitoring import Watched, history_of_runs

PAGE = "monitor.html"
DATA = "monitor.json"

_STUDIES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be watched, and how.

    Attributes:
        place: A study, a table of scores, or a database.
        query: What to ask a database; empty for everything else.
        form: How the rows of a table are read.
        watched: Which scores of a study.
        rules: What is watched for.
        since: Alerts that ended before it are told and no longer count; None for all count.
        out: Folder for page and data; where the history is if None.
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
    """What a watch brought, and where it was written."""

    watch: Watch
    exit_code: int
    page: str
    data: str

    def screen(self, *, width: int, unicode: bool) -> str:
        """Return it as a terminal shows it."""
        words = read_words(report_words())
        return watch_text(self.watch, words, width=width, unicode=unicode, chart=self.page, data=self.data)


def keep_watch(request: Request, *, environ: Mapping[str, str] | None = None, on_rows: OnRows | None = None) -> Seen:
    """Read a history, watch it, and write page and data.

    Args:
        request: What is to be watched.
        environ: Environment variables; those of the process where left out.
        on_rows: Called now and then with the step and its rows.

    Raises:
        InputError: If the history cannot be used.
        StorageUnavailable: If it cannot be reached, or a file cannot be written.
    """
    from theodolite.measurement.monitoring import watch_history

    history, folder = _history(request, environ, on_rows)
    watch = watch_history(history, request.rules, now=SystemClock().now(), on_rows=on_rows)
    code = 1 if any(counts(alert, request.since) for alert in watch.alerts) else 0
    place = Path(request.out) if request.out else folder
    page, data = place / PAGE, place / DATA
    write_whole(page, watch_html(watch, read_words(report_words())))
    write_whole(data, json.dumps(watch_document(watch, exit_code=code), indent=1, allow_nan=False) + "\n")
    return Seen(watch=watch, exit_code=code, page=str(page), data=str(data))


def counts(alert: Alert, since: datetime | None) -> bool:
    """Tell whether an alert counts for the exit code: it went on at or after `since`, or nobody knows when it was."""
    return since is None or alert.last_at is None or alert.last_at >= since


def _history(request: Request, environ: Mapping[str, str] | None, on_rows: OnRows | None) -> tuple[History, Path]:
    """Return the history, and the folder beside which it is kept."""
    place = request.place
    if is_database(place):
        if not request.query:
            message = "a database needs a question; add  --query 'SELECT score, at FROM ...'"
            raise InputError(message)
        columns, rows = query_rows(place, request.query)
        cells = ((number, [row[name] for name in columns]) for number, row in enumerate(rows, start=1))
        table = ScoreTable(name="query", columns=columns, rows=cells)
        return read_history(table, request.form, on_rows=on_rows), Path()
    path = Path(place)
    if path.is_dir() or path.suffix in _STUDIES:
        context = open_study(place, environ=environ)
        try:
            return history_of_runs(context.store, context.loaded.study, request.watched), context.loaded.folder
        finally:
            context.close()
    read = read_table(path, path.name, on_rows=on_rows)
    cells = ((line, [row[name] for name in read.columns]) for line, row in zip(read.lines, read.rows, strict=True))
    form = f"{read.encoding}, {read.delimiter}"
    table = ScoreTable(name=path.name, columns=read.columns, rows=cells, form=form, faults=read.faults)
    return read_history(table, request.form, on_rows=on_rows), path.parent
