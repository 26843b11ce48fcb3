"""`theodolite run`, and its first stage by itself: `test`."""

from __future__ import annotations

import click

from theodolite.bootstrap.running import RunResult, slots_for
from theodolite.bootstrap.study_context import StudyContext, open_study
from theodolite.cli.arguments import cache_option, json_option, out_option, study_argument
from theodolite.cli.endings import failures_text, nothing_text, stopped_text, waiting_text
from theodolite.cli.json_ending import as_line, counts_of
from theodolite.cli.permission import permission_options, permit_paths, permit_run
from theodolite.cli.running import progress_for, run_interactively
from theodolite.cli.terminal import width
from theodolite.domain.run import UnitKind, UnitState
from theodolite.usecases.running import RunOptions, RunStatus

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
    context = open_study(study)
    try:
        permit_run(context.loaded)
        slots = parallel or slots_for(context)
        options = RunOptions(first=first, anew=anew, retry_failed=retry_failed, parallel=slots, cache=cache)
        result = run_interactively(context, options, progress=progress_for(context, quiet=as_json), quiet=as_json)
        if result.status.stopped:
            _say_why_it_stopped(context, result)
            if not as_json:
                return NOT_FINISHED
        return _present(context, result, out=out, as_json=as_json, first=first)
    finally:
        context.close()


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
    context = open_study(study)
    try:
        permit_run(context.loaded)
        options = RunOptions(kinds=kinds, first=first, parallel=slots_for(context))
        result = run_interactively(context, options, progress=progress_for(context, quiet=as_json), quiet=as_json)
        status = result.status
        done = status.dialogues if UnitKind.SESSION in kinds else status.annotated
        code = NOT_FINISHED if status.stopped or not done else 0
        click.echo(as_line({"exit_code": code, **counts_of(status)}) if as_json else _kept(status))
        if status.stopped:
            _say_why_it_stopped(context, result)
        elif _others_hold_all(status) and UnitKind.SESSION in kinds:
            click.echo(waiting_text(status, f"theodolite test {context.path}"), err=True)
        elif not done:
            click.echo(nothing_text(status, context.evidence(), context.path), err=True)
        elif failed := failures_text(status, context.path):
            click.echo(failed, err=True)
        return code
    finally:
        context.close()


def _kept(status: RunStatus) -> str:
    return f"{status.dialogues:,} of {status.planned:,} dialogues, {status.annotated:,} of {status.due:,} annotations"


def _present(context: StudyContext, result: RunResult, *, out: str | None, as_json: bool, first: int | None) -> int:
    """Show what the run brought so far and return the exit code."""
    from theodolite.bootstrap.reports import first_screen
    from theodolite.cli.outcome import present_results

    status, evidence = result.status, context.evidence()
    succeeded = status.dialogues > 0 and (evidence.answers.is_labelled or not status.due)
    whole = status.is_complete or first is not None
    if _others_hold_all(status) and not (as_json or whole):
        click.echo(waiting_text(status, f"theodolite run {context.path}"), err=True)
        return NOT_FINISHED  # a report of nothing would take the place of the one that the other process writes
    code = 0 if succeeded and whole and not status.stopped else NOT_FINISHED
    if first is not None and not as_json:
        click.echo(first_screen(context, first, width=width()))
    else:
        present_results(
            context, out=out, as_json=as_json, exit_code=code, status=status, evidence=evidence, took_s=result.took_s
        )
    if not succeeded and not status.stopped:
        click.echo(nothing_text(status, evidence, context.path), err=True)
        return code
    if first is not None and not as_json:
        click.echo("Right? Change a file and run again (only what changed is asked anew), or go on:")
        click.echo(f"  theodolite run {context.path}")
    elif not whole and not status.stopped:
        click.echo(waiting_text(status, f"theodolite run {context.path}"), err=True)
    if failed := failures_text(status, context.path):
        click.echo(failed, err=True)
    return code


def _others_hold_all(status: RunStatus) -> bool:
    """Tell whether a sitting ended in peace and without any dialogue, since other processes hold them now."""
    return bool(status.sessions.get(UnitState.LEASED)) and not (status.stopped or status.dialogues)


def _say_why_it_stopped(context: StudyContext, result: RunResult) -> None:
    """Tell on standard error what is kept and how to go on."""
    text = stopped_text(
        result.status,
        spent=result.spent,
        budget=context.loaded.study.budget,
        at=context.clock.now(),
        command=f"theodolite run {context.path}",
        path=context.path,
    )
    click.echo(text, err=True)
