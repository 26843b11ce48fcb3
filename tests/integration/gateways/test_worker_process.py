"""Application code runs in isolated processes."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.gateway_clock import RealClock
from theodolite.domain.application import Application, AriaClass, Connection, Isolation, PythonCallable, Runtime
from theodolite.domain.errors import InputError, MalformedReply, ServerFault, TimedOut
from theodolite.domain.flow import Exchange, Reply, SayToApplication
from theodolite.gateways.factory import open_application

pytestmark = pytest.mark.integration

TEAM = """from aria_dialog_api_base import AriaDialogAPI
import os, sys


class Team(AriaDialogAPI):
    only = None

    def __new__(cls):
        cls.only = cls.only or super().__new__(cls)
        return cls.only

    def OpenConnection(self, auth=None):
        return True

    def CloseConnection(self):
        with open("closed.txt", "a") as file:
            file.write("closed\\n")
        return True

    def StartSession(self):
        self.heard = []
        return True

    def GetResponse(self, text):
        if text == "die" and not os.path.exists("died"):
            open("died", "w").close()
            print("about to die", flush=True)
            os.kill(os.getpid(), 9)
        self.heard.append(text)
        return {"success": True, "response": f"{os.getpid()} {' '.join(self.heard)}"}
"""

Open = Callable[..., Any]


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Open]:
    """Open applications of a folder's files and close them at the end."""
    applications: list[Any] = []

    def open_it(connection: Connection, name: str = "app", **more: Any) -> Any:
        environ = {"PATH": os.environ["PATH"], **more.pop("environ", {})}
        applications.append(
            open_application(
                Application(name=name, connection=connection),
                models={},
                recordings=(),
                folder=tmp_path,
                environ=environ,
                clock=RealClock(),
                workspace=tmp_path / ".theodolite",
                **more,
            )
        )
        return applications[-1]

    yield open_it
    for application in applications:
        await application.close()


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def function(folder: Path, body: str, *, name: str = "app.py", **more: Any) -> PythonCallable:
    write(folder, name, body)
    runtime = {
        key: more.pop(key) for key in ("isolation", "env", "network", "python", "memory_mb", "cpu_s") if key in more
    }
    return PythonCallable(target=f"{name}:reply", runtime=Runtime(**runtime), **more)


def say(prompt: str, *earlier: str) -> SayToApplication:
    history = tuple(Exchange(prompt=one, response="r") for one in earlier)
    return SayToApplication(application="app", prompt=prompt, turn=len(earlier) + 1, history=history)


async def texts(application: Any, *prompts: str, session: str = "s") -> list[str]:
    return [(await application.reply(say(prompt), session=session)).text for prompt in prompts]


async def test_modules_with_the_same_name_are_separate_between_folders(tmp_path: Path, opened: Open) -> None:
    for team in ("a", "b"):
        write(tmp_path, f"{team}/utils.py", f"WORD = 'utils of {team}'\n")
        write(tmp_path, f"{team}/bot.py", "from utils import WORD\ndef reply(prompt): return WORD\n")

    applications = [opened(PythonCallable(target=f"{team}/bot.py:reply"), team) for team in ("a", "b")]

    assert [await texts(one, "hi") for one in applications] == [["utils of a"], ["utils of b"]]


async def test_relative_paths_start_in_the_folder_of_the_application(tmp_path: Path, opened: Open) -> None:
    write(tmp_path, "team/menu.csv", "soup")
    connection = function(tmp_path, "def reply(prompt): return open(prompt).read()\n", name="team/bot.py")
    application = opened(connection)

    assert await texts(application, "menu.csv") == ["soup"]
    with pytest.raises(ServerFault, match=r"relative paths begin in the application's folder, `.*team`"):
        await texts(application, "gone.csv")


async def test_an_application_sees_its_own_credentials_and_no_others(tmp_path: Path, opened: Open) -> None:
    body = "import os\ndef reply(prompt): return os.environ[prompt]\n"
    environ = {"OWN_KEY": "mine", "OTHER_KEY": "theirs", "LANG": "C"}
    application = opened(function(tmp_path, body, env=("OWN_KEY",)), environ=environ)

    assert await texts(application, "OWN_KEY", "LANG") == ["mine", "C"]
    with pytest.raises(ServerFault, match=r"KeyError: 'OTHER_KEY'; .* add `env: \[OTHER_KEY\]`"):
        await texts(application, "OTHER_KEY")


async def test_output_of_the_code_is_in_its_log(tmp_path: Path, opened: Open) -> None:
    body = (
        "import os\nprint('loading')\ndef reply(prompt):\n    os.system('echo from a child')\n    print('in a call')\n"
    )
    application = opened(function(tmp_path, body + "    return prompt\n"), "my app")

    assert await texts(application, "hi") == ["hi"]
    log = (tmp_path / ".theodolite/logs/my_app.log").read_text()
    assert sorted(log.split("\n")) == ["", "from a child", "in a call", "loading"]


async def test_a_crash_fails_the_call_in_flight_and_the_next_call_restarts_the_process(
    tmp_path: Path, opened: Open
) -> None:
    body = "import os\ndef reply(prompt):\n    if prompt == 'die':\n        os.abort()\n    return prompt\n"
    application = opened(function(tmp_path, body))

    with pytest.raises(ServerFault, match=r"its process ended by signal 6 \(SIGABRT\).*; the next call starts"):
        await texts(application, "die")
    assert await texts(application, "hi") == ["hi"]
    assert "signal 6 (SIGABRT)" in application.remarks[0]


async def test_all_calls_in_flight_at_a_crash_fail_explicitly(tmp_path: Path, opened: Open) -> None:
    body = "import os, time\ndef reply(prompt):\n    time.sleep(0.5 if prompt == 'die' else 30)\n    os._exit(3)\n"
    application = opened(function(tmp_path, body))

    calls = [application.reply(say(prompt), session=prompt) for prompt in ("a", "b", "die")]
    ended = await asyncio.gather(*calls, return_exceptions=True)

    assert [type(one) for one in ended] == [ServerFault] * 3
    assert all("exit code 3" in str(one) for one in ended)


async def test_a_dialogue_continues_in_a_new_process_after_a_kill(tmp_path: Path, opened: Open) -> None:
    write(tmp_path, "team.py", TEAM)
    application = opened(AriaClass(target="team.py:Team"))
    first = await application.reply(say("a"), session="s")
    os.kill(int(first.text.split()[0]), signal.SIGKILL)
    await asyncio.sleep(0.3)

    second = await application.reply(say("b", "a"), session="s")

    assert (second.text.split()[1:], second.attempts) == (["a", "b"], 2)
    assert first.text.split()[0] != second.text.split()[0]


async def test_a_kill_during_a_call_is_one_failure_with_the_last_line_of_the_log(tmp_path: Path, opened: Open) -> None:
    write(tmp_path, "team.py", TEAM)
    application = opened(AriaClass(target="team.py:Team"))
    await application.reply(say("a"), session="s")

    with pytest.raises(ServerFault, match=r"signal 9 \(SIGKILL\); the last line that it printed is: about to die"):
        await application.reply(say("die", "a"), session="s")
    again = await application.reply(say("die", "a"), session="s")
    assert again.text.split()[1:] == ["a", "die"]


async def test_a_class_with_one_instance_serves_sessions_that_have_processes_of_their_own(
    tmp_path: Path, opened: Open
) -> None:
    write(tmp_path, "team.py", TEAM)
    application = opened(AriaClass(target="team.py:Team", runtime=Runtime(isolation=Isolation.SESSION)))

    replies = await asyncio.gather(*(application.reply(say(name), session=name) for name in "abc"))
    for name in "abc":
        await application.end(name)

    assert len({reply.text.split()[0] for reply in replies}) == 3
    assert [reply.text.split()[1:] for reply in replies] == [["a"], ["b"], ["c"]]
    assert (tmp_path / "closed.txt").read_text().count("closed") == 3


async def test_a_function_may_keep_state_for_a_session_of_its_own(tmp_path: Path, opened: Open) -> None:
    body = "heard = []\ndef reply(prompt):\n    heard.append(prompt)\n    return ' '.join(heard)\n"
    application = opened(function(tmp_path, body, isolation=Isolation.SESSION))

    assert await texts(application, "a", "b", session="1") == ["a", "a b"]
    assert await texts(application, "c", session="2") == ["c"]


async def test_a_call_that_never_ends_times_out_without_delaying_others(tmp_path: Path, opened: Open) -> None:
    body = "def reply(prompt):\n    while prompt == 'stuck':\n        pass\n    return prompt\n"
    application = opened(function(tmp_path, body, timeout_s=0.5))

    waiting = asyncio.create_task(application.reply(say("stuck"), session="1"))
    assert await texts(application, "hi") == ["hi"]
    with pytest.raises(TimedOut, match=r"no answer within 0\.5 s"):
        await waiting


async def test_stuck_calls_do_not_accumulate_in_one_process(tmp_path: Path, opened: Open) -> None:
    body = "import os, time\ndef reply(prompt):\n    time.sleep(60 * (prompt == 'x'))\n    return str(os.getpid())\n"
    application = opened(function(tmp_path, body, timeout_s=0.2))
    (before,) = await texts(application, "hi")

    await asyncio.gather(*(application.reply(say("x"), session=str(n)) for n in range(8)), return_exceptions=True)

    assert await texts(application, "hi") != [before]


async def test_an_unresponsive_process_is_ended(tmp_path: Path, opened: Open) -> None:
    body = "from itertools import repeat\ndef reply(prompt): return str(sum(repeat(0, 10**12 * (prompt == 'stop'))))\n"
    application = opened(function(tmp_path, body, timeout_s=0.3))

    with pytest.raises(TimedOut):
        await texts(application, "stop")
    assert await texts(application, "hi") == ["0"]


async def test_a_coroutine_that_exceeds_its_timeout_is_cancelled(tmp_path: Path, opened: Open) -> None:
    body = (
        "import asyncio\ncancelled = []\nasync def reply(prompt):\n    if prompt == 'said': return str(cancelled)\n"
        "    try:\n        await asyncio.sleep(60)\n"
        "    except asyncio.CancelledError:\n        cancelled.append(prompt)\n"
    )
    application = opened(function(tmp_path, body, timeout_s=0.3))

    with pytest.raises(TimedOut):
        await texts(application, "slow")
    assert await texts(application, "said") == ["['slow']"]


@pytest.mark.parametrize("form", ["def", "async def"])
async def test_a_reply_streams_in_pieces(tmp_path: Path, opened: Open, form: str) -> None:
    body = f"{form} reply(prompt):\n    yield 'one '\n    yield prompt\n"
    application, heard = opened(function(tmp_path, body)), []

    reply = await application.reply(say("two"), session="s", on_chunk=heard.append)

    assert (reply.text, heard) == ("one two", ["one ", "two"])


async def test_calls_of_one_process_overlap(tmp_path: Path, opened: Open) -> None:
    body = (
        "import threading\nall_here = threading.Barrier(12)\ndef reply(prompt, session, history):\n"
        "    all_here.wait(20)\n    return session + history[0].response\n"
    )
    application = opened(function(tmp_path, body))

    replies: list[Reply] = await asyncio.gather(
        *(application.reply(say("x", "y"), session=str(number)) for number in range(12))
    )

    assert [reply.text for reply in replies] == [f"{number}r" for number in range(12)]


@pytest.mark.skipif(sys.platform == "win32", reason="limits are those of Unix")
async def test_memory_and_cpu_time_are_limited(tmp_path: Path, opened: Open) -> None:
    body = "def reply(prompt):\n    if prompt == 'much': return str(len(bytearray(4 << 30)))\n    while True: pass\n"
    application = opened(function(tmp_path, body, memory_mb=1024, cpu_s=1, timeout_s=30))

    with pytest.raises(ServerFault, match="MemoryError"):
        await texts(application, "much")
    with pytest.raises(ServerFault, match=r"at its limit of 1 s of CPU time \(`cpu_seconds`\)"):
        await texts(application, "spin")


async def test_code_that_changed_since_the_study_was_read_is_not_started(tmp_path: Path, opened: Open) -> None:
    connection = function(tmp_path, "import os\ndef reply(prompt): os._exit(0)\n")
    changes = iter(["", "app.py"])
    application = opened(connection, changed=lambda: next(changes))

    with pytest.raises(ServerFault, match="exit code 0"):
        await texts(application, "hi")
    with pytest.raises(ServerFault, match=r"`app.py` has changed since the study was read; start the command again"):
        await texts(application, "hi")


async def test_the_current_source_runs_despite_cached_byte_code(tmp_path: Path, opened: Open) -> None:
    first = function(tmp_path, "from part import WORD\ndef reply(prompt): return WORD\n")
    write(tmp_path, "part.py", "WORD = 'old'\n")
    __import__("py_compile").compile(str(tmp_path / "part.py"))
    times = (tmp_path / "part.py").stat()
    write(tmp_path, "part.py", "WORD = 'new'\n")
    os.utime(tmp_path / "part.py", ns=(times.st_atime_ns, times.st_mtime_ns))

    assert await texts(opened(first), "hi") == ["new"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("def reply(prompt:\n", "cannot be loaded: SyntaxError"),
        ("raise ValueError('no settings')\n", r"ValueError: no settings \(app.py, line 1\)"),
        ("import sys\nsys.exit(3)\n", "cannot be loaded: SystemExit: 3"),
        ("import gone_module\n", "put `gone_module` into a file that `requirements` names"),
        ("def repyl(prompt): ...\n", "`app.py` has no `reply`. Did you mean `repyl`?"),
        ("reply = 7\n", "is a int; expected a function"),
        ("import os\nos._exit(4)\n", "cannot be loaded: its process ended with exit code 4"),
    ],
)
async def test_import_errors_are_reported_before_any_call(tmp_path: Path, opened: Open, body: str, words: str) -> None:
    with pytest.raises(InputError, match=f"application `app`: .*{words}"):
        opened(function(tmp_path, body))


async def test_a_base_class_beside_the_class_has_priority_over_the_shipped_one(tmp_path: Path, opened: Open) -> None:
    write(tmp_path, "aria_dialog_api_base.py", "class AriaDialogAPI:\n    theirs = 'theirs'\n")
    write(tmp_path, "team.py", TEAM.replace("f\"{os.getpid()} {' '.join(self.heard)}\"", "self.theirs"))

    assert await texts(opened(AriaClass(target="team.py:Team")), "hi") == ["theirs"]


async def test_a_reply_that_is_no_text_is_reported_with_its_type(tmp_path: Path, opened: Open) -> None:
    application = opened(function(tmp_path, "def reply(prompt): return {1, 2}\n"))

    with pytest.raises(MalformedReply, match="returned a set; expected text"):
        await texts(application, "hi")


async def test_closing_ends_all_processes_including_those_started_by_the_code(tmp_path: Path, opened: Open) -> None:
    body = "import subprocess\ndef reply(prompt): return str(subprocess.Popen(['sleep', '60']).pid)\n"
    application = opened(function(tmp_path, body))
    (child,) = await texts(application, "hi")

    await application.close()

    assert await asyncio.to_thread(has_ended, int(child))


def has_ended(pid: int) -> bool:
    """Wait until a process is gone or waits for its parent; the test's limit of time ends this otherwise."""
    while True:
        try:
            if (Path(f"/proc/{pid}") / "stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
