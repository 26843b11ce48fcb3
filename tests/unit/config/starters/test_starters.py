from __future__ import annotations

import pytest

from theodolite.config.loading import check_study, load_study
from theodolite.config.starters import StarterKind, write_starter
from theodolite.config.yaml_edits import value_at
from theodolite.domain.application import AriaClass, HttpEndpoint, PromptedModel, PythonCallable
from theodolite.domain.errors import InputError, Severity

URL = "http://127.0.0.1:8000/v1"
MODEL = {"model_url": URL, "model_name": "judge"}


def test_an_application_gets_three_files_and_fourteen_lines(tmp_path):
    answers = {"app": URL, "app_model": "support-bot", "users": "yes", **MODEL}

    written = write_starter(tmp_path / "support", StarterKind.APPLICATION, answers)

    assert [path.name for path in written] == ["study.yaml", "customers.csv", "returns-policy.md"]
    assert len(written[0].read_text().splitlines()) == 14
    assert load_study(tmp_path / "support").study.personas[0].example


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        (URL, PromptedModel),
        ("https://x.example/chat", HttpEndpoint),
        ("package.module:function", PythonCallable),
        ("team.dialog:Team", AriaClass),
    ],
)
def test_the_address_of_an_application_determines_its_kind(tmp_path, place, kind):
    write_starter(tmp_path / "s", StarterKind.APPLICATION, {"app": place})

    assert isinstance(load_study(tmp_path / "s").study.applications[0].connection, kind)


def test_a_sentence_becomes_a_custom_question(tmp_path):
    answers = {"app": URL, "guideline": 'It says "yes, sure" to everything.', **MODEL}

    write_starter(tmp_path / "s", StarterKind.APPLICATION, answers)

    (question,) = load_study(tmp_path / "s").study.guidelines[-1].instrument.questions
    assert question.text.endswith('It says "yes, sure" to everything?')


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({"app": "my bot"}, "is not an application"),
        ({"app": "http://x:port"}, "is not an address"),
        ({"app": URL, "guideline": "groundednes", **MODEL}, "mean `groundedness`?"),
        ({"app": URL, "guideline": "groundedness"}, "--model URL --model-name NAME"),
    ],
)
def test_an_invalid_answer_writes_nothing(tmp_path, answers, words):
    with pytest.raises(InputError) as caught:
        write_starter(tmp_path / "s", StarterKind.APPLICATION, answers)

    assert words in str(caught.value)
    assert not (tmp_path / "s").exists()


def test_a_recorded_file_gives_a_valid_study(tmp_path, shipped_folder):
    file = shipped_folder("examples/b") / "answers.csv"

    written = write_starter(tmp_path / "mine", StarterKind.RECORDED, {"from": str(file)})

    study = load_study(tmp_path / "mine").study
    assert [path.name for path in written] == ["study.yaml", "answers.csv"]
    assert [item.name for item in study.applications] == ["plain", "guarded"]
    assert (study.reference.column, study.groups) == ("final_label", ("type",))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("a,b\n1,2\n", "hold the prompt and the response"),
        ("prompt,response\nx,y\n", "no column of labels"),
        ("", "is empty"),
    ],
)
def test_a_file_without_the_required_columns_is_reported(tmp_path, rows, words):
    file = tmp_path / "rows.csv"
    file.write_text(rows)

    with pytest.raises(InputError, match=words):
        write_starter(tmp_path / "mine", StarterKind.RECORDED, {"from": str(file)})


def test_a_new_event_has_no_errors(tmp_path):
    write_starter(tmp_path / "e", StarterKind.EVENT, {"pack": "aria/tv-spoilers"})

    assert {fault.severity for fault in check_study(tmp_path / "e")} == {Severity.OPEN}


def test_an_unknown_pack_is_reported_with_the_closest_name(tmp_path):
    with pytest.raises(InputError, match="mean `aria/tv-spoilers`"):
        write_starter(tmp_path / "e", StarterKind.EVENT, {"pack": "aria/tv-spoiler"})


def test_an_empty_study_needs_only_its_application(tmp_path):
    write_starter(tmp_path / "e", StarterKind.EMPTY, {})

    assert [fault.message[:30] for fault in check_study(tmp_path / "e")] == ["the study names no application"]


def test_an_existing_study_is_left_unchanged(tmp_path):
    (tmp_path / "study.yaml").write_text("study: mine\n")

    with pytest.raises(InputError, match="left as it is"):
        write_starter(tmp_path, StarterKind.EMPTY, {})

    assert (tmp_path / "study.yaml").read_text() == "study: mine\n"


def write_cases(tmp_path, rows, **answers):
    """Write a study of test cases and return it as it is read."""
    (tmp_path / "mine.csv").write_text(rows, encoding="utf-8")
    write_starter(tmp_path / "s", StarterKind.APPLICATION, {"app": URL, "cases": str(tmp_path / "mine.csv"), **answers})
    return load_study(tmp_path / "s").study


def test_test_cases_are_copied_and_compared_with_their_expected_answers(tmp_path):
    study = write_cases(tmp_path, "question,answer\nWhat is 2+2?,4\n")

    (script,) = study.scenario("cases").scripts
    assert (script.prompts, script.expected) == (("What is 2+2?",), "4")
    assert study.annotators[0].labelling.text == "{{ expected }}"
    assert [model.name for model in study.models] == ["app"]


def test_test_cases_without_expected_answers_need_a_judge(tmp_path):
    with pytest.raises(InputError, match=r"no column of expected answers.*--guideline relevance"):
        write_cases(tmp_path, "prompt\nHello\n")

    assert write_cases(tmp_path, "prompt\nHello\n", guideline="relevance", **MODEL).annotators[0].name == "relevance"


def test_an_application_alone_gets_example_cases_and_no_model(tmp_path):
    written = write_starter(tmp_path / "s", StarterKind.APPLICATION, {"app": "bot.py:answer"})

    assert [path.name for path in written] == ["study.yaml", "cases.csv"]
    assert "model" not in written[0].read_text(encoding="utf-8")


def test_an_address_is_a_single_value_of_the_study_file(tmp_path):
    address = 'https://h.example/?,"key":SECRET,"a":"/v1'

    write_starter(tmp_path / "s", StarterKind.APPLICATION, {"app": address})
    model = value_at((tmp_path / "s" / "study.yaml").read_text(), ("models", "app"))
    assert model == {"url": address, "name": "default"}
