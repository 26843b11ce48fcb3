"""`theodolite init` creates a study; `theodolite demo` runs two examples."""

from __future__ import annotations

import ast
import asyncio
import os
import shlex
import sys
import textwrap
from collections.abc import Iterable
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from urllib.parse import urlsplit

import click

from theodolite.bootstrap.connections import chosen_applications, examine_application, offered_models
from theodolite.bootstrap.permission import trust_new_study
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.bootstrap.reports import WrittenFiles, write_reports
from theodolite.bootstrap.study_context import open_study
from theodolite.cli.report import present_results
from theodolite.cli.running import NOT_FINISHED, PlainProgress, run_interactively
from theodolite.cli.terminal import as_line, json_option
from theodolite.config.load_context import EXAMPLES, REQUIREMENTS
from theodolite.config.loading import load_study
from theodolite.config.starters import COLUMN_MEANINGS, EXAMPLE_FILES, StarterKind, split_study, write_starter
from theodolite.config.tables import guess_columns, guess_lines, read_table
from theodolite.demo.studies import DEMO_STUDIES, DemoStudy, lay_out_demo
from theodolite.domain.errors import InputError, Severity, did_you_mean
from theodolite.domain.identity import SHORT
from theodolite.domain.text import printable_line
from theodolite.usecases.conformance import Examination
from theodolite.usecases.running import RunOptions

_QUESTION = """\
What do you want to test?
  1  a function, endpoint or agent       3  an event with human testers
  2  answers I already have (CSV, JSONL) 4  an empty, commented study"""

_KINDS = {
    "1": StarterKind.APPLICATION,
    "2": StarterKind.RECORDED,
    "3": StarterKind.EVENT,
    "4": StarterKind.EMPTY,
}

_FROM = "Recorded dialogues (CSV, TSV or JSONL with a header), or a single study file to turn into a folder."

Answers = dict[str, str]


@click.command()
@click.argument("folder", type=click.Path(file_okay=False))
@click.option("--app", metavar="PLACE", help="An application: URL, module:function, file.py:function or module:Class.")
@click.option("--cases", type=click.Path(), help="With --app: test cases with expected answers (CSV, TSV or JSONL).")
@click.option("--users", is_flag=True, help="With --app: simulated users test it; needs a model.")
@click.option("--test-call", is_flag=True, help="With --app: call it once; runs its code or sends one message.")
@click.option("--guideline", metavar="NAME", help="Definition of a defect: a known name or a sentence.")
@click.option("--from", "from_file", type=click.Path(), help=_FROM)
@click.option("--judge", metavar="NAME", help="With --from: defect for a judge to find, as a known name or a sentence.")
@click.option("--model", metavar="URL", help="Model of judge and simulated user: an OpenAI-compatible address.")
@click.option("--model-name", metavar="NAME", help="Name of that model, or of the model under test, at its address.")
@click.option("--model-key", metavar="VARIABLE", help="Environment variable with the key of that model.")
@click.option("--pack", metavar="NAME", help="An event on a scenario pack, e.g. aria/tv-spoilers.")
@click.option("--example", metavar="NAME", help=f"A complete example study: {', '.join(EXAMPLES)}.")
@click.option("--empty", is_flag=True, help="An empty study with comments.")
@json_option
def init(folder: str, *, as_json: bool, **options: str | bool | None) -> int:
    """Write the first files of a new study to FOLDER.

    Without options it asks a few questions, each with a default; with them it
    asks nothing and writes the same files. A test call that fails ends with exit
    code 3; the files are written.

    \b
    Examples
      theodolite init support
      theodolite init smoke --app bot.py:answer --cases cases.csv --test-call
      theodolite init support --app http://127.0.0.1:8000/v1 --users
      theodolite init both --app bot.py:answer --cases cases.csv --users
      theodolite init mine --from answers.csv
      theodolite init faq --from answers.csv --judge relevance
      theodolite init grown --from study.yaml
      theodolite init spoilers --pack aria/tv-spoilers
      theodolite init bots --example guarded-bot
    """  # noqa: D301 - click's mark for "keep these lines"
    answers = {name: "yes" if value is True else value for name, value in options.items() if value}
    answers = {name.removesuffix("_file"): str(value) for name, value in answers.items()}
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        files, code = _create(folder, answers)
    if as_json:
        click.echo(as_line({"exit_code": code, "files": [str(file) for file in files]}))
    return code


def _create(folder: str, options: Answers) -> tuple[tuple[Path, ...], int]:
    """Write the files that options or answers ask for; return them, the study file first, and the exit code.

    Raises:
        InputError: If an answer cannot be used.
    """
    model, name, key, judge = (options.pop(one, "") for one in ("model", "model_name", "model_key", "judge"))
    kind, answers = _requested(folder, options)
    if Path(answers.get("from", "")).suffix.lower() in {".yaml", ".yml"}:
        return _split(Path(answers["from"]), folder), 0
    if kind is StarterKind.RECORDED:
        answers |= _columns_by_questions(answers["from"])
    if judge and kind is not StarterKind.RECORDED:
        message = "--judge belongs to --from; an application takes --guideline"
        raise click.UsageError(message)
    if kind is StarterKind.APPLICATION:
        _ask_the_address(answers, "" if model else name)
    answers |= {"judge": judge} if judge else {}
    if answers.get("judge") or answers.get("guideline") or answers.get("users"):
        answers |= {} if "model_url" in answers else {"model_key": key, **_model_of(answers, model, name)}
    elif model:
        message = "--model belongs to a judge or simulated users: add --judge, --guideline or --users"
        raise click.UsageError(message)
    return _write(folder, kind, answers)


def _requested(folder: str, options: Answers) -> tuple[StarterKind, Answers]:
    """Return the kind of study and the answers, from options or, in a terminal without options, from questions."""
    kind, answers = _by_options(options)
    if kind is None:
        return _by_questions(folder) if sys.stdin.isatty() else (StarterKind.EMPTY, {})
    if kind is StarterKind.APPLICATION:
        _require_function(folder, answers["app"])
    return kind, answers


_CHAT = "/chat/completions"

_OPTIONS = {
    "app": StarterKind.APPLICATION,
    "from": StarterKind.RECORDED,
    "pack": StarterKind.EVENT,
    "example": StarterKind.EXAMPLE,
    "empty": StarterKind.EMPTY,
}


def _by_options(options: Answers) -> tuple[StarterKind | None, Answers]:
    """Return the kind of study that the options specify (None if they leave it open) and the answers that they contain.

    Raises:
        click.UsageError: If options do not fit together.
    """
    named = [name for name in _OPTIONS if name in options]
    of_app = [name for name in ("guideline", "cases", "users", "test_call") if name in options]
    if len(named) > 1:
        message = f"{' and '.join(f'--{name}' for name in named)} create different kinds of study; use only one"
        raise click.UsageError(message)
    if of_app and named != ["app"]:
        message = f"--{of_app[0].replace('_', '-')} requires --app"
        raise click.UsageError(message)
    return (_OPTIONS[named[0]] if named else None), options


def _by_questions(folder: str) -> tuple[StarterKind, Answers]:
    """Ask what the study tests; each question has a default, except those for an address or a file."""
    click.echo(_QUESTION)
    kind = _KINDS[_prompted(tuple(_KINDS), default="1")]
    if kind is StarterKind.APPLICATION:
        click.echo("Where is it?  URL, file.py:function or module:Class")
        place = click.prompt(">", prompt_suffix=" ")
        _require_function(folder, place)
        return kind, {"app": place, **_test_call_by_question(place), **_tests_by_questions()}
    if kind is StarterKind.RECORDED:
        click.echo("Which file?  (CSV, TSV or JSONL, one row per turn)")
        return kind, {"from": click.prompt(">", prompt_suffix=" ")}
    if kind is StarterKind.EVENT:
        packs = resource_resolver().packs()
        click.echo("\n".join(["Which pack?", *(f"  {number}  {name}" for number, name in enumerate(packs, start=1))]))
        return kind, {"pack": packs[int(_prompted(tuple(str(n + 1) for n in range(len(packs))), default="1")) - 1]}
    return kind, {}


def _test_call_by_question(place: str) -> Answers:
    """Ask for consent to one call of the application."""
    if "://" in place:
        text = f"Make one test call? It sends one message to {urlsplit(place).netloc}, which may charge for it."
    else:
        text = "Make one test call? It runs this code with your rights; models that the code calls may charge for it."
    click.echo(textwrap.fill(text, 80))
    return {"test_call": "yes"} if click.confirm(">", default=True, prompt_suffix=" ") else {}


def _tests_by_questions() -> Answers:
    """Ask how an application is tested."""
    click.echo("Test it with  1 my own test cases   2 simulated users   3 both")
    by = _prompted(("1", "2", "3"), default="1")
    answers = {}
    if by in {"1", "3"}:
        click.echo("Which file?  (CSV, TSV or JSONL with prompt and expected answer; empty for example cases)")
        answers["cases"] = click.prompt(">", default="", show_default=False, prompt_suffix=" ")
    if by in {"2", "3"}:
        answers |= {"users": "yes", **_judge_by_questions()}
    if by == "3":
        answers |= {"with_cases": "yes"}
    return {name: value for name, value in answers.items() if value}


def _judge_by_questions() -> Answers:
    """Ask for the definition of a defect and for the judge model."""
    model = _model_by_questions()
    click.echo("What counts as a defect?  groundedness, relevance, spoiler, over-refusal, or a sentence")
    return {**model, "guideline": click.prompt(">", default="groundedness", prompt_suffix=" ")}


def _model_by_questions() -> Answers:
    """Ask for the model of judge and simulated user; models of the local server come first."""
    names = offered_models(_LOCAL)
    if names:
        width = max(map(len, names))
        lines = [
            f"  {number}  {name:<{width}}   {_LOCAL}   local, no key" for number, name in enumerate(names, start=1)
        ]
        click.echo("\n".join(["Model for simulated user and judge:", *lines, f"  {len(names) + 1}  another endpoint"]))
        number = int(_prompted(tuple(str(n) for n in range(1, len(names) + 2)), default="1"))
        if number <= len(names):
            return {"model_url": _LOCAL, "model_name": names[number - 1]}
    else:
        click.echo(f"Model for simulated user and judge: no model is offered at {_LOCAL}.")
    click.echo("Which endpoint?  OpenAI-compatible address, e.g. https://models.example/v1")
    url = click.prompt(">", prompt_suffix=" ")
    if offered_models(url):
        return {"model_url": url, "model_name": _model_at(url, "")}
    click.echo("It offers no model without a key. Name of the model?")
    name = click.prompt(">", prompt_suffix=" ")
    click.echo("Environment variable with its key?  (empty for none)")
    key = click.prompt(">", default="", show_default=False, prompt_suffix=" ")
    return {"model_url": url, "model_name": name, "model_key": key}


def _columns_by_questions(file: str) -> Answers:
    """Show the detected columns of a file; in a terminal, the user can change them.

    Raises:
        InputError: If the operator declines.
    """
    table = read_table(Path(file), Path(file).name)
    if not table.columns or table.faults:
        return {}  # writing the study reports the error in the file
    guess = guess_columns(table)
    click.echo("\n".join(guess_lines(table, guess)))
    if not sys.stdin.isatty():
        return {}
    answer = click.prompt("Continue?", type=click.Choice(["y", "n", "edit"]), default="y")
    if answer == "n":
        message = "Nothing was written. Rename the columns, or write the study by hand:  theodolite init DIR --empty"
        raise InputError(message)
    answers = {}
    if answer == "edit":
        choices = click.Choice([*table.columns, "-"])
        for meaning in COLUMN_MEANINGS:
            default = guess.columns.get(meaning, "-")
            answers[f"column {meaning}"] = click.prompt(f"  {meaning}", type=choices, default=default)
    if len(guess.labels) < 2:
        click.echo("No column has labels, so a judge labels the answers.")
        questions = _judge_by_questions()
        answers |= {**questions, "judge": questions["guideline"]}
    return answers


def _prompted(choices: tuple[str, ...], *, default: str) -> str:
    answer: str = click.prompt(">", type=click.Choice(choices), default=default, show_choices=False, prompt_suffix=" ")
    return answer


def _split(file: Path, folder: str) -> tuple[Path, ...]:
    """Turn a study in one file into a study folder."""
    made = split_study(file, Path(folder), resolver=resource_resolver())
    study, *others = made.files
    noun = "files" if others else "file"
    click.echo(f"Wrote {study}: the same study in {len(made.files)} {noun}, version {made.version[:SHORT]}")
    for other in others:
        click.echo(f"      {other}")
    for reason in made.kept:
        click.echo(textwrap.fill(f"Kept  {reason}", 80, subsequent_indent="      "))
    click.echo(f"Next: theodolite check {shlex.quote(folder)}")
    return made.files


_LOCAL = "http://127.0.0.1:11434/v1"
"""Address of a local model server (Ollama) that is tried where no model is named."""


def _model_at(url: str, name: str, *, is_default: bool = False) -> str:
    """Return the name of the model to use at an address; never choose silently among several models.

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
    attempt_note = "the local model server was tried; " if is_default else ""
    message = f"`{url}` offers no model ({attempt_note}no answer). Name a model:  --model URL --model-name NAME"
    raise InputError(message)


def _ask_the_address(answers: Answers, name: str) -> None:
    """Return the model names of an OpenAI-compatible server, given the address for calls."""
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
    """Return whether an OpenAI-compatible server answers at an address."""
    return url.startswith(("http://", "https://")) and url.rstrip("/").endswith("/v1")


def _require_function(folder: str, place: str) -> None:
    """Print the parameters of a function in a Python file; the file is parsed, not run.

    Raises:
        InputError: If the file has no such name.
    """
    file, _, name = place.rpartition(":")
    path = next((one for one in (Path(file), Path(folder) / file) if file.endswith(".py") and one.is_file()), None)
    if path is None:
        return
    try:
        module = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError) as error:
        message = f"`{file}` cannot be read as Python: {error}"
        raise InputError(message) from error
    defined = {node.name: node for node in module.body if isinstance(node, _DEFINITIONS)}
    node = defined.get(name)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        click.echo(f"  Found {name}({ast.unparse(node.args)}).")
    elif node is None and name not in _bound_names(module):
        message = f"`{file}` has no function or class `{name}`{did_you_mean(name, defined) or _defined_text(defined)}"
        raise InputError(message)


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _bound_names(module: ast.Module) -> set[str]:
    """Return the names that assignments and imports of a module bind."""
    nodes = list(ast.walk(module))
    imported = {name.asname or name.name for node in nodes if isinstance(node, ast.ImportFrom) for name in node.names}
    return imported | {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _defined_text(names: Iterable[str]) -> str:
    return f"; it has {', '.join(names)}" if names else ""


def _own_file(folder: str, answers: Answers) -> Path | None:
    """Return the path of an application's Python file relative to the study folder if it lies outside; else None."""
    file, _, function = answers.get("app", "").rpartition(":")
    if not file.endswith(".py"):
        return None
    home = Path(folder).resolve()
    candidates = [Path(file).resolve(), (home / file).resolve()]
    result = next((path for path in candidates if path.is_file()), None)
    if result is None or result.is_relative_to(home):
        return None
    answers["app"] = f"{Path(os.path.relpath(result, home)).as_posix()}:{function}"
    return result


def _write(folder: str, kind: StarterKind, answers: Answers) -> tuple[tuple[Path, ...], int]:
    """Write the files of a study, print their names, the test call and the next step; return them and the exit code."""
    app_file = _own_file(folder, answers)
    test_call = answers.pop("test_call", "")
    files = write_starter(Path(folder), kind, answers)
    trust_new_study(Path(folder), reads=[app_file] if app_file else [])
    name = shlex.quote(str(folder))
    following = _print_files(kind, answers, files, name)
    code = 0
    if test_call:
        examination = _greeted(Path(folder))
        code = 0 if _is_fine(examination) else NOT_FINISHED
        click.echo("\n".join(_test_call_lines(examination, name)))
    click.echo(f"Next: {following}")
    return files, code


def _print_files(kind: StarterKind, answers: Answers, files: tuple[Path, ...], name: str) -> str:
    """Print the names of the files of a study, and return the next step."""
    study, *others = files
    wrote = f"Wrote {study} ({len(study.read_text(encoding='utf-8').splitlines())} lines)"
    own_cases = Path(answers.get("cases", "")).name
    examples = [other for other in others if other.name in EXAMPLE_FILES and other.name != own_cases]
    if kind is StarterKind.APPLICATION and not examples:
        click.echo(f"{' and '.join([wrote, *map(str, others)])}.")
        return f"theodolite run {name}"
    if kind is StarterKind.APPLICATION:
        own = "".join(f" and {other}" for other in others if other not in examples)
        click.echo(f"{wrote}{own}, and as EXAMPLES to be replaced")
        for example in examples:
            n_rows = len(example.read_text(encoding="utf-8").splitlines()) - 1
            click.echo(f"      {example}{f' ({n_rows} rows)' if example.suffix == '.csv' else ''}")
        return f"edit these files, then  theodolite check {name}"
    called = " No model will be called." if kind is StarterKind.RECORDED and not answers.get("judge") else ""
    click.echo(f"{wrote}, and" if others else f"{wrote}.{called}")
    for other in others:
        click.echo(f"      {other}")
    needed = next((path for path in others if path.name == REQUIREMENTS), None)
    if needed is not None:
        click.echo(f"First: pip install -r {shlex.quote(str(needed))}")
    return f"theodolite check {name}"


def _greeted(folder: Path) -> Examination:
    """Call the application of a new study once."""
    loaded = load_study(folder, environ=os.environ)
    [application] = chosen_applications(loaded, "")
    with redirect_stdout(sys.stderr):  # output of application code must not mix with ours
        return asyncio.run(examine_application(loaded, application, environ=os.environ, once=True))


def _is_fine(examination: Examination) -> bool:
    return not examination.unexamined and not any(remark.severity is Severity.ERROR for remark in examination.remarks)


def _test_call_lines(examination: Examination, name: str) -> list[str]:
    """Return how the test call ended: time and start of the reply, or the problem and the remedy."""
    if _is_fine(examination):
        took = f"Test call: ok, {examination.slowest_s:.1f} s"
        reply = textwrap.shorten(printable_line(" ".join(examination.texts)), 60, placeholder=" ...")
        return [took, f'  replied "{reply}"'] if reply else [took]
    problem = examination.unexamined or "; ".join(remark.message for remark in examination.remarks)
    lines = textwrap.wrap(f"Test call: failed. {printable_line(problem)}", 80, subsequent_indent="  ")
    hint = [f"  Try  {examination.hint}"] if examination.hint else []
    return [*lines, *hint, f"  Correct it, then test it with  theodolite probe {name}"]


@click.command()
@click.option(
    "--out",
    default="theodolite-demo",
    show_default=True,
    type=click.Path(file_okay=False),
    help="Folder for all files.",
)
@click.option("--browser", "open_it", is_flag=True, help="Open the report in a browser.")
@json_option
def demo(out: str, *, open_it: bool, as_json: bool) -> int:
    """Run two shipped studies: real recorded dialogues, and a live toy.

    The first replays what five applications answered to the 450 prompts of
    XSTest, with labels by two people, a model and a keyword rule.
    In the second, a SCRIPTED user talks to a toy application to show the loop.

    \b
    Example
      theodolite demo --out theodolite-demo
    """  # noqa: D301 - click's mark for "keep these lines"
    folder = Path(out)
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        written = _run_demo(folder)
    if as_json:
        studies = [str(folder / study.name) for study in DEMO_STUDIES]
        files = {"report": written.report, "results": written.results}
        click.echo(as_line({"exit_code": 0, **files, "folder": str(folder), "studies": studies}))
    if open_it:
        click.launch(written.report)
    return 0


def _run_demo(folder: Path) -> WrittenFiles:
    """Run the demo studies, print the summary of the first, and return its files."""
    lay_out_demo(folder)
    shown = folder if folder.is_absolute() else f"./{folder.as_posix()}"
    click.echo(f"Two studies, no key, no network. Files go to {shown}")
    for number, study in enumerate(DEMO_STUDIES, start=1):
        _run(folder, number, study)
    click.echo()
    context = open_study(str(folder / DEMO_STUDIES[0].name))
    try:
        return present_results(context, out=str(folder), as_json=False, exit_code=0)
    finally:
        context.close()


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
    """Return a duration in at most four characters, so that the line fits the terminal."""
    return f"{took_s:.1f} s" if took_s < 9.95 else f"{took_s:.0f} s"
