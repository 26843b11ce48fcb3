"""Shards of a run as files: each part of a plan runs in its own workspace, and a merge joins the files."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from theodolite.bootstrap.files import write_whole
from theodolite.bootstrap.study_context import StudyContext
from theodolite.config.permissions import workspace_for
from theodolite.domain.errors import InputError, NotFound
from theodolite.domain.plan import held_by_runs
from theodolite.domain.shards import NetworkEvent, Shard, header_in, require_same_study, sessions_in, shard_lines
from theodolite.execution.clients import BlockingExecutor
from theodolite.gateways.applications.connections import Connections, network_use
from theodolite.usecases.running import RunStatus, StudyFlows, adjudicate, close_if_complete
from theodolite.usecases.shards import Merge, MergeCounts, header_of, session_results

SUFFIX = ".jsonl"
"""Ending of shard files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedRun:
    """Result of `merge_shards`.

    Attributes:
        status: Status of the run after the merge.
        counts: Results that were read, by outcome.
        files: Files that were read.
    """

    status: RunStatus
    counts: MergeCounts
    files: tuple[Path, ...]


def shard_file(study: str, shard: Shard) -> str:
    """Return the name of the file of a shard, e.g. `support-2-of-8.jsonl`."""
    return f"{study}-{shard.number}-of-{shard.count}{SUFFIX}"


def write_shard(context: StudyContext, shard: Shard, folder: Path) -> Path:
    """Write the results of a shard's run to a file and return its path; unfinished sessions are omitted.

    Args:
        context: The study, with the workspace of the shard.
        shard: The part of the plan.
        folder: Folder of the file; created if missing.

    Raises:
        StorageUnavailable: If the file cannot be written.
    """
    study, sessions = context.loaded.study, context.sessions
    run = context.store.run_of(context.plan)
    at = shard.of(range(len(held_by_runs(sessions))))
    results = session_results(context.store, study, run, sessions, at)
    path = folder / shard_file(study.name, shard)
    header = header_of(study, context.plan, str(shard), tuple(_network_events(context)))
    write_whole(path, shard_lines(header, results))
    return path


def merge_shards(context: StudyContext, paths: Sequence[Path], *, shard: Shard | None = None) -> MergedRun:
    """Store the results of shard files in the run of a workspace; a second merge of a file changes nothing.

    All files are checked before the first result is stored.

    Args:
        context: The study.
        paths: Shard files, and folders with shard files.
        shard: Take only results of this part of the plan; None for all.

    Raises:
        InputError: If a file is damaged, or is a shard of another study or of another version.
    """
    study, sessions = context.loaded.study, context.sessions
    files = tuple(_files(paths))
    headers = [header_in(str(file), next(_lines(file), "")) for file in files]
    for file, header in zip(files, headers, strict=True):
        require_same_study(str(file), header, header_of(study, context.plan))
        for _ in sessions_in(str(file), _lines(file)):
            pass
    everything = range(len(held_by_runs(sessions)))
    at = everything if shard is None else shard.of(everything)
    merge = Merge(context.store, study, context.plan, sessions)
    for file in files:
        merge.receive(sessions_in(str(file), _lines(file)), at)
    _observe(context, [event for header in headers for event in header.network])
    asyncio.run(_adjudicate(context, merge))
    status = close_if_complete(context.store, study, merge.run, sessions, at=at)
    return MergedRun(status=status, counts=merge.counts, files=files)


def _network_events(context: StudyContext) -> Iterator[NetworkEvent]:
    for name, connections in _connections(context).items():
        for kind, event in connections.events():
            yield NetworkEvent(application=name, kind=kind, name=event)


def _observe(context: StudyContext, events: Sequence[NetworkEvent]) -> None:
    connections = _connections(context)
    for event in events:
        if event.application in connections:
            connections[event.application].observe(event.kind, event.name)


def _connections(context: StudyContext) -> dict[str, Connections]:
    """Return the recorded network use of the applications that are code."""
    workspace = workspace_for(context.loaded.folder)
    return {
        application.name: Connections(application, workspace)
        for application in context.loaded.study.applications
        if network_use(application, workspace) is not None
    }


async def _adjudicate(context: StudyContext, merge: Merge) -> None:
    """Store the final labels from the recorded files of the study."""
    if context.loaded.study.reference is None:
        return
    flows = StudyFlows(context.loaded.study, context.sessions, context.loaded.recordings)
    executor = BlockingExecutor()
    await context.store.start()
    try:
        await adjudicate(context.store, merge.run, context.sessions, flows, executor)
        await executor.call(context.store.disconnect)
    finally:
        await context.store.stop()
        executor.close()


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            if not path.is_file():
                message = f"there is no shard file `{path}`; shards are written by  theodolite run STUDY --shard 1/8"
                raise NotFound(message)
            yield path
            continue
        inside = sorted(path.rglob(f"*{SUFFIX}"))
        if not inside:
            message = f"the folder `{path}` holds no shard (*{SUFFIX})"
            raise NotFound(message)
        yield from inside


def _lines(file: Path) -> Iterator[str]:
    try:
        with file.open(encoding="utf-8", newline="\n") as lines:
            yield from lines
    except (OSError, UnicodeDecodeError) as error:
        message = f"`{file}` cannot be read as a shard: {error}"
        raise InputError(message) from error


def missing_text(status: RunStatus) -> str:
    """Return the missing parts of a merged run, as one sentence; empty if it is complete."""
    if status.is_complete:
        return ""
    dialogues = status.planned - sum(status.sessions.get(state, 0) for state in ("done", "failed"))
    labels = status.due - status.lost - sum(status.annotations.get(state, 0) for state in ("done", "failed"))
    return f"{dialogues:,} of {status.planned:,} dialogues and {labels:,} of {status.due:,} annotations are missing"
