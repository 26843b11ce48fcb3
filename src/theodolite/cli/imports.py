"""`theodolite import` and `theodolite export`: dialogues and labels from and for other tools."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import click

from theodolite.bootstrap.events import bring_looked, columns_for, look_into, open_event, stored_of
from theodolite.bootstrap.exchange import (
    ExportForm,
    import_labels,
    read_labels,
    send_to_mlflow,
    write_export,
    write_plugin_export,
)
from theodolite.bootstrap.study_context import StudyContext, open_study
from theodolite.bootstrap.tool_imports import ImportedStudy, TableMapping, import_results
from theodolite.cli.main import Group
from theodolite.cli.terminal import as_line, json_option, study_argument, width
from theodolite.config.dialogue_imports import HOLDERS, BringColumns
from theodolite.config.label_imports import ImportColumns, is_label_file, spelling_of
from theodolite.config.threads import Voices, Ways
from theodolite.domain.annotating.label_sample import KeptLabels
from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.dialogue import TesterType
from theodolite.domain.errors import did_you_mean
from theodolite.reporting.terminal.labels import kept_text
from theodolite.usecases.judge_validation import has_judge


@click.group("import", cls=Group)
def import_() -> None:
    """Import dialogues, labels or results from other tools.

    \b
    Examples
      theodolite import results capital promptfoo.json
      theodolite import dialogues spoilers log.csv --application bot
      theodolite import labels support labels.csv --answer unsafe=Q1
    """  # noqa: D301 - click's mark for "keep these lines"


@import_.command("dialogues")
@study_argument
@click.argument("file", type=click.Path(exists=True))
@click.option("--prompt", default="prompt", show_default=True, metavar="COLUMN", help="Prompt.")
@click.option(
    "--response", default="response", show_default=True, metavar="COLUMN", help="Response of the application."
)
@click.option("--id", default="", metavar="COLUMN", help="Id of the dialogue; each row is a dialogue if left out.")
@click.option("--turn", default="", metavar="COLUMN", help="Number of the turn.")
@click.option("--tester", default="", metavar="COLUMN", help="Name of the tester.")
@click.option("--context", default="", metavar="COLUMN", help="Source material for the response.")
@click.option("--withheld", default="", metavar="COLUMN", help="Reason why the texts of a row are missing.")
@click.option("--application", default="", metavar="NAME", help="Application that responded.")
@click.option("--scenario", default="", metavar="NAME", help="Scenario of the dialogues.")
@click.option("--level", default="", metavar="LEVEL", help="Model testing, red teaming or field testing.")
@click.option("--application-column", default="", metavar="COLUMN", help="Application of each row.")
@click.option("--scenario-column", default="", metavar="COLUMN", help="Scenario of each row.")
@click.option("--level-column", default="", metavar="COLUMN", help="Level of each row.")
@click.option(
    "--tester-type",
    "held_by",
    type=click.Choice([holder.value for holder in HOLDERS]),
    default=TesterType.RECORDED.value,
    help="Who played the user.",
)
@click.option("--replies", multiple=True, metavar="FIELD=VALUE", help="Speaker of the application; repeatable.")
@click.option(
    "--ignore", "left_out", multiple=True, metavar="VALUE", help="Speakers to ignore, by the same field; repeatable."
)
@click.option(
    "--branches",
    "ways",
    type=click.Choice([one.name.lower() for one in Ways]),
    default="every",
    show_default=True,
    help="Paths of a branching conversation to import.",
)
@click.option("--check", is_flag=True, help="Validate the file and store nothing.")
@json_option
def dialogues(
    study: str,
    file: str,
    *,
    replies: tuple[str, ...],
    left_out: tuple[str, ...],
    ways: str,
    check: bool,
    as_json: bool,
    **texts: str,
) -> int:
    """Import dialogues with their texts.

    A table (CSV, TSV, JSON Lines) has one row per turn. A ConvoKit corpus (a
    folder or its zip archive) and Label Studio tasks (.json) contain utterances
    of several speakers: --replies selects those of the application, e.g.
    speaker.role=bot, and --branches the paths of a branching conversation.

    The dialogues join the run of the study: `theodolite run` has judges annotate
    them, and annotators on a server receive them. The import stores all
    dialogues or none; dialogues that are already stored stay unchanged.

    \b
    Examples
      theodolite import dialogues spoilers log.csv --id chat --turn n --application bot \\
          --scenario spoilers --level "red teaming" --tester-type person
      theodolite import dialogues spoilers log.jsonl --application-column system --check
      theodolite import dialogues spoilers corpus.zip --replies speaker.role=bot \\
          --application bot --scenario spoilers --level "field testing"
    """  # noqa: D301 - click's mark for "keep these lines"
    named = ("application", "scenario", "level")
    columns = {
        name: texts[name] for name in ("prompt", "response", "id", "turn", "tester", "context", "withheld", "held_by")
    }
    constants = {f"of_{name}": texts[name] for name in named}
    means = BringColumns(**columns, **constants, **{name: texts[f"{name}_column"] for name in named})
    context = open_study(study)
    try:
        event = open_event(study, context.store, workspace=context.loaded.folder).event
        path = Path(file)
        stored = stored_of(path)
        meant = columns_for(stored, path.name, means)
        looked = look_into(stored, path.name, event, meant, _speakers(replies, left_out, ways))
        result = bring_looked(looked, event, store=not check)
        if as_json:
            counts = {"new": list(result.new), "known": result.known, "notes": list(looked.notes)}
            click.echo(as_line({"exit_code": 0, "stored": not check, **counts}))
        else:
            done = "Valid, nothing stored" if check else "Imported"
            click.echo(f"{done}: {len(result.new)} new dialogues, {result.known} already stored.")
            for note in looked.notes:
                click.echo(f"  {note}")
            click.echo(f"Next           theodolite run {context.path}")
        return 0
    finally:
        context.close()


def _speakers(replies: tuple[str, ...], left_out: tuple[str, ...], ways: str) -> Voices:
    """Return the speakers of the application that the options name."""
    pairs = [pair.partition("=") for pair in replies]
    fields = dict.fromkeys(name for name, _, _ in pairs)
    if len(fields) > 1 or any(not sign for _, sign, _ in pairs):
        message = f"--replies takes FIELD=VALUE, always with the same field; got {', '.join(replies)}"
        raise click.UsageError(message)
    return Voices(
        speaker_field=next(iter(fields), ""),
        application=tuple(value for _, _, value in pairs),
        silent=left_out or None,
        ways=Ways[ways.upper()],
    )


@import_.command("labels")
@study_argument
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--dialogue", default="dialogue", show_default=True, metavar="COLUMN", help="Id of the dialogue.")
@click.option("--annotator", default="", metavar="COLUMN", help="Name of the annotator.")
@click.option(
    "--answer",
    "answers",
    multiple=True,
    metavar="QUESTION=COLUMN",
    help="Column of a question; repeatable.",
)
@click.option(
    "--about", multiple=True, metavar="ATTRIBUTE=COLUMN", help="Column of an annotator attribute; repeatable."
)
@click.option("--turn", default="", metavar="COLUMN", help="Number of the turn.")
@click.option("--reason", default="", metavar="COLUMN", help="Reason that the annotator gave.")
@click.option("--spelling", multiple=True, metavar="WRITTEN=LABEL", help="Label for a value of the file; repeatable.")
@click.option("--annotator-name", default="", metavar="NAME", help="Annotator of a file without a column for it.")
@click.option("--repeats", is_flag=True, help="Allow several labels of one person for the same dialogue.")
@click.option("--check", is_flag=True, help="Validate the file and store nothing.")
@json_option
def labels(
    study: str, file: str, *, annotator_name: str, repeats: bool, check: bool, as_json: bool, **columns: object
) -> int:
    """Import labels of people.

    A file written by `theodolite label --file` needs no options. Any other table
    has the id of the dialogue in one column and answers in others, or one row
    per answer with the columns `question` and `answer`. A .json file is an
    export of Label Studio. The import stores all labels or none.

    \b
    Examples
      theodolite import labels support labels.csv --answer unsafe=Q1
      theodolite import labels support project-1.json
    """  # noqa: D301
    context = open_study(study)
    try:
        path = Path(file)
        if is_label_file(path):
            stored, n_open = read_labels(context, path, by=annotator_name, store=not check)
            return _present(stored, n_open, context, stored=not check, as_json=as_json)
        answers = {
            name: value for name, value in columns.items() if name in {"dialogue", "annotator", "turn", "reason"}
        }
        means = ImportColumns(
            **{name: str(value) for name, value in answers.items()},
            answers=_pairs(columns["answers"]),
            spelling=_pairs(columns["spelling"]),
            about=_pairs(columns["about"]),
        )
        stored = import_labels(context, path, means, by=annotator_name, repeats=repeats, store=not check)
        return _present(stored, 0, context, stored=not check, as_json=as_json)
    finally:
        context.close()


@import_.command("results")
@click.argument("folder", type=click.Path(file_okay=False))
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.option("--prompt", default="", metavar="COLUMN", help="Prompt, for a table.")
@click.option("--response", default="", metavar="COLUMN", help="Response, for a table.")
@click.option("--id", default="", metavar="COLUMN", help="Id of the dialogue, for a table.")
@click.option("--turn", default="", metavar="COLUMN", help="Number of the turn, for a table.")
@click.option("--context", default="", metavar="COLUMN", help="Source material, for a table.")
@click.option("--application", default="", metavar="COLUMN", help="Name of the application, for a table.")
@click.option(
    "--score", "scores", multiple=True, metavar="NAME=COLUMN", help="Scorer and its column of a table; repeatable."
)
@click.option(
    "--scored-by",
    type=click.Choice([kind.value for kind in AnnotatorKind]),
    default=AnnotatorKind.RULE.value,
    show_default=True,
    help="Kind of annotator behind the scores of a table.",
)
@json_option
def results(
    folder: str, files: tuple[str, ...], *, scores: tuple[str, ...], scored_by: str, as_json: bool, **columns: str
) -> int:
    """Make a study of results of other tools.

    Reads logs of Inspect (.eval), and results of promptfoo, garak, PyRIT,
    DeepEval, Azure AI Evaluation, LangSmith, Langfuse and OpenTelemetry, chats
    in the formats of OpenAI and ShareGPT, and any table by its columns. Writes
    FOLDER/study.yaml, the dialogues with their scores as labels, and the
    provenance of each row. Figures that a file states are recomputed and
    compared. Several FILES become one study.

    \b
    Examples
      theodolite import results capital promptfoo.json
      theodolite import results exams logs/*.eval
      theodolite import results mine log.csv --prompt question --response reply --score tone=tone_score
    """  # noqa: D301 - click's mark for "keep these lines"
    mapping = TableMapping(
        columns={name: column for name, column in columns.items() if column},
        scores=_pairs(scores),
        kind=AnnotatorKind(scored_by),
    )
    imported = import_results(Path(folder), [Path(file) for file in files], mapping)
    if as_json:
        click.echo(as_line({"exit_code": 0, **_imported_json(imported)}))
    else:
        click.echo("\n".join(_imported_lines(imported)))
    return 0


def _imported_json(imported: ImportedStudy) -> dict[str, object]:
    return {
        "study": str(imported.path),
        "dialogues": imported.made.n_dialogues,
        "answers": imported.made.n_answers,
        "unanswered": imported.made.n_unanswered,
        "scored_in_part": dict(imported.made.partial),
        "rules_to_check": list(imported.made.to_check),
        "files": [
            {
                "file": each.file,
                "tool": each.tool,
                "version": each.version,
                "dialogues": len(each.dialogues),
                "figures": [
                    {
                        "name": figure.name,
                        "stated": figure.stated,
                        "recomputed": figure.recomputed,
                        "agrees": figure.agrees,
                    }
                    for figure in each.figures
                ],
                "notes": list(each.notes),
            }
            for each in imported.results
        ],
    }


def _imported_lines(imported: ImportedStudy) -> Iterator[str]:
    made = imported.made
    for each in imported.results:
        version = f" {each.version}" if each.version else ""
        yield f"{each.file}: {each.tool}{version}, {len(each.dialogues):,} dialogues"
        for figure in each.figures:
            shown = "not recomputable" if figure.recomputed is None else f"{figure.recomputed:.6g} recomputed"
            differs = "" if figure.agrees else "  DIFFERS" if figure.recomputed is not None else ""
            yield f"  {figure.name}: {figure.stated:.6g} stated, {shown}, n={figure.n}{differs}"
        for note in each.notes:
            yield f"  {note}"
    yield f"Wrote {imported.path}: {made.n_dialogues:,} dialogues, {made.n_answers:,} labels"
    if made.n_unanswered:
        yield f"  {made.n_unanswered:,} scores have no value and become missing labels"
    for name, n in made.partial.items():
        yield f"  {name} scored {n:,} of {made.n_dialogues:,} dialogues; the others count as missing labels"
    for rule in made.to_check:
        yield f"  Check this defect rule, which the file does not state:  {rule}"
    yield f"Next: theodolite check {shlex.quote(str(imported.path.parent))}"


def _present(kept_labels: KeptLabels, n_open: int, context: StudyContext, *, stored: bool, as_json: bool) -> int:
    if as_json:
        counts = {
            "new": len(kept_labels.new),
            "revised": len(kept_labels.revised),
            "unchanged": kept_labels.unchanged,
            "open": n_open,
        }
        click.echo(as_line({"exit_code": 0, "stored": stored, **counts}))
    else:
        judged = has_judge(context.loaded.study, {item.guideline for item in kept_labels.to_store})
        text = kept_text(kept_labels, n_open=n_open, stored=stored, study=context.path, has_judge=judged, width=width())
        click.echo(text)
    return 0


def _pairs(written: object) -> dict[str, str]:
    pairs = [str(pair) for pair in written] if isinstance(written, tuple) else []
    if strange := [pair for pair in pairs if "=" not in pair]:
        message = f"expected NAME=VALUE, got `{strange[0]}`"
        raise click.UsageError(message)
    return spelling_of(pairs)


@click.command("export")
@study_argument
@click.option("--out", default="", metavar="FILE", help="Output file, folder or server; default: next to the study.")
@click.option(
    "--format",
    "form",
    default=ExportForm.CSV.value,
    show_default=True,
    metavar="FORMAT",
    help="Format: table, csv, jsonl, parquet, chat, hugging-face, inspect, answers, answers-parquet, argilla, "
    "label-studio, figures, figures-png, markdown, latex, mlflow, or one of a plugin.",
)
@click.option("--guideline", default="", metavar="NAME", help="Export only this guideline and its dialogues.")
@click.option(
    "--include-text", is_flag=True, help="Include texts of sessions with people; needs a finished privacy review."
)
@json_option
def export(study: str, *, out: str, form: str, guideline: str, include_text: bool, as_json: bool) -> int:
    """Export the latest run: one row per dialogue, turn and label, with texts.

    `csv`, `jsonl` and `parquet` write this table, and `table` the one of them
    that --out ends in; its ids are those of report and screens. `hugging-face`
    writes it with a card as a data set. `chat` writes one dialogue a line as
    chat messages, `convokit` a corpus of ConvoKit,
    and `inspect` one log for each application, for Inspect View. `answers` and `answers-parquet` write
    answers, codebook and schema without texts. `argilla` adds datasets for
    `Dataset.from_disk`, and `label-studio` writes tasks and their
    configuration; both contain blinded dialogues. `figures` draws the results
    as SVG, `markdown` and `latex` write them as tables. `mlflow` sends rates and
    dialogues with their labels to the server --out URI. People who label appear
    as numbers. Parquet needs  pip install 'theodolite[parquet]', PNG
    'theodolite[png]' and MLflow 'theodolite[mlflow]'.

    \b
    Examples
      theodolite export support
      theodolite export support --format parquet --out labels.parquet
      theodolite export support --format inspect --out logs
      theodolite export support --format label-studio --out tasks.json
      theodolite export support --format figures --out figures
    """  # noqa: D301 - click's mark for "keep these lines"
    context = open_study(study)
    try:
        if "/" in form:
            written, n = write_plugin_export(context, form, out, guideline=guideline, include_text=include_text)
            click.echo(_exported(written, n, "rows", as_json=as_json))
            return 0
        chosen = _form_of(form, out)
        if chosen is ExportForm.MLFLOW:
            return _send(context, out, include_text=include_text, as_json=as_json)
        file, noun = _FILES[chosen]
        path = Path(out) if out else context.loaded.folder / file
        n = write_export(context, path, chosen, guideline=guideline, include_text=include_text)
        configuration = f" and {path.with_suffix('.xml')}" if chosen is ExportForm.LABEL_STUDIO else ""
        click.echo(_exported(path, n, noun, as_json=as_json, more=configuration))
        return 0
    finally:
        context.close()


def _exported(path: Path, n: int, noun: str, *, as_json: bool, more: str = "") -> str:
    return as_line({"exit_code": 0, "file": str(path), noun: n}) if as_json else f"{n:,} {noun} in {path}{more}"


TABLE = "table"
"""The format whose files CSV, JSON Lines and Parquet are."""


def _form_of(form: str, out: str) -> ExportForm:
    forms = [TABLE, *(export_form.value for export_form in ExportForm)]
    if form == TABLE:
        endings = {f".{one.value}": one for one in (ExportForm.CSV, ExportForm.JSONL, ExportForm.PARQUET)}
        ending = Path(out).suffix.lower() or ".csv"
        if ending not in endings:
            message = f"--format table expects a file that ends in {', '.join(endings)}; got `{out}`"
            raise click.UsageError(message)
        return endings[ending]
    if form not in forms:
        near = did_you_mean(form, forms) or f"; formats: {', '.join(forms)}"
        message = f"there is no export format `{form}`{near}"
        raise click.UsageError(message)
    return ExportForm(form)


def _send(context: StudyContext, uri: str, *, include_text: bool, as_json: bool) -> int:
    """Write the run to the tracking server that the user names; texts go to no other address."""
    if not uri:
        message = "--format mlflow needs the address of the server, e.g. --out http://127.0.0.1:5000"
        raise click.UsageError(message)
    n = send_to_mlflow(context, uri, include_text=include_text)
    click.echo(as_line({"exit_code": 0, "server": uri, "traces": n}) if as_json else f"{n:,} traces at {uri}")
    return 0


_FILES = {
    ExportForm.CSV: ("export.csv", "rows"),
    ExportForm.JSONL: ("export.jsonl", "rows"),
    ExportForm.PARQUET: ("export.parquet", "rows"),
    ExportForm.CHAT: ("export-chat.jsonl", "dialogues"),
    ExportForm.CONVOKIT: ("export-convokit", "utterances"),
    ExportForm.HUGGING_FACE: ("export-hugging-face", "rows"),
    ExportForm.INSPECT: ("export-inspect", "samples"),
    ExportForm.ANSWERS: ("answers.zip", "answers"),
    ExportForm.ANSWERS_PARQUET: ("answers-parquet.zip", "answers"),
    ExportForm.ARGILLA: ("answers-argilla.zip", "answers"),
    ExportForm.LABEL_STUDIO: ("tasks.json", "tasks"),
    ExportForm.FIGURES: ("figures", "figures"),
    ExportForm.FIGURES_PNG: ("figures", "figures"),
    ExportForm.MARKDOWN: ("tables.md", "tables"),
    ExportForm.LATEX: ("tables.tex", "tables"),
}
"""Name of the file and its entries, by format."""
