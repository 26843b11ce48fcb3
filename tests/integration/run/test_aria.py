"""The model testing of the ARIA example runs against a class in the study's folder."""

from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path

import pytest

import theodolite
from tests.fakes.aria import made
from tests.fakes.gateway_clock import HastyClock
from tests.fakes.local_worker import local_aria
from tests.fakes.terminal import theodolite as theodolite_command
from theodolite.domain.application import AriaClass
from theodolite.domain.flow import Exchange, Flow, JournalEntry, Reply, SayToApplication
from theodolite.domain.identity import version_of
from theodolite.domain.run import Unit, UnitKind
from theodolite.domain.study import Budget
from theodolite.execution.clients import Clients, drive
from theodolite.execution.stop_conditions import StopConditions
from theodolite.gateways.secret_redaction import Credentials

pytestmark = pytest.mark.integration

TEAM = """from pathlib import Path
from aria_dialog_api_base import AriaDialogAPI


class Team_ARIADialogAPI(AriaDialogAPI):
    def OpenConnection(self, auth=None):
        return True

    def CloseConnection(self):
        with Path(__file__).with_name("closed.txt").open("a") as file:
            file.write("closed\\n")
        return True

    def StartSession(self):
        self.n = 0
        return True

    def GetResponse(self, text):
        self.n += 1
        if "blurb" in text:
            return {"success": False, "response": "out of order"}
        return {"success": True, "response": f"{self.n}: {text}"}
"""


@pytest.fixture
def event(tmp_path: Path) -> Path:
    """The shipped example with the team's class and without its site, which has no server."""
    folder = tmp_path / "c"
    shutil.copytree(str(resources.files("theodolite.resources") / "examples" / "c"), folder)
    study = folder / "study.yaml"
    lines = study.read_text(encoding="utf-8").splitlines(keepends=True)
    text = "".join(line for line in lines if "green:" not in line).replace("blue_team.dialog:", "blue_team/dialog.py:")
    study.write_text(text, encoding="utf-8")
    (folder / "blue_team").mkdir()
    (folder / "blue_team" / "dialog.py").write_text(TEAM, encoding="utf-8")
    return folder


def test_the_example_s_model_testing_runs_against_a_class(event: Path) -> None:
    evidence = theodolite.run(str(event)).evidence

    assert (len([*evidence.archive.dialogues()]), len([*evidence.archive.failures()])) == (14, 2)
    assert {failure.message for failure in evidence.archive.failures()} == {"it says that it failed: out of order"}
    assert {len(dialogue.turns) for dialogue in evidence.archive.dialogues()} == {1, 2}
    assert all(
        dialogue.turns[-1].response.startswith(f"{len(dialogue.turns)}:") for dialogue in evidence.archive.dialogues()
    )


def test_the_connection_of_every_session_is_closed(event: Path) -> None:
    theodolite.run(str(event))

    assert (event / "blue_team" / "closed.txt").read_text().count("closed") == 16


def test_tolerated_deviations_are_listed_at_the_end_of_a_run(event: Path) -> None:
    team = event / "blue_team" / "dialog.py"
    team.write_text(TEAM.replace("auth=None):\n        return True", 'auth=None):\n        return True, "hello"'))

    ended = theodolite_command("run", event, "--limit", "2")

    note = "Note: application `blue` was accepted although it deviates from the interface: `OpenConnection`"
    assert (ended.code, ended.err.count(note)) == (0, 1)


ONE = SayToApplication(application="app", prompt="a", turn=1)
TWO = SayToApplication(application="app", prompt="b", turn=2, history=(Exchange(prompt="a", response="1: a"),))


class Kept:
    """A journal in memory."""

    def __init__(self) -> None:
        self.entries: list[JournalEntry] = []

    async def append(self, unit: str, entry: JournalEntry) -> None:
        self.entries.append(entry)


def two_turns() -> Flow[Reply]:
    yield ONE
    return (yield TWO)


async def test_after_a_kill_the_stored_turn_stays_and_is_sent_to_the_new_instance() -> None:
    kind = made()
    connection = AriaClass(target="m:C")
    application = local_aria("app", connection, kind, credentials=Credentials(), clock=HastyClock())
    clients = Clients(models={}, applications={"app": application}, stop_conditions=StopConditions(budget=Budget()))
    unit = Unit(key="k", kind=UnitKind.SESSION, work_key="w", position=0, label="d001", application="app")
    stored = [JournalEntry(position=0, request_hash=version_of(ONE), reply=Reply(text="1: a"))]

    reply = await drive(two_turns(), unit, stored, clients=clients, journal=Kept())
    await clients.end_session("app", "k")

    assert isinstance(reply, Reply)
    assert (reply.text, reply.attempts) == ("2: b", 2)
    assert (clients.stop_conditions.spent.calls, clients.stop_conditions.spent.attempts) == (1, 2)
    assert kind.instances[0].calls[-1][0] == "CloseConnection"
