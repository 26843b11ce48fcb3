"""`--help` shows examples and starts fast, and usage errors suggest corrections."""

import json
import subprocess
import sys

import pytest

from tests.fakes.terminal import environment, theodolite
from theodolite.cli.main import COMMANDS as GROUPS

pytestmark = pytest.mark.integration

COMMANDS = [name for group in GROUPS.values() for name in group]
HEAVY = ("django", "httptools", "numpy", "scipy", "pydantic", "ruamel", "jinja2", "rich", "asyncio")

_LOADED = """
import json, sys
from theodolite.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    loaded = sorted({name.partition(".")[0] for name in sys.modules})
    sys.stderr.write(json.dumps({"code": end.code, "loaded": loaded}))
"""


@pytest.mark.parametrize("words", [["--help"], ["--version"], []], ids=" ".join)
def test_the_overall_help_imports_no_large_package(words):
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, *words], env=environment(), capture_output=True, text=True, check=True
    )
    found = json.loads(done.stderr.splitlines()[-1])

    assert not set(HEAVY) & set(found["loaded"])


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_shows_an_example_within_eighty_columns(command):
    ended = theodolite(command, "--help")

    assert ended.code == 0
    assert f"theodolite {command}" in ended.out.partition("Example")[2]
    assert max(map(len, ended.out.splitlines())) <= 80


def test_the_overall_help_lists_every_command_the_exit_codes_and_the_first_steps():
    ended = theodolite("--help")

    assert ended.code == 0
    assert [name for name in COMMANDS if f"\n  {name}" not in ended.out] == []
    assert "Exit codes: 0 done, 1 gate not met" in ended.out
    assert "theodolite demo" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["chek", "support"], "there is no command `chek`. Did you mean `check`?"),
        (["frobnicate"], "there is no command `frobnicate`"),
        (["run", "support", "--limt", "3"], "--limit"),
        (["run", "support", "--first", "3"], "option `--first` is now `--limit`"),
        (["report", "support", "--unfinished"], "option `--unfinished` is now `--partial`"),
        (["assess", "support"], "use `run --stage score`, `label --file`, `import labels` or `judge plan`"),
        (["bring", "support", "log.csv"], "use `import dialogues`"),
        (["judge", "certify", "support"], "use `judge validate`"),
        (["import", "support", "labels.csv"], "write  theodolite import labels support FILE"),
        (["run"], "STUDY"),
        (["run", "support", "--limit", "0"], "0 is not in the range"),
        (["run", "support", "--concurrency", "many"], "'many' is not a valid integer"),
        (["run", "nowhere"], "there is no such file or folder"),
        (["show", "nowhere", "d001"], "there is no such file or folder"),
        (["check", "/dev/null/x"], "there is no such file or folder"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_a_usage_error_exits_with_2_and_suggests_the_correct_word(words, told):
    ended = theodolite(*words)

    assert ended.code == 2
    assert told in ended.err + ended.out


def test_a_closed_output_pipe_causes_no_traceback(tmp_path):
    command = (
        f"{sys.executable} -u -m theodolite --help | true; {sys.executable} -u -m theodolite check {tmp_path} | true"
    )

    done = subprocess.run(["sh", "-c", command], env=environment(), capture_output=True, text=True, check=False)

    assert done.stderr == ""
