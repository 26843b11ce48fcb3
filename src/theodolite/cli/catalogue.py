"""`theodolite packs`, `plugins`, `completion` and `docs`: installed parts, help for the shell, and documentation."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import click
from click.shell_completion import get_completion_class

from theodolite.bootstrap.documentation import CONTENTS, Page, default_site_folder, documentation, write_site
from theodolite.bootstrap.plugins import plugins_here, resource_resolver
from theodolite.cli.main import Group, cli
from theodolite.cli.terminal import as_line, json_option
from theodolite.config.load_context import SHIPPED
from theodolite.config.packs import PackCard, install_pack, pack_card
from theodolite.config.personas import shipped_personas
from theodolite.domain.application import ModelKind
from theodolite.domain.errors import did_you_mean
from theodolite.domain.text import printable, printable_line
from theodolite.measurement.trees.methods import methods_with
from theodolite.plugins.discovery import HOOKS
from theodolite.testing.strategies import catalogue_with

_WIDTH = 80
_MARGIN = 11


@click.group(cls=Group)
def packs() -> None:
    """List scenario packs, show their cards, and install packs.

    \b
    Examples
      theodolite packs list
      theodolite packs show aria/tv-spoilers
      theodolite packs install complaints.zip --sha256 3f1c...
    """  # noqa: D301 - click's mark for "keep these lines"


@packs.command("list")
@json_option
def list_packs(*, as_json: bool) -> int:
    """List all packs with edition, origin and first sentence."""
    resolver = resource_resolver()
    cards = [pack_card(name, resolver) for name in resolver.packs()]
    if as_json:
        click.echo(as_line({"exit_code": 0, "packs": [asdict(card) for card in cards]}))
        return 0
    width = max((len(card.name) for card in cards), default=0)
    for card in cards:
        about = f"{card.edition or '-'} {card.origin}: {card.about.partition('. ')[0].rstrip('.')}"
        shown = textwrap.shorten(printable_line(about), _WIDTH - width - 2, placeholder=" ...")
        click.echo(f"{card.name:<{width}}  {shown}")
    return 0


@packs.command()
@click.argument("name")
@json_option
def show(name: str, *, as_json: bool) -> int:
    """Show the card of a pack: what it measures, validity, limits and licence."""
    card = pack_card(name, resource_resolver())
    click.echo(as_line({"exit_code": 0, **asdict(card)}) if as_json else printable(card_text(card)))
    return 0


def card_text(card: PackCard) -> str:
    """Return the card of a pack for a terminal."""
    licence = card.licence or ("that of Theodolite, Apache-2.0" if card.origin == "shipped" else "not stated")
    parts = [
        (card.name, f"edition {card.edition or 'not stated'}, {card.origin}"),
        ("About", card.about or "not stated"),
        *_listed("Measures", card.measures),
        *_listed("Proxy for", card.proxies),
        *_listed("Risks", card.risks),
        ("Dialogues", f"{card.dialogues} for each application, at one repeat"),
        ("Validity", card.validity or "not stated"),
        ("Limits", card.limits or "not stated"),
        ("Licence", licence),
        *([("Warning", card.warning)] if card.warning else []),
        ("Use", f"`pack: {card.name}` in a study, or  theodolite init DIR --pack {card.name}"),
    ]
    return "\n".join(line for label, text in parts for line in _wrapped(label, text))


def _listed(label: str, entries: object) -> list[tuple[str, str]]:
    pairs = list(entries.items()) if isinstance(entries, dict) else []
    texts = [f"{name}: {text}" if text else str(name) for name, text in pairs] or ["not stated"]
    return [(label if not number else "", text) for number, text in enumerate(texts)]


def _wrapped(label: str, text: str) -> list[str]:
    margin = max(_MARGIN, len(label) + 2)
    return textwrap.wrap(
        f"{label:<{margin}}{' '.join(text.split())}", _WIDTH, subsequent_indent=" " * margin, drop_whitespace=True
    )


@packs.command()
@click.argument("source", type=click.Path(exists=True))
@click.option("--sha256", default="", metavar="HEX", help="Expected checksum; any other is refused.")
@click.option("--replace", is_flag=True, help="Replace an installed pack of this name.")
@json_option
def install(source: str, *, sha256: str, replace: bool, as_json: bool) -> int:
    """Install a pack from a folder or an archive (.zip, .tar.gz).

    A pack is data and contains no code that runs. The checksum is that of the archive, or of
    all files of the folder.

    \b
    Example
      theodolite packs install complaints.zip --sha256 3f1c...
    """  # noqa: D301 - click's mark for "keep these lines"
    made = install_pack(Path(source), sha256=sha256, replace=replace)
    if as_json:
        entry = {"name": made.name, "edition": made.edition, "sha256": made.sha256, "folder": str(made.folder)}
        click.echo(as_line({"exit_code": 0, **entry, "n_files": made.n_files}))
        return 0
    checked = "as expected" if sha256 else "not compared: no --sha256 was given"
    click.echo(printable_line(f"Installed {made.name} {made.edition} ({made.n_files} files) in {made.folder}"))
    click.echo(f"Checksum  {made.sha256} ({checked})")
    click.echo(f"Card      theodolite packs show {made.name}")
    return 0


BUILT_IN = "built in"
"""Origin of the parts of the package itself."""


class PluginPart(NamedTuple):
    """A part that a plugin adds, or that is built in.

    Attributes:
        kind: Kind of the part, e.g. `summary`, `judge` or `pack`.
        name: Its name in a study or on the command line.
        plugin: Name of the plugin, or `built in`.
    """

    kind: str
    name: str
    plugin: str


def plugin_hooks() -> tuple[PluginPart, ...]:
    """Return all parts that plugins can add, including the built-in parts, by kind and name."""
    installed = plugins_here()
    parts = []
    for hook, entry in HOOKS.items():
        own = {part.name: plugin for plugin, part in installed.parts.get(hook, ())}
        names = dict.fromkeys([*_built_in(hook), *own])
        parts += [PluginPart(kind=entry.kind, name=name, plugin=own.get(name, BUILT_IN)) for name in names]
    return (*parts, *_resource_parts())


def _built_in(hook: str) -> tuple[str, ...]:
    """Return the names of the built-in parts, from the tables that the commands use."""
    from theodolite.bootstrap.exchange import ExportForm  # these modules load much
    from theodolite.bootstrap.tool_imports import SHIPPED_IMPORTERS

    tables: Mapping[str, tuple[str, ...]] = {
        "applications": ("recorded", "model", "http", "python", "aria"),
        "models": tuple(kind.value for kind in ModelKind),
        "personas": tuple(template.name for template in shipped_personas()),
        "judges": ("model", "rule", "python"),
        "summaries": tuple(methods_with(())),
        "strategies": tuple(catalogue_with(())),
        "charts": ("interval plot", "heatmap"),
        "importers": tuple(importer.name for importer in SHIPPED_IMPORTERS),
        "exporters": tuple(form.value for form in ExportForm),
    }
    return tables.get(hook, ())


def _resource_parts() -> Iterator[PluginPart]:
    resolver = resource_resolver()
    for kind, names, path in (
        ("guideline", resolver.names("guidelines", ".yaml"), "guidelines/{}.yaml"),
        ("persona", resolver.names("personas", ".md"), "personas/{}.md"),
        ("pack", resolver.packs(), "packs/{}/pack.yaml"),
    ):
        for name in names:
            resource = resolver.resource(path.format(name))
            origin = BUILT_IN if resource is None or resource.origin == SHIPPED else resource.origin
            if kind == "persona" and origin == BUILT_IN:
                continue  # a part of the hook
            yield PluginPart(kind=kind, name=name, plugin=origin)


@click.command()
@click.option("--kind", default="", metavar="KIND", help="List only parts of this kind, e.g. judge.")
@json_option
def plugins(*, kind: str, as_json: bool) -> int:
    """List the parts of installed plugins and of the package, by kind.

    \b
    Examples
      theodolite plugins
      theodolite plugins --kind importer
    """  # noqa: D301 - click's mark for "keep these lines"
    hooks = [part for part in plugin_hooks() if kind in {"", part.kind}]
    if not hooks:
        kinds = dict.fromkeys(part.kind for part in plugin_hooks())
        near = did_you_mean(kind, kinds) or f"; kinds: {', '.join(kinds)}"
        message = f"there is no kind `{kind}`{near}"
        raise click.UsageError(message)
    packages = plugins_here().packages
    if as_json:
        entries = [{"kind": part.kind, "name": part.name, "plugin": part.plugin} for part in hooks]
        click.echo(as_line({"exit_code": 0, "packages": dict(packages), "parts": entries}))
        return 0
    width = max(len(part.kind) for part in hooks)
    for part in hooks:
        package = packages.get(part.plugin, "")
        click.echo(printable(f"{part.kind:<{width}}  {part.name}  ({part.plugin}{f', {package}' if package else ''})"))
    return 0


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> int:
    """Print the script that completes commands and options in a shell.

    \b
    Examples
      eval "$(theodolite completion bash)"          in ~/.bashrc
      eval "$(theodolite completion zsh)"           in ~/.zshrc
      theodolite completion fish | source           in config.fish
    """  # noqa: D301 - click's mark for "keep these lines"
    kind = get_completion_class(shell)
    if kind is None:
        message = f"no completion for `{shell}`"
        raise click.UsageError(message)
    click.echo(kind(cli, {}, "theodolite", "_THEODOLITE_COMPLETE").source())
    return 0


_MOST = 12


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
            as_line(
                {
                    "exit_code": 0,
                    "page": shown.name,
                    "file": str(file),
                    "pages": _page_entries([*source.pages.values()]),
                }
            )
        )
    else:
        click.echo(f"Open    {file.as_uri()}")
        click.echo("Search  on each page, or  theodolite docs --search WORDS")
    if open_it:
        click.launch(file.as_uri())
    return 0


def _print_matches(found: list[Page], words: str, *, as_json: bool) -> None:
    if as_json:
        click.echo(as_line({"exit_code": 0, "pages": _page_entries(found)}))
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


def _page_entries(pages: list[Page]) -> list[dict[str, str]]:
    return [{"name": page.name, "title": page.title} for page in pages]
