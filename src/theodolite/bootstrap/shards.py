"""Runs that are split into shards: their workspaces, and pipelines of Azure Machine Learning that run them."""

from __future__ import annotations

import asyncio
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.metadata import version
from importlib.resources.abc import Traversable
from pathlib import Path

from theodolite.bootstrap.files import write_whole
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.bootstrap.reports import REPORT, RESULTS
from theodolite.bootstrap.study_context import StudyContext
from theodolite.config.azure_pipelines import ENDING, check_pipeline
from theodolite.config.loading import LoadedStudy, load_study
from theodolite.config.permissions import WORKSPACE_NAME, workspace_for
from theodolite.config.required_access import named_keys
from theodolite.config.yaml_source import InvalidStudyError
from theodolite.domain.errors import InputError, NotFound, StorageUnavailable
from theodolite.domain.identity import version_of
from theodolite.domain.plan import held_by_runs
from theodolite.domain.shards import NetworkEvent, Shard, header_in, require_same_study, sessions_in, shard_lines
from theodolite.execution.clients import BlockingExecutor
from theodolite.gateways.applications.connections import Connections, network_use
from theodolite.gateways.extras import AzureWorkspace, has_azureml, submit_pipeline, validate_pipeline
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


PIPELINES = ("pipeline.yml", "pipeline-parallel.yml")
"""Pipeline files: one step per stage, and parallel steps."""

IMAGE = "mcr.microsoft.com/azureml/openmpi4.1.0-ubuntu22.04:latest"
"""Base image of the environment, from Microsoft's registry."""

_LEFT_OUT = shutil.ignore_patterns(WORKSPACE_NAME, RESULTS, REPORT, "__pycache__", ".git", ".venv")


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineOptions:
    """Size and target of a pipeline.

    Attributes:
        shards: Parts of the plan in the parallel variant; count.
        instances: Nodes of the parallel steps; count.
        compute: Name of the compute cluster.
        concurrency: Concurrent calls of a step; count.
    """

    shards: int = 8
    instances: int = 2
    compute: str = "cpu-cluster"
    concurrency: int = 32


def write_pipeline(loaded: LoadedStudy, options: PipelineOptions, out: Path) -> tuple[Path, ...]:
    """Write the pipelines of a study and return their files.

    Args:
        loaded: The study.
        options: Size and place.
        out: Folder; created if missing; files of an earlier call are replaced.

    Raises:
        InputError: If the study reads files outside its folder, or the folder is inside the study's.
        StorageUnavailable: If a file cannot be written.
    """
    if out.resolve().is_relative_to(loaded.folder.resolve()):
        message = f"`{out}` is inside the study's folder, which is copied there; name a folder beside it with --out"
        raise InputError(message)
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]{1,31}", options.compute):
        message = f"a compute cluster has 2 to 32 letters, digits and dashes; got `{options.compute}`"
        raise InputError(message)
    if options.instances > options.shards:
        message = f"expected at most {options.shards} instances, one per shard; got {options.instances}"
        raise InputError(message)
    _copy_study(loaded, out / "study")
    words = _words_of(loaded, options)
    for name, text in _templates(resources.files("theodolite.resources") / "azureml"):
        write_whole(out / name, _filled(text, words))
    shutil.rmtree(out / "shards", ignore_errors=True)
    for number in range(1, options.shards + 1):
        write_whole(out / "shards" / f"{number}-of-{options.shards}", f"{number}/{options.shards}\n")
    return tuple(out / name for name in PIPELINES)


def check_written(pipeline: Path) -> str:
    """Check a pipeline by the linter and, if it is installed, by azure-ai-ml; return the names of the checkers.

    Raises:
        InputError: If it has errors; lists all of them.
    """
    check_pipeline(pipeline)
    if not has_azureml():
        return "linter; azure-ai-ml is not installed"
    if problems := validate_pipeline(pipeline):
        lines = "\n".join(f"  {problem}" for problem in problems)
        message = f"azure-ai-ml finds errors in `{pipeline}`:\n{lines}\n{ENDING}"
        raise InputError(message)
    return "linter and azure-ai-ml"


def submit(pipeline: Path, *, subscription: str, resource_group: str, workspace: str) -> str:
    """Send a pipeline to a workspace and return the address of its page.

    Raises:
        InputError: If azure-ai-ml is not installed, or the workspace is not named.
        StorageUnavailable: If the login or the workspace refuses the pipeline.
    """
    target = AzureWorkspace(subscription=subscription, resource_group=resource_group, name=workspace)
    return submit_pipeline(pipeline, target)


def _copy_study(loaded: LoadedStudy, target: Path) -> None:
    """Copy the study's folder, and require that the copy is the same study.

    Raises:
        InputError: If it is not.
    """
    try:
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(loaded.folder, target, ignore=_LEFT_OUT)
    except (OSError, shutil.Error) as error:
        message = f"the study cannot be copied to `{target}`: {error}"
        raise StorageUnavailable(message) from error
    file = target / "study.yaml"
    if not file.is_file():
        message = f"the pipeline needs a study folder with `study.yaml`; `{loaded.folder}` has none"
        raise InputError(message)
    advice = "move the files that it reads into its folder, since the steps receive that folder alone"
    try:
        copied = load_study(file, resolver=resource_resolver())
    except InvalidStudyError as error:
        message = f"the study does not load from a copy of its folder; {advice}\n{error}"
        raise InputError(message) from error
    if version_of(copied.study) != version_of(loaded.study):
        message = f"the copy of the study's folder is another version of the study; {advice}"
        raise InputError(message)


def _words_of(loaded: LoadedStudy, options: PipelineOptions) -> dict[str, str]:
    """Return the replacements of the upper-case words in the templates."""
    keys = sorted({use.variable for use in named_keys(loaded.study)})
    secrets = (
        f"The steps `generate` and `evaluate` read {', '.join(f'`{key}`' for key in keys)}."
        " Set them from a key vault in the environment of the compute, or under `environment_variables` of the steps"
        " when you send the pipeline."
    )
    return {
        "PER_INSTANCE": str(max(1, -(-options.shards // options.instances))),
        "CONCURRENCY": str(options.concurrency),
        "EXPERIMENT": "theodolite-" + re.sub(r"[^\w-]+", "-", loaded.study.name),
        "INSTANCES": str(options.instances),
        "COMPUTE": options.compute,
        "VERSION": version("theodolite"),
        "SHARDS": str(options.shards),
        "PYTHON": f"{sys.version_info.major}.{sys.version_info.minor}",
        "STUDY": re.sub(r'["\\\n]', "", loaded.study.name),
        "IMAGE": IMAGE,
        "KEYS": secrets if keys else "The study needs no keys.",
    }


def _filled(text: str, words: dict[str, str]) -> str:
    return re.sub(rf"\b({'|'.join(words)})\b", lambda match: words[match[1]], text)


def _templates(folder: Traversable, within: str = "") -> Iterator[tuple[str, str]]:
    """Yield names and texts of the templates."""
    for entry in folder.iterdir():
        name = f"{within}{entry.name}"
        if entry.is_file():
            yield name, entry.read_text(encoding="utf-8")
        elif entry.name != "__pycache__":
            yield from _templates(entry, f"{name}/")
