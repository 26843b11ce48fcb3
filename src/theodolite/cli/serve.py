"""`theodolite serve`: the web side, for people who test, annotate, review and organise."""

from __future__ import annotations

import os
from pathlib import Path

import click

from theodolite.bootstrap.database import DATABASE_VARIABLE, WORKSPACE_NAME, workspace_for
from theodolite.domain.errors import InputError

_DEMO = Path("theodolite-event")


@click.command()
@click.argument("study", required=False, default="")
@click.option("--listen", default="127.0.0.1:8000", show_default=True, metavar="HOST:PORT", help="Where to listen.")
@click.option("--demo", "as_demo", is_flag=True, help="A seeded event to look around in; this machine only.")
def serve(study: str, *, listen: str, as_demo: bool) -> int:
    """Serve the pages on which people test applications and annotate dialogues.

    Listens on this machine only, unless --listen says otherwise.

    \b
    Examples
      theodolite serve --demo
      theodolite serve spoilers
      theodolite serve spoilers --listen 0.0.0.0:8000
    """  # noqa: D301 - click's mark for "keep these lines"
    from theodolite.bootstrap.serving import Serving, serve

    host, port = _address(listen)
    serving = Serving(
        workspace=_DEMO / WORKSPACE_NAME if as_demo else _workspace(study),
        database_url=None if as_demo else os.environ.get(DATABASE_VARIABLE) or None,
        host=host,
        port=port,
        study=study,
        demo=as_demo,
    )
    serve(serving, click.echo)
    return 0


def _workspace(study: str) -> Path:
    folder = Path(study or ".")
    if not folder.exists():
        message = f"a study's folder or file was expected; there is no `{study}`"
        raise InputError(message)
    return workspace_for(folder if folder.is_dir() else folder.parent)


def _address(listen: str) -> tuple[str, int]:
    """Return host and port of `HOST:PORT`, `[HOST]:PORT`, or `:PORT` for this machine."""
    host, _, port = listen.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        message = f"`--listen` takes HOST:PORT, e.g. 0.0.0.0:8000; got `{listen}`"
        raise InputError(message)
    return host.strip("[]") or "127.0.0.1", int(port)
