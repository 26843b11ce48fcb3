"""Results of an event, worked out in a process of its own so that testers' replies go on beside it.

python -m theodolite.bootstrap.event_results FOLDER WORKSPACE OUT EDITION
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from theodolite.bootstrap.database import DATABASE_VARIABLE, open_store
from theodolite.bootstrap.events import open_event
from theodolite.bootstrap.reports import WrittenFiles, write_reports
from theodolite.bootstrap.study_context import StudyContext
from theodolite.domain.errors import InputError, TheodoliteError
from theodolite.domain.study import Study
from theodolite.testing.people import event_sessions
from theodolite.testing.planning import draw_plan

if TYPE_CHECKING:  # tables can be loaded only when Django knows the database
    from theodolite.store.django_store import DjangoStore


def event_results(
    folder: str, workspace: Path, out: Path, edition: str, database_url: str | None = None
) -> WrittenFiles:
    """Measure what one edition of a study holds by now, and write report.html and results.json.

    Args:
        folder: Where the study's files are.
        workspace: The server's, which need not lie beside the study.
        out: Folder of the files; made where it is missing.
        edition: Content hash of the study as it was published.
        database_url: PostgreSQL database; None for the workspace's own file.

    Raises:
        TheodoliteError: If there is nothing to measure, or it cannot be read or written.
    """
    store = open_store(workspace, database_url)
    try:
        study = store.study(edition)
        context = event_study_context(folder, workspace, store, study)
        evidence = context.evidence()
        if not evidence.answers.n_completed:
            message = "nothing can be measured yet: no dialogue has ended"
            raise InputError(message)
        out.mkdir(parents=True, exist_ok=True)
        return write_reports(context, evidence, context.findings(evidence), out=str(out))
    finally:
        store.disconnect()


def event_study_context(folder: str, workspace: Path, store: DjangoStore, study: Study | None = None) -> StudyContext:
    """Return the context of a study as it was published, with the dialogues of its participants so far.

    Args:
        folder: Where the study's files are.
        workspace: The server's, which need not lie beside the study.
        store: Of that workspace.
        study: The study as it was published; None for what the files say.
    """
    opened = open_event(folder, store, workspace=workspace, study=study)
    told = opened.event.study
    plan, planned = draw_plan(told, opened.loaded.recordings)
    sessions = event_sessions(told, planned, store.events.dialogues.summaries(told.name))
    return StudyContext(
        loaded=opened.loaded, plan=plan, sessions=sessions, path=folder, store=store, chosen=opened.event.run
    )


def main() -> int:
    """Do so for the words of the command line; what went wrong is the last line on the error stream."""
    folder, workspace, out, edition = sys.argv[1:]
    try:
        event_results(folder, Path(workspace), Path(out), edition, os.environ.get(DATABASE_VARIABLE))
    except (TheodoliteError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
