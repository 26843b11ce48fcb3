"""The version of an application covers all that runs when it is called, and nothing that does not."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from theodolite.config.loading import CodeReader, FileHashes, load_study
from theodolite.config.yaml_source import InvalidStudyError
from theodolite.domain.application import AriaClass, CodeVersion, PythonCallable

STUDY = """study: s
applications:
  blue: {kind: python, call: "blue/bot.py:reply"%s}
scenarios: {s: {scripts: {hello: Good morning}}}
judges: {polite: {ask: "Is it rude?", defect: "== yes", rule: {any: [stupid], then: yes, else: no}}}
"""


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def version(folder: Path, keys: str = "") -> CodeVersion:
    (folder / "study.yaml").write_text(STUDY % keys)
    connection = load_study(folder).study.applications[0].connection
    assert isinstance(connection, PythonCallable | AriaClass)
    return connection.code


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, blue__bot_dot_py="def reply(prompt): return prompt\n", blue__utils_dot_py="A = 1\n")
    write(tmp_path, blue__data__menu_dot_csv="dish\nsoup\n", green__utils_dot_py="B = 1\n")
    return tmp_path


def test_all_files_of_the_application_s_folder_belong_to_its_version(folder: Path) -> None:
    code = version(folder)

    assert (code.folder, sorted(code.files)) == ("blue", ["bot.py", "data/menu.csv", "utils.py"])
    assert code.interpreter == f"{platform.python_implementation()} {platform.python_version()}"
    assert any(name.startswith("pydantic==") for name in code.distributions)
    assert not any(name.startswith("theodolite==") for name in code.distributions)


@pytest.mark.parametrize("file", ["bot.py", "utils.py", "data/menu.csv"])
def test_a_change_of_any_file_is_reported(folder: Path, file: str) -> None:
    before = version(folder)
    path = folder / "blue" / file
    path.write_text(path.read_text() + "\n")

    assert before.changes_to(version(folder)) == (file,)


def test_other_changes_are_reported_too() -> None:
    old = CodeVersion(files={"a": "1"}, interpreter="CPython 3.11.7", distributions=("x==1",))
    new = CodeVersion(files={"b": "1"}, interpreter="CPython 3.12.1", distributions=("x==2",))

    assert old.changes_to(new) == ("a", "b", "CPython 3.12.1", "x==1", "x==2")
    assert old.changes_to(old) == ()


def test_files_other_than_code_are_not_part_of_a_version(folder: Path) -> None:
    before = version(folder)
    write(folder, blue____pycache____x_dot_pyc="x", blue___dot_git__HEAD="x", blue__run_dot_log="x")
    write(folder, blue__other__study_dot_yaml="study: o", blue__venv__lib_dot_py="x", blue__lib__pyvenv_dot_cfg="x")

    assert before.changes_to(version(folder)) == ()


def test_patterns_of_the_study_exclude_files(folder: Path) -> None:
    assert sorted(version(folder, ', ignore: ["data", "u*.py"]').files) == ["bot.py"]


def test_an_application_in_the_study_folder_does_not_include_the_study_files(folder: Path) -> None:
    write(folder, bot_dot_py="def reply(prompt): return prompt\n", menu_dot_csv="dish\n", facts_dot_yaml="a: 1\n")
    write(folder, guidelines__g_dot_yaml="x", report_dot_html="x", results_dot_json="x", other_dot_yaml="study: o\n")
    text = STUDY.replace("blue/bot.py", "bot.py")
    (folder / "study.yaml").write_text(text % "")

    code = load_study(folder).study.applications[0].connection.code  # type: ignore[union-attr]
    (folder / "study.yaml").write_text(text % ", timeout: 5")
    again = load_study(folder).study.applications[0].connection.code  # type: ignore[union-attr]

    own = ["blue/bot.py", "blue/data/menu.csv", "blue/utils.py", "bot.py", "facts.yaml", "green/utils.py", "menu.csv"]
    assert sorted(code.files) == own
    assert again == code


def test_a_study_of_a_module_covers_its_whole_package(folder: Path) -> None:
    write(folder, team__init_dot_py="", team__dialog_dot_py="class T: ...\n", team__sub__x_dot_py="")
    (folder / "study.yaml").write_text(
        STUDY.replace('python, call: "blue/bot.py:reply"', 'aria, class: "team.dialog:T"') % ""
    )

    code = load_study(folder).study.applications[0].connection.code  # type: ignore[union-attr]

    assert (code.folder, sorted(code.files)) == ("team", ["dialog.py", "init.py", "sub/x.py"])


def test_requirements_represent_the_libraries_to_be_installed(folder: Path) -> None:
    write(folder, requirements_dot_txt="# ours\nb==2  # second\na==1\n\n")

    assert version(folder, ", requirements: requirements.txt").distributions == ("a==1", "b==2")


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (', python: "no-such-python"', "there is no interpreter `no-such-python`"),
        (', python: "./shim"', "is a script and not an interpreter"),
        (", requirements: gone.txt", "`gone.txt` is not in the study's folder"),
        (", isolation: sesion", "isolation"),
        (", network: nowhere", "network"),
    ],
)
def test_files_that_cannot_affect_execution_are_not_hashed(folder: Path, keys: str, words: str) -> None:
    write(folder, shim="#!/bin/sh\nexit 1\n")

    with pytest.raises(InvalidStudyError, match=words):
        version(folder, keys)


def test_the_version_of_a_virtual_environment_is_determined_without_running_it(folder: Path) -> None:
    write(folder, env__pyvenv_dot_cfg="home = /usr\nversion = 3.10.13\n", env__bin__python="")
    (folder / "env/lib/python3.10/site-packages/numpy-1.26.4.dist-info").mkdir(parents=True)

    code = version(folder, ", python: env")

    assert (code.interpreter, code.distributions) == ("Python 3.10.13", ("numpy==1.26.4",))


def test_a_change_after_loading_the_study_is_noticed(folder: Path) -> None:
    (folder / "study.yaml").write_text(STUDY % "")
    loaded = load_study(folder)
    assert isinstance(loaded.code, CodeReader)
    before = loaded.code.change(loaded.study.applications[0])
    write(folder, blue__utils_dot_py="A = 2\n")

    assert (before, loaded.code.change(loaded.study.applications[0])) == ("", "utils.py")


def test_the_hash_of_an_unmodified_file_is_cached_once_the_file_is_old_enough(tmp_path: Path) -> None:
    file, hashes = tmp_path / "a", FileHashes()
    file.write_text("one")
    young = hashes.of(file)
    file.write_text("two")
    assert hashes.of(file) != young

    os.utime(file, ns=(1, 1))
    settled = hashes.of(file)
    file.write_text("six")
    os.utime(file, ns=(1, 1))
    assert hashes.of(file) == settled


def test_slow_hashes_are_cached_and_a_broken_cache_is_ignored(tmp_path: Path) -> None:
    kept = tmp_path / "hashes.json"
    FileHashes(known={"/a": (1, 2, "ab")}, spent_s=0.5).write(kept)
    assert not kept.exists()

    FileHashes(known={"/a": (1, 2, "ab")}, spent_s=2.0).write(kept)
    read, broken = FileHashes(), FileHashes()
    read.read(kept)
    kept.write_text('{"/a": 3}')
    broken.read(kept)
    assert (read.known, broken.known) == ({"/a": (1, 2, "ab")}, {})


@pytest.mark.parametrize(
    "file",
    [
        "report.html",
        "results.json",
        "tree-by-guideline.json",
        "answers.zip",
        "tasks.json",
        "export.csv",
        "export.parquet",
    ],
)
def test_output_files_next_to_a_study_belong_to_no_version(tmp_path: Path, file: str) -> None:
    (tmp_path / "bot.py").write_text("def reply(prompt): return prompt\n")
    text = (STUDY % "").replace("blue/bot.py", "bot.py")
    (tmp_path / "study.yaml").write_text(text)
    before = load_study(tmp_path).study.applications[0].connection
    (tmp_path / file).write_text("written by a command")

    assert load_study(tmp_path).study.applications[0].connection == before
