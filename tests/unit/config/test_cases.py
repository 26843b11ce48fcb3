from __future__ import annotations

import pytest

from theodolite.config.loading import load_study
from theodolite.config.yaml_source import InvalidStudyError

STUDY = """study: smoke
applications:
  bot: {kind: http, url: "http://127.0.0.1:9/chat", body: {q: "{{ prompt }}"}, reply: $.text}
cases: %s
judges:
  exact: {rule: {equals: "{{ expected }}"}}
"""
ROWS = "question,answer,topic\nWhat is 2+2?,4,math\nCapital of France?,Paris,geo\n"


LISTED = (
    "[{prompt: What is 2+2?, expected: 4, groups: {topic: math}},"
    " {prompt: Capital of France?, expected: Paris, groups: {topic: geo}}]"
)


def load(folder, cases, rows=ROWS, more=""):
    return load_study(folder(study_yaml=STUDY % cases + more, rows_csv=rows)).study


def scripts(study):
    return [(item.key, item.prompts, item.expected, dict(item.values)) for item in study.scenario("cases").scripts]


@pytest.mark.parametrize(
    "cases",
    [
        "{file: rows.csv, prompt: question, expected: answer, groups: [topic]}",
        LISTED,
    ],
    ids=["table", "list"],
)
def test_cases_are_scripts_with_expected_answers_and_groups(folder, cases):
    study = load(folder, cases)

    assert scripts(study) == [
        ("c001", ("What is 2+2?",), "4", {"topic": "math"}),
        ("c002", ("Capital of France?",), "Paris", {"topic": "geo"}),
    ]
    assert study.groups == ("topic",)


def test_columns_with_the_usual_names_are_detected(folder):
    study = load(folder, "rows.csv", "id,prompt,expected\na,Hello,Hi\nb,Bye,\n")

    assert scripts(study) == [("a", ("Hello",), "Hi", {}), ("b", ("Bye",), "", {})]


def test_groups_of_the_study_are_columns_of_the_cases(folder):
    study = load(folder, "{file: rows.csv, expected: answer}", more="groups: [topic]\n")

    assert [values for *_, values in scripts(study)] == [{"topic": "math"}, {"topic": "geo"}]


@pytest.mark.parametrize(
    ("cases", "rows", "words"),
    [
        pytest.param("{file: rows.csv, prompt: questoin}", ROWS, "Did you mean `question`?", id="column"),
        pytest.param("{file: rows.csv, groups: [tpic]}", ROWS, "Did you mean `topic`?", id="group"),
        pytest.param("rows.csv", "a,b\n1,2\n", "no column seems to hold the prompt; columns are a, b", id="guess"),
        pytest.param("rows.csv", "prompt,expected\nx,y\n  ,z\n", "has nothing in column `prompt`", id="empty prompt"),
        pytest.param("rows.csv", "id,prompt\nx,a\nx,b\n", "has the id `x` of line 2", id="ids"),
        pytest.param("rows.csv", "id,prompt\n,a\nx,b\n", "has nothing in column `id`", id="no id"),
        pytest.param("other.csv", ROWS, "other.csv", id="no file"),
        pytest.param("[]", ROWS, "`cases` has no case", id="none"),
        pytest.param("[{prompt: a, id: x}, {prompt: b, id: x}]", ROWS, "two cases have the id `x`", id="listed ids"),
        pytest.param("[{promt: a}]", ROWS, "Did you mean `prompt`?", id="key"),
    ],
)
def test_unusable_cases_are_errors(folder, cases, rows, words):
    with pytest.raises(InvalidStudyError) as caught:
        load(folder, cases, rows)

    assert words in "\n".join(fault.message for fault in caught.value.placed)


def test_another_scenario_of_the_same_name_is_an_error(folder):
    with pytest.raises(InvalidStudyError) as caught:
        load(folder, "rows.csv", "prompt\nx\n", "scenarios: {cases: {scripts: {a: b}}}\n")

    assert "`cases` makes a scenario `cases`" in caught.value.placed[0].message


def test_a_column_of_recorded_rows_holds_expected_answers(folder):
    study = """study: a
applications:
  rec: {kind: recorded, file: rows.csv, prompt: question, response: reply, expected: answer}
judges:
  exact: {rule: {equals: "{{ expected }}"}}
"""
    loaded = load_study(folder(study_yaml=study, rows_csv="question,reply,answer\na,4,4\nb,5,\n"))

    assert [item.expected for item in loaded.recordings] == ["4", ""]


SCHEMA_STUDY = STUDY % "[{prompt: a}]" + "  form: {rule: {json_schema: %s}}\n"


def test_a_schema_is_part_of_the_study(folder):
    loaded = load_study(folder(study_yaml=SCHEMA_STUDY % "form", form='{ "type":  "object" }'))

    assert loaded.study.annotator("form").labelling.text == '{"type":"object"}'


@pytest.mark.parametrize(
    ("text", "words"),
    [("{", "it is not JSON"), ('{"$ref": "#/x"}', "keyword `$ref`, which is not supported")],
    ids=["json", "keyword"],
)
def test_an_unusable_schema_is_an_error(folder, text, words):
    with pytest.raises(InvalidStudyError) as caught:
        load_study(folder(study_yaml=SCHEMA_STUDY % "form", form=text))

    assert words in caught.value.placed[0].message


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ('{equals: a, tolerance: "5%"}', "`tolerance` that cannot be used"),
        ("{number: 5, tolerance: some}", "`tolerance` that cannot be used"),
        ("{equals: a, matches: b}", "has `equals` and `matches`; use a judge for each"),
        ('{matches: "("}', "is not a regular expression"),
    ],
    ids=["equals", "word", "two", "expression"],
)
def test_unusable_comparisons_are_errors(folder, rule, words):
    with pytest.raises(InvalidStudyError) as caught:
        load_study(folder(study_yaml=STUDY % "[{prompt: a}]" + f"  other: {{rule: {rule}}}\n"))

    assert words in "\n".join(fault.message for fault in caught.value.placed)
