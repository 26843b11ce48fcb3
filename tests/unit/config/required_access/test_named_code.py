from __future__ import annotations

import pytest

from theodolite.config.loading import check_study, load_study
from theodolite.config.required_access import NamedCode, code_hash_of, named_code

STUDY = """\
study: s
applications:
  a: {kind: python, call: "app.py:answer"}
  b: {kind: python, call: "app.py:answer"}
scenarios: {s: {scripts: {hello: [Hello]}}}
"""
APP = "def answer(prompt):\n    return prompt\n"


def words_of(home, target, kind="python, call"):
    (home / "study.yaml").write_text(
        f'study: s\napplications: {{a: {{kind: {kind}: "{target}"}}}}\nscenarios: {{s: {{scripts: {{h: [Hello]}}}}}}\n'
    )
    return "\n".join(fault.words for fault in check_study(home))


@pytest.mark.parametrize(
    "target", ["os:system", "subprocess:run", "os.path:join", "builtins:exec", "posix:system", "pty:spawn"]
)
def test_the_standard_library_is_not_an_application(tmp_path, target):
    assert "Python's standard library" in words_of(tmp_path, target)


def test_a_file_next_to_the_study_does_not_shadow_the_standard_library(tmp_path):
    (tmp_path / "os.py").write_text("def system(prompt): ...\n")

    assert "Python's standard library" in words_of(tmp_path, "os:system")


@pytest.mark.parametrize("as_package", [False, True])
def test_a_module_linked_out_of_the_folder_is_refused(tmp_path, as_package):
    home, outside = tmp_path / "study", tmp_path / "outside"
    home.mkdir()
    outside.mkdir()
    (outside / "app.py").write_text(APP)
    link = home / ("bots" if as_package else "bots.py")
    link.symlink_to(outside if as_package else outside / "app.py")

    words = words_of(home, "bots.app:answer" if as_package else "bots:answer")

    assert "`module bots` leads out of the study's folder" in words


def test_code_is_listed_with_the_object_that_runs_it(folder):
    loaded = load_study(folder(study_yaml=STUDY, app_py=APP))

    assert named_code(loaded.study) == (NamedCode(target="app.py:answer", users=("application a", "application b")),)


def test_code_of_this_package_is_not_code_of_the_study(folder):
    text = STUDY.replace("app.py:answer", "theodolite.resources.kit.my_application:answer")

    assert named_code(load_study(folder(study_yaml=text)).study) == ()


def test_the_hash_of_code_covers_every_importable_file(folder):
    def hash_of(**files):
        home = folder(study_yaml=STUDY, app_py=APP, **files)
        return code_hash_of(load_study(home).study, home)

    first = hash_of()
    same = hash_of(notes_md="words", rows_csv="a\nb\n")
    helper = hash_of(lib__helper_py="x = 1\n")
    changed = hash_of(lib__helper_py="x = 2\n")

    assert first == same
    assert len({first, helper, changed}) == 3


def test_interpreter_and_libraries_are_listed_and_part_of_the_hash(folder):
    """A program of the study's own choice may run in place of Python, whichever class it is to run."""
    kit = STUDY.replace("app.py:answer", "theodolite.resources.kit.my_application:answer")
    text = kit.replace('answer"}', 'answer", python: bin/python, requirements: libraries.txt}')

    contents = {"study_yaml": text, "bin__python": b"\x7fELF one", "libraries.txt": "a==1\n"}
    hashes = []
    for change in ({}, {"bin__python": b"\x7fELF two"}, {"libraries.txt": "a==2\n"}):
        loaded = load_study(folder(**{**contents, **change}))
        hashes.append(code_hash_of(loaded.study, loaded.folder))

    (code,) = named_code(loaded.study)
    assert code.shown.endswith("bin/python with libraries.txt")
    assert len(set(hashes)) == 3


def test_packages_in_a_virtual_environment_do_not_ask_again(folder):
    def hash_of(**files):
        home = folder(study_yaml=STUDY, app_py=APP, venv__pyvenv__cfg="", **files)
        (home / "venv" / "pyvenv.cfg").touch()
        return code_hash_of(load_study(home).study, home)

    assert hash_of() == hash_of(venv__lib_py="x = 1")
