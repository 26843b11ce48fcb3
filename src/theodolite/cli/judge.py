"""`theodolite judge`: validation of judges against human labels."""

from __future__ import annotations

from functools import partial

import click

from theodolite.bootstrap.judge_validation import issue_validation_report, probe_judges, probe_plans
from theodolite.bootstrap.study_context import StudyContext, open_study
from theodolite.cli.arguments import json_option, study_argument
from theodolite.cli.endpoint_check import check_endpoints_first
from theodolite.cli.json_output import as_line
from theodolite.cli.permission import permission_options, permit_paths, permit_run
from theodolite.cli.renamed import Group
from theodolite.cli.terminal import width
from theodolite.domain.errors import NotFound
from theodolite.execution.clients import Clients
from theodolite.reporting.results.annotators import validation_report_entry
from theodolite.reporting.terminal.judges import validation_text
from theodolite.reporting.terminal.labels import plan_text
from theodolite.usecases.judge_validation import check_labelled, judges_named, probes_text
from theodolite.usecases.label_planning import LabelRequest, planned_labels
from theodolite.usecases.running import RunOptions


@click.group(cls=Group)
def judge() -> None:
    """Validate judges against human labels.

    \b
    Examples
      theodolite judge validate support
      theodolite judge show support grounded
      theodolite judge plan support --labels 100
    """  # noqa: D301 - click's mark for "keep these lines"


@judge.command()
@study_argument
@click.argument("name", metavar="[JUDGE]", default="")
@click.option(
    "--attacks",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="Dialogues that a model judges again: with injected instructions, and with reversed labels.",
)
@click.option("--no-attacks", is_flag=True, help="Call no model; the validation report lists what is missing.")
@permission_options
@json_option
def validate(study: str, name: str, *, attacks: int, no_attacks: bool, as_json: bool) -> int:
    """Validate a judge, or all judges of the study.

    The validation report compares the judge with the recorded final labels, or
    with each human annotator if there are none, and is stored with this version
    of the judge. A model judges some dialogues again with injected instructions
    in their text; the number of calls is printed first.

    \b
    Examples
      theodolite judge validate support grounded
      theodolite judge validate support --no-attacks    calls no model
    """  # noqa: D301
    permit_paths(study)
    context = open_study(study)
    try:
        evidence = context.evidence()
        judges = judges_named(evidence.study, name)
        check_labelled(evidence, judges, context.path)  # before any call
        plans = probe_plans(evidence, judges, 0 if no_attacks else attacks)
        if plans and not as_json:
            click.echo(probes_text(plans, evidence.spending))
        if plans:
            permit_run(context.loaded)
        probes = probe_judges(context, plans, before_asking=partial(_check_endpoint, quiet=as_json))
        found = [issue_validation_report(context, evidence, one, probes.get(one.name, ())) for one in judges]
        if as_json:
            click.echo(as_line({"exit_code": 0, "validation_reports": [validation_report_entry(one) for one in found]}))
        else:
            click.echo("\n\n".join(validation_text(one, width=width()) for one in found))
            click.echo(f"\nStored with this version of the judge.   Next: theodolite report {context.path}")
        return 0
    finally:
        context.close()


async def _check_endpoint(context: StudyContext, clients: Clients, options: RunOptions, *, quiet: bool) -> None:
    await check_endpoints_first(context, clients, options.kinds, quiet=quiet)


@judge.command()
@study_argument
@click.argument("name", metavar="[JUDGE]", default="")
@json_option
def show(study: str, name: str, *, as_json: bool) -> int:
    """Print the latest validation report of the current version of a judge.

    \b
    Example
      theodolite judge show support grounded
    """  # noqa: D301
    context = open_study(study)
    try:
        evidence = context.evidence()
        wanted = [one.name for one in judges_named(evidence.study, name)]
        found = [report for report in evidence.validation_reports if report.judge in wanted]
        if not found:
            names = ", ".join(f"`{one}`" for one in wanted)
            begin = f"the current version of {names} is not validated"
            message = f"{begin}. Validate it:  theodolite judge validate {context.path}"
            raise NotFound(message)
        if as_json:
            click.echo(as_line({"exit_code": 0, "validation_reports": [validation_report_entry(one) for one in found]}))
        else:
            click.echo("\n\n".join(validation_text(one, width=width()) for one in found))
        return 0
    finally:
        context.close()


@judge.command()
@study_argument
@click.argument("name", metavar="[JUDGE]", default="")
@click.option(
    "--labels", type=click.IntRange(min=1), default=100, show_default=True, metavar="N", help="Further labels."
)
@click.option("--guideline", default="", metavar="NAME", help="Guideline to label by.")
@json_option
def plan(study: str, name: str, *, labels: int, guideline: str, as_json: bool) -> int:
    """Estimate how much further human labels narrow the corrected rate.

    \b
    Example
      theodolite judge plan support grounded --labels 100
    """  # noqa: D301
    request = LabelRequest(n=labels, guideline=guideline, judge=name)
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
