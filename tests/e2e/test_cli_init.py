"""The first files of a study about an application that can be called."""

import io
from types import SimpleNamespace

import pytest

from tests.fakes.loopback import Loopback
from tests.fakes.terminal import theodolite

pytestmark = pytest.mark.integration


@pytest.mark.parametrize("path", ["", "/", "/chat/completions"])
def test_the_models_of_an_address_are_listed_whatever_its_path(tmp_path, path):
    with Loopback(models=("target",)) as server:
        ended = theodolite("init", tmp_path / "s", "--app", f"{server.url}{path}", "--guideline", "groundedness")

    assert "answers as OpenAI-compatible; offers one model: target" in ended.out
    assert f"app:   {{url: {server.url}, name: target}}" in (tmp_path / "s" / "study.yaml").read_text(encoding="utf-8")


def test_several_models_are_listed_and_none_is_chosen_without_a_question(tmp_path):
    with Loopback(models=("small", "large")) as server:
        refused = theodolite("init", tmp_path / "s", "--app", server.url, "--guideline", "groundedness")
        named = theodolite("init", tmp_path / "s", "--app", server.url, "--model-name", "large")

    assert refused.code == 2
    assert "offers 2 models: small, large. Choose one:  --model-name NAME" in refused.err
    assert not named.code
    assert f"app:   {{url: {server.url}, name: large}}" in (tmp_path / "s" / "study.yaml").read_text(encoding="utf-8")


def test_a_function_beside_the_study_passes_the_check(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "support.py").write_text("def answer(prompt):\n    return 'ok'\n", encoding="utf-8")
    theodolite("init", "support", "--app", "support.py:answer")

    assert theodolite("check", "support").code == 0


def test_the_study_names_only_chosen_models(tmp_path):
    words = ("--app", "http://127.0.0.1:9/chat", "--guideline", "relevance", "--model", "http://127.0.0.1:9/v1")
    refused = theodolite("init", tmp_path / "s", *words)

    assert refused.code == 2
    assert "offers no model" in refused.err
    assert not (tmp_path / "s").exists()


class Keyboard(io.StringIO):
    """Input typed at a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def at_terminal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.py").write_text("def answer(prompt, history):\n    return 'It is 4.'\n", encoding="utf-8")

    def type_in(*lines, url="http://127.0.0.1:9/v1"):
        monkeypatch.setattr("theodolite.cli.init._LOCAL", url)
        monkeypatch.setattr("sys.stdin", Keyboard("".join(f"{line}\n" for line in lines)))
        return theodolite("init", "mine")

    return SimpleNamespace(folder=tmp_path / "mine", type_in=type_in)


def test_answers_with_defaults_make_a_study_of_test_cases_that_runs(at_terminal):
    ended = at_terminal.type_in("", "bot.py:answer", "", "", "")

    assert "Found answer(prompt, history)." in ended.out, ended.said
    assert "It runs this code with your rights" in ended.out
    assert 'replied "It is 4."' in ended.out
    assert sorted(path.name for path in at_terminal.folder.iterdir() if path.is_file()) == ["cases.csv", "study.yaml"]
    assert theodolite("check", "mine").code == 0


def test_answers_make_a_study_of_cases_and_simulated_users_with_a_chosen_local_model(at_terminal):
    with Loopback(models=("small", "user-sim")) as server:
        ended = at_terminal.type_in("1", "bot.py:answer", "n", "3", "", "2", "", url=server.url)
    text = (at_terminal.folder / "study.yaml").read_text(encoding="utf-8")

    assert f"  2  user-sim   {server.url}   local, no key" in ended.out, ended.said
    assert "Test call:" not in ended.out
    assert f"""local: {{url: "{server.url}", name: user-sim}}""" in text
    assert "cases: cases.csv" in text
    assert "guidelines: [groundedness]}" in text
    assert theodolite("check", "mine").code == 0


def test_the_address_is_shown_before_the_first_call(at_terminal):
    with Loopback(every=1, fault="404") as server:
        ended = at_terminal.type_in("1", f"{server.root}/app", "", "1", "")

    host = server.root.removeprefix("http://")
    assert f"It sends one message to {host}, which may charge" in " ".join(ended.out.split()), ended.said
    assert "Test call: failed. a greeting: " in ended.out
    assert "Correct it, then test it with  theodolite probe mine" in ended.out
    assert (ended.code, (at_terminal.folder / "study.yaml").exists()) == (3, True)


def test_an_option_permits_the_test_call_without_a_question(at_terminal):
    broken = "def answer(prompt):\n    raise LookupError('no stock')\n"
    (at_terminal.folder.parent / "broken.py").write_text(broken, encoding="utf-8")

    failed = theodolite("init", "failed", "--app", "broken.py:answer", "--test-call")
    misplaced = theodolite("init", "other", "--from", "q.csv", "--test-call")

    assert (failed.code, misplaced.code) == (3, 2), failed.said
    assert "LookupError: no stock (broken.py, line 2)" in " ".join(failed.out.split())
    assert "--test-call requires --app" in misplaced.err


def test_a_study_of_recorded_answers_has_corrected_columns_a_judge_and_a_key(at_terminal, tmp_path):
    (tmp_path / "q.csv").write_text("question,answer,fix\nq1,a1,b1\nq2,a2,b2\n", encoding="utf-8")
    columns = ("", "fix", "-", "-", "-", "-")
    ended = at_terminal.type_in(
        "2", "q.csv", "edit", *columns, "http://127.0.0.1:9/v1", "judge-1", "MY_KEY", "relevance"
    )
    text = (at_terminal.folder / "study.yaml").read_text(encoding="utf-8")

    assert "No column has labels, so a judge labels the answers." in ended.out, ended.said
    assert "prompt: question, response: fix}" in text
    assert "name: judge-1, key: MY_KEY}" in text
    assert theodolite("check", "mine").code == 0


def test_no_file_is_written_after_the_columns_are_rejected(at_terminal, tmp_path):
    (tmp_path / "q.csv").write_text("question,answer\nq1,a1\n", encoding="utf-8")
    ended = at_terminal.type_in("2", "q.csv", "n")

    assert ended.code == 2
    assert "Nothing was written. Rename the columns" in ended.err
    assert not at_terminal.folder.exists()


def test_an_unknown_function_is_reported_with_the_closest_name(tmp_path):
    (tmp_path / "bot.py").write_text("def answer(prompt):\n    return prompt\n", encoding="utf-8")
    ended = theodolite("init", tmp_path / "s", "--app", f"{tmp_path / 'bot.py'}:anwser")

    assert ended.code == 2
    assert "has no function or class `anwser`. Did you mean `answer`?" in ended.err
    assert not (tmp_path / "s").exists()


def test_standard_output_of_a_script_lists_only_the_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = theodolite("init", "smoke", "--app", "bot.py:answer", "--json").found

    assert found == {"exit_code": 0, "files": ["smoke/study.yaml", "smoke/cases.csv"]}


def test_the_message_for_rows_without_labels_explains_how_to_add_a_judge(tmp_path):
    (tmp_path / "q.csv").write_text("question,answer\nq1,a1\nq2,a2\n", encoding="utf-8")
    ended = theodolite("init", tmp_path / "rec", "--from", tmp_path / "q.csv")

    assert ended.code == 2
    assert "has no column of labels, so a judge has to label it" in ended.err
    assert "--judge relevance --model http://127.0.0.1:11434/v1" in ended.err


def test_a_judge_labels_recorded_rows_without_a_foreign_key(tmp_path):
    (tmp_path / "q.csv").write_text("question,answer\nq1,a1\nq2,a2\n", encoding="utf-8")
    with Loopback(models=("judge",)) as server:
        words = ("--from", tmp_path / "q.csv", "--judge", "relevance", "--model", server.url)
        written = theodolite("init", tmp_path / "rec", *words)
        ran = theodolite("run", tmp_path / "rec", "--json")

    assert "No model will be called" not in written.out
    assert "OPENAI" not in (tmp_path / "rec" / "study.yaml").read_text(encoding="utf-8")
    assert ran.found["annotations"]["done"] == 2


def test_the_message_for_a_judge_without_model_explains_how_to_name_one(tmp_path):
    (tmp_path / "q.csv").write_text("question,answer\nq1,a1\n", encoding="utf-8")
    words = ("--from", tmp_path / "q.csv", "--judge", "relevance", "--model", "http://127.0.0.1:9/v1")
    ended = theodolite("init", tmp_path / "rec", *words)

    assert ended.code == 2
    assert "offers no model" in ended.err
    assert "--model URL --model-name NAME" in ended.err
