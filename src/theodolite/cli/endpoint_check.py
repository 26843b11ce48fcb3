"""The endpoint check on the command line: one call to every endpoint, with its results shown."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

import click

from theodolite.bootstrap.study_context import StudyContext
from theodolite.cli.terminal import width
from theodolite.domain.errors import RunStopped
from theodolite.domain.run import Spending, UnitKind
from theodolite.domain.text import cost_text
from theodolite.execution.clients import Clients
from theodolite.ports.application import EndpointCheck
from theodolite.usecases.endpoint_check import check_endpoints

_WIDTH = 80
_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")


async def check_endpoints_first(
    context: StudyContext, clients: Clients, kinds: frozenset[UnitKind], *, quiet: bool
) -> None:
    """Ask each endpoint that these kinds of work need once.

    Raises:
        RunStopped: If one of them cannot be used; the text says which and what to try.
    """
    checks = [
        check for check in await check_endpoints(context.endpoints(clients, kinds)) if check.host or not check.alive
    ]
    dead = [check for check in checks if not check.alive]
    if dead:
        raise RunStopped(_not_started(context, checks, dead))
    if checks and not quiet:
        said = ", ".join(f"{check.name} {_short(check)}" for check in checks)
        click.echo(textwrap.fill(f"Checking endpoints: {said}", width(), subsequent_indent="  "))


def _short(check: EndpointCheck) -> str:
    return check.answer.split(", answers as")[0].replace(", ", " ")


def _not_started(context: StudyContext, checks: list[EndpointCheck], dead: list[EndpointCheck]) -> str:
    name_width = max(len(check.name) for check in checks) + 3
    host_width = max(len(check.host) for check in checks) + 3
    lines = ["Checking endpoints ..."]
    for check in checks:
        place = context.place_of(check.name)
        where = f", {place}" if place and not check.alive else ""
        lines += _row(f"  {check.name:<{name_width}}{check.host:<{host_width}}", check.answer + where)
    for check in dead:
        lines += _advice(context.users_of(check.name), check)
    if any(not check.reached for check in dead):
        lines += _on_proxies(context.environ)
    spent = sum((check.spent for check in checks if check.reached), start=Spending())
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


def _advice(users: str, check: EndpointCheck) -> list[str]:
    if not check.hint:
        return [f"Not started: {users} cannot be used."]
    words = "cannot be used. Try" if check.reached else "cannot be reached. Start it, or try"
    return [f"Not started: {users} {words}", f"  {check.hint}"]
