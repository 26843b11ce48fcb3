from __future__ import annotations

from theodolite.config.loading import check_study, load_study
from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import HandLabels, ModelJudge, RecordedLabels, WordRule

ROWS = "id,p,r,ann\n1,a,b,1_ok\n2,c,d,bad\n3,e,f,\n4,g,h,what?\n"
STUDY = """study: a
models: {m: {script: [Hello]}}
applications: {rec: {kind: recorded, file: rows.csv, id: id, prompt: p, response: r}}
guidelines: {g: {ask: How?, scale: [fine, bad], defect: "== bad"}}
annotators: {ann: {who: person, column: ann, title: Ann}}
judges:
  m1: {guideline: g, model: m}
  words: {guideline: g, rule: {any: [sorry], then: bad, else: fine}}
spelling: {1_ok: fine}
"""


def test_all_kinds_of_annotators_answer_one_guideline(folder):
    ann, judge, rule = load_study(folder(study_yaml=STUDY, rows_csv=ROWS)).study.annotators

    assert {item.guideline for item in (ann, judge, rule)} == {"g"}
    assert (ann.kind, judge.kind, rule.kind) == (AnnotatorKind.PERSON, AnnotatorKind.MODEL, AnnotatorKind.RULE)
    assert judge.labelling == ModelJudge(model="m")
    assert rule.labelling == WordRule(any_of=("sorry",), then="bad", otherwise="fine")


def test_labels_may_be_names_or_declared_spellings(folder):
    ann = load_study(folder(study_yaml=STUDY, rows_csv=ROWS)).study.annotators[0]

    assert ann.labelling == RecordedLabels(column="ann", spelling={"fine": "fine", "bad": "bad", "1_ok": "fine"})


TWO_COLUMNS = """study: s
applications: {bot: {kind: recorded, file: rows.csv, id: id, prompt: p, response: r}}
guidelines: {g: {ask: How?, scale: [fine, bad], defect: "== bad"}}
annotators:
  ann: {who: person, column: ann, spelling: {1: fine, 2: bad}}
  ben: {who: person, column: ben, spelling: {1: bad, 2: fine}}
reference: {column: final, spelling: {ok: fine}}
spelling: {ok: bad, n: bad}
"""
TWO_CODINGS = "id,p,r,ann,ben,final\n1,Hi,Hello,1,2,ok\n2,Hi,Hello,n,1,n\n"


def test_each_column_may_have_its_own_spelling(folder):
    study = load_study(folder(study_yaml=TWO_COLUMNS, rows_csv=TWO_CODINGS)).study

    ann, ben = (annotator.labelling.spelling for annotator in study.annotators)
    assert (ann["1"], ann["2"], ben["1"], ben["2"]) == ("fine", "bad", "bad", "fine")
    assert (ann["n"], ann["ok"], study.reference.spelling["ok"]) == ("bad", "bad", "fine")


def test_a_spelling_of_one_column_must_map_to_a_label_of_its_question(folder):
    (fault,) = check_study(folder(study_yaml=TWO_COLUMNS.replace("2: fine", "2: fien"), rows_csv=TWO_CODINGS))

    assert fault.words == "`2` is to mean `fien`, which is not a label of its scale. Did you mean `fine`?"


def test_a_spelling_needs_a_column(folder):
    study = TWO_COLUMNS.replace("column: ben, ", "")

    (fault,) = check_study(folder(study_yaml=study, rows_csv=TWO_CODINGS))

    assert "`spelling` and no `column`" in fault.words


def test_a_value_without_a_label_is_noted_and_an_empty_cell_is_not(folder):
    (note,) = check_study(folder(study_yaml=STUDY, rows_csv=ROWS))

    assert note.words == 'note: 1 value of `ann` fits no label and counts as unparseable, e.g. "what?"'


def test_the_guideline_must_be_named_where_there_are_several(folder):
    study = STUDY.replace("guidelines: {", 'guidelines: {h: {ask: Why?, defect: "== no"}, ')

    (fault,) = check_study(folder(study_yaml=study, rows_csv=ROWS))

    assert fault.message == "annotator `ann` needs `guideline`: the study has several or none"


def test_the_reference_answers_the_only_guideline(folder):
    study = STUDY + "reference: {column: ann}\n"

    reference = load_study(folder(study_yaml=study, rows_csv=ROWS)).study.reference

    assert (reference.column, reference.guideline, reference.spelling["1_ok"]) == ("ann", "g", "fine")


def test_the_one_guideline_may_be_a_file_of_the_folder(folder):
    study = STUDY.replace('guidelines: {g: {ask: How?, scale: [fine, bad], defect: "== bad"}}\n', "")
    own = 'ask: How?\nscale: [fine, bad]\ndefect: "== bad"\n'
    path = folder(study_yaml=study, rows_csv=ROWS, guidelines__g_yaml=own)

    assert load_study(path).study.annotators[0].guideline == "g"


def test_guidelines_are_ordered_by_first_use(folder):
    three = "".join(f'  {name}: {{ask: "{name}?", defect: "== no"}}\n' for name in "cab")
    study = "study: a\nmodels: {m: {script: [Hello]}}\napplications: {app: {kind: model, model: m}}\n"
    study += "scenarios: {s: {scripts: {hello: Hello}}}\n"
    study += "judges: {x: {guideline: b, model: m}, y: {guideline: a, model: m}}\n"

    loaded = load_study(folder(study_yaml=f"{study}guidelines:\n{three}"))

    assert [guideline.name for guideline in loaded.study.guidelines] == ["b", "a", "c"]


def test_the_groups_of_a_guideline_in_its_own_file_are_checked_too(folder):
    study = STUDY.replace('guidelines: {g: {ask: How?, scale: [fine, bad], defect: "== bad"}}\n', "")
    own = 'ask: How?\nscale: [fine, bad]\ndefects: {d: {defect: "== bad", among: {tpye: x}}}\n'
    (fault,) = check_study(folder(study_yaml=study, rows_csv=ROWS, guidelines__g_yaml=own))

    assert (fault.file, fault.line) == ("guidelines/g.yaml", 3)
    assert "names a column `tpye`" in fault.message


def test_the_signs_of_a_pack_do_not_answer_questions_about_turns(folder):
    text = (
        "study: a\nmodels: {m: {script: [Hello]}}\napplications: {app: {kind: model, model: m}}\n"
        "scenarios: {s: {scripts: {one: Hello}}}\n"
        "guidelines: {g: {ask: Polite?, level: turn, defect: '== no'}}\n"
        "judges: {j: {guideline: g, rule: packet}}\n"
    )

    (fault,) = check_study(folder(study_yaml=text))

    assert "`rule: packet` answers `released` and `withheld`" in fault.words


def test_a_person_without_a_column_adds_labels_on_pages_or_from_files(folder):
    study = STUDY.replace("annotators: {", "annotators: {eve: {who: person, title: Eve}, ")

    eve = load_study(folder(study_yaml=study, rows_csv=ROWS)).study.annotators[0]

    assert (eve.labelling, eve.guideline, eve.title, eve.by_hand) == (HandLabels(), "g", "Eve", True)


def test_human_annotators_without_columns_do_not_change_the_plan(folder):
    plain = load_study(folder(study_yaml=STUDY, rows_csv=ROWS)).study
    with_eve = STUDY.replace("annotators: {", "annotators: {eve: {who: person}, ")

    study = load_study(folder(study_yaml=with_eve, rows_csv=ROWS)).study

    assert study.run_fingerprint == plain.run_fingerprint
    assert [annotator.name for annotator in study.asked] == ["ann", "m1", "words"]


def test_attributes_of_a_person_are_stored_with_the_labels(folder):
    annotator_attributes = STUDY.replace(
        "annotators: {", "annotators: {eve: {who: person, groups: {language: de, age: 30}}, "
    )

    study = load_study(folder(study_yaml=annotator_attributes, rows_csv=ROWS)).study

    assert study.annotator_attributes == {"language": {"eve": "de"}, "age": {"eve": "30"}}
    assert study.run_fingerprint == load_study(folder(study_yaml=STUDY, rows_csv=ROWS)).study.run_fingerprint


def test_only_people_have_attributes(folder):
    annotator_attributes = STUDY.replace(
        "annotators: {", "annotators: {bot: {who: model, column: a, groups: {language: de}}, "
    )

    (fault, *_) = check_study(folder(study_yaml=annotator_attributes, rows_csv=ROWS))

    assert "`groups`" in fault.words
    assert "`who` is `model`" in fault.words
