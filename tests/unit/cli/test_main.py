import subprocess
import sys
from pathlib import Path

import click
import pytest

from theodolite.cli import main as door
from theodolite.domain.errors import (
    InputError,
    NotFound,
    RunStopped,
    StorageUnavailable,
    StudyError,
    TemplateError,
    WrongSchema,
)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("x"), 2),
        (StudyError("x"), 2),
        (TemplateError("x"), 2),
        (NotFound("x"), 2),
        (RunStopped("x"), 3),
        (StorageUnavailable("x"), 3),
        (WrongSchema("x"), 3),
    ],
    ids=lambda part: type(part).__name__ if isinstance(part, Exception) else str(part),
)
def test_exit_code_two_means_input_error_and_three_means_incomplete(error, code):
    assert door.exit_code_of(error) == code


def ends_with(monkeypatch, error, *words):
    def call(**_):
        raise error

    monkeypatch.setattr(door.cli, "main", call)
    with pytest.raises(SystemExit) as ended:
        door.main(list(words))
    return ended.value.code


def test_an_interrupt_outside_a_run_has_no_traceback(monkeypatch, capsys):
    assert ends_with(monkeypatch, KeyboardInterrupt(), "run", "x", "--json") == 3

    written = capsys.readouterr()
    assert written.err == "Stopped. Run the same command to resume.\n"
    assert written.out == '{"exit_code": 3, "error": "stopped"}\n'


def test_errors_are_printed_on_standard_error_and_standard_output_is_empty(monkeypatch, capsys):
    assert ends_with(monkeypatch, RunStopped("the budget is spent"), "run", "x") == 3

    written = capsys.readouterr()
    assert (written.out, written.err) == ("", "the budget is spent\n")


def test_a_file_named_like_an_option_is_not_an_option(monkeypatch, capsys):
    ends_with(monkeypatch, RunStopped("gone"), "run", "--", "--json")

    assert capsys.readouterr().out == ""


def test_the_return_value_of_a_command_is_the_exit_code(monkeypatch):
    monkeypatch.setattr(door.cli, "main", lambda **_: 3)

    with pytest.raises(SystemExit) as ended:
        door.main(["run", "x"])
    assert ended.value.code == 3


def test_an_internal_error_is_not_reported_as_an_input_error(monkeypatch):
    with pytest.raises(ZeroDivisionError):
        ends_with(monkeypatch, ZeroDivisionError(), "run", "x")


def test_every_command_can_be_loaded():
    context = click.Context(door.cli)

    commands = [door.cli.get_command(context, name) for name in door.cli.list_commands(context)]

    assert all(isinstance(command, click.Command) for command in commands)
    assert [command.name for command in commands if command] == door.cli.list_commands(context)


def as_a_process(*words, **more):
    line = [sys.executable, "-m", "theodolite", *words]
    return subprocess.run(line, stderr=subprocess.PIPE, text=True, check=False, **more)


def test_a_process_flushes_its_whole_output():
    done = as_a_process("--help", stdout=subprocess.PIPE)

    assert done.returncode == 0
    assert done.stdout.endswith("needs no network)\n")


def test_a_process_exits_with_the_code_of_its_command():
    assert as_a_process("check", "no-such-folder", stdout=subprocess.PIPE).returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no disk that is always full")
@pytest.mark.parametrize("word", ["--version", "--help"])
def test_a_process_that_cannot_write_its_output_fails(word):
    with Path("/dev/full").open("w") as full:
        done = as_a_process(word, stdout=full)

    assert done.returncode == 3
    assert "Traceback" not in done.stderr
