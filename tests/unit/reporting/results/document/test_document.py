import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from tests.fakes.evidence import facts
from tests.fakes.report import NAMES, evidence_named, findings_named, schema_named
from theodolite.domain.estimate import Findings, Undefined
from theodolite.domain.findings.number import SchemaTally
from theodolite.domain.study_parts import Risk, RiskClass
from theodolite.reporting.results.document import results_document, results_pieces

FIELDS = {
    "measure",
    "subject",
    "weighting",
    "statistic",
    "value",
    "low",
    "high",
    "confidence",
    "n",
    "outcomes",
    "n_clusters",
    "unit",
    "method",
    "versions",
    "undefined_reason",
}


def schema():
    return schema_named("results")


def document(name):
    return results_document(evidence_named(name), findings_named(name), facts())


def test_the_schema_is_a_valid_json_schema():
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("name", NAMES)
def test_results_conform_to_their_published_schema(name):
    written = json.loads("".join(results_pieces(evidence_named(name), findings_named(name), facts())))

    jsonschema.Draft202012Validator(schema()).validate(written)
    assert written == document(name)


def test_risks_in_taxonomies_have_the_titles_that_the_report_shows():
    evidence = evidence_named("live")
    classes = (
        RiskClass(identifier="ai-600-1/confabulation", title="Confabulation", taxonomy="NIST AI 600-1"),
        RiskClass(identifier="owasp-llm-2025/LLM09", title="Misinformation", taxonomy="OWASP Top 10"),
    )
    risks = (Risk(name="invents", rules=("facts.defect",), classes=classes), Risk(name="unclassified"))
    study = replace(evidence.study, risks=risks)
    written = results_document(replace(evidence, study=study), findings_named("live"), facts())

    jsonschema.Draft202012Validator(schema()).validate(written)
    (entry,) = written["taxonomies"]
    assert (entry["risk"], entry["shown_by"]) == ("invents", ["facts.defect"])
    assert [(one["title"], one["taxonomy"]) for one in entry["classes"]] == [
        ("Confabulation", "NIST AI 600-1"),
        ("Misinformation", "OWASP Top 10"),
    ]


def test_the_reference_page_lists_every_part_of_the_file_and_no_other():
    page = (Path(__file__).parents[5] / "docs" / "reference" / "results-json.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\|([^|]*)\|", page.split("## Estimates")[0].split("## Top level")[1], re.MULTILINE)
    names = [name for cell in listed for name in re.findall(r"`(\w+)`", cell)]

    assert sorted(names) == sorted(schema()["properties"])


def test_pairs_of_one_run_have_the_documented_members_of_a_comparison():
    own = schema()["$defs"]["paired_rate"]["properties"]
    other = schema_named("compare")["$defs"]["rate"]["properties"]

    assert set(own) - {"pairs"} == set(other) - {"n"}


def test_each_estimate_has_the_documented_fields():
    assert all(set(entry) >= FIELDS for entry in document("xstest")["estimates"])


def test_an_undefined_value_is_null_with_a_reason():
    findings = findings_named("live")
    undefined = replace(findings.measurements[0], result=Undefined(reason="nobody labelled", n=0))

    entry = results_document(evidence_named("live"), Findings(measurements=(undefined,)), facts())["estimates"][0]

    assert (entry["value"], entry["low"], entry["high"]) == (None, None, None)
    assert entry["undefined_reason"] == "nobody labelled"


def test_the_complete_refusal_of_a_published_system_is_in_the_results():
    found = [
        entry
        for entry in document("xstest")["estimates"]
        if entry["measure"] == "defect_rate"
        and entry["subject"]["application"] == "llama2orig"
        and entry["subject"]["annotators"] == ["reference"]
        and "group" not in entry["subject"]
    ]

    values = {entry["subject"]["rule"]: (round(entry["value"], 3), entry["n"]) for entry in found}

    assert values == {"withheld": (0.38, 250), "released": (0.0, 200), "partly withheld": (0.216, 250)}


def test_dispositions_add_up_and_name_the_failure_source():
    account = document("live")["dispositions"][0]

    assert account["failed"] == [{"party": "application", "what": "application timed out", "n": 2}]
    assert account["planned"] == account["labelled"] + 2 + account["unparseable"] == 60


def test_the_response_format_of_a_judge_is_recorded():
    tallied = replace(evidence_named("live"), schemas=(SchemaTally(annotator="grounded", sent=55, refused=2),))

    [judge] = results_document(tallied, findings_named("live"), facts())["instruments"]["annotators"]

    assert judge["answer_schema"] == {"sent": 55, "refused": 2, "off": 0}


def test_scripted_endpoints_are_listed():
    assert document("scripted")["stubbed"] == ["large"]
    assert document("live")["stubbed"] == []
