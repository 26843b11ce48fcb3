"""`theodolite judge`: how far a judge can be trusted."""

from __future__ import annotations

from functools import partial

import click

from theodolite.bootstrap.certificates import issue_certificate, probe_judges, probe_plans
from theodolite.bootstrap.study_context import StudyContext, open_study
from theodolite.cli.arguments import json_option, study_argument
from theodolite.cli.json_ending import as_line
from theodolite.cli.knocking import knock_first
from theodolite.cli.permission import permission_options, permit_paths, permit_run
from theodolite.cli.terminal import width
from theodolite.domain.errors import NotFound
from theodolite.execution.clients import Clients
from theodolite.reporting.results.certificates import certificate_entry
from theodolite.reporting.terminal.certificates import certificate_text
from theodolite.usecases.certifying import check_labelled, judges_named
from theodolite.usecases.probing import probes_text
from theodolite.usecases.running import RunOptions


@click.group()
def judge() -> None:
    """Hold judges against people, and see what was found.

    \b
    Examples
      theodolite judge certify support
      theodolite judge show support grounded
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
    help="Dialogues that a model reads again: attacked, and with its labels reversed.",
)
@click.option("--no-attacks", is_flag=True, help="Call no model; the certificate says what it lacks.")
@permission_options
@json_option
def certify(study: str, name: str, *, attacks: int, no_attacks: bool, as_json: bool) -> int:
    """Issue the certificate of a judge, or of all models that judge.

    It holds the judge against the recorded final labels, or else against each
    person who has labelled, and is kept with this version of the judge. A
    model reads some dialogues again, with texts in them that tell it what to
    answer; the calls are counted before they are made.

    \b
    Examples
      theodolite judge certify support grounded
      theodolite judge certify support --no-attacks    calls no model
    """  # noqa: D301
    permit_paths(study)
    context = open_study(study)
    try:
        evidence = context.evidence()
        judges = judges_named(evidence.study, name)
        check_labelled(evidence, judges)  # before anything is paid
        plans = probe_plans(evidence, judges, 0 if no_attacks else attacks)
        if plans and not as_json:
            click.echo(probes_text(plans, evidence.spending))
        if plans:
            permit_run(context.loaded)
        probes = probe_judges(context, plans, before_asking=partial(_knock, quiet=as_json))
        found = [issue_certificate(context, evidence, one, probes.get(one.name, ())) for one in judges]
        if as_json:
            click.echo(as_line({"exit_code": 0, "certificates": [certificate_entry(one) for one in found]}))
        else:
            click.echo("\n\n".join(certificate_text(one, width=width()) for one in found))
            click.echo(f"\nKept with the judge's version.   Next: theodolite report {context.path}")
        return 0
    finally:
        context.close()


async def _knock(context: StudyContext, clients: Clients, options: RunOptions, *, quiet: bool) -> None:
    await knock_first(context, clients, options.kinds, quiet=quiet)


@judge.command()
@study_argument
@click.argument("name", metavar="[JUDGE]", default="")
@json_option
def show(study: str, name: str, *, as_json: bool) -> int:
    """Print the latest certificate of a judge as it is now.

    \b
    Example
      theodolite judge show support grounded
    """  # noqa: D301
    context = open_study(study)
    try:
        evidence = context.evidence()
        wanted = [one.name for one in judges_named(evidence.study, name)]
        found = [certificate for certificate in evidence.certificates if certificate.judge in wanted]
        if not found:
            names = ", ".join(f"`{one}`" for one in wanted)
            begin = f"no certificate was issued for {names} as it is now"
            message = f"{begin}. Issue one:  theodolite judge certify {context.path}"
            raise NotFound(message)
        if as_json:
            click.echo(as_line({"exit_code": 0, "certificates": [certificate_entry(one) for one in found]}))
        else:
            click.echo("\n\n".join(certificate_text(one, width=width()) for one in found))
        return 0
    finally:
        context.close()
