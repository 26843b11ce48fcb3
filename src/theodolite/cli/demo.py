"""`theodolite demo`: the whole loop on shipped studies, without key or network."""

from __future__ import annotations

from pathlib import Path

import click

from theodolite.bootstrap.reports import write_reports
from theodolite.bootstrap.study_context import open_study
from theodolite.cli.outcome import present_results
from theodolite.cli.progress import PlainProgress
from theodolite.cli.running import run_interactively
from theodolite.demo.studies import DEMO_STUDIES, DemoStudy, lay_out_demo
from theodolite.usecases.running import RunOptions


@click.command()
@click.option(
    "--out",
    default="theodolite-demo",
    show_default=True,
    type=click.Path(file_okay=False),
    help="Folder for all files.",
)
@click.option("--browser", "open_it", is_flag=True, help="Open the report in a browser.")
def demo(out: str, *, open_it: bool) -> int:
    """Run two shipped studies: real recorded dialogues, and a live toy.

    The first replays what five applications answered to the 450 prompts of
    XSTest, with the labels that two people, a model and a keyword rule gave.
    The second lets a SCRIPTED user talk to a toy: it shows the loop, no more.

    \b
    Example
      theodolite demo --out theodolite-demo
    """  # noqa: D301 - click's mark for "keep these lines"
    folder = Path(out)
    lay_out_demo(folder)
    shown = folder if folder.is_absolute() else f"./{folder.as_posix()}"
    click.echo(f"Two studies, no key, no network. Files go to {shown}")
    for number, study in enumerate(DEMO_STUDIES, start=1):
        _run(folder, number, study)
    click.echo()
    context = open_study(str(folder / DEMO_STUDIES[0].name))
    try:
        written = present_results(context, out=str(folder), as_json=False, exit_code=0)
    finally:
        context.close()
    if open_it:
        click.launch(written.report)
    return 0


def _run(folder: Path, number: int, study: DemoStudy) -> None:
    context = open_study(str(folder / study.name))
    started = context.clock.monotonic_s()
    try:
        run_interactively(context, RunOptions(concurrency=64), progress=PlainProgress(context.clock, quiet=True))
        if number > 1:
            evidence = context.evidence()
            write_reports(context, evidence, context.findings(evidence))
    finally:
        context.close()
    took = context.clock.monotonic_s() - started
    click.echo(f"  {number} {study.name:<14} {study.words:<52} ok {_duration(took)}")


def _duration(took_s: float) -> str:
    """Return a duration in four characters at most, so that the line stays within the terminal."""
    return f"{took_s:.1f} s" if took_s < 9.95 else f"{took_s:.0f} s"
