"""`theodolite init` creates a study; `theodolite demo` runs two examples."""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
from pathlib import Path

import click

from theodolite.bootstrap.connections import offered_models
from theodolite.bootstrap.permission import trust_new_study
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.bootstrap.reports import write_reports
from theodolite.bootstrap.study_context import open_study
from theodolite.cli.report import present_results
from theodolite.cli.running import PlainProgress, run_interactively
from theodolite.cli.terminal import wants_colour
from theodolite.config.load_context import EXAMPLES, REQUIREMENTS
from theodolite.config.starters import StarterKind, split_study, write_starter
from theodolite.config.tables import guess_columns, guess_lines, read_table
from theodolite.config.yaml_source import InvalidStudyError, render_diagnostics
from theodolite.demo.studies import DEMO_STUDIES, DemoStudy, lay_out_demo
from theodolite.domain.errors import InputError
from theodolite.domain.identity import SHORT
from theodolite.usecases.running import RunOptions

_QUESTION = """\
What do you want to measure?
  1  an application that I can call     3  an event where people test
  2  dialogues that I already have      4  show me an empty study"""

_KINDS = {
    "1": StarterKind.APPLICATION,
    "2": StarterKind.RECORDED,
    "3": StarterKind.EVENT,
    "4": StarterKind.EMPTY,
}

_FROM = "Recorded dialogues: CSV, TSV or JSONL, whose header is read; or one study file, which becomes a folder."

Answers = dict[str, str]


@click.command()
@click.argument("folder", type=click.Path(file_okay=False))
@click.option("--app", metavar="PLACE", help="An application: URL, module:function, file.py:function or module:Class.")
@click.option("--cases", type=click.Path(), help="With --app: test cases with expected answers (CSV, TSV or JSONL).")
@click.option("--users", is_flag=True, help="With --app: simulated users test it; needs a model.")
@click.option("--guideline", metavar="NAME", help="What would be wrong in a reply: a known name, or a sentence.")
@click.option("--from", "from_file", type=click.Path(), help=_FROM)
@click.option("--judge", metavar="NAME", help="With --from: what a judge looks for: a known name, or a sentence.")
@click.option("--model", metavar="URL", help="Model of judge and simulated user: an OpenAI-compatible address.")
@click.option("--model-name", metavar="NAME", help="Name of that model, or of the model under test, at its address.")
@click.option("--pack", metavar="NAME", help="An event on a scenario pack, e.g. aria/tv-spoilers.")
@click.option("--example", metavar="NAME", help=f"A complete example study: {', '.join(EXAMPLES)}.")
@click.option("--empty", is_flag=True, help="An empty study with comments.")
def init(
    folder: str,
    *,
    app: str | None,
    cases: str | None,
    users: bool,
    guideline: str | None,
    from_file: str | None,
    judge: str | None,
    model: str | None,
    model_name: str | None,
    pack: str | None,
    example: str | None,
    empty: bool,
) -> int:
    """Write the first files of a new study to FOLDER.

    Without options it asks up to three questions; with them it asks nothing
    and writes the same files.

    \b
    Examples
      theodolite init support
      theodolite init smoke --app bot.py:answer --cases cases.csv
      theodolite init support --app http://127.0.0.1:8000/v1 --users
      theodolite init mine --from answers.csv
      theodolite init faq --from answers.csv --judge relevance
      theodolite init grown --from study.yaml
      theodolite init spoilers --pack aria/tv-spoilers
      theodolite init bots --example guarded-bot
    """  # noqa: D301 - click's mark for "keep these lines"
    values = {"app": app, "from": from_file, "pack": pack, "example": example, "empty": "yes" if empty else None}
    more = {"guideline": guideline, "cases": cases, "users": "yes" if users else None}
    kind, answers = _by_options(
        {name: value for name, value in values.items() if value},
        {name: value for name, value in more.items() if value},
    )
    if kind is None:
        kind, answers = _by_questions() if sys.stdin.isatty() else (StarterKind.EMPTY, {})
    if Path(answers.get("from", "")).suffix.lower() in {".yaml", ".yml"}:
        return _split(Path(answers["from"]), folder)
    if kind is StarterKind.RECORDED and not _is_right(answers["from"]):
        click.echo("Nothing was written. Rename the columns, or write the study by hand:  theodolite init DIR --empty")
        return 2
    if judge and kind is not StarterKind.RECORDED:
        message = "--judge belongs to --from; an application takes --guideline"
        raise click.UsageError(message)
    if kind is StarterKind.APPLICATION:
        _ask_the_address(answers, "" if model else model_name or "")
    if judge or answers.get("guideline") or answers.get("users"):
        answers |= {"judge": judge or "", **_model_of(answers, model or "", model_name or "")}
    elif model:
        message = "--model belongs to a judge or simulated users: add --judge, --guideline or --users"
        raise click.UsageError(message)
    _write(folder, kind, answers)
    return 0


_CHAT = "/chat/completions"

_OPTIONS = {
    "app": StarterKind.APPLICATION,
    "from": StarterKind.RECORDED,
    "pack": StarterKind.EVENT,
    "example": StarterKind.EXAMPLE,
    "empty": StarterKind.EMPTY,
}


def _by_options(answers: Answers, of_app: Answers) -> tuple[StarterKind | None, Answers]:
    """Return what the options ask for; None where they leave it open."""
    if len(answers) > 1:
        message = f"{' and '.join(f'--{name}' for name in answers)} create different kinds of study; use only one"
        raise click.UsageError(message)
    if "app" in answers:
        if "cases" in of_app and "users" in of_app:
            message = "--cases and --users create different kinds of study; use only one"
            raise click.UsageError(message)
        return StarterKind.APPLICATION, answers | of_app
    if of_app:
        message = f"--{next(iter(of_app))} requires --app"
        raise click.UsageError(message)
    return next(((_OPTIONS[name], answers) for name in answers), (None, {}))


def _by_questions() -> tuple[StarterKind, Answers]:
    click.echo(_QUESTION)
    kind = _KINDS[click.prompt(">", type=click.Choice(tuple(_KINDS)), show_choices=False, prompt_suffix=" ")]
    if kind is StarterKind.APPLICATION:
        click.echo("Where is it?  (URL, module:function, or module:Class of an ARIA interface)")
        return kind, {"app": click.prompt(">", prompt_suffix=" "), **_tests_by_questions()}
    if kind is StarterKind.RECORDED:
        click.echo("Which file?  (CSV, TSV or JSONL, one row a turn)")
        return kind, {"from": click.prompt(">", prompt_suffix=" ")}
    return kind, {}


def _tests_by_questions() -> Answers:
    """Ask how an application is tested; each question has a default."""
    click.echo("Test it with  1 test cases with expected answers   2 simulated users")
    by = click.prompt(">", type=click.Choice(["1", "2"]), default="1", show_choices=False, prompt_suffix=" ")
    if by == "1":
        click.echo("Which file?  (CSV, TSV or JSONL; empty for example cases)")
        file = click.prompt(">", default="", show_default=False, prompt_suffix=" ")
        return {"cases": file} if file else {}
    click.echo("What counts as a defect?  groundedness, relevance, spoiler, over-refusal, or a sentence")
    return {"users": "yes", "guideline": click.prompt(">", default="groundedness", prompt_suffix=" ")}


def _split(file: Path, folder: str) -> int:
    """Make a folder of a study that is in one file."""
    try:
        made = split_study(file, Path(folder), resolver=resource_resolver())
    except InvalidStudyError as faults:
        click.echo(render_diagnostics(faults.placed, color=wants_colour()))
        return 2
    study, *others = made.files
    noun = "files" if others else "file"
    click.echo(f"Wrote {study}: the same study in {len(made.files)} {noun}, version {made.version[:SHORT]}")
    for other in others:
        click.echo(f"      {other}")
    for reason in made.kept:
        click.echo(textwrap.fill(f"Kept  {reason}", 80, subsequent_indent="      "))
    click.echo(f"Next: theodolite check {shlex.quote(folder)}")
    return 0


def _is_right(file: str) -> bool:
    """Show what the header seems to say, and ask where somebody can answer."""
    table = read_table(Path(file), Path(file).name)
    if not table.columns or table.faults:
        return True  # writing the study says what is wrong with the file
    click.echo("\n".join(guess_lines(table, guess_columns(table))))
    return not sys.stdin.isatty() or click.confirm("Continue?", default=True)


_LOCAL = "http://127.0.0.1:11434/v1"
"""Address of a local model server (Ollama) that is tried where no model is named."""


def _model_at(url: str, name: str, *, is_default: bool = False) -> str:
    """Return the name of the model to use at an address; several models are never chosen from silently.

    Raises:
        InputError: If the address offers none or several, and no name was given.
    """
    if name:
        return name
    names = offered_models(url)
    if len(names) == 1:
        click.echo(f"  {url} answers as OpenAI-compatible; offers one model: {names[0]}")
        return names[0]
    if names and sys.stdin.isatty():
        click.echo("\n".join([f"{url} offers:", *(f"  {number}  {one}" for number, one in enumerate(names, start=1))]))
        return names[click.prompt(">", type=click.IntRange(1, len(names)), prompt_suffix=" ") - 1]
    if names:
        message = f"`{url}` offers {len(names)} models: {', '.join(names)}. Choose one:  --model-name NAME"
        raise InputError(message)
    tried = "the local model server was tried; " if is_default else ""
    message = f"`{url}` offers no model ({tried}no answer). Name a model:  --model URL --model-name NAME"
    raise InputError(message)


def _ask_the_address(answers: Answers, name: str) -> None:
    """Ask an OpenAI-compatible address for the names of its models; the address of a call leads to it."""
    base = answers["app"].rstrip("/").removesuffix(_CHAT)
    if base.endswith("/v1"):
        answers["app"] = base
    if not answers["app"].rstrip("/").endswith("/v1"):
        return
    if not name and not offered_models(answers["app"]):
        click.echo("  connection refused: fill in the name of the model yourself")
        return
    answers["app_model"] = _model_at(answers["app"], name)


def _model_of(answers: Answers, url: str, name: str) -> Answers:
    """Return address and name of the model of judge and simulated user; the application's server is tried first."""
    app = answers.get("app", "")
    at = url or (app if _is_chat(app) else _LOCAL)
    known = name or (answers.get("app_model", "") if at == app else "")
    return {"model_url": at, "model_name": known or _model_at(at, "", is_default=not url)}


def _is_chat(url: str) -> bool:
    """Return whether an address is that of an OpenAI-compatible server."""
    return url.startswith(("http://", "https://")) and url.rstrip("/").endswith("/v1")


def _own_file(folder: str, answers: Answers) -> Path | None:
    """Return the Python file of an application that is outside of the study's folder, named from there; or None."""
    file, _, function = answers.get("app", "").rpartition(":")
    if not file.endswith(".py"):
        return None
    home = Path(folder).resolve()
    beside = [Path(file).resolve(), (home / file).resolve()]
    result = next((path for path in beside if path.is_file()), None)
    if result is None or result.is_relative_to(home):
        return None
    answers["app"] = f"{Path(os.path.relpath(result, home)).as_posix()}:{function}"
    return result


def _write(folder: str, kind: StarterKind, answers: Answers) -> None:
    app_file = _own_file(folder, answers)
    study, *others = write_starter(Path(folder), kind, answers)
    trust_new_study(Path(folder), reads=[app_file] if app_file else [])
    n_lines = len(study.read_text(encoding="utf-8").splitlines())
    if kind is StarterKind.APPLICATION:
        if answers.get("cases"):
            click.echo(f"Wrote {' and '.join([f'{study} ({n_lines} lines)', *map(str, others)])}.")
            click.echo(f"Next: theodolite run {shlex.quote(str(folder))}")
            return
        click.echo(f"Wrote {study} ({n_lines} lines), and as EXAMPLES to be replaced")
        for other in others:
            rows = (
                f" ({len(other.read_text(encoding='utf-8').splitlines()) - 1} rows)" if other.suffix == ".csv" else ""
            )
            click.echo(f"      {other}{rows}")
        click.echo(f"Next: edit these files, then  theodolite check {shlex.quote(str(folder))}")
        return
    called = " No model will be called." if kind is StarterKind.RECORDED and not answers.get("judge") else ""
    click.echo(f"Wrote {study} ({n_lines} lines).{called}" if not others else f"Wrote {study} ({n_lines} lines), and")
    for other in others:
        click.echo(f"      {other}")
    needed = next((path for path in others if path.name == REQUIREMENTS), None)
    if needed is not None:
        click.echo(f"First: pip install -r {shlex.quote(str(needed))}")
    click.echo(f"Next: theodolite check {shlex.quote(str(folder))}")


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
