"""`theodolite demo`: the whole loop on shipped studies, without key or network."""

from __future__ import annotations

from pathlib import Path

import click

from theodolite.bootstrap.demo import DEMO_STUDIES, DemoStudy, lay_out_demo
from theodolite.bootstrap.reports import write_reports
from theodolite.bootstrap.workbench import open_workbench
from theodolite.cli.outcome import present_results
from theodolite.cli.progress import PlainProgress
from theodolite.cli.sitting import sit_at_terminal
from theodolite.usecases.running import RunOptions


@click.command()
@click.option(
    "--out",
    default="theodolite-demo",
    show_default=True,
    type=click.Path(file_okay=False),
    help="Folder for all files.",
)
@click.option("--open", "open_it", is_flag=True, help="Open the report in a browser.")
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
    bench = open_workbench(str(folder / DEMO_STUDIES[0].name))
    try:
        written = present_results(bench, out=str(folder), as_json=False, exit_code=0)
    finally:
        bench.close()
    if open_it:
        click.launch(written.report)
    return 0


def _run(folder: Path, number: int, study: DemoStudy) -> None:
    bench = open_workbench(str(folder / study.name))
    started = bench.clock.monotonic_s()
    try:
        sit_at_terminal(bench, RunOptions(parallel=64), progress=PlainProgress(bench.clock, quiet=True))
        if number > 1:
            evidence = bench.evidence()
            write_reports(bench, evidence, bench.findings(evidence))
    finally:
        bench.close()
    took = bench.clock.monotonic_s() - started
    click.echo(f"  {number} {study.name:<14} {study.words:<52} ok {_duration(took)}")


def _duration(took_s: float) -> str:
    """Return a duration in four characters at most, so that the line stays within the terminal."""
    return f"{took_s:.1f} s" if took_s < 9.95 else f"{took_s:.0f} s"
