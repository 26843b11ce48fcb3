"""A study's own functions are found, or it is said why not."""

import sys
from pathlib import Path

import pytest

from theodolite.domain.errors import InputError
from theodolite.gateways.loading import load_callable


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", [*sys.path])  # a folder that was loaded from stays there
    (tmp_path / "app.py").write_text(
        "from dataclasses import dataclass\nimport rules_of_app\nlimit = 7\n"
        "@dataclass\nclass Bot:\n    name: str = 'b'\n    def say(self, prompt): return prompt\n"
        "bot = Bot()\ndef reply(prompt): return rules_of_app.rule(prompt)\n"
    )
    (tmp_path / "rules_of_app.py").write_text("def rule(prompt): return prompt.upper()\n")
    (tmp_path / "broken.py").write_text("def reply(prompt:\n")
    (tmp_path / "raising.py").write_text("raise ValueError('no settings')\n")
    (tmp_path / "leaving.py").write_text("import sys\nsys.exit(3)\n")
    return tmp_path


@pytest.mark.parametrize("target", ["app.py:reply", "app:reply"])
def test_a_function_of_the_folder_is_found_with_the_modules_beside_it(folder: Path, target: str) -> None:
    before = list(sys.path)

    function = load_callable(target, folder=folder, what="application `a`")
    sys.modules.pop("app", None)
    sys.modules.pop("rules_of_app", None)

    assert function("hi") == "HI"
    assert sys.path == [*before, str(folder)]


def test_what_a_function_imports_when_it_is_called_is_found_beside_it(folder: Path) -> None:
    (folder / "late.py").write_text("def reply(prompt):\n    import rules_of_late\n    return rules_of_late.WORD\n")
    (folder / "rules_of_late.py").write_text("WORD = 'late'\n")

    assert load_callable("late.py:reply", folder=folder, what="application `a`")("hi") == "late"


def test_a_method_of_an_object_is_found(folder: Path) -> None:
    assert load_callable("app.py:bot.say", folder=folder, what="application `a`")("hi") == "hi"


def test_an_installed_module_is_found(tmp_path: Path) -> None:
    assert load_callable("json:dumps", folder=tmp_path, what="application `a`")("x") == '"x"'


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("app.py", "must be `module:function`"),
        (":reply", "must be `module:function`"),
        ("app.py:", "must be `module:function`"),
        ("missing.py:reply", "no file `missing.py`"),
        ("no_such_module_here:reply", "'no_such_module_here'; install it where theodolite is installed, or put it"),
        ("app.py:repyl", "has no `repyl`; meant `reply`?"),
        ("app.py:limit", "is a int; expected a function"),
        ("broken.py:reply", "cannot be loaded: SyntaxError"),
        ("raising.py:reply", "cannot be loaded: ValueError: no settings (raising.py, line 1)"),
        ("leaving.py:reply", "cannot be loaded: SystemExit"),
    ],
)
def test_what_cannot_be_loaded_is_said(folder: Path, target: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        load_callable(target, folder=folder, what="application `a`")

    assert words in str(caught.value)
    assert "`a`" in str(caught.value)
