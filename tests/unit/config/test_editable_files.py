"""Files of a study are saved with their history; drafts change nothing before they are applied."""

from __future__ import annotations

import pytest

from theodolite.config.editable_files import LARGEST, EditableFiles, EditConflict
from theodolite.config.yaml_source import InvalidStudyError
from theodolite.domain.errors import Conflict, InputError, NotFound

STUDY = """\
study: support   # the name
applications:
  bot: {kind: recorded, file: rows.csv, id: id, prompt: prompt, response: response}
guidelines:
  tone: {ask: Is it polite?, scale: ["yes", "no"], defect: "== no"}
annotators:
  ann: {who: person, guideline: tone, column: label}
"""


@pytest.fixture
def files(tmp_path):
    folder = tmp_path / "support"
    folder.mkdir()
    (folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    (folder / "rows.csv").write_text("id,prompt,response,label\n1,Hi,Hello,yes\n", encoding="utf-8")
    return EditableFiles(folder=folder, storage=tmp_path / "storage")


@pytest.fixture
def drafted(files):
    return EditableFiles(folder=files.folder, storage=files.storage, has_drafts=True)


def save(files, text, name="study.yaml"):
    return files.save(name, text, seen=files.read(name).version)


def test_a_save_writes_the_file_and_stores_the_text_before_and_after(files):
    save(files, STUDY.replace("polite", "friendly"))

    assert "friendly" in (files.folder / "study.yaml").read_text(encoding="utf-8")
    assert [version.number for version in files.versions("study.yaml")] == [2, 1]
    assert files.version("study.yaml", 1) == STUDY


def test_two_editors_cannot_overwrite_each_other(files):
    seen = files.read("study.yaml").version
    save(files, STUDY + "title: First\n")

    with pytest.raises(EditConflict) as conflict:
        files.save("study.yaml", STUDY + "title: Second\n", seen=seen)

    assert conflict.value.current.text.endswith("title: First\n")
    assert len(files.versions("study.yaml")) == 2


def test_an_edit_by_another_program_is_stored_before_it_is_replaced(files):
    save(files, STUDY + "title: First\n")
    (files.folder / "study.yaml").write_text(STUDY + "title: Elsewhere\n", encoding="utf-8")
    save(files, STUDY + "title: Third\n")

    assert "Elsewhere" in files.version("study.yaml", 3)


def test_line_endings_and_a_byte_order_mark_are_preserved(files):
    path = files.folder / "study.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + STUDY.replace("\n", "\r\n").encode())
    save(files, files.read("study.yaml").text.replace("polite", "kind"))

    assert path.read_bytes() == b"\xef\xbb\xbf" + STUDY.replace("\n", "\r\n").replace("polite", "kind").encode()


@pytest.mark.parametrize(
    "name",
    [
        *("../study.yaml", "/etc/hosts.txt", "a/../../b.yaml", ".hidden.yaml", ".theodolite/x.json", "a\\..\\b.yaml"),
        *("bot.py", "serve.yaml", "results.json", "a//b.yaml", "a/b/c/d.yaml", "", "x\0.yaml", "a/./b.yaml", "x.yaml."),
    ],
    ids=lambda name: name.replace("\0", "NUL") or "empty",
)
def test_no_other_file_can_be_opened_or_written(files, name):
    with pytest.raises(InputError):
        files.read(name)
    with pytest.raises(InputError):
        files.save(name, "x", seen="")


def test_links_are_not_followed(files, tmp_path):
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    (files.folder / "secret.txt").symlink_to(tmp_path / "secret.txt")
    (files.folder / "outside").symlink_to(tmp_path)

    assert files.names() == ("study.yaml", "rows.csv")
    for name in ("secret.txt", "outside/secret.txt"):
        with pytest.raises(InputError, match="link"):
            files.read(name)


def test_large_and_binary_files_are_refused(files):
    (files.folder / "big.csv").write_bytes(b"x" * (LARGEST + 1))
    (files.folder / "latin.md").write_bytes(b"\xe4")

    for name in ("big.csv", "latin.md"):
        with pytest.raises(InputError):
            files.read(name)
    with pytest.raises(InputError, match="larger"):
        files.save("new.md", "x" * (LARGEST + 1), seen="")
    with pytest.raises(NotFound):
        files.read("nothing.md")


def test_a_draft_is_validated_and_the_files_are_unchanged_until_it_is_applied(drafted):
    save(drafted, STUDY.replace("polite", "friendly"))

    assert (drafted.folder / "study.yaml").read_text(encoding="utf-8") == STUDY
    assert drafted.read("study.yaml").is_draft
    assert drafted.check().loaded.study.guidelines[0].question.text == "Is it friendly?"
    assert drafted.apply() == ("study.yaml",)
    assert "friendly" in (drafted.folder / "study.yaml").read_text(encoding="utf-8")
    assert drafted.drafts() == ()


def test_a_draft_with_errors_is_not_applied(drafted):
    save(drafted, STUDY.replace("annotators:", "anotators:"))

    (fault,) = [item for item in drafted.check().diagnostics if "Did you mean" in item.message]
    assert (fault.file, fault.line) == ("study.yaml", 6)
    with pytest.raises(InvalidStudyError):
        drafted.apply()
    assert (drafted.folder / "study.yaml").read_text(encoding="utf-8") == STUDY


def test_a_draft_adds_neither_code_nor_keys_of_the_server(drafted):
    url = 'url: https://other.example/x, body: {q: "{{ prompt }}"}'
    endpoint = f"  out: {{kind: http, {url}, key: DATABASE_PASSWORD}}\n"
    code = '  run: {kind: python, call: "bot.py:answer"}\n'
    (drafted.folder / "bot.py").write_text("def answer(prompt): return prompt\n", encoding="utf-8")
    scenarios = "scenarios: {hours: {scripts: {hello: Hello}}}\n"
    save(drafted, STUDY.replace("guidelines:", endpoint + code + scenarios + "guidelines:"))

    added = drafted.check().added_access
    assert "code `bot.py:answer`" in added
    assert "key `DATABASE_PASSWORD to other.example`" in added
    with pytest.raises(InputError, match="operator"):
        drafted.apply()


def test_a_draft_may_remove_code(drafted):
    url = 'url: https://other.example/x, body: {q: "{{ prompt }}"}'
    rest = f"  out: {{kind: http, {url}}}\nscenarios: {{hours: {{scripts: {{hello: Hello}}}}}}\n"
    code = '  run: {kind: python, call: "bot.py:answer"}\n'
    (drafted.folder / "bot.py").write_text("def answer(prompt): return prompt\n", encoding="utf-8")
    text = STUDY.replace("guidelines:", code + rest + "guidelines:")
    (drafted.folder / "study.yaml").write_text(text, encoding="utf-8")
    save(drafted, text.replace(code, ""))

    assert drafted.check().added_access == ()
    assert drafted.apply() == ("study.yaml",)


def test_a_file_that_changed_on_the_machine_is_not_replaced_by_an_older_draft(drafted):
    save(drafted, STUDY + "title: Draft\n")
    (drafted.folder / "study.yaml").write_text(STUDY + "title: Machine\n", encoding="utf-8")

    with pytest.raises(Conflict, match="on the machine"):
        drafted.apply()
    drafted.discard("study.yaml")
    assert "Machine" in drafted.read("study.yaml").text
    assert len(drafted.versions("study.yaml")) == 2


def test_a_study_in_a_subfolder_is_not_edited(files):
    (files.folder / "inner").mkdir()
    (files.folder / "inner" / "study.yaml").write_text("study: inner\n", encoding="utf-8")

    assert files.names() == ("study.yaml", "rows.csv")
    with pytest.raises(InputError, match="another study"):
        files.save("inner/consent.md", "x", seen="")
