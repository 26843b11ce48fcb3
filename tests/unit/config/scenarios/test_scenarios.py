from __future__ import annotations

from theodolite.config.loading import check_study, load_study

STUDY = """study: a
models: {m: {script: [Hello]}}
applications: {app: {kind: model, model: m}}
scenarios: {s: {source: [a.md, b.md], scripts: {one: Hello, two: [Hi, Bye], three: {prompts: [X], purpose: useful}}}}
judges: {j: {ask: Polite?, defect: "== no", model: m}}
"""


def test_scripts_may_be_written_in_three_forms(folder):
    study = load_study(folder(study_yaml=STUDY, a_md="A", b_md="B")).study

    scripts = [(script.key, script.prompts, script.purpose) for script in study.scenarios[0].scripts]
    assert scripts == [("one", ("Hello",), ""), ("two", ("Hi", "Bye"), ""), ("three", ("X",), "useful")]


def test_source_material_is_loaded_in_order(folder):
    study = load_study(folder(study_yaml=STUDY, a_md="A", b_md="B")).study

    assert study.scenarios[0].context == "A\n\nB"


def test_a_scenario_may_have_a_file_of_its_own(folder):
    more = "task: search\nscripts: {x: Where?}\n"

    study = load_study(folder(study_yaml=STUDY, a_md="A", b_md="B", scenarios__far_yaml=more)).study

    assert [scenario.name for scenario in study.scenarios] == ["far", "s"]


def test_an_error_in_the_file_of_a_scenario_is_located_there(folder):
    path = folder(study_yaml=STUDY, a_md="A", b_md="B", scenarios__far_yaml="tsk: chat\nscripts: {x: Where?}\n")

    assert [fault.place for fault in check_study(path)] == ["scenarios/far.yaml:1:1"]


def test_a_corpus_is_split_by_paragraph(folder):
    text = STUDY.replace("{source:", "{corpus: [a.md, b.md], passages: 2, source:")

    scenario = load_study(folder(study_yaml=text, a_md="A\n\nAA", b_md="B")).study.scenarios[0]

    assert [(one.name, one.text) for one in scenario.corpus] == [
        ("a.md, paragraph 1", "A"),
        ("a.md, paragraph 2", "AA"),
        ("b.md, paragraph 1", "B"),
    ]
    assert scenario.passages == 2


def test_a_corpus_without_text_is_an_error(folder):
    text = STUDY.replace("{source:", "{corpus: b.md, source:")

    (fault,) = check_study(folder(study_yaml=text, a_md="A", b_md=" \n"))

    assert fault.message == "`b.md` holds no text that a search could find"
