"""Files of a study are saved with their history; drafts change nothing before they are applied."""

from __future__ import annotations

import pytest

from theodolite.config.edit_checks import added_errors, apply, check
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
    assert check(drafted).loaded.study.guidelines[0].question.text == "Is it friendly?"
    assert apply(drafted) == ("study.yaml",)
    assert "friendly" in (drafted.folder / "study.yaml").read_text(encoding="utf-8")
    assert drafted.drafts() == ()


def test_a_draft_with_errors_is_not_applied(drafted):
    save(drafted, STUDY.replace("annotators:", "anotators:"))

    (fault,) = [item for item in check(drafted).diagnostics if "Did you mean" in item.message]
    assert (fault.file, fault.line) == ("study.yaml", 6)
    with pytest.raises(InvalidStudyError):
        apply(drafted)
    assert (drafted.folder / "study.yaml").read_text(encoding="utf-8") == STUDY


def test_a_draft_adds_neither_code_nor_keys_of_the_server(drafted):
    url = 'url: https://other.example/x, body: {q: "{{ prompt }}"}'
    endpoint = f"  out: {{kind: http, {url}, key: DATABASE_PASSWORD}}\n"
    code = '  run: {kind: python, call: "bot.py:answer"}\n'
    (drafted.folder / "bot.py").write_text("def answer(prompt): return prompt\n", encoding="utf-8")
    scenarios = "scenarios: {hours: {scripts: {hello: Hello}}}\n"
    save(drafted, STUDY.replace("guidelines:", endpoint + code + scenarios + "guidelines:"))

    added = check(drafted).added_access
    assert "code `bot.py:answer`" in added
    assert "key `DATABASE_PASSWORD to other.example`" in added
    with pytest.raises(InputError, match="operator"):
        apply(drafted)


def test_a_draft_may_remove_code(drafted):
    url = 'url: https://other.example/x, body: {q: "{{ prompt }}"}'
    rest = f"  out: {{kind: http, {url}}}\nscenarios: {{hours: {{scripts: {{hello: Hello}}}}}}\n"
    code = '  run: {kind: python, call: "bot.py:answer"}\n'
    (drafted.folder / "bot.py").write_text("def answer(prompt): return prompt\n", encoding="utf-8")
    text = STUDY.replace("guidelines:", code + rest + "guidelines:")
    (drafted.folder / "study.yaml").write_text(text, encoding="utf-8")
    save(drafted, text.replace(code, ""))

    assert check(drafted).added_access == ()
    assert apply(drafted) == ("study.yaml",)


def test_a_file_that_changed_on_the_machine_is_not_replaced_by_an_older_draft(drafted):
    save(drafted, STUDY + "title: Draft\n")
    (drafted.folder / "study.yaml").write_text(STUDY + "title: Machine\n", encoding="utf-8")

    with pytest.raises(Conflict, match="on the machine"):
        apply(drafted)
    drafted.discard("study.yaml")
    assert "Machine" in drafted.read("study.yaml").text
    assert len(drafted.versions("study.yaml")) == 2


def test_a_study_in_a_subfolder_is_not_edited(files):
    (files.folder / "inner").mkdir()
    (files.folder / "inner" / "study.yaml").write_text("study: inner\n", encoding="utf-8")

    assert files.names() == ("study.yaml", "rows.csv")
    with pytest.raises(InputError, match="another study"):
        files.save("inner/consent.md", "x", seen="")


def delete(files, name):
    files.delete(name, seen=files.read(name).version)


def rename(files, name, new):
    files.rename(name, new, seen=files.read(name).version)


def test_a_deleted_file_is_listed_and_its_text_can_be_restored(files):
    before = (files.folder / "rows.csv").read_text(encoding="utf-8")
    delete(files, "rows.csv")

    assert not (files.folder / "rows.csv").exists()
    assert (files.names(), files.deleted()) == (("study.yaml",), ("rows.csv",))
    files.save("rows.csv", files.version("rows.csv", 1), seen=files.read_or_missing("rows.csv").version)
    assert (files.folder / "rows.csv").read_text(encoding="utf-8") == before
    assert files.deleted() == ()


def test_a_renamed_file_keeps_its_bytes_and_the_study_names_it(files):
    raw = b"\xef\xbb\xbfid,prompt,response,label\r\n1,Hi,Hello,yes\r\n"
    (files.folder / "rows.csv").write_bytes(raw)
    rename(files, "rows.csv", "recordings/first.csv")

    assert (files.folder / "recordings/first.csv").read_bytes() == raw
    assert (files.names(), files.deleted()) == (("study.yaml", "recordings/first.csv"), ("rows.csv",))
    text = (files.folder / "study.yaml").read_text(encoding="utf-8")
    assert text == STUDY.replace("rows.csv", "recordings/first.csv")
    assert check(files).loaded is not None


def test_a_drafted_deletion_and_a_drafted_new_name_reach_the_files_together(drafted):
    before = sorted(path.name for path in drafted.folder.iterdir())
    rename(drafted, "rows.csv", "first.csv")

    assert sorted(path.name for path in drafted.folder.iterdir()) == before
    assert (drafted.names(), drafted.deleted()) == (("study.yaml", "first.csv"), ("rows.csv",))
    assert drafted.drafts() == ("first.csv", "rows.csv", "study.yaml")
    assert apply(drafted) == ("first.csv", "rows.csv", "study.yaml")
    assert sorted(path.name for path in drafted.folder.iterdir()) == ["first.csv", "study.yaml"]
    assert drafted.version("rows.csv", 1).startswith("id,prompt")


def test_a_drafted_deletion_that_breaks_the_study_is_not_applied_and_can_be_discarded(drafted):
    delete(drafted, "rows.csv")

    assert check(drafted).loaded is None
    with pytest.raises(InvalidStudyError):
        apply(drafted)
    drafted.discard("rows.csv")
    assert check(drafted).loaded is not None
    assert drafted.names() == ("study.yaml", "rows.csv")


def test_a_deleted_draft_of_a_new_file_leaves_no_draft(drafted):
    drafted.save("more.csv", "id\n1\n", seen="")
    delete(drafted, "more.csv")

    assert (drafted.drafts(), drafted.deleted()) == ((), ("more.csv",))


def test_a_file_that_changed_on_the_machine_is_not_deleted_by_an_older_draft(drafted):
    delete(drafted, "rows.csv")
    drafted.save("study.yaml", STUDY.replace("rows.csv", "new.csv"), seen=drafted.read("study.yaml").version)
    drafted.save("new.csv", "id,prompt,response,label\n1,Hi,Hello,yes\n", seen="")
    (drafted.folder / "rows.csv").write_text("changed\n", encoding="utf-8")

    with pytest.raises(Conflict, match="on the machine"):
        apply(drafted)
    assert (drafted.folder / "rows.csv").read_text(encoding="utf-8") == "changed\n"


@pytest.mark.parametrize("has_drafts", [False, True], ids=["files", "drafts"])
def test_a_page_that_shows_an_older_text_neither_deletes_nor_renames(files, drafted, has_drafts):
    edited = drafted if has_drafts else files
    seen = edited.read("rows.csv").version
    save(edited, "id,prompt,response,label\n2,Hi,Hello,yes\n", "rows.csv")

    for act in (lambda: edited.delete("rows.csv", seen=seen), lambda: edited.rename("rows.csv", "b.csv", seen=seen)):
        with pytest.raises(EditConflict) as conflict:
            act()
        assert conflict.value.current.text.endswith("2,Hi,Hello,yes\n")
    assert edited.names() == ("study.yaml", "rows.csv")


@pytest.mark.parametrize("has_drafts", [False, True], ids=["files", "drafts"])
def test_a_save_into_a_deleted_file_is_a_conflict_and_a_second_save_adds_it(files, drafted, has_drafts):
    edited = drafted if has_drafts else files
    seen = edited.read("rows.csv").version
    delete(edited, "rows.csv")

    with pytest.raises(EditConflict) as conflict:
        edited.save("rows.csv", "id\n9\n", seen=seen)
    assert conflict.value.current.is_missing
    assert edited.save("rows.csv", "id\n9\n", seen=conflict.value.current.version).text == "id\n9\n"


@pytest.mark.parametrize("new", ["study.yaml", "there.md", "a/study.yaml", "../out.csv", "rows.py", ""])
def test_unsuitable_new_names_are_refused(files, new):
    (files.folder / "there.md").write_text("there\n", encoding="utf-8")

    with pytest.raises(InputError):
        rename(files, "rows.csv", new)
    assert files.names() == ("study.yaml", "rows.csv", "there.md")
    assert (files.folder / "there.md").read_text(encoding="utf-8") == "there\n"


def test_the_study_itself_is_neither_renamed_nor_deleted(files):
    with pytest.raises(InputError, match="the study itself"):
        delete(files, "study.yaml")
    with pytest.raises(InputError, match="the study itself"):
        rename(files, "study.yaml", "other.yaml")
    with pytest.raises(NotFound):
        files.delete("none.md", seen="")


def test_changes_are_compared_with_the_errors_that_the_study_has(files):
    (files.folder / "notes.md").write_text("Notes\n", encoding="utf-8")
    save(files, STUDY + "titel: A\n")
    (error,) = added_errors(files, {"rows.csv": None})

    assert (error.file, error.line) == ("study.yaml", 3)
    assert added_errors(files, {"notes.md": None}) == ()
    assert added_errors(files, files.after_renaming("rows.csv", "first.csv")) == ()
    assert files.names() == ("study.yaml", "notes.md", "rows.csv")
