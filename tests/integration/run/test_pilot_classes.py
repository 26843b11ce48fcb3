"""Classes shaped like those of NIST's pilot and of teams that took part: all pass, or the message names the fix.

The code is ours; only the shapes are theirs (names of methods, what they return, where they look for files).
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import theodolite
from tests.fakes.terminal import theodolite as command

pytestmark = pytest.mark.integration

BASE = """from aria_dialog_api_base import AriaDialogAPI
from utils import NAME


class Team_ARIADialogAPI(AriaDialogAPI):
    model_name = NAME

    def OpenConnection(self, auth=None):
        return True

    def CloseConnection(self):
        return True

    @staticmethod
    def GetVersion():
        return "0.1"

    def StartSession(self):
        self.turns = []
        return True

    def GetResponse(self, text):
        self.turns.append(text)
        return {"success": True, "response": f"{NAME} {len(self.turns)}: {' / '.join(self.turns)}"}
"""
ECHO = BASE
HTML = BASE.replace("{' / '.join(self.turns)}", "<p>{'<br>'.join(self.turns)}</p>")
OPENING = "        return True\n\n    def Close"
NEEDS_KEY = BASE.replace(OPENING, f"        self.key = auth['key']\n{OPENING}")
RETURNS_KEY = BASE.replace(OPENING, "        return auth.get('key') or 'none'\n\n    def Close")
SINGLETON = BASE.replace(
    "    model_name = NAME\n",
    "    model_name = NAME\n    only = None\n\n    def __new__(cls):\n"
    "        cls.only = cls.only or super().__new__(cls)\n        return cls.only\n",
)
ARGUMENT = BASE.replace(
    "    model_name = NAME\n",
    "    model_name = NAME\n\n    def __init__(self, auth_token):\n        self.token = auth_token\n"
    "        self.rows = open('recipes.csv').read().split()\n",
).replace("return True", "return True, 'done'")
WRONG_FILE = BASE.replace("        self.turns = []\n", "        self.turns = []\n        open('menu.csv').close()\n")

TEAMS = {
    "echo": (ECHO, ""),
    "html": (HTML, ", markup: html"),
    "needs-key": (NEEDS_KEY, ", auth: TEAM_KEY"),
    "returns-key": (RETURNS_KEY, ", auth: TEAM_KEY"),
    "singleton": (SINGLETON, ", isolation: session"),
    "singleton-alone": (SINGLETON, ", sessions: 1"),
    "singleton-parallel": (SINGLETON, ", parallel: 1"),
    "argument": (ARGUMENT, ', auth: TEAM_KEY, init: {auth_token: "{{ auth.key }}"}'),
}


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TEAM_KEY", '{"key": "hunter2-and-more"}')
    monkeypatch.delenv("ARIA_AUTH_JSON", raising=False)
    monkeypatch.setenv("THEODOLITE_ALLOW_CODE", "1")

    def written(**teams: tuple[str, str]) -> Path:
        lines = ["study: pilot", "applications:"]
        for name, (code, keys) in teams.items():
            folder = tmp_path / name
            folder.mkdir(exist_ok=True)
            (folder / "aria_dialog_api_team.py").write_text(code)
            (folder / "utils.py").write_text(f"NAME = {name!r}\n")
            (folder / "recipes.csv").write_text("soup\n")
            (folder / "Menu.csv").write_text("salad\n")
            target = f"{name}/aria_dialog_api_team.py:Team_ARIADialogAPI"
            lines.append(f'  {name}: {{kind: aria, class: "{target}"{keys}}}')
        lines.append("scenarios: {talk: {scripts: {hello: [Good morning, Thank you], other: [A salad, Goodbye]}}}")
        lines.append('judges: {polite: {ask: "Is it rude?", defect: "== yes", rule: {any: [x], then: yes, else: no}}}')
        (tmp_path / "study.yaml").write_text("\n".join(lines) + "\n")
        return tmp_path

    return written


def test_pilot_classes_run_in_parallel_with_separate_modules_and_files(study) -> None:
    evidence = theodolite.run(str(study(**TEAMS))).evidence

    assert [failure.message for failure in evidence.archive.failures()] == []
    dialogues = [*evidence.archive.dialogues()]
    assert Counter(dialogue.application for dialogue in dialogues) == dict.fromkeys(TEAMS, 2)
    for dialogue in dialogues:
        first, second = (" ".join(turn.response.split()) for turn in dialogue.turns)
        assert first.startswith(f"{dialogue.application} 1: "), first
        assert second.startswith(f"{dialogue.application} 2: "), second


def test_pilot_classes_conform(study) -> None:
    ended = command("probe", study(**TEAMS), "--json")

    found = {one["name"]: one for one in json.loads(ended.out)["applications"]}
    faults = [remark for one in found.values() for remark in one["remarks"] if remark["severity"] == "error"]
    assert (ended.code, faults, set(found)) == (0, [], set(TEAMS))
    notes = {name: " ".join(remark["message"] for remark in one["remarks"]) for name, one in found.items()}
    assert "`OpenConnection` returned a text, taken as True" in notes["returns-key"]
    assert "`OpenConnection` returned a tuple that begins with True" in notes["argument"]
    assert "hunter2" not in ended.out + ended.err


PACKAGED = """from pathlib import Path

from . import memory
from .words import polite

DISH = (Path(__file__).parent / "data" / "dish.txt").read_text().strip()


class Bot:
    def OpenConnection(self, auth=None):
        self.price = open("data/price.txt").read().strip()
        return True

    def CloseConnection(self):
        return True

    def StartSession(self):
        self.turns = memory.fresh()
        return True

    def GetResponse(self, text):
        self.turns.append(text)
        return {"success": True, "response": polite(f"{DISH} {self.price} {len(self.turns)}: {' / '.join(self.turns)}")}
"""
LOUD = BASE.replace("from utils import NAME\n", """import atexit
import sys
import threading
import time

NAME = "loud"
print("loading")


def beat():
    while True:
        print("beat", file=sys.stderr)
        time.sleep(0.05)
""").replace(
    "    model_name = NAME\n",
    "    model_name = NAME\n\n    def __init__(self):\n        threading.Thread(target=beat).start()\n"
    "        atexit.register(print, 'goodbye')\n",
).replace(
    "        self.turns.append(text)\n",
    "        heard = []\n        helper = threading.Thread(target=lambda: heard.append(text))\n"
    "        print('prompt:', text, flush=True)\n        sys.stdout.buffer.write(b'\\x00\\xff raw\\n')\n"
    "        helper.start()\n        helper.join()\n        self.turns += heard\n",
)  # fmt: skip


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study with a package that has relative imports and data files, and a class that prints and leaves threads."""
    monkeypatch.setenv("THEODOLITE_ALLOW_CODE", "1")
    files = {
        "team/__init__.py": "",
        "team/bot.py": PACKAGED,
        "team/words.py": "def polite(text):\n    return 'Dear guest, ' + text\n",
        "team/memory.py": "def fresh():\n    return []\n",
        "team/data/dish.txt": "soup\n",
        "team/data/price.txt": "3\n",
        "loud/bot.py": LOUD,
        "study.yaml": """study: odd
applications:
  packaged: {kind: aria, class: "team.bot:Bot"}
  loud: {kind: aria, class: "loud/bot.py:Team_ARIADialogAPI", isolation: session}
scenarios: {talk: {scripts: {hello: [Good morning, Thank you]}}}
judges: {polite: {ask: "Is it rude?", defect: "== yes", rule: {any: [x], then: yes, else: no}}}
""",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_package_with_data_and_a_class_with_output_and_threads_complete_the_run(packaged: Path) -> None:
    evidence = theodolite.run(str(packaged)).evidence

    assert [failure.message for failure in evidence.archive.failures()] == []
    last = {dialogue.application: dialogue.turns[-1].response for dialogue in evidence.archive.dialogues()}
    assert last == {
        "packaged": "Dear guest, soup 3 2: Good morning / Thank you",
        "loud": "loud 2: Good morning / Thank you",
    }
    log = (packaged / ".theodolite" / "logs" / "loud.log").read_bytes()
    assert b"prompt: Thank you" in log
    assert b"beat" in log


@pytest.mark.parametrize(
    ("folder", "fix"),
    [
        ("team", "name it as a module of its package: `team.bot:Bot`"),
        ("my-team", "put its files into a folder such as `team`, beside the study, and name it `team.bot:Bot`"),
    ],
    ids=["package", "no-package"],
)
def test_an_error_about_relative_imports_explains_how_to_name_the_module(packaged: Path, folder: str, fix: str) -> None:
    (packaged / "team").rename(packaged / folder)
    study = packaged / "study.yaml"
    study.write_text(study.read_text().replace("team.bot:Bot", f"{folder}/bot.py:Bot"))

    ended = command("probe", study, "packaged", "--json")

    assert ended.code == 2
    assert fix in " ".join(fault["message"] for fault in json.loads(ended.out)["diagnostics"])


def test_an_error_about_missing_credentials_explains_where_to_put_them(study) -> None:
    init = ', init: {auth_token: "{{ auth.key }}"}'

    ended = command("probe", study(team=(ARGUMENT, init)), "--json")

    message = " ".join(fault["message"] for fault in json.loads(ended.out)["diagnostics"])
    assert (
        "Put a JSON object into the environment variable `ARIA_AUTH_JSON`, or name another one: `auth: NAME`" in message
    )


@pytest.mark.parametrize(
    ("code", "fix"),
    [
        (HTML, "Set `markup: html`"),
        (NEEDS_KEY, "since the environment variable `ARIA_AUTH_JSON` is not set"),
        (SINGLETON, "Set `isolation: session`"),
        (ARGUMENT, 'in the study: `init: {auth_token: "{{ auth.auth_token }}"}`'),
        (WRONG_FILE, "No such file or directory: 'menu.csv'; relative paths begin in the application's folder"),
        (BASE.replace("    def StartSession", "    def BeginSession"), "does not define `StartSession`"),
    ],
    ids=["html", "needs-key", "singleton", "argument", "wrong-file", "no-method"],
)
def test_nonconforming_classes_are_reported_with_a_remedy(study, code: str, fix: str) -> None:
    ended = command("probe", study(team=(code, "")), "--json")

    assert ended.code == 2
    assert fix in " ".join(fault["message"] for fault in json.loads(ended.out)["diagnostics"])
