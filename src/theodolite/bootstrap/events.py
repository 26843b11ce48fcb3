"""Opens a study as a live event, and imports dialogues into one."""

from __future__ import annotations

import io
import os
import shutil
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from theodolite.bootstrap.audience_reports import sections_for_organisers, write_audience_report
from theodolite.bootstrap.connections import SystemClock, open_clients
from theodolite.bootstrap.database import DATABASE_VARIABLE, open_store
from theodolite.bootstrap.files import write_whole
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.bootstrap.releases import (
    BUNDLE,
    KEY,
    REVIEW,
    ReleaseOptions,
    WrittenRelease,
    public_key_file,
    write_release,
)
from theodolite.bootstrap.reports import WrittenFiles, write_reports
from theodolite.bootstrap.study_context import StudyContext
from theodolite.config.dialogue_imports import (
    PARTS,
    BringColumns,
    ReadBrought,
    guessed_columns,
    is_corpus,
    is_tasks,
    read_brought,
    read_corpus,
    read_tasks,
)
from theodolite.config.loading import load_study
from theodolite.config.permissions import require_privacy_review
from theodolite.config.tables import table_of, unreadable
from theodolite.config.threads import Remarks, Voices, turns_of, with_guess
from theodolite.config.yaml_source import InvalidStudyError, LocatedDiagnostic
from theodolite.domain.application import Application, AriaClass, HttpEndpoint, PythonCallable, Runtime
from theodolite.domain.dialogue import TesterType
from theodolite.domain.errors import InputError, TheodoliteError
from theodolite.domain.live import BroughtIn
from theodolite.domain.run import RunState
from theodolite.domain.study import Study
from theodolite.events.context import EventContext, OpenEvent, import_dialogues
from theodolite.gateways.retrieval import searches_of
from theodolite.ports.progress import Clock
from theodolite.reporting.exporting.record_pages import RunRecords
from theodolite.testing.people import event_sessions
from theodolite.testing.planning import draw_plan
from theodolite.usecases.audiences import Audience, AudienceKind
from theodolite.usecases.measuring import study_with_people

if TYPE_CHECKING:
    from theodolite.store.django_store import DjangoStore


def with_settings(published: Study, written: Study) -> Study:
    """Return a published study with those settings of its applications that belong to no version.

    Concurrency limits, interpreters and process limits are not published;
    without this an event would not follow the study's files.

    Args:
        published: The study as it was published.
        written: The study from its current files.
    """
    now = {application.name: application for application in written.applications}
    applications = (_with_settings(item, now.get(item.name)) for item in published.applications)
    return replace(published, applications=tuple(applications))


def _with_settings(published: Application, written: Application | None) -> Application:
    connection, now = published.connection, written.connection if written is not None else None
    if isinstance(connection, HttpEndpoint) and isinstance(now, HttpEndpoint):
        return replace(published, connection=replace(connection, parallel=now.parallel))
    if isinstance(connection, PythonCallable) and isinstance(now, PythonCallable):
        runtime = _runtime(connection.runtime, now.runtime)
        return replace(published, connection=replace(connection, runtime=runtime, parallel=now.parallel))
    if isinstance(connection, AriaClass) and isinstance(now, AriaClass):
        runtime = _runtime(connection.runtime, now.runtime)
        return replace(published, connection=replace(connection, runtime=runtime, parallel=now.parallel))
    return published


def _runtime(published: Runtime, now: Runtime) -> Runtime:
    return replace(
        published,
        python=now.python,
        requirements=now.requirements,
        memory_mb=now.memory_mb,
        cpu_s=now.cpu_s,
        sessions=now.sessions,
    )


def open_event(
    path: str,
    store: DjangoStore,
    *,
    workspace: Path,
    clock: Clock | None = None,
    study: Study | None = None,
    environ: Mapping[str, str] | None = None,
) -> OpenEvent:
    """Read a study and open the run that dialogues of participants join.

    Args:
        path: A folder with a study file, or the file.
        store: The store of the workspace.
        workspace: Folder of the workspace; it stores the limits of accounts.
        clock: Returns the current time; the machine's by default.
        study: The published study, if its files may have changed since.
        environ: Environment variables with the keys; default: those of the process.

    Raises:
        StudyError: If the study has errors; names all of them.
        PlanError: If no plan can be drawn.
        StoreError: If the database cannot be used.
    """
    loaded = load_study(Path(path), resolver=resource_resolver()).with_held_recordings()
    loaded = replace(loaded, study=with_settings(study, loaded.study)) if study is not None else loaded
    plan, _ = draw_plan(loaded.study, loaded.recordings)
    event = EventContext(
        study=loaded.study,
        plan=plan,
        run=store.open_run(loaded.study, plan),
        store=store,
        clock=clock or SystemClock(),
        searches=searches_of(loaded.study.scenarios),
    )
    variables = os.environ if environ is None else environ
    connect = partial(open_clients, loaded, workspace=workspace, environ=variables, clock=event.clock)
    return OpenEvent(event=event, loaded=loaded, connect=connect)


def event_results(
    folder: str,
    workspace: Path,
    out: Path,
    study_version: str,
    database_url: str | None = None,
    *,
    applications: Sequence[str] = (),
) -> WrittenFiles:
    """Measure the dialogues and labels of one release of a study, and write report.html and results.json.

    Each application of a team gets its own report, based only on its own dialogues.

    Args:
        folder: Folder of the study's files.
        workspace: The server's workspace, which need not be next to the study.
        out: Folder for the files; created if missing.
        study_version: Content hash of the study as it was published.
        database_url: PostgreSQL database; None for the workspace's own file.
        applications: Names of the applications of teams; those without a completed dialogue get no report.

    Raises:
        TheodoliteError: If there is nothing to measure, or reading or writing fails.
    """
    store = open_store(workspace, database_url)
    try:
        study = store.study(study_version)
        context = event_study_context(folder, workspace, store, study)
        evidence = context.evidence()
        if not evidence.answers.n_completed:
            message = "nothing can be measured yet: no dialogue has ended"
            raise InputError(message)
        out.mkdir(parents=True, exist_ok=True)
        findings = context.findings(evidence)
        sections = sections_for_organisers(context, evidence, findings)
        written = write_reports(context, evidence, findings, out=str(out), audience=sections)
        tested = {dialogue.application for dialogue in evidence.archive.dialogues()} if applications else set()
        for name in applications:
            if name in tested:
                team = Audience(kind=AudienceKind.TEAM, team=name, applications=(name,))
                write_audience_report(context, team, out=str(out))
        return written
    finally:
        store.disconnect()


PUBLIC = Audience(kind=AudienceKind.PUBLIC)
"""Readers of a public report."""


def event_release(
    folder: str, workspace: Path, out: Path, study_version: str, database_url: str | None = None
) -> WrittenRelease:
    """Write the public report of an event and, once all identifiers are decided, its signed bundle as a ZIP file.

    The decisions are those of the review file in the study's folder.

    Args:
        folder: Folder of the study's files.
        workspace: The server's workspace; it contains the private key.
        out: Folder for the files; created if missing.
        study_version: Content hash of the study as it was published.
        database_url: PostgreSQL database; None for the workspace's own file.

    Raises:
        TheodoliteError: If the run is incomplete, the decisions have errors, or reading or writing fails.
    """
    store = open_store(workspace, database_url)
    try:
        context = event_study_context(folder, workspace, store, store.study(study_version))
        if context.evidence().run.state is not RunState.FINISHED:
            message = "the latest run is incomplete: resume it under Runs, then prepare the release again"
            raise InputError(message)
        out.mkdir(parents=True, exist_ok=True)
        decisions, files_out = context.loaded.folder / REVIEW, out / BUNDLE
        if decisions.is_file():
            write_whole(out / REVIEW, decisions.read_text(encoding="utf-8"))
        written = write_release(context, ReleaseOptions(out=files_out, review=out / REVIEW, key=workspace / KEY))
        if written.folder:
            shutil.make_archive(str(files_out), "zip", files_out)
            shutil.rmtree(files_out)
            shutil.copy(public_key_file(workspace / KEY), out)
        write_audience_report(context, PUBLIC, out=str(out))
        return written
    finally:
        store.disconnect()


def event_study_context(folder: str, workspace: Path, store: DjangoStore, study: Study | None = None) -> StudyContext:
    """Return the context of a study as it was published, with the dialogues of its participants so far.

    Args:
        folder: Folder of the study's files.
        workspace: The server's workspace, which need not be next to the study.
        store: Of that workspace.
        study: The study as it was published; None for the current files.
    """
    return study_context_of(open_event(folder, store, workspace=workspace, study=study), folder, store)


def study_context_of(opened: OpenEvent, folder: str, store: DjangoStore) -> StudyContext:
    """Return the context of an open event, with the dialogues of its participants so far.

    Args:
        opened: The event.
        folder: Folder of the study's files.
        store: The store of the event.
    """
    details = opened.event.study
    plan, planned = draw_plan(details, opened.loaded.recordings)
    sessions = event_sessions(details, planned, store.events.dialogues.summaries(details.name))
    return StudyContext(
        loaded=opened.loaded, plan=plan, sessions=sessions, path=folder, store=store, chosen=opened.event.run
    )


def run_records(context: StudyContext, *, include_text: bool = False, with_people: bool = False) -> RunRecords:
    """Return the records of the run of a context for listing, without loading all of them.

    Args:
        context: The study and its run.
        include_text: Whether texts of sessions with people are included; needs a finished privacy review of the run.
        with_people: Whether annotators who are not in the study file are read, for lists of annotations.

    Raises:
        InputError: If the privacy review is missing.
    """
    run, sessions = context.current_run(), context.sessions
    settings = map(sessions.setting, range(len(sessions)))
    if include_text and any(setting.held_by is TesterType.PERSON for setting in settings):
        require_privacy_review(context.loaded.folder, run.number)
    study = context.loaded.study
    return RunRecords(
        study=study_with_people(context.store, study, run) if with_people else study,
        run=run,
        sessions=sessions,
        archive=context.archive(),
        include_text=include_text,
    )


MEASURE, RELEASE = "measure", "release"
"""Tasks of the command line: measure an event, or prepare its public release."""


def main() -> int:
    """Run a command line in this process; the error is the last line on the error stream."""
    task, folder, workspace, out, study_version, *applications = sys.argv[1:]
    url = os.environ.get(DATABASE_VARIABLE)
    try:
        if task == RELEASE:
            event_release(folder, Path(workspace), Path(out), study_version, url)
            return 0
        event_results(folder, Path(workspace), Path(out), study_version, url, applications=applications)
    except (TheodoliteError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())


_NOTHING_STORED = "Nothing was stored."


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """Content of a file, and how it was read.

    Attributes:
        read: Its dialogues and errors.
        means: Meanings of its columns; guessed unless stated.
        remarks: Texts of a corpus or of tasks; None for a table.
        voices: The application's speakers; guessed unless stated.
        notes: Notes on how remarks became turns.
    """

    read: ReadBrought
    means: BringColumns
    remarks: Remarks | None = None
    voices: Voices | None = None
    notes: tuple[str, ...] = ()


def look_into(
    stored: bytes, name: str, event: EventContext, means: BringColumns | None = None, voices: Voices | None = None
) -> Looked:
    """Return a file's content, its errors, and the roles of its columns, guessed unless stated.

    Args:
        stored: The bytes of a table (CSV, TSV, JSON Clients), of a corpus of ConvoKit, or of Label Studio's tasks.
        name: Its displayed name; its suffix marks tasks.
        event: The study.
        means: Roles of its columns.
        voices: The application's speakers, if the file is not a table; guessed unless stated.
    """
    remarks = _remarks_in(stored, name)
    if remarks is None:
        table = table_of(stored, name)
        columns = means or guessed_columns(table, event.study)
        return Looked(read=read_brought(table, columns, event.study), means=columns)
    speaking = with_guess(voices or Voices(), remarks)
    details = turns_of(remarks, speaking)
    columns = means or guessed_columns(details.table, event.study)
    read = read_brought(details.table, columns, event.study)
    return Looked(read=read, means=columns, remarks=remarks, voices=speaking, notes=details.notes)


def _remarks_in(stored: bytes, name: str) -> Remarks | None:
    if is_corpus(stored, name):
        return read_corpus(stored, name)
    return read_tasks(stored, name) if is_tasks(name) else None


def columns_for(stored: bytes, name: str, means: BringColumns) -> BringColumns:
    """Return columns under their names for a file: without a table, its turns name their dialogue and tester."""
    if not (is_corpus(stored, name) or is_tasks(name)):
        return means
    return replace(means, id=means.id or "id", turn=means.turn or "turn", tester=means.tester or "tester")


def stored_of(path: Path) -> bytes:
    """Return a file's bytes; a folder is read as an archive of the corpus in it.

    Raises:
        InvalidStudyError: If it cannot be read.
    """
    try:
        if not path.is_dir():
            return path.read_bytes()
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as files:
            for name in PARTS:
                if (path / name).is_file():
                    files.writestr(name, (path / name).read_bytes())
    except OSError as error:
        diagnostic = LocatedDiagnostic(file=str(path), message=f"cannot be read: {unreadable(error)}")
        raise InvalidStudyError((diagnostic,), ending=_NOTHING_STORED) from error
    return archive.getvalue()


def bring_looked(looked: Looked, event: EventContext, *, store: bool = True) -> BroughtIn:
    """Import the dialogues of a file, all or none.

    Args:
        looked: The file's content.
        event: The study.
        store: Whether to store them; otherwise the file is only checked.

    Raises:
        InvalidStudyError: If it has errors; lists all of them.
        Conflict: If people started dialogues during the import.
    """
    if looked.read.faults:
        raise InvalidStudyError(looked.read.faults, ending=_NOTHING_STORED)
    return import_dialogues(event, looked.read.dialogues, store=store)
