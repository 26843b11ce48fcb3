"""`theodolite packs`, `plugins` and `completion`: what is installed, and help for shells."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from pathlib import Path

import click

from theodolite.bootstrap.plugins import plugin_hooks, resource_resolver
from theodolite.cli.main import Group
from theodolite.cli.terminal import as_line, json_option
from theodolite.config.packs import PackCard, install_pack, pack_card
from theodolite.domain.text import printable, printable_line

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
    """List all packs with edition, origin and their first sentence."""
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
@click.option("--sha256", default="", metavar="HEX", help="Expected checksum; another one is refused.")
@click.option("--replace", is_flag=True, help="Replace an installed pack of this name.")
@json_option
def install(source: str, *, sha256: str, replace: bool, as_json: bool) -> int:
    """Install a pack from a folder or an archive (.zip, .tar.gz).

    A pack is data: no code of it runs. The checksum is that of the archive, or of
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


@click.command()
@json_option
def plugins(*, as_json: bool) -> int:
    """List the installed plugins and what each adds, by kind.

    \b
    Example
      theodolite plugins
    """  # noqa: D301 - click's mark for "keep these lines"
    hooks = plugin_hooks()
    if as_json:
        entries = [{"kind": one.kind, "name": one.name, "plugin": one.plugin} for one in hooks]
        click.echo(as_line({"exit_code": 0, "parts": entries}))
        return 0
    width = max((len(one.kind) for one in hooks), default=0)
    for one in hooks:
        click.echo(printable(f"{one.kind:<{width}}  {one.name}  ({one.plugin})"))
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
    from click.shell_completion import get_completion_class

    from theodolite.cli.main import cli

    kind = get_completion_class(shell)
    if kind is None:
        message = f"no completion for `{shell}`"
        raise click.UsageError(message)
    click.echo(kind(cli, {}, "theodolite", "_THEODOLITE_COMPLETE").source())
    return 0
