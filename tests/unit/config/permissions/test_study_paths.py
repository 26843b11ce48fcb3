from __future__ import annotations

import os
from pathlib import Path

import pytest

from theodolite.config.guidelines import GuidelineSpec
from theodolite.config.load_context import LoadContext, ResourceResolver
from theodolite.config.loading import check_study, load_study
from theodolite.config.permissions import ALLOW_PATHS, Permissions, RefusedPath, StudyPaths, remember_permissions
from theodolite.config.yaml_source import InvalidStudyError

SECRET = "a secret of this machine\n"
MODEL = "models: {m: {url: 'http://127.0.0.1:1/v1', name: x}}\n"
CONTEXT = "applications: {a: {kind: model, model: m, system: '{{ context }}', context: [FILE]}}\n"
SCENARIO = "scenarios: {s: {scripts: {hello: [Hello]}}}\n"
RECORDED = "study: s\napplications: {a: {kind: recorded, file: FILE, prompt: q, response: r}}\n"


@pytest.fixture
def study(tmp_path):
    """A folder `study` beside a file `secret.txt` that no study may read."""
    (tmp_path / "secret.txt").write_text(SECRET)
    home = tmp_path / "study"
    home.mkdir()
    (home / "inside.md").write_text("open")
    (home / ".env").write_text("KEY=1")
    (home / "link.md").symlink_to(tmp_path / "secret.txt")
    (home / "up").symlink_to(tmp_path)
    (home / "environ.md").symlink_to("/proc/self/environ")
    (home / "hidden.md").symlink_to(home / ".env")
    return home


def words_of(home, text):
    (home / "study.yaml").write_text(text)
    return "\n".join(fault.words for fault in check_study(home))


@pytest.mark.parametrize("name", ["inside.md", "./inside.md", "../study/inside.md"])
def test_a_file_of_the_folder_is_found(study, name):
    assert StudyPaths(folder=study).find(name) == study / name


@pytest.mark.parametrize(
    "name",
    ["../secret.txt", "up/secret.txt", "link.md", "/etc/passwd", "../../../../../../../../etc/passwd"],
)
def test_a_path_outside_the_folder_is_refused(study, name):
    refused = StudyPaths(folder=study).find(name)

    assert isinstance(refused, RefusedPath)
    assert "leads out of the study's folder" in refused.message
    assert "--allow-path" in refused.message


@pytest.mark.parametrize(
    "name", ["/proc/self/environ", "/dev/null", "/sys/kernel/vmcoreinfo", "environ.md", "/dev/fd/0"]
)
def test_a_system_file_is_refused_even_with_every_permission(study, name, monkeypatch):
    monkeypatch.setenv(ALLOW_PATHS, "/")

    refused = StudyPaths(folder=study).find(name)

    assert isinstance(refused, RefusedPath)
    assert "never read" in refused.message


@pytest.mark.parametrize("name", [".env", "hidden.md"])
def test_a_hidden_file_of_the_folder_is_refused(study, name):
    refused = StudyPaths(folder=study).find(name)

    assert isinstance(refused, RefusedPath)
    assert "hidden" in refused.message


def test_a_file_found_nowhere_is_absent(study):
    assert StudyPaths(folder=study).find("nothing.md", "a\0b", "x" * 5000) is None


def test_an_allowed_file_is_loaded_and_listed(study, tmp_path):
    (study / ".theodolite").mkdir()
    remember_permissions(study, Permissions(paths=(tmp_path / "secret.txt",)))
    paths = StudyPaths(folder=study)

    assert paths.find("../secret.txt") == study / "../secret.txt"
    assert paths.outside == {"../secret.txt": tmp_path / "secret.txt"}


def test_an_allowed_folder_allows_the_files_below_it(study, tmp_path, monkeypatch):
    monkeypatch.setenv(ALLOW_PATHS, os.pathsep.join(["/nowhere", str(tmp_path)]))

    assert StudyPaths(folder=study).find("../secret.txt")


@pytest.mark.parametrize(
    "text",
    [
        "study: s\n" + MODEL + CONTEXT + SCENARIO,
        RECORDED,
        "study: s\nscenarios: {s: {source: FILE, scripts: {hello: [Hello]}}}\n",
        "study: s\nscenarios: {s: {corpus: FILE, scripts: {hello: [Hello]}}}\n",
        "study: s\nconsent: FILE\n",
        "study: s\nconsent: inside.md\nwarning: FILE\n",
        "study: s\n" + MODEL + "personas: {p: {model: m, template: FILE, rows: [{a: b}]}}\n",
        "study: s\n" + MODEL + "personas: {p: {model: m, template: customer, rows: FILE}}\n",
        "study: s\napplications: {a: {kind: python, call: 'FILE:answer'}}\n" + SCENARIO,
        "study: s\napplications: {a: {kind: aria, class: 'FILE:App'}}\n" + SCENARIO,
        "study: s\njudges: {j: {guideline: relevance, python: 'FILE:judge', version: '1'}}\n",
    ],
    ids=["context", "recorded", "source", "corpus", "consent", "warning", "template", "rows", "call", "class", "judge"],
)
def test_every_key_that_names_a_file_is_limited_to_the_folder(study, tmp_path, text):
    (tmp_path / "other.py").write_text("def answer(prompt): ...\nclass App: ...\ndef judge(turns): ...\n")
    (tmp_path / "other.md").write_text(SECRET)
    file = "../other.py" if ":answer'" in text or ":App'" in text or ":judge'" in text else "../other.md"

    words = words_of(study, text.replace("FILE", file))

    assert "leads out of the study's folder" in words
    assert "a secret of this machine" not in words


@pytest.mark.parametrize(
    ("folder", "text"),
    [
        ("guidelines", "judges: {j: {guideline: linked, model: m}}\n"),
        ("schemas", "annotation: {schema: linked}\n"),
        ("questionnaires", "scenarios: {s: {questionnaires: {red_teaming: linked}}}\n"),
        ("scenarios", ""),
        ("trees", "tree: linked\n"),
    ],
)
def test_a_symbolic_link_from_a_resource_out_of_the_folder_is_refused(study, tmp_path, folder, text):
    (study / folder).mkdir()
    (study / folder / "linked.yaml").symlink_to(tmp_path / "secret.txt")

    assert f"{folder}/linked.yaml` leads out" in words_of(study, f"study: s\n{MODEL}{text}")


def test_a_symbolic_link_from_a_price_list_out_of_the_folder_is_refused(study, tmp_path):
    (study / "prices.yaml").symlink_to(tmp_path / "secret.txt")

    assert "`prices.yaml` leads out" in words_of(study, "study: s\n")


def test_a_resource_name_with_dots_does_not_leave_its_folder(study):
    assert ResourceResolver().resource("guidelines/../../../../../../../../../etc/passwd") is None
    assert LoadContext(folder=study).read_spec("guidelines", "../../x", GuidelineSpec, "guideline") is None


def test_a_recorded_file_of_a_pack_does_not_leave_its_folder(study):
    text = f"study: s\npack: aria/tv-spoilers\n{MODEL}{CONTEXT}"

    words = words_of(study, text.replace("FILE", "../../../../../../../../../../../../nowhere/passwd"))

    assert "is not in the study's folder" in words


def test_the_loaded_study_lists_outside_files(study, tmp_path, monkeypatch):
    (tmp_path / "rows.csv").write_text("q,r\na,b\n")
    (study / "study.yaml").write_text(RECORDED.replace("FILE", "../rows.csv"))
    with pytest.raises(InvalidStudyError):
        load_study(study)

    monkeypatch.setenv(ALLOW_PATHS, str(tmp_path / "rows.csv"))

    assert load_study(study).outside == {"../rows.csv": tmp_path / "rows.csv"}


def swapped(path, target):
    path.unlink()
    path.symlink_to(target)


@pytest.mark.parametrize("target", ["../secret.txt", "up/secret.txt", "/proc/self/environ", ".env"])
def test_a_file_replaced_by_a_link_after_the_check_is_not_opened(study, target):
    paths = StudyPaths(folder=study)
    found = paths.find("inside.md")
    swapped(study / "inside.md", target)

    with pytest.raises(OSError, match="a link leads elsewhere"):
        paths.read(found)


def test_a_folder_replaced_by_a_link_after_the_check_is_not_opened(study, tmp_path):
    (study / "texts").mkdir()
    (study / "texts" / "secret.txt").write_text("open")
    paths = StudyPaths(folder=study)
    found = paths.find("texts/secret.txt")
    (study / "texts").rename(study / "away")
    (study / "texts").symlink_to(tmp_path)

    with pytest.raises(OSError, match="a link leads elsewhere"):
        paths.read(found)


def test_a_pipe_in_place_of_a_file_does_not_block(study):
    paths = StudyPaths(folder=study)
    found = paths.find("inside.md")
    found.unlink()
    os.mkfifo(found)

    assert paths.read(found) == b""


@pytest.mark.parametrize("text", ["study: s\n" + MODEL + CONTEXT, RECORDED], ids=["context", "rows"])
def test_a_study_whose_file_is_swapped_during_loading_reveals_nothing_of_the_other_file(study, monkeypatch, text):
    find = StudyPaths.find

    def find_and_be_robbed(self, *names):
        found = find(self, *names)
        if isinstance(found, Path) and found.name == "inside.md" and not found.is_symlink():
            swapped(found, "../secret.txt")
        return found

    monkeypatch.setattr(StudyPaths, "find", find_and_be_robbed)
    words = words_of(study, text.replace("FILE", "inside.md") + SCENARIO)

    assert "a link leads elsewhere" in words
    assert SECRET.strip() not in words
