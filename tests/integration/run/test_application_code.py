"""Applications of one study run in parallel, and a change of one repeats only its calls."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import theodolite
from tests.fakes.terminal import theodolite as command

pytestmark = pytest.mark.integration

STUDY = """study: two
applications:
  blue: {kind: python, call: "blue/bot.py:reply"}
  green: {kind: python, call: "green/bot.py:reply"}
scenarios: {talk: {scripts: {hello: Good morning, thanks: [Thank you, Goodbye]}}}
judges: {polite: {ask: "Is it rude?", defect: "== yes", rule: {any: [stupid], then: yes, else: no}}}
"""
BOT = "from utils import WORD\n\n\ndef reply(prompt):\n    return f'{WORD}: {prompt}'\n"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "study.yaml").write_text(STUDY)
    for team in ("blue", "green"):
        (tmp_path / team).mkdir()
        (tmp_path / team / "bot.py").write_text(BOT)
        (tmp_path / team / "utils.py").write_text(f"WORD = 'utils of {team}'\n")
    return tmp_path


def responses(study: Path) -> dict[str, set[str]]:
    """Return the replies of each application without the prompt."""
    dialogues = theodolite.run(str(study), allow_code=True).evidence.archive.dialogues()
    said: dict[str, set[str]] = {}
    for dialogue in dialogues:
        said.setdefault(dialogue.application, set()).update(turn.response.partition(":")[0] for turn in dialogue.turns)
    return said


def test_each_application_runs_with_its_own_modules(study: Path) -> None:
    assert responses(study) == {"blue": {"utils of blue"}, "green": {"utils of green"}}


def test_a_changed_helper_module_causes_new_calls_and_is_named(study: Path) -> None:
    responses(study)
    (study / "blue" / "utils.py").write_text("WORD = 'new words'\n")

    assert responses(study) == {"blue": {"new words"}, "green": {"utils of green"}}
    ended = command("report", study)
    assert "`blue` differs from run 1 in utils.py" in (study / "report.html").read_text(encoding="utf-8"), ended.err


def test_a_check_runs_the_same_code_as_a_run(study: Path) -> None:
    alone = json.loads(command("probe", study, "green", "--json", "--allow-code").out)
    together = json.loads(command("probe", study, "--json").out)

    entry = next(one for one in together["applications"] if one["name"] == "green")
    assert alone["applications"][0] | {"slowest_s": 0} == entry | {"slowest_s": 0}
    assert entry["network"] == {
        "application": "green",
        "allowed": None,
        "observed": True,
        "cut_off": False,
        "connections": [],
        "refused": [],
        "programs": [],
    }


def test_check_states_that_hosts_of_code_are_unknown(study: Path) -> None:
    out = " ".join(command("check", study).out.split())

    assert "nothing leaves" not in out
    assert "`blue` (blue/bot.py:reply): unknown, runs as its own process" in out


TEAM = """import os
from aria_dialog_api_base import AriaDialogAPI


class Team(AriaDialogAPI):
    def OpenConnection(self, auth=None):
        return True

    def CloseConnection(self):
        return True

    def StartSession(self):
        self.n = 0
        return True

    def GetResponse(self, text):
        self.n += 1
        if text == "Thank you" and not os.path.exists("killed"):
            open("killed", "w").close()
            os.kill(os.getpid(), 9)
        return {"success": True, "response": f"{self.n}: {text}"}
"""


def test_a_killed_process_fails_only_dialogues_in_flight(study: Path) -> None:
    (study / "blue" / "bot.py").write_text(TEAM)
    text = STUDY.replace('python, call: "blue/bot.py:reply"', 'aria, class: "blue/bot.py:Team"')
    (study / "study.yaml").write_text(text.replace('blue/bot.py:Team"', 'blue/bot.py:Team", ignore: [killed]'))

    first = theodolite.run(str(study), allow_code=True).evidence
    failures, dialogues = [*first.archive.failures()], [*first.archive.dialogues()]

    assert len(failures) + len(dialogues) == 4
    assert 1 <= len(failures) <= 2
    assert {failure.application for failure in failures} == {"blue"}
    assert all("its process ended by signal 9 (SIGKILL)" in failure.message for failure in failures)
    again = command("run", study, "--retry-failed")
    assert again.code == 0, again.err
    evidence = theodolite.run(str(study)).evidence
    assert (len([*evidence.archive.dialogues()]), [*evidence.archive.failures()]) == (4, [])
    assert os.path.exists(study / "blue" / "killed")  # noqa: PTH110  # plain


RAISES = """import os


def look_up(found):
    raise LookupError("no entry; key sk-abcdefgh12345678")


def reply(prompt):
    return look_up({})
"""


def test_debug_prints_each_traceback_of_the_studys_code_once_without_keys(study: Path) -> None:
    (study / "blue" / "bot.py").write_text(RAISES)

    plain, debug = command("run", study, "--allow-code"), command("run", study, "--retry-failed", "--debug")

    assert "Traceback" not in plain.err
    assert debug.err.count("application `blue` raised\nTraceback (most recent call last):") == 1
    assert 'bot.py", line 9, in reply\n    return look_up({})' in debug.err
    assert 'line 5, in look_up\n    raise LookupError("no entry; key ***' in debug.err
    assert "sk-abc" not in debug.err
    assert "worker.py" not in debug.err
