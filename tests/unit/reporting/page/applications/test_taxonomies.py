"""Risks of a study in published taxonomies, and the rules that show them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

from tests.fakes.evidence import facts
from tests.fakes.report import evidence_named, findings_named, words
from theodolite.domain.study_parts import Risk, RiskClass
from theodolite.reporting.page.applications import taxonomy_table
from theodolite.reporting.page.rates import rule_blocks
from theodolite.reporting.page.subject import subject_of

CLASSES = (
    RiskClass(identifier="ai-600-1/confabulation", title="Confabulation", taxonomy="NIST AI 600-1"),
    RiskClass(identifier="owasp-llm-2025/LLM09", title="Misinformation", taxonomy="OWASP Top 10"),
)


def test_the_table_names_identifiers_and_titles():
    risks = (Risk(name="invents", rules=("facts.defect",), classes=CLASSES), Risk(name="other"))
    table = taxonomy_table(SimpleNamespace(study=SimpleNamespace(risks=risks)))

    assert table.rows == (
        ("invents", "facts.defect", "ai-600-1/confabulation Confabulation", "owasp-llm-2025/LLM09 Misinformation"),
    )
    assert table.notes == ("ai-600-1: NIST AI 600-1; owasp-llm-2025: OWASP Top 10.",)


def test_without_taxonomies_there_is_no_table():
    assert taxonomy_table(SimpleNamespace(study=SimpleNamespace(risks=(Risk(name="other"),)))) is None


def test_a_rule_lists_the_risks_it_shows():
    evidence = evidence_named("live")
    guideline = evidence.study.guidelines[0]
    rule = f"{guideline.name}.{guideline.defect_rules[0].name}"
    study = replace(evidence.study, risks=(Risk(name="invents", rules=(rule,), classes=CLASSES),))
    subject = subject_of(replace(evidence, study=study), findings_named("live"), facts(), words())

    shown = {block.guideline: block.risks for block in rule_blocks(subject) if block.risks}
    assert shown == {guideline.name: ("invents (ai-600-1/confabulation Confabulation)",)}
