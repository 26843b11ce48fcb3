"""Applications may be bound to scenarios that the study has."""

import pytest

from theodolite.config.loading import load_study
from theodolite.config.yaml_source import InvalidStudyError

STUDY = """study: s
applications:
  a: {kind: python, call: "json:dumps", scenarios: [%s]}
scenarios: {travel: {scripts: {x: Hi}}, meal: {scripts: {y: Hi}}}
judges: {polite: {ask: "Is it rude?", defect: "== yes", rule: {any: [stupid], then: yes, else: no}}}
"""


@pytest.fixture
def study(tmp_path):
    def written(names):
        (tmp_path / "bot.py").write_text("def reply(prompt): return prompt\n")
        (tmp_path / "study.yaml").write_text((STUDY % names).replace("json:dumps", "bot.py:reply"))
        return tmp_path

    return written


def test_a_missing_scenario_is_reported_with_the_closest_name(study):
    with pytest.raises(
        InvalidStudyError, match=r"names a scenario `travle` that the study does\s+not have. Did you mean `travel`\?"
    ):
        load_study(study("travle"))


def test_a_scenario_without_an_application_is_noted(study):
    loaded = load_study(study("travel"))

    assert loaded.study.applications[0].scenarios == ("travel",)
    assert any("no application is tested in scenario `meal`" in note.message for note in loaded.notes)
