"""Knocking first: every endpoint is asked once, and people see what it said."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

import click

from theodolite.bootstrap.study_context import StudyContext
from theodolite.cli.terminal import width
from theodolite.domain.errors import RunStopped
from theodolite.domain.money import cost_text
from theodolite.domain.run import Spending, UnitKind
from theodolite.execution.clients import Clients
from theodolite.ports.endpoint import Knock
from theodolite.usecases.knocking import knock_at

_WIDTH = 80
_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")


async def knock_first(context: StudyContext, clients: Clients, kinds: frozenset[UnitKind], *, quiet: bool) -> None:
    """Ask each endpoint that these kinds of work need once.

    Raises:
        RunStopped: If one of them cannot be used; the text says which and what to try.
    """
    knocks = [knock for knock in await knock_at(context.endpoints(clients, kinds)) if knock.host or not knock.alive]
    dead = [knock for knock in knocks if not knock.alive]
    if dead:
        raise RunStopped(_not_started(context, knocks, dead))
    if knocks and not quiet:
        said = ", ".join(f"{knock.name} {_short(knock)}" for knock in knocks)
        click.echo(textwrap.fill(f"Checking endpoints: {said}", width(), subsequent_indent="  "))


def _short(knock: Knock) -> str:
    return knock.answer.split(", answers as")[0].replace(", ", " ")


def _not_started(context: StudyContext, knocks: list[Knock], dead: list[Knock]) -> str:
    name_width = max(len(knock.name) for knock in knocks) + 3
    host_width = max(len(knock.host) for knock in knocks) + 3
    lines = ["Checking endpoints ..."]
    for knock in knocks:
        place = context.place_of(knock.name)
        where = f", {place}" if place and not knock.alive else ""
        lines += _row(f"  {knock.name:<{name_width}}{knock.host:<{host_width}}", knock.answer + where)
    for knock in dead:
        lines += _advice(context.users_of(knock.name), knock)
    if any(not knock.reached for knock in dead):
        lines += _on_proxies(context.environ)
    spent = sum((knock.spent for knock in knocks if knock.reached), start=Spending())
    calls = f"{spent.calls} call{'' if spent.calls == 1 else 's'}"
    lines.append(f"Nothing recorded; {calls} made ({cost_text(spent.cost_microusd)}).")
    return "\n".join(lines)


def _row(start: str, words: str) -> list[str]:
    wrapped = textwrap.wrap(words, max(20, _WIDTH - len(start)), break_long_words=False, break_on_hyphens=False)
    rest = (" " * len(start) + line for line in wrapped[1:])
    return [start + (wrapped[0] if wrapped else ""), *rest]


def _on_proxies(environ: Mapping[str, str]) -> list[str]:
    """Name the proxy variable that is set: it may be the reason why nobody was reached."""
    for name in _PROXIES:
        if environ.get(name) or environ.get(name.lower()):
            return [f"  `{name}` is set: calls go through that proxy, except to hosts in `NO_PROXY` and this machine."]
    return []


def _advice(users: str, knock: Knock) -> list[str]:
    if not knock.hint:
        return [f"Not started: {users} cannot be used."]
    words = "cannot be used. Try" if knock.reached else "cannot be reached. Start it, or try"
    return [f"Not started: {users} {words}", f"  {knock.hint}"]
