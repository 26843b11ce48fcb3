"""A study of somebody else runs no code and reads no file of this machine without permission."""

from __future__ import annotations

import click
import pytest

import theodolite as package
from tests.fakes.terminal import theodolite
from theodolite.cli import terminal
from theodolite.config.permissions import ALLOW_CODE, ALLOW_KEYS
from theodolite.domain.errors import InputError

STUDY = """\
study: shop
applications: {app: {kind: python, call: "bot.py:answer"}}
scenarios: {buy: {scripts: {hello: [Hello]}}}
"""
BOT = "from pathlib import Path\nPath(__file__).with_name('ran').touch()\ndef answer(prompt):\n    return 'Good day'\n"


@pytest.fixture(autouse=True)
def no_permission_yet(monkeypatch, tmp_path):
    """Take away the permission that other tests have, and the key of the user."""
    monkeypatch.delenv(ALLOW_CODE)
    monkeypatch.delenv(ALLOW_KEYS)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def study(tmp_path):
    home = tmp_path / "shop"
    home.mkdir()
    (home / "study.yaml").write_text(STUDY)
    (home / "bot.py").write_text(BOT)
    return home


def has_run(study):
    return (study / "ran").exists()


@pytest.fixture
def somebody_types(monkeypatch):
    """Return a function that plays a person at the terminal."""

    def play(answer):
        monkeypatch.setattr(terminal, "sits_at_terminal", lambda: True)
        monkeypatch.setattr(click, "prompt", lambda *_, **__: answer)

    return play


def test_validation_lists_the_code_a_run_executes_and_runs_none(study):
    said = theodolite("check", study)

    assert "Code    bot.py:answer (application app): a run executes it with your rights" in said.out
    assert not has_run(study)


@pytest.mark.parametrize("command", [["run"], ["run", "--stage", "test"], ["probe"], ["run", "--json"]])
def test_foreign_code_does_not_run_and_the_option_is_named(study, command):
    said = theodolite(command[0], study, *command[1:])

    assert said.code == 2
    assert "--allow-code" in said.said
    assert not has_run(study)


def test_allowed_code_runs_without_another_question(study):
    assert theodolite("run", "--stage", "test", study, "--allow-code").code == 0
    assert has_run(study)

    assert theodolite("run", study).code == 0


def test_changed_code_asks_again(study):
    theodolite("run", "--stage", "test", study, "--allow-code")
    (study / "bot.py").write_text(BOT + "# changed\n")

    assert "--allow-code" in theodolite("run", "--stage", "test", study).said


def test_the_variable_allows_all_code(study, monkeypatch):
    monkeypatch.setenv(ALLOW_CODE, "1")

    assert theodolite("run", "--stage", "test", study).code == 0


def test_the_answer_yes_allows_the_present_code(study, somebody_types):
    somebody_types("y")
    assert theodolite("run", "--stage", "test", study).code == 0

    somebody_types("n")
    (study / "bot.py").write_text(BOT + "# changed\n")

    assert theodolite("run", "--stage", "test", study).code == 2


def test_the_answer_always_allows_later_changes(study, somebody_types):
    somebody_types("a")
    theodolite("run", "--stage", "test", study)
    somebody_types("n")
    (study / "bot.py").write_text(BOT + "# changed\n")

    assert theodolite("run", "--stage", "test", study).code == 0


def test_the_answer_no_runs_nothing(study, somebody_types):
    somebody_types("n")

    said = theodolite("run", study)

    assert said.code == 2
    assert "bot.py:answer" in said.said
    assert not has_run(study)


def test_from_python_the_caller_allows_code(study):
    with pytest.raises(InputError, match="allow_code=True"):
        package.run(str(study))

    assert package.run(str(study), allow_code=True).status.dialogues == 1


def test_a_study_created_by_init_never_asks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.py").write_text(BOT)
    theodolite("init", "shop", "--app", "bot.py:answer")
    (tmp_path / "shop" / "study.yaml").write_text(STUDY.replace("bot.py", "../bot.py"))

    checked, tested = theodolite("check", "shop"), theodolite("run", "--stage", "test", "shop")

    assert (checked.code, tested.code) == (0, 0), tested.said
    assert "Outside ../bot.py" in checked.out


def test_init_writes_the_path_of_a_local_file_relative_to_the_study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.py").write_text(BOT)

    theodolite("init", "shop", "--app", "bot.py:answer")

    assert 'call: "../bot.py:answer"' in (tmp_path / "shop" / "study.yaml").read_text()


def test_splitting_a_file_does_not_grant_trust(study, tmp_path):
    theodolite("init", tmp_path / "new", "--from", study / "study.yaml")

    assert "--allow-code" in theodolite("run", "--stage", "test", tmp_path / "new").said


def test_an_allowed_path_is_readable_now_and_later(study, tmp_path):
    (tmp_path / "rows.csv").write_text("q,r\nHi,Hello\n")
    (study / "study.yaml").write_text(
        "study: shop\napplications: {a: {kind: recorded, file: ../rows.csv, prompt: q, response: r}}\n"
    )
    assert theodolite("check", study).code == 2

    allowed = theodolite("check", study, "--allow-path", tmp_path / "rows.csv")

    assert allowed.code == 0
    assert "Outside ../rows.csv" in allowed.out
    assert theodolite("run", study).code in {0, 3}
    assert "leads out" not in theodolite("check", study).said


def test_an_allowed_path_must_exist(study, tmp_path):
    said = theodolite("check", study, "--allow-path", tmp_path / "nothing.csv")

    assert said.code == 2
    assert "no such file or folder" in said.said


def test_a_study_cannot_grant_its_own_permission(study, tmp_path, monkeypatch):
    theodolite("run", "--stage", "test", study, "--allow-code")
    (study / "ran").unlink()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "of another user"))

    assert theodolite("run", "--stage", "test", study).code == 2
    assert not has_run(study)


@pytest.mark.parametrize("name", ["report.html", "results.json"])
def test_a_symbolic_link_in_a_study_does_not_overwrite_other_files(study, tmp_path, name):
    (tmp_path / "precious").write_text("mine")
    (study / name).symlink_to(tmp_path / "precious")

    refused = theodolite("run", study, "--allow-code")
    assert refused.code == 2
    assert "leads out of the study's folder" in refused.said
    assert (tmp_path / "precious").read_text() == "mine"

    allowed = theodolite("run", study, "--allow-path", tmp_path)

    assert "leads out" not in allowed.said
    assert (tmp_path / "precious").read_text() != "mine"


def test_code_that_requests_another_variable_asks_again(study):
    assert theodolite("run", "--stage", "test", study, "--allow-code").code == 0
    file = study / "study.yaml"
    file.write_text(file.read_text().replace('"bot.py:answer"', '"bot.py:answer", env: [AWS_SECRET_ACCESS_KEY]'))

    assert "which sees AWS_SECRET_ACCESS_KEY" in theodolite("run", study).said
    assert "AWS_SECRET_ACCESS_KEY to the code bot.py:answer" in theodolite("check", study).out


@pytest.mark.parametrize(
    "letter", ["\\x1b[2K", "\\u202e", "\\u200b", "\\n"], ids=["escape", "bidi", "zero-width", "line"]
)
def test_a_name_with_control_characters_is_an_error(study, letter):
    (study / "study.yaml").write_text(STUDY.replace("app:", f'"app{letter}":'))

    ended = theodolite("check", study)

    assert ended.code == 2
    assert "which nobody can see" in " ".join(ended.said.split())


def test_titles_do_not_emit_control_characters(study):
    (study / "study.yaml").write_text(STUDY + 'title: "Shop\\u202e"\n')

    assert "\u202e" not in theodolite("run", study, "--allow-code").out


def test_names_that_look_the_same_are_equal(study):
    (study / "study.yaml").write_text(STUDY.replace("{app:", "{\ufb01: {kind: python, call: 'bot.py:answer'}, fi:"))

    assert "is written twice" in theodolite("check", study).said


def test_the_question_about_code_shows_names_on_one_line(study, somebody_types, capsys):
    somebody_types("n")
    (study / "bot.py:answer\n  safe.py").mkdir()
    (study / "bot.py:answer\n  safe.py" / "bot.py").write_text(BOT)
    (study / "study.yaml").write_text(STUDY.replace('"bot.py:answer"', '"bot.py:answer\\n  safe.py/bot.py:answer"'))

    said = theodolite("run", study).said

    assert "\x1b" not in said
    assert "\n  safe.py" not in said
