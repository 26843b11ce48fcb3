"""Own code is looked for and never run; what is said to be missing would end a run for certain."""

from __future__ import annotations

import os
import sys

import pytest

from theodolite.config.loading import check_study
from theodolite.config.required_access import code_problem
from theodolite.domain.application import AriaClass, PythonCallable
from theodolite.domain.errors import InputError, Severity
from theodolite.gateways.applications.workers import Surroundings, Workers, code_of
from theodolite.gateways.secret_redaction import Credentials

STUDY = """study: a
models: {m: {script: [Hello]}}
applications:
  app: {kind: aria, class: "%s"}
scenarios: {s: {scripts: {hello: Hello}}}
judges: {j: {ask: Polite?, defect: "== no", model: m}}
"""
FILES = {
    "own_team.py": "from aria_dialog_api_base import AriaDialogAPI\nimport os.path\n"
    "try:\n    import gone_one\nexcept ImportError:\n    gone_one = None\nif gone_one:\n    import gone_two\n"
    "class Team(AriaDialogAPI):\n    pass\ndef reply(prompt):\n    import gone_three\nMade = type('Made', (), {})\n",
    "own_plain.py": "def reply(prompt): return prompt\nclass Bot: pass\n",
    "own_broken.py": "class A:\n    pass\ndef reply(prompt:\n",
    "own_return.py": "class A: pass\nreturn 3\n",
    "own_heavy.py": '"""Doc."""\nimport gone_four.nn as nn\nclass A: pass\n',
    "own_coded.py": "# -*- coding: klingon -*-\nclass A: pass\n",
    "own_nul.py": "class A: pass\n\x00",
    "own_raising.py": "raise ValueError('no settings')\nclass A: pass\n",
    "own_lazy.py": "def __getattr__(name):\n    return type(name, (), {})\n",
    "own_star.py": "from own_team import *\n",
    "own_global.py": "def f():\n    global A\n    A = type('A', (), {})\nf()\n",
    "own_twice.py": "def A(): pass\nclass A: pass\n",
    "own_wrapped.py": "def made(_):\n    return int\n@made\ndef A(): pass\n",
    "own_odd.py": "pattern = '\\d'\nclass A: pass\n",
    "own_pkg/__init__.py": "",
    "own_pkg/inner.py": "class A: pass\n",
    "own_moved/__init__.py": "import os\n__path__.append(os.path.join(os.path.dirname(__file__), '..', 'elsewhere'))\n",
    "elsewhere/inner.py": "class A: pass\n",
}


def load_class(target, folder):
    """Return what an application's process says of a class that it has loaded."""
    return load(AriaClass(target=target), folder)


def load(connection, folder):
    """Return what an application's process says of the code that it has loaded."""
    around = Surroundings(study=folder, environ=os.environ)
    code = code_of("app", connection, around, observe=lambda kind, name: None, init=())
    workers = Workers(code, credentials=Credentials())
    try:
        return workers.load()
    finally:
        workers.stop()


@pytest.fixture
def place(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(sys, "path", [*sys.path])  # a folder that was loaded from stays there
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith(("own_", "theodolite_study_own_"))]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("own_team.py:Tean", "`own_team.py` has no `Tean`. Did you mean `Team`?"),
        ("own_team:reply", "`own_team:reply` is a function; expected a class"),
        (
            "own_tema:Team",
            "module `own_tema` cannot be imported: there is none of this name here. Did you mean `own_team`?",
        ),
        ("gone_five:Team", "there is none of this name here; install it where theodolite is installed"),
        ("own_broken.py:A", "SyntaxError: '(' was never closed (own_broken.py, line 3)"),
        ("own_return:A", "SyntaxError: 'return' outside function (own_return.py, line 2)"),
        (
            "own_heavy.py:A",
            "cannot be imported: there is no module `gone_four` here (own_heavy.py, line 2); install it",
        ),
        ("own_coded.py:A", "unknown encoding: klingon"),
        ("own_nul.py:A", "null bytes"),
        ("own_pkg.iner:A", "module `own_pkg.iner` cannot be imported"),
        ("own_pkg.inner:B", "`own_pkg.inner` has no `B`"),
        ("own_team.inner:A", "module `own_team.inner` cannot be imported"),
        ("json:JSONDecodr", "`json` has no `JSONDecodr`. Did you mean `JSONDecoder`?"),
    ],
)
def test_an_import_error_is_reported_and_would_end_a_run(place, target, words):
    problem = code_problem(target, folder=place, form="Class")

    assert problem
    assert words in problem.words
    assert problem.severity is (Severity.NOTE if "there is no" in words + problem.words else Severity.ERROR)
    with pytest.raises(InputError):
        load_class(target, place)


@pytest.mark.parametrize(
    "target",
    [
        "own_team.py:Team",
        "own_team:Made",
        "own_lazy.py:Whatever",
        "own_star:Team",
        "own_global.py:A",
        "own_twice.py:A",
        "own_wrapped:A",
        "own_pkg.inner:A",
        "own_moved.inner:A",
        "aria_dialog_api_base:AriaDialogAPI",
        "json:JSONDecoder",
        "json.decoder:JSONDecoder",
        "_ctypes:Structure",
    ],
)
def test_an_importable_name_gives_no_message(place, target):
    assert code_problem(target, folder=place, form="Class") is None
    assert load_class(target, place)["name"]


@pytest.mark.parametrize("target", ["own_plain.py:reply", "own_plain:Bot", "json:dumps", "os.path:join", "math:sqrt"])
def test_a_function_may_be_any_callable(place, target):
    assert code_problem(target, folder=place, form="function") is None
    assert "keywords" in load(PythonCallable(target=target), place)


def test_the_base_class_of_aria_is_required_for_classes_only(place):
    problem = code_problem("own_team.py:reply", folder=place, form="function")

    assert problem
    assert "there is no module `aria_dialog_api_base` here (own_team.py, line 1)" in problem.words


def test_errors_that_only_occur_at_run_time_are_left_to_the_run(place):
    assert code_problem("own_raising.py:A", folder=place, form="Class") is None
    assert code_problem("own_odd.py:A", folder=place, form="Class") is None, "a warning is no mistake"
    assert not [name for name in sys.modules if name.startswith(("own_", "theodolite_study_own_"))]


def test_a_finder_that_raises_gives_no_result(place, monkeypatch):
    class Raising:
        @staticmethod
        def find_spec(name, path=None, target=None):
            raise OSError(name)

    monkeypatch.setattr(sys, "meta_path", [Raising])

    assert code_problem("gone_five:Team", folder=place, form="Class") is None


def test_a_study_states_the_location_of_a_class_on_request(place):
    (place / "study.yaml").write_text(STUDY % "own_tema:Team")

    (fault,) = check_study(place, looks_at_code=True)

    assert (fault.line, fault.column, fault.message[:17]) == (4, 28, "module `own_tema`")
    assert not [one for one in check_study(place) if "own_tema" in one.message]
