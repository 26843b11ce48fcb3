"""`theodolite run`, and its first two stages by themselves: `test` and `assess`."""

from __future__ import annotations

import asyncio

import click

from theodolite.bootstrap.workbench import Workbench, open_workbench
from theodolite.cli.arguments import json_option, out_option, study_argument
from theodolite.cli.endings import nothing_text, stopped_text
from theodolite.cli.outcome import present_results
from theodolite.cli.sitting import Sat, progress_for, sit
from theodolite.domain.errors import RunStopped
from theodolite.domain.run import UnitKind
from theodolite.usecases.running import RunOptions

NOT_FINISHED = 3


@click.command()
@study_argument
@click.option("--first", type=click.IntRange(min=1), metavar="N", help="Hold the first N dialogues of the plan only.")
@click.option("--anew", is_flag=True, help="Begin another run of the same plan: everything is asked again.")
@click.option("--retry-failed", is_flag=True, help="Try once more what failed before.")
@click.option("--parallel", type=click.IntRange(min=1), metavar="N", help="Dialogues in work at a time.")
@out_option
@json_option
def run(
    study: str,
    *,
    first: int | None,
    anew: bool,
    retry_failed: bool,
    parallel: int | None,
    out: str | None,
    as_json: bool,
) -> int:
    """Test, assess, measure and report a study.

    STUDY is a folder with a study.yaml, or a file. The same command goes on
    where it was stopped; what is stored is never asked again.

    \b
    Examples
      theodolite run support --first 3    look before you pay
      theodolite run support              all of it, or what is left of it
      theodolite run support --json       for scripts and CI
    """  # noqa: D301 - click's mark for "keep these lines"
    bench = open_workbench(study)
    try:
        options = RunOptions(first=first, anew=anew, retry_failed=retry_failed, parallel=_slots(bench, parallel))
        sat = asyncio.run(sit(bench, options, progress=progress_for(bench, quiet=as_json), quiet=as_json))
        if first is not None and not sat.standing.stopped and not as_json:
            return _exit_code(bench, sat, study, complete=True)
        code = _exit_code(bench, sat, study, complete=sat.standing.is_complete)
        present_results(bench, out=out, as_json=as_json, exit_code=code, standing=sat.standing)
        return code
    finally:
        bench.close()


@click.command()
@study_argument
@click.option("--first", type=click.IntRange(min=1), metavar="N", help="Hold the first N dialogues of the plan only.")
def test(study: str, *, first: int | None) -> int:
    """Hold the dialogues of a study, and annotate none of them.

    \b
    Example
      theodolite test support && theodolite assess support
    """  # noqa: D301
    return _stage(study, frozenset({UnitKind.SESSION}), first)


@click.command()
@study_argument
def assess(study: str) -> int:
    """Annotate the dialogues that were held so far.

    \b
    Example
      theodolite assess support && theodolite measure support
    """  # noqa: D301
    return _stage(study, frozenset({UnitKind.ANNOTATION}), None)


def _stage(study: str, kinds: frozenset[UnitKind], first: int | None) -> int:
    bench = open_workbench(study)
    try:
        options = RunOptions(kinds=kinds, first=first, parallel=_slots(bench, None))
        sat = asyncio.run(sit(bench, options, progress=progress_for(bench, quiet=False), quiet=False))
        standing = sat.standing
        click.echo(
            f"{standing.dialogues:,} of {standing.planned:,} dialogues, "
            f"{standing.annotated:,} of {standing.due:,} annotations"
        )
        return _exit_code(bench, sat, study, complete=True)
    finally:
        bench.close()


def _slots(bench: Workbench, asked: int | None) -> int:
    """Return how many dialogues to hold at a time: enough to keep every endpoint busy."""
    if asked is not None:
        return asked
    return min(256, max([32, *(2 * endpoint.parallel for endpoint in bench.loaded.study.models)]))


def _exit_code(bench: Workbench, sat: Sat, study: str, *, complete: bool) -> int:
    standing = sat.standing
    if standing.stopped:
        text = stopped_text(
            standing,
            spent=sat.spent,
            budget=bench.loaded.study.budget,
            at=bench.clock.now(),
            command=f"theodolite run {study}",
            path=study,
        )
        click.echo(text, err=True)
        return NOT_FINISHED
    nothing = nothing_text(standing)
    if nothing:
        raise RunStopped(nothing)
    return 0 if complete else NOT_FINISHED
