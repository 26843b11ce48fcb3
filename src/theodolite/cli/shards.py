"""`theodolite run --shard`, `merge` and `azureml`: parts of a plan run elsewhere, and their results join one run."""

from __future__ import annotations

import sys
from contextlib import nullcontext, redirect_stdout
from dataclasses import replace
from pathlib import Path

import click

from theodolite.bootstrap.plugins import resource_resolver
from theodolite.bootstrap.ray_cluster import Placement, run_on_ray
from theodolite.bootstrap.running import RunResult
from theodolite.bootstrap.shards import (
    PIPELINES,
    MergedRun,
    PipelineOptions,
    check_written,
    merge_shards,
    missing_text,
    write_pipeline,
    write_shard,
)
from theodolite.bootstrap.shards import submit as send
from theodolite.bootstrap.study_context import StudyContext, open_study
from theodolite.cli.report import gates_code, present_results
from theodolite.cli.running import note, nothing_text, progress_for, run_interactively, stopped_text
from theodolite.cli.terminal import (
    as_line,
    counts_of,
    json_option,
    out_option,
    path_option,
    permission_options,
    permit_paths,
    permit_run,
    study_argument,
)
from theodolite.config.azure_pipelines import is_pipeline
from theodolite.config.loading import load_study
from theodolite.domain.errors import InputError
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
    status, evidence = merged.status, context.evidence()
    if not status.dialogues:
        click.echo(nothing_text(status, evidence, context.path), err=True)
        return NOT_FINISHED
    succeeded = status.is_complete and (evidence.answers.is_labelled or not status.due)
    code = gates_code(context, evidence) if succeeded else NOT_FINISHED
    present_results(context, out=out, as_json=as_json, exit_code=code, status=status, evidence=evidence)
    return code


@click.command()
@click.argument("source", type=click.Path(), metavar="STUDY|PIPELINE")
@click.option("--out", type=click.Path(file_okay=False), help="Folder for the pipeline files of a study.")
@click.option(
    "--shards", type=click.IntRange(min=1), default=8, show_default=True, help="Shards of the parallel steps."
)
@click.option(
    "--instances", type=click.IntRange(min=1), default=2, show_default=True, help="Nodes of the parallel steps."
)
@click.option("--compute", default="cpu-cluster", show_default=True, help="Name of the compute cluster.")
@click.option(
    "--concurrency", type=click.IntRange(1, 1024), default=32, show_default=True, help="Concurrent calls of a step."
)
@click.option("--parallel", is_flag=True, help="With --submit: send the variant with parallel steps.")
@click.option("--submit", is_flag=True, help="Send the pipeline to the workspace.")
@click.option("--subscription", default="", help="Id of the Azure subscription.")
@click.option("--resource-group", default="", help="Resource group of the workspace.")
@click.option("--workspace", default="", help="Name of the Azure Machine Learning workspace.")
@permission_options
@json_option
def azureml(
    source: str,
    *,
    out: str | None,
    shards: int,
    instances: int,
    compute: str,
    concurrency: int,
    parallel: bool,
    submit: bool,
    subscription: str,
    resource_group: str,
    workspace: str,
    as_json: bool,
) -> int:
    """Write, check and submit a pipeline for Azure Machine Learning.

    With a study, the command writes pipeline.yml (data generation, evaluation,
    aggregation), pipeline-parallel.yml, command components, the environment and
    a copy of the study. With a pipeline file it checks that file: cycles,
    references to nothing, types, ranges, missing data.

    \b
    Examples
      theodolite azureml support --out support-aml
      theodolite azureml support-aml/pipeline.yml
      theodolite azureml support-aml/pipeline.yml --submit
    """  # noqa: D301 - click's mark for "keep these lines"
    if is_pipeline(Path(source)):
        pipelines: tuple[Path, ...] = (Path(source),)
        sent = Path(source)
    else:
        options = PipelineOptions(shards=shards, instances=instances, compute=compute, concurrency=concurrency)
        pipelines = _written(source, out, options)
        sent = pipelines[PIPELINES.index("pipeline-parallel.yml" if parallel else "pipeline.yml")]
    checked = {pipeline: check_written(pipeline) for pipeline in pipelines}
    names = {"subscription": subscription, "resource_group": resource_group, "workspace": workspace}
    address = send(sent, **names) if submit else ""
    if as_json:
        click.echo(as_line({"exit_code": 0, "pipelines": [str(path) for path in pipelines], "address": address}))
        return 0
    for pipeline, by in checked.items():
        click.echo(f"{pipeline}: no errors ({by})")
    click.echo(f"Submitted {sent}\nOpen      {address}" if submit else f"Next  theodolite azureml {sent} --submit")
    return 0


def _written(source: str, out: str | None, options: PipelineOptions) -> tuple[Path, ...]:
    if out is None:
        message = f"name a folder for the pipeline files:  theodolite azureml {source} --out FOLDER"
        raise InputError(message)
    permit_paths(source)
    loaded = load_study(Path(source), resolver=resource_resolver())
    permit_run(loaded)
    return write_pipeline(loaded, options, Path(out))
