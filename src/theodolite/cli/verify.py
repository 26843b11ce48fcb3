"""`theodolite verify`: check a release bundle and score its records again."""

from __future__ import annotations

from pathlib import Path

import click

from theodolite.bootstrap.releases import verify_release
from theodolite.cli.terminal import as_line, json_option


@click.command()
@click.argument("folder", type=click.Path(), metavar="BUNDLE")
@click.option("--key", default="", metavar="FILE", help="Public key of the publisher (PEM).")
@json_option
def verify(folder: str, *, key: str, as_json: bool) -> int:
    """Check the signature and files of a release bundle, and re-score it.

    The command measures the records of the bundle with the same code as
    `report` and compares every value with the published results. Exit code 1
    means that something differs. Without --key, a signature shows only that the
    files belong together, not who published them.

    \b
    Examples
      theodolite verify bundle --key release-key.pub.pem
      theodolite verify bundle --json
    """  # noqa: D301 - click's mark for "keep these lines"
    found = verify_release(Path(folder), Path(key) if key else None)
    code = 1 if found.problems else 0
    if as_json:
        entry = {"signer": found.signer or None, "trusted": found.trusted, "problems": list(found.problems)}
        click.echo(as_line({"exit_code": code, "files": found.files, "values": found.numbers, **entry}))
        return code
    if found.trusted:
        click.echo(f"Signature  {'valid, ' + found.signer[:16] if found.signer else 'NOT VALID'}")
    else:
        click.echo("Signature  not checked: name the publisher's public key with --key")
    click.echo(f"Files      {found.files:,} in the manifest")
    click.echo(f"Results    {found.numbers:,} values compared")
    for problem in found.problems:
        click.echo(problem)
    click.echo("The bundle is NOT intact." if found.problems else "The bundle is intact.")
    return code
