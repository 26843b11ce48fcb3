"""Scenarios with different guidelines in one study."""

from __future__ import annotations

import pytest

import theodolite

pytestmark = pytest.mark.integration

STUDY = """study: two-matters
applications:
  echo: {kind: python, call: "echo.py:reply"}
scenarios:
  manners: {scripts: {hello: Good day!, bye: Good bye!}, guidelines: [polite]}
  facts: {scripts: {moon: Is it cheese?, crash: Crash}, guidelines: [sound, polite]}
guidelines:
  polite: {ask: Polite?, defect: "== no"}
  sound: {ask: Sound?, defect: "== no"}
judges:
  words: {guidelines: all, rule: {any: [cheese], then: no, else: yes}}
"""
ECHO = """
def reply(prompt):
    if prompt == "Crash":
        raise ValueError("as asked")
    return prompt
"""


@pytest.fixture
def ran(tmp_path):
    (tmp_path / "study.yaml").write_text(STUDY)
    (tmp_path / "echo.py").write_text(ECHO)
    return theodolite.run(str(tmp_path))


def rates(ran):
    measured = [one for one in ran.findings.measurements if one.measure == "defect_rate"]
    return {one.subject.guideline: one.outcomes for one in measured}


def test_one_judge_becomes_one_annotator_for_each_guideline(ran):
    assert [one.name for one in ran.evidence.study.annotators] == ["words-polite", "words-sound"]


def test_a_dialogue_is_labelled_only_by_guidelines_of_its_scenario(ran):
    asked = [(one.guideline, one.dialogue) for one in [*ran.evidence.archive.annotations()]]

    assert sorted(guideline for guideline, _ in asked) == ["polite", "polite", "polite", "sound"]
    assert ran.status.is_complete
    assert (ran.status.due, ran.status.lost) == (6, 2)


def test_the_denominator_of_a_rate_is_the_dialogues_of_its_guideline(ran):
    counted = rates(ran)

    assert (counted["polite"].planned, counted["polite"].used, counted["polite"].failed) == (4, 3, 1)
    assert (counted["sound"].planned, counted["sound"].used, counted["sound"].failed) == (2, 1, 1)
