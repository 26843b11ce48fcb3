"""`theodolite judge`: how far a judge can be trusted."""

from __future__ import annotations

import click

from theodolite.bootstrap.certificates import issue_certificate
from theodolite.bootstrap.workbench import open_workbench
from theodolite.cli.arguments import json_option, study_argument
from theodolite.cli.json_ending import as_line
from theodolite.cli.terminal import width
from theodolite.domain.errors import NotFound
from theodolite.reporting.certificate_text import certificate_text
from theodolite.reporting.results import certificate_entry
from theodolite.usecases.certifying import judges_named


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
@json_option
def certify(study: str, name: str, *, as_json: bool) -> int:
    """Issue the certificate of a judge, or of all models that judge.

    It holds the judge against the recorded final labels, or else against each
    person who has labelled, and is kept with this version of the judge.

    \b
    Example
      theodolite judge certify support grounded
    """  # noqa: D301
    bench = open_workbench(study)
    try:
        evidence = bench.evidence()
        found = [issue_certificate(bench, evidence, one) for one in judges_named(evidence.study, name)]
        if as_json:
            click.echo(as_line({"exit_code": 0, "certificates": [certificate_entry(one) for one in found]}))
        else:
            click.echo("\n\n".join(certificate_text(one, width=width()) for one in found))
            click.echo(f"\nKept with the judge's version.   Next: theodolite report {bench.path}")
        return 0
    finally:
        bench.close()


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
    bench = open_workbench(study)
    try:
        evidence = bench.evidence()
        wanted = [one.name for one in judges_named(evidence.study, name)]
        found = [certificate for certificate in evidence.certificates if certificate.judge in wanted]
        if not found:
            names = ", ".join(f"`{one}`" for one in wanted)
            begin = f"no certificate was issued for {names} as it is now"
            message = f"{begin}. Issue one:  theodolite judge certify {bench.path}"
            raise NotFound(message)
        if as_json:
            click.echo(as_line({"exit_code": 0, "certificates": [certificate_entry(one) for one in found]}))
        else:
            click.echo("\n\n".join(certificate_text(one, width=width()) for one in found))
        return 0
    finally:
        bench.close()
