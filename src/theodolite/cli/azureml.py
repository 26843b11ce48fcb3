"""`theodolite azureml`: a study as a pipeline of Azure Machine Learning, checked and sent."""

from __future__ import annotations

from pathlib import Path

import click

from theodolite.bootstrap.azureml import PIPELINES, PipelineOptions, check_written, write_pipeline
from theodolite.bootstrap.azureml import submit as send
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.cli.terminal import as_line, json_option, permission_options, permit_paths, permit_run
from theodolite.config.azure_pipelines import is_pipeline
from theodolite.config.loading import load_study
from theodolite.domain.errors import InputError


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
        click.echo(as_line({"exit_code": 0, "pipelines": [str(one) for one in pipelines], "address": address}))
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
