"""`theodolite document` and `release` publish a run: documents, or an anonymised bundle, which `verify` checks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from theodolite.bootstrap.documents import FOLDER, WrittenDocuments, document_changes, write_documents
from theodolite.bootstrap.releases import (
    BUNDLE,
    KEY,
    REVIEW,
    ReleaseOptions,
    WrittenRelease,
    public_key_file,
    verify_release,
    write_release,
)
from theodolite.bootstrap.study_context import open_study
from theodolite.cli.terminal import as_line, json_option, study_argument
from theodolite.config.permissions import workspace_for
from theodolite.domain.errors import RunStopped
from theodolite.domain.run import RunState
from theodolite.reporting.words.figures import number_of
from theodolite.usecases.releasing import MIN_GROUP


@click.command()
@study_argument
@click.option("--out", default="", metavar="DIR", help=f"New folder for the bundle; STUDY/{BUNDLE} if left out.")
@click.option("--review", default="", metavar="FILE", help=f"Decisions about identifiers; STUDY/{REVIEW} if left out.")
@click.option("--redact-all", is_flag=True, help="Redact all identifiers without a decision.")
@click.option("--without", multiple=True, metavar="DIALOGUE", help="Leave out this dialogue; repeatable.")
@click.option(
    "--min-group",
    type=click.IntRange(min=1),
    default=MIN_GROUP,
    show_default=True,
    help="Withhold attributes shared by fewer people.",
)
@click.option("--key", default="", metavar="FILE", help="Private Ed25519 key (PEM); made in the workspace if left out.")
@json_option
def release(
    study: str,
    *,
    out: str,
    review: str,
    redact_all: bool,
    without: tuple[str, ...],
    min_group: int,
    key: str,
    as_json: bool,
) -> int:
    """Write an anonymised, signed bundle of the latest run.

    The first call searches all texts for identifiers of people and writes each
    into the review file. Enter redact or keep in its column `decision`; keep
    needs a reason and a reviewer. When all are decided, the same command writes
    the bundle: dialogues, labels, guidelines, results, trees, checksums and a
    signature. Ids are drawn at random and no link to the originals is stored.
    Detection is incomplete: read the texts before you publish them.

    \b
    Examples
      theodolite release spoilers --out bundle
      theodolite release spoilers --out bundle --redact-all
      theodolite verify bundle --key release-key.pub.pem
    """  # noqa: D301 - click's mark for "keep these lines"
    context = open_study(study)
    try:
        folder, name = context.loaded.folder, context.loaded.study.name
        if context.evidence().run.state is not RunState.FINISHED:
            message = f"The latest run of `{name}` is incomplete. Resume it:  theodolite run {context.path}"
            raise RunStopped(message)
        options = ReleaseOptions(
            out=Path(out) if out else folder / BUNDLE,
            review=Path(review) if review else folder / REVIEW,
            key=Path(key) if key else workspace_for(folder) / KEY,
            redact_all=redact_all,
            without=without,
            min_group=min_group,
        )
        written = write_release(context, options)
        code = 3 if written.undecided else 0
        if as_json:
            click.echo(as_line({"exit_code": code, **_entry(written)}))
        else:
            for line in _lines(written, options, context.path):
                click.echo(line)
        return code
    finally:
        context.close()


def _entry(written: WrittenRelease) -> dict[str, object]:
    return {
        "bundle": written.folder or None,
        "review": written.review or None,
        "identifiers": len(written.findings),
        "undecided": written.undecided,
        "dialogues": written.dialogues,
        "left_out": dict(written.left_out),
        "key": written.key_id or None,
    }


def _kind_count(n: int, kind: str) -> str:
    """Return how many identifiers of a kind there are, e.g. `2 e-mail addresses`."""
    irregular = {
        "person's name": "persons' names",
        "date of birth": "dates of birth",
        "web address with user data": "web addresses with user data",
    }
    plural = irregular.get(
        kind, kind.replace("address", "addresse") + "s" if "(" not in kind else kind.replace(" (", "s (")
    )
    return number_of(n, kind, plural)


def _lines(written: WrittenRelease, options: ReleaseOptions, path: str) -> list[str]:
    kinds = Counter(finding.kind for finding in written.findings)
    result = ", ".join(_kind_count(n, kind) for kind, n in kinds.most_common()) or "none detected"
    lines = [f"Identifiers  {result}"]
    lines += [f"Left out     {n} dialogues: {reason}" for reason, n in written.left_out.items()]
    if written.undecided:
        lines.append(f"Undecided    {written.undecided} of {len(written.findings)}; the bundle was not written")
        lines.append(f"Next         decide in {written.review}, then run the same command;")
        lines.append(f"             or  theodolite release {path} --out {options.out} --redact-all")
        return lines
    lines.append(f"Bundle       {written.folder}: {written.dialogues:,} dialogues")
    made = "new key, " if written.new_key else ""
    lines.append(f"Signed       {made}{written.key_id[:16]}; publish {public_key_file(options.key)}")
    lines.append(f"Next         theodolite verify {written.folder} --key {public_key_file(options.key)}")
    return lines


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
    result = verify_release(Path(folder), Path(key) if key else None)
    code = 1 if result.problems else 0
    if as_json:
        entry = {"signer": result.signer or None, "trusted": result.trusted, "problems": list(result.problems)}
        click.echo(as_line({"exit_code": code, "files": result.files, "values": result.numbers, **entry}))
        return code
    if result.trusted:
        click.echo(f"Signature  {'valid, ' + result.signer[:16] if result.signer else 'NOT VALID'}")
    else:
        click.echo("Signature  not checked: name the publisher's public key with --key")
    click.echo(f"Files      {result.files:,} in the manifest")
    click.echo(f"Results    {result.numbers:,} values compared")
    for problem in result.problems:
        click.echo(problem)
    click.echo("The bundle is NOT intact." if result.problems else "The bundle is intact.")
    return code


@click.command()
@study_argument
@click.option("--out", default="", metavar="DIR", help=f"Folder of the documents; STUDY/{FOLDER} if left out.")
@click.option("--diff", "is_diff", is_flag=True, help="Print the differences to the previous issue; write nothing.")
@json_option
def document(study: str, *, out: str, is_diff: bool, as_json: bool) -> int:
    """Write the documentation pack of the latest run.

    The pack contains datasheet, data statement, data card, methods, codebook,
    deviations from the published plan, validity evidence and a glossary, as
    Markdown and HTML. Each number links to its value in results.json. Run the
    command again after a change: changes.md lists the differences to the
    previous issue, and --diff prints them before anything is written.

    \b
    Examples
      theodolite document support
      theodolite document support --out docs/data
      theodolite document support --diff
    """  # noqa: D301 - click's mark for "keep these lines"
    context = open_study(study)
    try:
        folder = Path(out) if out else context.loaded.folder / FOLDER
        if is_diff:
            issue, difference = document_changes(context, folder)
            click.echo(_json(issue) if as_json else difference or f"Issue {issue.issue} is unchanged.")
            return 0
        written = write_documents(context, folder)
        if as_json:
            click.echo(_json(written))
            return 0
        click.echo(f"Documents    {', '.join(written.names)}")
        if not written.is_new:
            click.echo(f"Issue        {written.issue}, unchanged")
        elif written.issue > 1:
            click.echo(f"Issue        {written.issue}, {written.n_changed} documents changed; see changes.md")
        else:
            click.echo("Issue        1")
        click.echo(f"Open         {written.folder}/index.md")
        return 0
    finally:
        context.close()


def _json(issue: WrittenDocuments) -> str:
    entry = {"folder": issue.folder, "issue": issue.issue, "new": issue.is_new, "documents": list(issue.names)}
    return as_line({"exit_code": 0, "changed": issue.n_changed, **entry})
