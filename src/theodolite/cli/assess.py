"""`theodolite assess`: judges annotate what was held; people's label files are written and read."""

from __future__ import annotations

from pathlib import Path

import click

from theodolite.bootstrap.labels import read_labels, write_label_sample
from theodolite.bootstrap.study_context import open_study
from theodolite.cli.arguments import json_option, study_argument
from theodolite.cli.json_ending import as_line
from theodolite.cli.permission import permission_options
from theodolite.cli.run import stage
from theodolite.cli.terminal import width
from theodolite.domain.run import UnitKind
from theodolite.reporting.terminal.labels import kept_text, plan_text, sample_text
from theodolite.usecases.label_requests import LabelRequest
from theodolite.usecases.planning_labels import planned_labels

FILE = "labels.csv"
"""Name of a label file where nobody names another."""


@click.command()
@study_argument
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="Draw N dialogues for people to label.")
@click.option("--labels", "given", type=click.Path(dir_okay=False), metavar="FILE", help="Read what people labelled.")
@click.option("--plan", type=click.IntRange(min=1), metavar="N", help="Say what N further labels would tell.")
@click.option("--guideline", default="", metavar="NAME", help="With --sample or --plan: what they are labelled by.")
@click.option("--judge", default="", metavar="NAME", help="With --sample or --plan: whose verdicts it is drawn from.")
@click.option("--seed", type=int, default=1, show_default=True, help="With --sample: seed of the draw.")
@click.option("--by", default="", metavar="NAME", help="Who labels, in place of the file's column `annotator`.")
@click.option("--check", is_flag=True, help="With --labels: find every fault and store nothing.")
@click.option(
    "--out", type=click.Path(dir_okay=False), metavar="FILE", help="With --sample: a .csv or .jsonl file to write."
)
@permission_options
@json_option
def assess(
    study: str,
    *,
    sample: int | None,
    given: str | None,
    plan: int | None,
    guideline: str,
    judge: str,
    seed: int,
    by: str,
    check: bool,
    out: str | None,
    as_json: bool,
) -> int:
    """Annotate the dialogues that were held so far, or let people label some.

    With --sample, a file for people: dialogues drawn from all verdicts of the
    judge, the questions, open answers, and nothing of what the judge said.
    With --labels, the filled file is read back. One faulty row, and nothing
    is stored; reading it twice adds nothing.

    \b
    Examples
      theodolite assess support && theodolite measure support
      theodolite assess support --sample 100 --out labels.csv
      theodolite assess support --labels labels.csv --by anna
      theodolite assess support --plan 100    what 100 more would tell
    """  # noqa: D301 - click's mark for "keep these lines"
    if sum(map(bool, (sample, given, plan))) > 1:
        message = "--sample writes a file, --labels reads one, --plan does neither; choose one of them"
        raise click.UsageError(message)
    if plan:
        return _plan(study, LabelRequest(n=plan, guideline=guideline, judge=judge), as_json=as_json)
    if sample:
        request = LabelRequest(n=sample, guideline=guideline, judge=judge, seed=seed)
        return _sample(study, request, out=out, by=by, as_json=as_json)
    if given:
        return _labels(study, Path(given), by=by, check=check, as_json=as_json)
    return stage(study, frozenset({UnitKind.ANNOTATION}), None, as_json=as_json)


def _plan(study: str, request: LabelRequest, *, as_json: bool) -> int:
    context = open_study(study)
    try:
        counts, found = planned_labels(context.evidence(), request)
        widths = {"now": found.width_now, "then": found.width, "at_random": found.width_at_random}
        if as_json:
            taken = {"labelled": counts.n_labelled, "open": counts.n_open, "take": found.take}
            click.echo(as_line({"exit_code": 0, **taken, "width": widths}))
        else:
            text = plan_text(found.take, widths, n_labelled=counts.n_labelled, study=context.path, width=width())
            click.echo(text)
        return 0
    finally:
        context.close()


def _sample(study: str, request: LabelRequest, *, out: str | None, by: str, as_json: bool) -> int:
    context = open_study(study)
    try:
        path = Path(out) if out else context.loaded.folder / FILE
        drawn = write_label_sample(context, request, path, by=by)
        n_slips = len(drawn.slips)
        if as_json:
            strata = {one.name: {"dialogues": one.n_dialogues, "drawn": one.n_drawn} for one in drawn.sample.strata}
            click.echo(as_line({"exit_code": 0, "file": str(path), "answers": n_slips, "strata": strata}))
        else:
            click.echo(sample_text(drawn.sample, n_slips=n_slips, file=str(path), study=context.path, width=width()))
        return 0
    finally:
        context.close()


def _labels(study: str, path: Path, *, by: str, check: bool, as_json: bool) -> int:
    context = open_study(study)
    try:
        kept, n_open = read_labels(context, path, by=by, store=not check)
        if as_json:
            counts = {"new": len(kept.new), "revised": len(kept.revised), "unchanged": kept.unchanged, "open": n_open}
            click.echo(as_line({"exit_code": 0, "stored": not check, **counts}))
        else:
            click.echo(kept_text(kept, n_open=n_open, stored=not check, study=context.path, width=width()))
        return 0
    finally:
        context.close()
