"""`theodolite run` runs a study or one stage of it, `worker` joins runs, `status` prints the status of a run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from theodolite.bootstrap.database import DATABASE_VARIABLE
from theodolite.bootstrap.running import RunResult, slots_for
from theodolite.bootstrap.study_context import StudyContext, look_at, open_study
from theodolite.cli.running import (
    NOT_FINISHED,
    failures_text,
    note,
    nothing_text,
    progress_for,
    run_interactively,
    stopped_text,
    tracebacks,
    waiting_text,
    work_interactively,
)
from theodolite.cli.terminal import (
    as_line,
    cache_option,
    counts_of,
    hide_keys,
    json_option,
    observed,
    observer_options,
    out_option,
    permission_options,
    permit_paths,
    permit_run,
    study_argument,
    width,
)
from theodolite.domain.errors import InputError
from theodolite.domain.plan import held_by_runs, selection_of
from theodolite.domain.run import Run, UnitKind, UnitState
from theodolite.usecases.running import RunOptions, RunStatus

if TYPE_CHECKING:
    from theodolite.domain.answers import AnswerTable
    from theodolite.domain.evidence import Evidence
    from theodolite.domain.shards import Shard


STAGES = {
    "test": frozenset({UnitKind.SESSION}),
    "score": frozenset({UnitKind.ANNOTATION}),
    "measure": frozenset[UnitKind](),
}
"""The kinds of units that each stage of a run processes."""


@click.command()
@study_argument
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Run only the first N dialogues of the plan.")
@click.option(
    "--only",
    multiple=True,
    metavar="KEY=VALUE",
    help="Run only dialogues of this application, scenario, persona or case; repeatable.",
)
@click.option(
    "--stage",
    type=click.Choice([*STAGES]),
    help="Run one stage: create dialogues, score them, or write results.json.",
)
@click.option("--new-run", is_flag=True, help="Start a new run of the same plan; every call is made again.")
@click.option("--retry-failed", is_flag=True, help="Retry failed dialogues and annotations.")
@click.option(
    "--concurrency", type=click.IntRange(min=1), metavar="N", help="Maximum concurrent calls, and as many to judges."
)
@click.option("--junit", type=click.Path(dir_okay=False), help="Write the results of the gates as JUnit XML.")
@click.option("--debug", is_flag=True, help="Print tracebacks of the study's own code.")
@click.option(
    "--budget",
    type=click.FloatRange(min=0, min_open=True),
    metavar="USD",
    help="Stop the run at this cost instead of the study's budget; US dollars.",
)
@click.option(
    "--shard",
    metavar="I/N",
    help="Run part I of N in a separate database and write its results to a file for `merge`.",
)
@click.option(
    "--from",
    "sources",
    multiple=True,
    type=click.Path(),
    metavar="PATH",
    help="With --shard: start from the results in this shard file or folder of shard files.",
)
@click.option("--on", "engine", type=click.Choice(["ray"]), help="Run workers on a cluster instead of in this process.")
@click.option(
    "--address", default="", metavar="ADDRESS", help="With --on: address of the cluster; default: RAY_ADDRESS."
)
@click.option(
    "--workers", type=click.IntRange(min=1), metavar="N", help="With --on: number of workers; default: one per node."
)
@cache_option
@out_option
@permission_options
@observer_options
@json_option
def run(
    study: str,
    *,
    limit: int | None,
    only: tuple[str, ...],
    stage: str | None,
    new_run: bool,
    retry_failed: bool,
    concurrency: int | None,
    junit: str | None,
    debug: bool,
    budget: float | None,
    shard: str | None,
    sources: tuple[str, ...],
    engine: str | None,
    address: str,
    workers: int | None,
    cache: bool,
    out: str | None,
    as_json: bool,
) -> int:
    """Test, score, measure and report a study.

    STUDY is a folder with a study.yaml, or a file. The same command resumes a
    stopped run; stored replies are not requested again.

    \b
    Examples
      theodolite run support --limit 3           try a few dialogues first
      theodolite run support                     run or resume the whole plan
      theodolite run support --only application=v2 --only persona=Ana
      theodolite run support --stage score       annotate stored dialogues only
      theodolite run support --shard 2/8         one part of 8; then `merge`
      theodolite run support --on ray            workers on a Ray cluster
      theodolite run support --json              output for scripts and CI
    """  # noqa: D301 - click's mark for "keep these lines"
    permit_paths(study)
    part = _shard_of(shard, stage=stage, junit=junit, sources=sources)
    _require_whole(only, stage=stage, junit=junit)
    _require_engine(
        engine, address=address, workers=workers, has_scope=bool(part or stage or limit or only or cache or budget)
    )
    context = open_study(study, shard=part)
    try:
        if stage == "measure":
            from theodolite.cli.report import measure

            return measure(context, out=out, as_json=as_json)
        if junit:
            from theodolite.cli.report import require_gates

            require_gates(context.loaded.study)
        permit_run(context.loaded)
        options = RunOptions(
            kinds=STAGES[stage] if stage else frozenset(UnitKind),
            limit=limit,
            selection=selection_of(only, held_by_runs(context.sessions), context.loaded.study.personas),
            new_run=new_run,
            retry_failed=retry_failed,
            concurrency=concurrency or slots_for(context),
            cache=cache,
            budget=None if budget is None else replace(context.loaded.study.budget, usd=budget),
            shard=part,
        )
        with observed([context]), tracebacks(shown=debug):
            if part:
                from theodolite.cli.shards import run_shard

                return run_shard(context, part, options, sources=sources, out=out, as_json=as_json)
            result = _run_on(engine, context, options, address=address, workers=workers, quiet=as_json)
        if stage:
            return _present_stage(context, result, options, as_json=as_json)
        return _present_run(context, result, options, out=out, junit=junit, as_json=as_json)
    finally:
        context.close()


def _present_run(
    context: StudyContext, result: RunResult, options: RunOptions, *, out: str | None, junit: str | None, as_json: bool
) -> int:
    """Print the outcome of a run of all stages and return the exit code."""
    if result.status.stopped:
        _print_stop(context, result, options)
        if not as_json:
            return NOT_FINISHED
    code = _present(context, result, options, out=out, as_json=as_json)
    if junit:
        from theodolite.cli.report import write_junit

        write_junit(context, junit)
    return code


def _shard_of(text: str | None, *, stage: str | None, junit: str | None, sources: tuple[str, ...]) -> Shard | None:
    """Return the shard that `--shard` names.

    Raises:
        InputError: If it names none, or other options need the whole run.
    """
    if text is None:
        if sources:
            message = "`--from` belongs to `--shard`; to join shards, write  theodolite merge STUDY PATH"
            raise InputError(message)
        return None
    if junit or stage == "measure":
        message = "a shard is a part of a run and is not measured; join the shards first:  theodolite merge STUDY PATH"
        raise InputError(message)
    from theodolite.domain.shards import shard_number

    return shard_number(text)


def _require_whole(only: tuple[str, ...], *, stage: str | None, junit: str | None) -> None:
    """Refuse `--only` together with options that concern the whole run.

    Raises:
        InputError: If they do not fit together.
    """
    if only and (junit or stage == "measure"):
        option = "--junit" if junit else "--stage measure"
        message = f"`{option}` concerns all dialogues of a run; leave `--only` out"
        raise InputError(message)


def _run_on(
    engine: str | None, context: StudyContext, options: RunOptions, *, address: str, workers: int | None, quiet: bool
) -> RunResult:
    """Run a study in this process, or by workers on a cluster."""
    if engine is None:
        return run_interactively(context, options, progress=progress_for(context, quiet=quiet), quiet=quiet)
    from theodolite.cli.shards import run_on_cluster

    return run_on_cluster(context, options, address=address, workers=workers, quiet=quiet)


def _require_engine(engine: str | None, *, address: str, workers: int | None, has_scope: bool) -> None:
    """Refuse options that do not fit `--on`.

    Raises:
        InputError: If they do not fit together.
    """
    if engine is None and (address or workers):
        message = "`--address` and `--workers` belong to `--on`; add  --on ray"
        raise InputError(message)
    if engine and has_scope:
        message = (
            "workers on a cluster run the whole plan of the study file: leave --stage, --limit, --only, --shard,"
            " --cache and --budget out"
        )
        raise InputError(message)


def _present_stage(context: StudyContext, result: RunResult, options: RunOptions, *, as_json: bool) -> int:
    """Print the counts of a run of one stage and return the exit code."""
    status, is_test = result.status, UnitKind.SESSION in options.kinds
    selected = _selected(context, options)
    done: int | bool = status.dialogues if is_test else status.annotated
    if selected is not None:
        answers = context.evidence().answers
        done = _n_dialogues(answers, selected) if is_test else answers.is_labelled_at(selected)
    code = NOT_FINISHED if status.stopped or not done else 0
    click.echo(as_line({"exit_code": code, **counts_of(status)}) if as_json else _stored_text(status))
    if status.stopped:
        _print_stop(context, result, options)
    elif is_test and _others_hold_all(status):
        click.echo(waiting_text(status, f"theodolite run {context.path} --stage test"), err=True)
    elif not done:
        click.echo(nothing_text(status, context.evidence(), context.path, selected), err=True)
    elif failed := failures_text(status, context.path):
        click.echo(failed, err=True)
    return code


def _stored_text(status: RunStatus) -> str:
    return f"{status.dialogues:,} of {status.planned:,} dialogues, {status.annotated:,} of {status.due:,} annotations"


def _present(context: StudyContext, result: RunResult, options: RunOptions, *, out: str | None, as_json: bool) -> int:
    """Print the results so far and return the exit code."""
    from theodolite.bootstrap.reports import first_screen
    from theodolite.cli.report import gates_code, present_results

    status, evidence = result.status, context.evidence()
    selected = _selected(context, options)
    succeeded, whole = _reached(status, evidence, selected)
    if _others_hold_all(status) and not (as_json or whole):
        click.echo(waiting_text(status, f"theodolite run {context.path}"), err=True)
        return NOT_FINISHED  # an empty report would overwrite the report of the other process
    code = 0 if succeeded and whole and not status.stopped else NOT_FINISHED
    if not code and not options.is_restricted:
        code = gates_code(context, evidence)
    if options.limit is not None and not as_json:
        click.echo(first_screen(context, options.positions(context.sessions), width=width()))
    else:
        present_results(
            context, out=out, as_json=as_json, exit_code=code, status=status, evidence=evidence, took_s=result.took_s
        )
    if not succeeded and not status.stopped:
        click.echo(nothing_text(status, evidence, context.path, selected), err=True)
        return code
    if whole and options.is_restricted and not (as_json or status.is_complete):
        click.echo(_rest_text(context.path, options))
    _print_rest(context.path, status, whole=whole)
    return code


def _print_rest(path: str, status: RunStatus, *, whole: bool) -> None:
    """Print on standard error that work is left or failed."""
    if not whole and not status.stopped:
        click.echo(waiting_text(status, f"theodolite run {path}"), err=True)
    if failed := failures_text(status, path):
        click.echo(failed, err=True)


def _reached(status: RunStatus, evidence: Evidence, selected: Sequence[int] | None) -> tuple[bool, bool]:
    """Return whether the selected sessions have a dialogue and a label, and whether all of them are over.

    Earlier results of other sessions do not count.
    """
    answers = evidence.answers
    if selected is None:
        return status.dialogues > 0 and (answers.is_labelled or not status.due), status.is_complete
    n_dialogues = _n_dialogues(answers, selected)
    whole = all(answers.dialogues[at] is not None or at in answers.failures for at in selected)
    return n_dialogues > 0 and (answers.is_labelled_at(selected) or not status.due), whole


def _selected(context: StudyContext, options: RunOptions) -> Sequence[int] | None:
    """Return the positions of the sessions that `--only` and `--limit` select; None for the whole plan."""
    return options.positions(context.sessions) if options.is_restricted else None


def _n_dialogues(answers: AnswerTable, positions: Sequence[int]) -> int:
    return sum(answers.dialogues[at] is not None for at in positions)


def _rest_text(path: str, options: RunOptions) -> str:
    """Return the command that runs the rest of the plan after a restricted run."""
    if options.limit is None:
        return f"Only the selected dialogues were run. Run the rest:\n  theodolite run {path}"
    advice = "If a dialogue looks wrong, change the study and run again: only changed parts are repeated."
    return f"{advice} Run the rest:\n  theodolite run {path}"


def _others_hold_all(status: RunStatus) -> bool:
    """Return whether other processes have leased all remaining sessions."""
    return bool(status.sessions.get(UnitState.LEASED)) and not (status.stopped or status.dialogues)


def _print_stop(context: StudyContext, result: RunResult, options: RunOptions) -> None:
    """Print on standard error the stored results and the command that continues."""
    text = stopped_text(
        result.status,
        spent=result.spent,
        budget=options.budget or context.loaded.study.budget,
        at=context.clock.now(),
        command=f"theodolite run {context.path}",
        path=context.path,
    )
    click.echo(text, err=True)


@click.command()
@click.argument("studies", nargs=-1, metavar="[STUDY]...")
@click.option("--until-done", is_flag=True, help="End when none of the studies has an open run.")
@click.option(
    "--concurrency", type=click.IntRange(min=1), metavar="N", help="Maximum concurrent calls, and as many to judges."
)
@permission_options
@observer_options
@json_option
def worker(studies: tuple[str, ...], *, until_done: bool, concurrency: int | None, as_json: bool) -> int:
    """Work on the open runs of studies together with other processes.

    Each STUDY is a folder with a study.yaml, or a file. The worker joins its run once
    another process has started it with `theodolite run`, leases units from the database,
    and waits for the next run. It writes no reports. SIGTERM or Ctrl-C drains it: calls in flight
    finish and its units return to the others.

    With DATABASE_URL, a STUDY without a folder is the name of a study, and no STUDY means all
    open runs. The worker then gets the study's files from the database.

    \b
    Examples
      theodolite worker support                  join each run of the study
      theodolite worker support --until-done     end with the run, for batch jobs
      theodolite worker                          join all runs in the database
    """  # noqa: D301 - click's mark for "keep these lines"
    database_url = os.environ.get(DATABASE_VARIABLE, "")
    if database_url and not any(Path(study).exists() for study in studies):
        return _work_on_database(database_url, studies, until_done=until_done, concurrency=concurrency, as_json=as_json)
    if not studies:
        message = f"name the folder of a study, or set {DATABASE_VARIABLE} to join all open runs of a database"
        raise InputError(message)
    contexts: list[StudyContext] = []
    try:
        for study in studies:
            permit_paths(study)
            contexts.append(open_study(study))
            permit_run(contexts[-1].loaded)
        names = ", ".join(f"`{context.loaded.study.name}`" for context in contexts)
        with observed(contexts):
            return work_interactively(
                lambda: contexts, of=names, until_done=until_done, concurrency=concurrency, as_json=as_json
            )
    finally:
        for context in contexts:
            context.close()


def _work_on_database(
    database_url: str, names: tuple[str, ...], *, until_done: bool, concurrency: int | None, as_json: bool
) -> int:
    """Join the open runs of a database, without folders of their studies."""
    from theodolite.bootstrap.study_files import stored_studies  # workers with a folder do not need it

    def permit(context: StudyContext) -> None:
        permit_run(context.loaded)
        hide_keys(context)

    of = ", ".join(f"`{name}`" for name in names) or "all studies"
    with (
        stored_studies(database_url, permit=permit, tell=note, names=names) as studies,
        observed([], [studies.store.statistics]),
    ):
        for name in names:
            if not studies.store.runs(name):
                note(f"the database has no run of `{name}` yet")
        return work_interactively(
            studies.contexts,
            of=f"{of} in the database",
            until_done=until_done,
            concurrency=concurrency,
            as_json=as_json,
            is_refused=lambda: until_done and bool(studies.refused),
        )


@click.command()
@study_argument
@json_option
def status(study: str, *, as_json: bool) -> int:
    """Report the progress of the latest run, during it or afterwards.

    It only reads: the run is not disturbed, and the database is not migrated.

    \b
    Examples
      theodolite status support
      theodolite status support --json
    """  # noqa: D301 - click's mark for "keep these lines"
    from theodolite.reporting.terminal.status import status_document, status_text  # a run does not need them

    seen = look_at(study)
    click.echo(as_line({"exit_code": 0, **status_document(seen)}) if as_json else status_text(seen))
    return 0


@click.command()
@study_argument
@json_option
def runs(study: str, *, as_json: bool) -> int:
    """List the runs of a study; STUDY@N names one of them in other commands.

    \b
    Examples
      theodolite runs support
      theodolite compare support@1 support@2
    """  # noqa: D301 - click's mark for "keep these lines"
    context = open_study(study)
    try:
        name = context.loaded.study.name
        lines = [_run_entry(context, one) for one in context.store.runs(name)]
    finally:
        context.close()
    if as_json:
        click.echo(as_line({"exit_code": 0, "study": name, "runs": lines}))
        return 0
    if not lines:
        click.echo(f"`{name}` has not been run. Run it:  theodolite run {study}")
    for line in lines:
        dialogues = f"{line['dialogues']:,} dialogues"
        failed = f", {line['failed']:,} failed" if line["failed"] else ""
        click.echo(f"@{line['number']:<4} {line['started']}  {line['state']:<10} {dialogues}{failed}")
    return 0


def _run_entry(context: StudyContext, one: Run) -> dict[str, Any]:
    units = context.store.count_units(one, UnitKind.SESSION)
    return {
        "number": one.number,
        "started": f"{one.started:%Y-%m-%d %H:%M:%S} UTC",
        "state": one.state.value,
        "dialogues": units.get(UnitState.DONE.value, 0),
        "failed": units.get(UnitState.FAILED.value, 0),
        "study_version": one.study_version,
    }
