from types import SimpleNamespace

import pytest

from theodolite.cli.running import check_endpoints_first
from theodolite.domain.errors import RunStopped
from theodolite.domain.run import Spending, UnitKind
from theodolite.ports.application import EndpointCheck

ALIVE = EndpointCheck(
    name="large",
    host="api.openai.com",
    alive=True,
    answer="ok, 0.4 s, answers as gpt-5.2-2026-01-15",
    spent=Spending(calls=1, attempts=1),
)
DEAD = EndpointCheck(
    name="app",
    host="127.0.0.1:8000",
    alive=False,
    answer="nobody answers (refused, 3 tries, 1.4 s)",
    hint="curl http://127.0.0.1:8000/v1/models",
    spent=Spending(calls=1, attempts=3),
    reached=False,
)
SCREEN = """\
Checking endpoints ...
  app     127.0.0.1:8000   nobody answers (refused, 3 tries, 1.4 s), line 3
  large   api.openai.com   ok, 0.4 s, answers as gpt-5.2-2026-01-15
Not started: application `bot-1.4` cannot be reached. Start it, or try
  curl http://127.0.0.1:8000/v1/models
Nothing recorded; 1 call made ($0.00)."""


class Answering:
    """An endpoint that answers a knock."""

    def __init__(self, check):
        self._check_endpoint = check

    async def check_endpoint(self):
        return self._check_endpoint


def context(*checks, **environ):
    return SimpleNamespace(
        environ=environ,
        endpoints=lambda lines, kinds, selection: [Answering(check) for check in checks],
        place_of=lambda name: {"app": "line 3"}.get(name, ""),
        users_of=lambda name: "application `bot-1.4`",
    )


async def test_an_unreachable_endpoint_is_shown_as_in_the_documentation():
    with pytest.raises(RunStopped) as stopped:
        await check_endpoints_first(context(DEAD, ALIVE), None, frozenset(UnitKind), quiet=False)

    assert str(stopped.value) == SCREEN


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "http_proxy"])
async def test_a_proxy_from_the_environment_is_named_when_an_endpoint_is_unreachable(name):
    with pytest.raises(RunStopped, match=f"`{name.upper()}` is set: calls go through that proxy"):
        await check_endpoints_first(
            context(DEAD, **{name: "http://proxy.example:3128"}), None, frozenset(UnitKind), quiet=False
        )


async def test_reachable_endpoints_take_one_line(capsys):
    await check_endpoints_first(context(ALIVE), None, frozenset(UnitKind), quiet=False)

    assert capsys.readouterr().out == "Checking endpoints: large ok 0.4 s\n"


@pytest.mark.parametrize(("checks", "quiet"), [([], False), ([ALIVE], True)], ids=["nobody to ask", "quiet"])
async def test_without_endpoints_nothing_is_printed(capsys, checks, quiet):
    await check_endpoints_first(context(*checks), None, frozenset(UnitKind), quiet=quiet)

    assert capsys.readouterr().out == ""
