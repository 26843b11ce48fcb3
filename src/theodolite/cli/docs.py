"""`theodolite docs`: the documentation of the installed version, without a network."""

from __future__ import annotations

import textwrap
from pathlib import Path

import click

from theodolite.bootstrap.documentation import CONTENTS, Page, default_site_folder, documentation, write_site
from theodolite.cli.terminal import as_line, json_option
from theodolite.domain.text import printable

_MOST = 12
_WIDTH = 80


@click.command()
@click.argument("page", default=CONTENTS)
@click.option("--text", "as_text", is_flag=True, help="Print the page as Markdown instead.")
@click.option("--search", default="", metavar="WORDS", help="List the pages that contain all these words.")
@click.option("--out", default="", metavar="DIR", help="Folder of the HTML files; one of your own if left out.")
@click.option("--browser", "open_it", is_flag=True, help="Open the page in a browser.")
@json_option
def docs(page: str, *, as_text: bool, search: str, out: str, open_it: bool, as_json: bool) -> int:
    """Write the documentation as HTML files, or print a page.

    The pages belong to the installed version and need no network and no server.
    PAGE is a name such as ci-gate or how-to/ci-gate.

    \b
    Examples
      theodolite docs --browser
      theodolite docs ci-gate --text
      theodolite docs --search "gate baseline"
      theodolite docs skill --text          skill for coding agents
    """  # noqa: D301 - click's mark for "keep these lines"
    source = documentation()
    shown = source.page(page)
    if search:
        _print_matches(source.search(search), search, as_json=as_json)
        return 0
    if as_text:
        click.echo(
            as_line({"exit_code": 0, "page": shown.name, "text": shown.text}) if as_json else shown.text.rstrip()
        )
        return 0
    folder = Path(out) if out else default_site_folder()
    file = (write_site(source, folder).parent / shown.file).resolve()
    if as_json:
        click.echo(
            as_line({"exit_code": 0, "page": shown.name, "file": str(file), "pages": _listed([*source.pages.values()])})
        )
    else:
        click.echo(f"Open    {file.as_uri()}")
        click.echo("Search  on each page, or  theodolite docs --search WORDS")
    if open_it:
        click.launch(file.as_uri())
    return 0


def _print_matches(found: list[Page], words: str, *, as_json: bool) -> None:
    if as_json:
        click.echo(as_line({"exit_code": 0, "pages": _listed(found)}))
        return
    if not found:
        click.echo(f"No page contains all words of `{printable(words)}`. Use fewer words.")
        return
    width = max(len(page.name) for page in found[:_MOST])
    for page in found[:_MOST]:
        click.echo(
            f"{page.name:<{width}}  {textwrap.shorten(page.title, max(20, _WIDTH - width - 2), placeholder=' ...')}"
        )
    if len(found) > _MOST:
        click.echo(f"and {len(found) - _MOST} more; add a word")
    click.echo(f"Read:  theodolite docs {found[0].name} --text")


def _listed(pages: list[Page]) -> list[dict[str, str]]:
    return [{"name": page.name, "title": page.title} for page in pages]
