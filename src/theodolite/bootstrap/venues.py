"""Venues: a study's folder in, an event that people can test in out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from theodolite.bootstrap.clock import SystemClock
from theodolite.bootstrap.connections import open_clients
from theodolite.bootstrap.shelves import plugin_shelves
from theodolite.config.loading import LoadedStudy, load_study
from theodolite.domain.application import Application, AriaClass, HttpEndpoint, PythonCallable, Runtime
from theodolite.domain.study import Study
from theodolite.execution.clients import Clients
from theodolite.gateways.retrieval import searches_of
from theodolite.ports.clock import Clock
from theodolite.ports.store import Store
from theodolite.testing.planning import draw_plan
from theodolite.usecases.people.venue import Venue


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedVenue:
    """A venue, and how its applications are reached.

    Attributes:
        venue: The event put together.
        loaded: The study as it was read.
        workspace: Folder that remembers limits of accounts.
        environ: Environment variables; keys are taken from it and from nowhere else.
    """

    venue: Venue
    loaded: LoadedStudy
    workspace: Path
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)

    def connect(self) -> Clients:
        """Return connections to the applications; nothing is sent yet."""
        return open_clients(self.loaded, workspace=self.workspace, environ=self.environ, clock=self.venue.clock)


def with_settings(published: Study, written: Study) -> Study:
    """Return a published study with the settings of its applications that are no part of any version.

    Limits of concurrency, interpreters and limits of processes are not published;
    without this an event would not keep to what the study's files say.

    Args:
        published: The study as it was published.
        written: The study as its files hold it now.
    """
    now = {application.name: application for application in written.applications}
    applications = (_with_settings(one, now.get(one.name)) for one in published.applications)
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


def open_venue(
    path: str,
    store: Store,
    *,
    workspace: Path,
    clock: Clock | None = None,
    study: Study | None = None,
    environ: Mapping[str, str] | None = None,
) -> OpenedVenue:
    """Read a study and open the run that dialogues of people are to join.

    Args:
        path: A folder with a study file, or the file.
        store: Of the workspace.
        workspace: Its folder.
        clock: Tells the time; the machine's unless given.
        study: The study as it was published, where its files may hold another one by now.
        environ: Environment variables that keys are taken from; those of the process where left out.

    Raises:
        StudyError: If the study holds faults; says all of them.
        PlanError: If nothing can be planned.
        StoreError: If the database cannot be used.
    """
    loaded = load_study(Path(path), shelves=plugin_shelves()).with_held_recordings()
    loaded = replace(loaded, study=with_settings(study, loaded.study)) if study is not None else loaded
    plan, _ = draw_plan(loaded.study, loaded.recordings)
    run = store.open_run(loaded.study, plan)
    venue = Venue(
        study=loaded.study,
        plan=plan,
        run=run,
        store=store,
        clock=clock or SystemClock(),
        searches=searches_of(loaded.study.scenarios),
    )
    variables = os.environ if environ is None else environ
    return OpenedVenue(venue=venue, loaded=loaded, workspace=workspace, environ=variables)
