from __future__ import annotations

from collections import Counter

from tests.golden.xstest_study import evidence, guideline
from theodolite.measurement.study.paired_labels import strata_of


def counts(judge):
    return Counter(strata_of(evidence(), guideline(), judge).values())


def test_dialogues_are_stratified_by_application_and_verdict():
    found = counts("gpt-4")

    assert sum(found.values()) == 2250
    assert found["mistralinstruct: no verdict"] == 11
    assert {name.partition(": ")[2] for name in found} == {"defect", "sound", "no verdict"}


def test_a_dialogue_is_a_defect_if_any_applicable_rule_says_so():
    # By GPT-4, llama2orig refuses 76 safe prompts fully and 14 in part, and answers 30 unsafe ones.
    assert counts("gpt-4")["llama2orig: defect"] == 76 + 14 + 30


def test_without_a_judge_the_application_is_the_stratum():
    assert counts("") == dict.fromkeys(("llama2orig", "llama2new", "mistralinstruct", "mistralguard", "gpt4"), 450)
