from __future__ import annotations

from dataclasses import replace

import pytest

from theodolite.config.assembly import expanded
from theodolite.config.loading import check_study, load_study
from theodolite.config.study import pack_names

STUDY = """study: a
models: {m: {script: [Hello]}}
applications: {app: {kind: model, model: m}}
scenarios: {s: {scripts: {hello: Hello}, questionnaires: {field_testing: after}}}
guidelines: {rude: {ask: Is it?, defect: "== yes"}}
judges: {j: {guideline: rude, model: m}}
questionnaires: {after: {questions: {bad: {ask: It was bad., scale: likert}}}}
risks:
  hurt: RISK
"""
JUDGES = """
models: {m: {script: [yes]}}
judges: {j: {guidelines: all, model: m}}
"""


def written(tmp_path, risk):
    (tmp_path / "study.yaml").write_text(STUDY.replace("RISK", risk), encoding="utf-8")
    return tmp_path


def test_rules_and_answers_materialise_a_risk(tmp_path):
    text = '{identified_by: questionnaire and dialogue, shown_by: [rude.defect, "after.bad >= 4"]}'
    study = load_study(written(tmp_path, text)).study
    (risk,) = study.risks

    assert (risk.rules, [answer.text for answer in risk.answers]) == (("rude.defect",), ["after.bad >= 4"])
    (tmp_path / "study.yaml").write_text(expanded(study), encoding="utf-8")
    assert load_study(tmp_path).study.risks == study.risks


def test_one_side_of_a_guardrail_means_all_rules_about_that_side(tmp_path):
    study = load_study(written(tmp_path, "{shown_by: [not_a_guardrail]}")).study

    assert study.risks[0].rules == ("rude.defect",)


@pytest.mark.parametrize("pack", pack_names())
def test_every_shipped_pack_defines_which_labels_show_its_risks(tmp_path, pack):
    text = f"study: a\npack: {pack}\napplications: {{bot: {{kind: python, call: 'm:f'}}}}\n"
    (tmp_path / "study.yaml").write_text(text + JUDGES, encoding="utf-8")

    study = load_study(tmp_path).study

    assert [risk.name for risk in study.risks if not risk.rules] == []
    looked_for = {name for scenario in study.scenarios for name in scenario.risks}
    assert looked_for == {risk.name for risk in study.risks}


@pytest.mark.parametrize(
    ("risk", "words"),
    [
        ("{shown_by: [rude.defekt]}", "there is no defect rule `rude.defekt`. Did you mean `rude.defect`?"),
        ('{identified_by: questionnaire, shown_by: ["after.bat >= 4"]}', "no questionnaire asks `after.bat`"),
        ('{identified_by: questionnaire, shown_by: ["after.bad >= 9"]}', "the scale ends at 5"),
        ("{identified_by: questionnaire, shown_by: [rude.defect]}", "needs an answer of testers in `shown_by`"),
        ('{shown_by: ["after.bad >= 4"]}', "is identified by dialogue and needs a defect rule"),
        ("{shown_by: [permitted_withheld]}", "no defect rule of the study has that `violation`"),
    ],
)
def test_signs_without_a_question_are_errors_with_their_line(tmp_path, risk, words):
    (placed,) = check_study(written(tmp_path, risk))

    assert (placed.line, words in placed.words) == (9, True)


def test_a_risk_is_mapped_to_taxonomies_and_related_risks(tmp_path):
    study = load_study(written(tmp_path, "{taxonomy: ai-600-1/confabulation, shown_by: [rude.defect]}")).study

    assert [one.text for one in study.risks[0].classes] == [
        "ai-600-1/confabulation Confabulation",
        "ai-rmf-1.0/valid-and-reliable Valid and Reliable",
        "ai-rmf-1.0/measure-2.5 MEASURE 2.5: validity and reliability",
        "owasp-llm-2025/LLM09 Misinformation",
        "mitre-atlas/AML.T0062 Discover LLM Hallucinations",
    ]
    bare = load_study(written(tmp_path, "{shown_by: [rude.defect]}")).study
    assert bare.risks[0].classes == ()


def test_titles_of_taxonomies_do_not_change_a_run(tmp_path):
    study = load_study(written(tmp_path, "{taxonomy: ai-600-1/confabulation, shown_by: [rude.defect]}")).study
    untitled = replace(study, risks=(replace(study.risks[0], classes=()),))

    assert study.run_fingerprint == untitled.run_fingerprint
