"""`theodolite mcp` through the library's client and a real process over stdio."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from tests.fakes.loopback import Loopback
from tests.fakes.support_study import SupportStudy
from tests.fakes.terminal import environment, in_a_fresh_process, theodolite

pytestmark = pytest.mark.integration

RECORDED = """\
study: support
applications:
  before: {kind: recorded, file: rows.csv, id: id, prompt: prompt, response: old}
  after: {kind: recorded, file: rows.csv, id: id, prompt: prompt, response: new}
judges:
  rude: {ask: Is a reply rude?, defect: "== yes", rule: {any: [idiot], then: yes, else: no}}
gates: {rude: upper <= 20%}
"""

ROWS = "id,prompt,old,new\n1,Hi,You idiot,Hello\n2,Where is it?,Here,Here\n3,Thanks,Welcome,idiot\n"


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    folder = tmp_path / "studies" / "support"
    folder.mkdir(parents=True)
    (folder / "study.yaml").write_text(RECORDED, encoding="utf-8")
    (folder / "rows.csv").write_text(ROWS, encoding="utf-8")
    assert theodolite("run", folder).code == 1, "the gate is not met"
    return folder


def _environment() -> dict[str, str]:
    """Return the environment without the permissions that tests have by default."""
    return {name: value for name, value in environment().items() if not name.startswith("THEODOLITE_ALLOW_")}


@asynccontextmanager
async def served(folder: Path, *options: str) -> AsyncIterator[Client]:
    """Start the real server below a folder and connect the library's client to it."""
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "theodolite", "mcp", str(folder), *options], env=_environment()
    )
    async with Client(stdio_client(command)) as client:
        yield client


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the object that a tool returns."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """Return the message with which a tool refuses a call."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text)  # type: ignore[union-attr]


async def test_a_server_is_read_only_by_default(recorded):
    async with served(recorded.parent) as client:
        tools = (await client.list_tools()).tools

    assert {tool.name for tool in tools} == {
        "list_studies",
        "list_runs",
        "check_study",
        "price_study",
        "get_results",
        "list_dialogues",
        "get_dialogue",
        "compare",
        "get_status",
    }
    assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
    assert all(tool.description for tool in tools)


async def test_an_agent_reads_a_study_from_the_list_to_the_dialogue(recorded):
    async with served(recorded.parent) as client:
        [listed] = (await called(client, "list_studies"))["studies"]
        study = listed["study"]
        [run] = (await called(client, "list_runs", study=study))["runs"]
        results = await called(client, "get_results", study=study, measure="defect_rate")
        defects = await called(client, "list_dialogues", study=study, view="defects")
        first = await called(client, "get_dialogue", study=study, dialogue=defects["dialogues"][0]["dialogue"])

    assert (listed["name"], listed["valid"], listed["applications"]) == ("support", True, ["before", "after"])
    assert (run["run"], run["activity"], run["sessions"]["done"]) == (1, "finished", 6)
    assert [(one["count"], one["n"]) for one in results["estimates"]] == [(1, 3), (1, 3)]
    assert all(one["low"] < one["value"] < one["high"] and one["method"] for one in results["estimates"])
    assert results["gates"]["state"] != "met"
    assert defects["n_dialogues"] == 2
    assert first["turns"][0]["response"] == "You idiot"
    assert first["annotations"][0]["answers"][0]["value"] == "yes"


async def test_applications_are_compared_and_nothing_is_written(recorded):
    before = sorted(path.name for path in recorded.iterdir())

    async with served(recorded.parent) as client:
        compared = await called(client, "compare", study="support", first="before", second="after")

    [comparison] = compared["comparisons"]
    assert (comparison["first"]["application"], comparison["second"]["application"]) == ("before", "after")
    assert comparison["rates"][0]["difference"]["value"] == 0.0
    assert sorted(path.name for path in recorded.iterdir()) == before


async def test_a_check_names_errors_with_their_line(recorded):
    (recorded / "study.yaml").write_text(RECORDED.replace("gates:", "gatez:"), encoding="utf-8")

    async with served(recorded.parent) as client:
        checked = await called(client, "check_study", study="support")

    assert checked["valid"] is False
    assert [(one["file"], one["line"]) for one in checked["diagnostics"]] == [("study.yaml", 7)]
    assert "Did you mean `gates`?" in checked["diagnostics"][0]["message"]


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("list_runs", {"study": "suport"}, "Did you mean `support`?"),
        ("get_dialogue", {"study": "support", "dialogue": "before/4"}, "no dialogue `before/4`"),
        ("get_results", {"study": "support", "run": 7}, "no run 7"),
        ("get_results", {"study": "support", "measure": "defect_rat"}, "Did you mean `defect_rate`?"),
        ("list_dialogues", {"study": "support", "view": "defect"}, "defects"),
    ],
    ids=["study", "dialogue", "run", "measure", "view"],
)
async def test_an_invalid_argument_has_a_helpful_error(recorded, tool, arguments, words):
    async with served(recorded.parent) as client:
        assert words in await refused(client, tool, **arguments)


@pytest.mark.parametrize("options", [["--allow-run"], ["--max-cost", "1"]], ids=["without a cost", "without a word"])
def test_runs_are_allowed_only_within_a_stated_cost(tmp_path, options):
    ended = in_a_fresh_process("mcp", tmp_path, *options)

    assert ended.code == 2
    assert "--allow-run and --max-cost belong together" in ended.err


@pytest.fixture
def server():
    with Loopback() as loopback:
        yield loopback


def priced(folder: Path, url: str) -> SupportStudy:
    """Return a study of two dialogues whose judge costs a dollar for each million tokens."""
    study = SupportStudy(folder=folder, url=url, n=2, more=", price: {input: 1.0, output: 1.0}")
    study.write()
    return study


async def ended_run(client: Client, study: str) -> dict[str, Any]:
    """Return the status once the run's process has ended."""
    for _ in range(600):
        status = await called(client, "get_status", study=study)
        if status.get("process") and not status["process"]["alive"]:
            return status
        await asyncio.sleep(0.1)
    message = "the run does not end"
    raise AssertionError(message)


async def test_a_run_is_started_within_the_cost_and_charged(tmp_path, server):
    priced(tmp_path / "support", server.url)

    async with served(tmp_path, "--allow-run", "--max-cost", "2") as client:
        price = await called(client, "price_study", study="support")
        started = await called(client, "start_run", study="support", max_cost=0.5)
        status = await ended_run(client, "support")

    assert price["cost_usd"]["high"] > 0
    assert (started["max_cost_usd"], started["left_usd"]) == (0.5, 1.5)
    assert status["process"]["exit_code"] == 0, status["process"]["output"]
    assert status["latest"]["sessions"]["done"] == 2
    assert status["left_usd"] == pytest.approx(2 - status["latest"]["cost_usd"])
    assert status["latest"]["cost_usd"] > 0


async def test_a_run_beyond_the_cost_is_refused_and_sends_nothing(tmp_path, server):
    priced(tmp_path / "support", server.url)

    async with served(tmp_path, "--allow-run", "--max-cost", "2") as client:
        words = await refused(client, "start_run", study="support", max_cost=3.0)

    assert "$2.00 of the $2.00 of --max-cost are left; the call asks for $3.00" in words
    assert server.stats["requests"] == 0


async def test_a_remote_model_without_a_price_is_refused(tmp_path):
    SupportStudy(folder=tmp_path / "support", url="http://models.example/v1", n=2).write()

    async with served(tmp_path, "--allow-run", "--max-cost", "2") as client:
        words = await refused(client, "start_run", study="support")

    assert "no price is known for `app`, `user`, `large`" in words


async def test_code_without_permission_does_not_run(tmp_path, server):
    study = priced(tmp_path / "support", server.url)
    study.write(bot='bot: {kind: python, call: "bot.py:reply"}')
    (study.folder / "bot.py").write_text("def reply(prompt):\n    return prompt\n", encoding="utf-8")

    async with served(tmp_path, "--allow-run", "--max-cost", "2") as client:
        words = await refused(client, "start_run", study="support")
        status = await called(client, "get_status", study="support")

    assert "has not been allowed on this machine" in words
    assert status["left_usd"] == 2.0
    assert server.stats["requests"] == 0


PACKET = """\
packet: endings
version: "1"
scenarios:
  series: {scripts: {ending: {prompts: [The secret prompt]}}}
"""

HELD_OUT = """\
study: endings
held_out: {path: ../packet}
applications: {echo: {kind: python, call: "bot.py:reply"}}
scenarios: {series: {task: chat}}
"""


@pytest.fixture
def held_out(tmp_path: Path) -> Path:
    """Return a study whose only prompt lies in a held-out packet, after a run."""
    folder = tmp_path / "endings"
    for name, text in {"packet/packet.yaml": PACKET, "endings/study.yaml": HELD_OUT}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    checksum = re.search(r"[0-9a-f]{64}", theodolite("check", folder, "--allow-path", tmp_path / "packet").said)
    assert checksum
    stated = HELD_OUT.replace("packet}", f"packet, sha256: {checksum[0]}}}")
    (folder / "study.yaml").write_text(stated, encoding="utf-8")
    (folder / "bot.py").write_text("def reply(prompt):\n    return prompt\n", encoding="utf-8")
    ran = theodolite("run", folder, "--allow-path", tmp_path / "packet", "--stage", "test")
    assert ran.code == 0, ran.said
    return folder


async def test_texts_of_a_held_out_packet_stay_on_the_machine(held_out):
    async with served(held_out) as client:
        shown = await called(client, "get_dialogue", study="endings", dialogue="d001")

    assert shown["withheld"] == "the scenario's packet is held out"
    assert [(turn["prompt"], turn["response"]) for turn in shown["turns"]] == [("", "")]
    assert "secret" not in str(shown)
