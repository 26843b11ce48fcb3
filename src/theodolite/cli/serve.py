"""`theodolite serve`: the web side, for people who test, annotate, review and organise."""

from __future__ import annotations

import os
from pathlib import Path

import click

from theodolite.bootstrap.database import DATABASE_VARIABLE
from theodolite.cli.permission import confirm_settings, permission_options, permit_paths, permit_run
from theodolite.cli.terminal import wants_colour
from theodolite.config.permissions import WORKSPACE_NAME, workspace_for
from theodolite.domain.errors import InputError

_DEMO = Path("theodolite-event")


@click.command()
@click.argument("study", required=False, default="")
@click.option("--listen", default="", metavar="HOST:PORT", help="Address to listen on; default: 127.0.0.1:8000.")
@click.option(
    "--settings",
    "file",
    default="",
    metavar="FILE",
    help="Settings file to use instead of the study's serve.yaml, which needs permission.",
)
@click.option("--check", "only_check", is_flag=True, help="Report errors and unsafe settings without serving.")
@permission_options
@click.option("--demo", "as_demo", is_flag=True, help="Serve a demo event; this machine only.")
def serve(study: str, *, listen: str, file: str, only_check: bool, as_demo: bool) -> int:
    """Serve the pages on which people test applications and annotate dialogues.

    Listens on this machine only, unless --listen says otherwise.

    \b
    Examples
      theodolite serve --demo
      theodolite serve spoilers
      theodolite serve spoilers --listen 0.0.0.0:8000
      theodolite serve spoilers --check
    """  # noqa: D301 - click's mark for "keep these lines"
    from theodolite.bootstrap.serving import Serving, serve
    from theodolite.config.serving import load_serving

    if study and not as_demo:
        _permit(study)
    folder = _DEMO if as_demo else _folder(study)
    serving = Serving(
        workspace=folder / WORKSPACE_NAME if as_demo else workspace_for(folder),
        settings=load_serving({}, listen=listen)
        if as_demo
        else load_serving(os.environ, folder=folder, file=file, listen=listen, confirm=confirm_settings),
        database_url=None if as_demo else os.environ.get(DATABASE_VARIABLE) or None,
        study=study,
        demo=as_demo,
    )
    if only_check:
        from theodolite.bootstrap.serving import check_serving, told

        found = check_serving(serving)
        click.echo(told(found, color=wants_colour()))
        return 2 if found.faults else 0
    serve(serving, click.echo)
    return 0


def _permit(study: str) -> None:
    """Ask before applications of a study can run, as long as somebody sits at the terminal."""
    from theodolite.bootstrap.plugins import resource_resolver
    from theodolite.config.loading import load_study

    permit_paths(study)
    if Path(study).exists():
        permit_run(load_study(study, resolver=resource_resolver()))


def _folder(study: str) -> Path:
    folder = Path(study or ".")
    if not folder.exists():
        message = f"expected the folder or file of a study; `{study}` does not exist"
        raise InputError(message)
    return folder if folder.is_dir() else folder.parent
