"""`theodolite run`, and its first two stages by themselves: `test` and `assess`."""

from __future__ import annotations

import asyncio

import click

from theodolite.bootstrap.reports import first_screen
from theodolite.bootstrap.workbench import Workbench, open_workbench
from theodolite.cli.arguments import json_option, out_option, study_argument
from theodolite.cli.endings import nothing_text, stopped_text
from theodolite.cli.outcome import present_results
from theodolite.cli.sitting import Sat, progress_for, sit
from theodolite.cli.terminal import width
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
        code = _exit_code(sat, partly=first is not None)
        if as_json or not sat.standing.stopped:
            _present(bench, sat, out=out, as_json=as_json, code=code, first=first)
        _say_how_it_ended(bench, sat, study)
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
        _say_how_it_ended(bench, sat, study)
        wanted = standing.dialogues if UnitKind.SESSION in kinds else standing.annotated
        return NOT_FINISHED if standing.stopped or not wanted else 0
    finally:
        bench.close()


def _slots(bench: Workbench, asked: int | None) -> int:
    """Return how many dialogues to hold at a time: enough to keep every endpoint busy."""
    if asked is not None:
        return asked
    return min(256, max([32, *(2 * endpoint.parallel for endpoint in bench.loaded.study.models)]))


def _present(bench: Workbench, sat: Sat, *, out: str | None, as_json: bool, code: int, first: int | None) -> None:
    if first is not None and not as_json:
        click.echo(first_screen(bench.evidence(), first, width=width()))
        click.echo("Right? Change a file and run again (only what changed is asked anew), or go on:")
        click.echo(f"  theodolite run {bench.path}")
        return
    present_results(bench, out=out, as_json=as_json, exit_code=code, standing=sat.standing)


def _say_how_it_ended(bench: Workbench, sat: Sat, study: str) -> None:
    """Tell on standard error why a run is not finished, if it is not."""
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
        return
    nothing = nothing_text(standing, bench.evidence().failures)
    if nothing:
        click.echo(nothing, err=True)


def _exit_code(sat: Sat, *, partly: bool) -> int:
    standing = sat.standing
    succeeded = standing.dialogues and (standing.annotated or not standing.due)
    if standing.stopped or not succeeded:
        return NOT_FINISHED
    return 0 if partly or standing.is_complete else NOT_FINISHED
