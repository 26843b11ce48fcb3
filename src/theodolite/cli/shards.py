"""`theodolite run --shard` runs a part of a plan, and `theodolite merge` joins the parts."""

from __future__ import annotations

import sys
from contextlib import nullcontext, redirect_stdout
from dataclasses import replace
from pathlib import Path

import click

from theodolite.bootstrap.running import RunResult
from theodolite.bootstrap.shards import MergedRun, merge_shards, missing_text, write_shard
from theodolite.bootstrap.study_context import StudyContext, open_study
from theodolite.cli.running import note, nothing_text, progress_for, run_interactively, stopped_text
from theodolite.cli.terminal import (
    as_line,
    counts_of,
    json_option,
    out_option,
    path_option,
    permit_paths,
    study_argument,
)
from theodolite.domain.shards import MergeOutcome, Shard
from theodolite.usecases.running import RunOptions, RunStatus
from theodolite.usecases.shards import share_of

NOT_FINISHED = 3


def run_shard(
    context: StudyContext,
    shard: Shard,
    options: RunOptions,
    *,
    sources: tuple[str, ...],
    out: str | None,
    as_json: bool,
) -> int:
    """Run a part of a plan, write its shard and return the exit code.

    Args:
        context: The study, with the database of the shard.
        shard: The part.
        options: Scope of the run.
        sources: Shard files, or folders of them, with results to start from.
        out: Folder for the shard; the study folder if None.
        as_json: Whether to print one JSON object.
    """
    if sources:
        merge_shards(context, [Path(source) for source in sources], shard=shard)
    budget = options.budget or share_of(context.loaded.study.budget, shard)
    options = replace(options, budget=budget)
    result = run_interactively(context, options, progress=progress_for(context, quiet=as_json), quiet=as_json)
    status = result.status
    file = write_shard(context, shard, Path(out) if out else context.loaded.folder)
    code = NOT_FINISHED if status.stopped or not _is_done(status, options) else 0
    if as_json:
        click.echo(as_line({"exit_code": code, "shard": str(shard), "file": str(file), **counts_of(status)}))
        return code
    counts = f"{status.dialogues:,} of {status.planned:,} dialogues, {status.annotated:,} of {status.due:,} annotations"
    click.echo(f"Shard {shard}: {counts}")
    if status.stopped:
        command = f"theodolite run {context.path} --shard {shard}"
        at = context.clock.now()
        stop = stopped_text(status, spent=result.spent, budget=budget, at=at, command=command, path=context.path)
        click.echo(stop, err=True)
    click.echo(f"Wrote {file}")
    click.echo(f"Next  theodolite merge {context.path} {file.parent}   when all shards are written")
    return code


def run_on_cluster(
    context: StudyContext, options: RunOptions, *, address: str, workers: int | None, quiet: bool
) -> RunResult:
    """Run a study by workers on a Ray cluster."""
    from theodolite.bootstrap.ray_cluster import Placement, run_on_ray  # not needed by a run on this machine

    placement = Placement(address=address, workers=workers or 0)
    progress = progress_for(context, quiet=quiet)
    # Ray prints the logs of its workers on standard output, which holds one JSON object.
    with redirect_stdout(sys.stderr) if quiet else nullcontext():
        return run_on_ray(context, options, placement, progress=progress, tell=note)


def _is_done(status: RunStatus, options: RunOptions) -> bool:
    """Return whether all requested units and sessions of the stages have ended."""
    kinds = {kind.value for kind in options.kinds}
    sides = [("session", status.sessions), ("annotation", status.annotations)]
    return all(not side.get("waiting") and not side.get("leased") for kind, side in sides if kind in kinds)


@click.command()
@study_argument
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="PATH...")
@out_option
@path_option
@json_option
def merge(study: str, paths: tuple[str, ...], *, out: str | None, as_json: bool) -> int:
    """Join the shards of a run and write its results.

    PATH is a file that  theodolite run STUDY --shard I/N  has written, or a folder
    of such files. Files may be merged in any order and more than once: results that
    are already stored stay unchanged. A shard of another study, or of another version
    of it, is refused.

    \b
    Examples
      theodolite merge support shards/
      theodolite merge support a/support-1-of-2.jsonl b/support-2-of-2.jsonl
    """  # noqa: D301 - click's mark for "keep these lines"
    permit_paths(study)
    context = open_study(study)
    try:
        merged = merge_shards(context, [Path(path) for path in paths])
        if not as_json:
            click.echo(_counts_text(merged))
        missing = missing_text(merged.status)
        if missing:
            click.echo(f"Not finished: {missing}. Merge the other shards, or run the rest:", err=True)
            click.echo(f"  theodolite run {context.path}", err=True)
        return _present(context, merged, out=out, as_json=as_json)
    finally:
        context.close()


def _counts_text(merged: MergedRun) -> str:
    dialogues, annotations = merged.counts.dialogues, merged.counts.annotations
    files = f"{len(merged.files):,} file{'s' if len(merged.files) != 1 else ''}"
    text = (
        f"Read {files}: {dialogues[MergeOutcome.MERGED]:,} sessions and {annotations[MergeOutcome.MERGED]:,}"
        f" annotations are new, {dialogues[MergeOutcome.PRESENT] + annotations[MergeOutcome.PRESENT]:,} were already"
        " stored."
    )
    different = dialogues[MergeOutcome.DIFFERENT] + annotations[MergeOutcome.DIFFERENT]
    if different:
        text += f"\n{different:,} differ from the replies in this workspace, which are kept."
    return text


def _present(context: StudyContext, merged: MergedRun, *, out: str | None, as_json: bool) -> int:
    from theodolite.cli.report import gates_code, present_results

    status, evidence = merged.status, context.evidence()
    if not status.dialogues:
        click.echo(nothing_text(status, evidence, context.path), err=True)
        return NOT_FINISHED
    succeeded = status.is_complete and (evidence.answers.is_labelled or not status.due)
    code = gates_code(context, evidence) if succeeded else NOT_FINISHED
    present_results(context, out=out, as_json=as_json, exit_code=code, status=status, evidence=evidence)
    return code
