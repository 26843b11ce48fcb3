"""What changed in the code of applications since the run before."""

from __future__ import annotations

from theodolite.bootstrap.study_context import StudyContext
from theodolite.domain.application import Application, AriaClass, CodeVersion, PythonCallable
from theodolite.domain.errors import StoreError

MOST_NAMED = 5
"""Files that are named of one application."""


def code_changes(context: StudyContext) -> tuple[str, ...]:
    """Return for each application whose code changed since the run before what changed, in words.

    Args:
        context: The study, with the run that is looked at or the latest.
    """
    try:
        runs = context.store.runs(context.loaded.study.name)
        number = context.chosen.number if context.chosen is not None else max((run.number for run in runs), default=1)
        before = next((run for run in runs if run.number == number - 1), None)
        if before is None:
            return ()
        earlier = {one.name: one for one in context.store.study(before.study_version).applications}
    except StoreError:  # the earlier study cannot be read any more: nothing is known of it
        return ()
    texts = (_change(earlier.get(one.name), one, before.number) for one in context.loaded.study.applications)
    return tuple(text for text in texts if text)


def _change(earlier: Application | None, now: Application, run: int) -> str:
    old, new = _code_of(earlier), _code_of(now)
    changes = old.changes_to(new) if old is not None and new is not None and old.interpreter else ()
    if not changes:
        return ""
    more = f" and {len(changes) - MOST_NAMED} more" if len(changes) > MOST_NAMED else ""
    return f"`{now.name}` differs from run {run} in {', '.join(changes[:MOST_NAMED])}{more}"


def _code_of(application: Application | None) -> CodeVersion | None:
    connection = None if application is None else application.connection
    return connection.code if isinstance(connection, PythonCallable | AriaClass) else None
