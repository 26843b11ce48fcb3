from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from theodolite.config.loading import check_study, load_study
from theodolite.config.yaml_source import InvalidStudyError, LocatedDiagnostic
from theodolite.domain.errors import Severity, StudyError
from theodolite.domain.identity import version_of

SMALL = """study: a
models: {m: {script: [Hello]}}
applications: {app: {kind: model, model: m}}
scenarios: {s: {scripts: {hello: Hello}}}
judges: {j: {ask: Polite?, defect: "== no", model: m}}
"""


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_the_examples_are_short_and_have_no_errors(shipped_folder, name):
    folder = shipped_folder(f"examples/{name}")

    placed = check_study(folder)

    assert not [fault for fault in placed if fault.severity is Severity.ERROR]
    assert len((folder / "study.yaml").read_text().splitlines()) <= 15


@pytest.mark.parametrize("name", ["xstest-replay", "spoiler-guard"])
def test_the_studies_of_the_demo_load(shipped_folder, name):
    assert load_study(shipped_folder(f"demo/{name}")).study.name == name


def test_example_a_becomes_these_records(shipped_folder):
    study = load_study(shipped_folder("examples/a")).study

    (group,) = study.personas
    assert (len(group.rows), group.template.name, group.template.edition, group.example) == (6, "customer", "1.0", True)
    assert study.scenarios[0].packet.sources[0].name == "returns-policy.md"
    assert study.guideline("groundedness").defect_rules[0].condition == "score <= 3"
    assert (study.sampling.dialogues, study.sampling.seed, study.budget.usd) == (60, 7, 5)


def test_example_b_splits_its_file_into_applications(shipped_folder):
    loaded = load_study(shipped_folder("examples/b"))

    assert [application.name for application in loaded.study.applications] == ["plain", "guarded"]
    assert [annotator.name for annotator in loaded.study.annotators] == ["ann", "ben", "gpt-4"]
    assert loaded.study.reference.spelling["2_full_refusal"] == "refused"
    assert len(loaded.recordings) == 8


def test_example_c_leaves_two_items_open(shipped_folder):
    notes = load_study(shipped_folder("examples/c")).notes

    assert [(note.place, note.words) for note in notes] == [
        ("consent.md", "open: still the sample text; needed before people are invited"),
        ("study.yaml:5", "open: `green` was never called; try theodolite probe"),
    ]


def test_equal_content_is_the_same_study_in_every_layout(folder):
    long = SMALL.replace("{m: {script: [Hello]}}", "\n  m:\n    script:\n      - Hello")
    first = version_of(load_study(folder(study_yaml=SMALL)).study)

    assert version_of(load_study(folder(study_yaml=long)).study) == first


def test_a_study_file_may_have_any_name(folder):
    path = folder(mine_yaml=SMALL)

    assert load_study(path / "mine.yaml").file == load_study(path).file == "mine.yaml"


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "this folder holds no `study.yaml`"),
        ({"a_yaml": SMALL, "b_yaml": SMALL}, "several YAML files and no `study.yaml`; name one of a.yaml, b.yaml"),
    ],
)
def test_a_folder_without_a_single_study_states_what_to_do(folder, files, words):
    (fault,) = check_study(folder(**files))

    assert words in fault.message


def test_a_missing_path_is_an_error(tmp_path):
    (fault,) = check_study(tmp_path / "none")

    assert fault.message == "there is no such file or folder"


def test_all_errors_are_raised_at_once_with_their_locations(folder):
    path = folder(study_yaml=SMALL.replace("model: m}}\nsc", "model: n}}\nsc") + "sampling: {sed: 1}\n")

    with pytest.raises(StudyError) as caught:
        load_study(path)

    assert isinstance(caught.value, InvalidStudyError)
    assert [fault.place for fault in caught.value.placed] == ["study.yaml:3:42", "study.yaml:6:12"]
    assert str(caught.value).endswith("2 errors. Nothing was run, nothing was sent.")


def test_entries_state_their_line(folder):
    loaded = load_study(folder(study_yaml=SMALL))

    assert (loaded.line_of("applications", "app"), loaded.line_of("models", "none")) == (3, 0)


def test_an_unset_variable_is_noted_on_request(folder):
    study = SMALL.replace("{script: [Hello]}", "{url: http://x.example/v1, name: x, key: SOME_KEY}")
    path = folder(study_yaml=study)

    assert [note.message for note in check_study(path, environ={})] == [
        "variable `SOME_KEY` is not set in this environment; it is needed before a run"
    ]
    assert check_study(path, environ={"SOME_KEY": "x"}) == check_study(path) == ()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    place=st.integers(0, len(SMALL)),
    length=st.integers(0, 12),
    text=st.text(alphabet="{}[]:,\"'\n -&*!|>%a1{{}}", max_size=6),
)
def test_no_input_text_raises_an_exception(tmp_path, place, length, text):
    (tmp_path / "study.yaml").write_text(SMALL[:place] + text + SMALL[place + length :], encoding="utf-8")

    assert all(isinstance(fault, LocatedDiagnostic) for fault in check_study(tmp_path))
