"""`theodolite run`, and its first stage by itself: `test`."""

from __future__ import annotations

import click

from theodolite.bootstrap.sitting import Sat, slots_for
from theodolite.bootstrap.workbench import Workbench, open_workbench
from theodolite.cli.arguments import cache_option, json_option, out_option, study_argument
from theodolite.cli.endings import failures_text, nothing_text, stopped_text, waiting_text
from theodolite.cli.json_ending import as_line, counts_of
from theodolite.cli.permission import permission_options, permit_code, permit_paths
from theodolite.cli.sitting import progress_for, sit_at_terminal
from theodolite.cli.terminal import width
from theodolite.domain.run import UnitKind, UnitState
from theodolite.usecases.running import RunOptions, Standing

NOT_FINISHED = 3


@click.command()
@study_argument
@click.option("--first", type=click.IntRange(min=1), metavar="N", help="Hold the first N dialogues of the plan only.")
@click.option("--anew", is_flag=True, help="Begin another run of the same plan: everything is asked again.")
@click.option("--retry-failed", is_flag=True, help="Try once more what failed before.")
@click.option(
    "--parallel", type=click.IntRange(min=1), metavar="N", help="Calls in flight at a time, as many of judges."
)
@cache_option
@out_option
@permission_options
@json_option
def run(
    study: str,
    *,
    first: int | None,
    anew: bool,
    retry_failed: bool,
    parallel: int | None,
    cache: bool,
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
    permit_paths(study)
    bench = open_workbench(study)
    try:
        permit_code(bench.loaded)
        slots = parallel or slots_for(bench)
        options = RunOptions(first=first, anew=anew, retry_failed=retry_failed, parallel=slots, cache=cache)
        sat = sit_at_terminal(bench, options, progress=progress_for(bench, quiet=as_json), quiet=as_json)
        if sat.standing.stopped:
            _say_why_it_stopped(bench, sat)
            if not as_json:
                return NOT_FINISHED
        return _present(bench, sat, out=out, as_json=as_json, first=first)
    finally:
        bench.close()


@click.command()
@study_argument
@click.option("--first", type=click.IntRange(min=1), metavar="N", help="Hold the first N dialogues of the plan only.")
@permission_options
@json_option
def test(study: str, *, first: int | None, as_json: bool) -> int:
    """Hold the dialogues of a study, and annotate none of them.

    \b
    Example
      theodolite test support && theodolite assess support
    """  # noqa: D301
    return stage(study, frozenset({UnitKind.SESSION}), first, as_json=as_json)


def stage(study: str, kinds: frozenset[UnitKind], first: int | None, *, as_json: bool) -> int:
    """Do some kinds of work of a study only, and return the exit code."""
    permit_paths(study)
    bench = open_workbench(study)
    try:
        permit_code(bench.loaded)
        options = RunOptions(kinds=kinds, first=first, parallel=slots_for(bench))
        sat = sit_at_terminal(bench, options, progress=progress_for(bench, quiet=as_json), quiet=as_json)
        standing = sat.standing
        done = standing.dialogues if UnitKind.SESSION in kinds else standing.annotated
        code = NOT_FINISHED if standing.stopped or not done else 0
        click.echo(as_line({"exit_code": code, **counts_of(standing)}) if as_json else _kept(standing))
        if standing.stopped:
            _say_why_it_stopped(bench, sat)
        elif _others_hold_all(standing) and UnitKind.SESSION in kinds:
            click.echo(waiting_text(standing, f"theodolite test {bench.path}"), err=True)
        elif not done:
            click.echo(nothing_text(standing, bench.evidence(), bench.path), err=True)
        elif failed := failures_text(standing, bench.path):
            click.echo(failed, err=True)
        return code
    finally:
        bench.close()


def _kept(standing: Standing) -> str:
    return (
        f"{standing.dialogues:,} of {standing.planned:,} dialogues, "
        f"{standing.annotated:,} of {standing.due:,} annotations"
    )


def _present(bench: Workbench, sat: Sat, *, out: str | None, as_json: bool, first: int | None) -> int:
    """Show what the run brought so far and return the exit code."""
    from theodolite.bootstrap.reports import first_screen
    from theodolite.cli.outcome import present_results

    standing, evidence = sat.standing, bench.evidence()
    succeeded = standing.dialogues > 0 and (evidence.answers.is_labelled or not standing.due)
    whole = standing.is_complete or first is not None
    if _others_hold_all(standing) and not (as_json or whole):
        click.echo(waiting_text(standing, f"theodolite run {bench.path}"), err=True)
        return NOT_FINISHED  # a report of nothing would take the place of the one that the other process writes
    code = 0 if succeeded and whole and not standing.stopped else NOT_FINISHED
    if first is not None and not as_json:
        click.echo(first_screen(bench, first, width=width()))
    else:
        present_results(
            bench, out=out, as_json=as_json, exit_code=code, standing=standing, evidence=evidence, took_s=sat.took_s
        )
    if not succeeded and not standing.stopped:
        click.echo(nothing_text(standing, evidence, bench.path), err=True)
        return code
    if first is not None and not as_json:
        click.echo("Right? Change a file and run again (only what changed is asked anew), or go on:")
        click.echo(f"  theodolite run {bench.path}")
    elif not whole and not standing.stopped:
        click.echo(waiting_text(standing, f"theodolite run {bench.path}"), err=True)
    if failed := failures_text(standing, bench.path):
        click.echo(failed, err=True)
    return code


def _others_hold_all(standing: Standing) -> bool:
    """Tell whether a sitting ended in peace and without any dialogue, since other processes hold them now."""
    return bool(standing.sessions.get(UnitState.LEASED)) and not (standing.stopped or standing.dialogues)


def _say_why_it_stopped(bench: Workbench, sat: Sat) -> None:
    """Tell on standard error what is kept and how to go on."""
    text = stopped_text(
        sat.standing,
        spent=sat.spent,
        budget=bench.loaded.study.budget,
        at=bench.clock.now(),
        command=f"theodolite run {bench.path}",
        path=bench.path,
    )
    click.echo(text, err=True)
