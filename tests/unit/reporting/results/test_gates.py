"""Results of gates, for people and for the tools of a build."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from tests.fakes.evidence import live_evidence, xstest_evidence
from theodolite.domain.findings.number import Estimate
from theodolite.domain.gate import Gate, GateFacts, GateState
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.queries.gates import gate_lines, gate_results
from theodolite.reporting.results.gates import gates_entry, github_annotations, junit_xml, markdown_summary, sarif_text


def results_of(evidence, **gates):
    study = replace(evidence.study, gates=tuple(Gate.parse(name, text) for name, text in gates.items()))
    return gate_results(study, measure_study(evidence))


@pytest.fixture(scope="module")
def live():
    return results_of(live_evidence(), grounded="upper <= 20%", groundedness="completeness >= 90%")


def test_a_judge_limits_its_rates_and_a_guideline_the_leading_ones(live):
    assert [(one.gate.name, one.subject.application, one.state) for one in live] == [
        ("grounded", "bot-1.4", GateState.INCONCLUSIVE),
        ("groundedness", "bot-1.4", GateState.MET),
    ]


def test_every_application_and_rule_has_a_result():
    results = results_of(xstest_evidence(), refusal="upper <= 20%", keywords="count <= 0")

    by_guideline = [one for one in results if one.gate.name == "refusal"]
    assert {one.subject.annotators for one in by_guideline} == {("reference",)}
    assert len(by_guideline) == 5 * 3
    states = {(one.subject.application, one.subject.rule): one.state for one in by_guideline}
    assert states["llama2orig", "withheld"] is GateState.NOT_MET
    assert states["llama2orig", "released"] is GateState.MET
    assert {one.subject.annotators for one in results if one.gate.name == "keywords"} == {("keywords",)}


def test_a_gate_without_a_rate_is_inconclusive():
    evidence = live_evidence()
    study = replace(evidence.study, gates=(Gate.parse("nobody", "upper <= 20%"),))

    (result,) = gate_results(study, measure_study(evidence))
    assert (result.state, "no rate of this name" in result.reason) == (GateState.INCONCLUSIVE, True)
    assert gate_lines([result])[0].endswith("no rate  inconclusive")


def test_results_for_a_terminal_are_one_line_each(live):
    lines = gate_lines(live)

    shown = " ".join(lines[0].split())
    assert shown == "grounded bot-1.4, defect upper <= 20% 9 of 57, 15.8% (4.5 to 37.2) inconclusive"
    assert lines[1].strip().startswith("The interval crosses the limit. About ")
    assert lines[1].strip().endswith("independent dialogues decide it.")
    assert len({line.index(word) for line, word in ((lines[0], "upper"), (lines[2], "completeness"))}) == 1


def test_json_has_the_disposition_of_each_rate(live):
    entry = gates_entry(live)

    assert entry["state"] == "inconclusive"
    first = entry["gates"][0]
    assert (first["n"], first["failed"], first["unparseable"]) == (57, 2, 1)
    assert first["low"] < first["value"] < first["high"]
    json.dumps(entry, allow_nan=False)


def test_junit_counts_failed_gates(live):
    suite = ET.fromstring(junit_xml(live, "support"))  # noqa: S314  # our own text

    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("type") == "inconclusive"


def test_the_summary_is_one_table_and_escapes_its_cells(live):
    odd = replace(live[0], subject=replace(live[0].subject, application="a|b"))
    text = markdown_summary([odd, live[1]], "support", command="theodolite report support --browser")

    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {6}
    assert "a&#124;b" in text
    assert "`theodolite report support --browser`" in text


def test_sarif_and_annotations_name_failed_gates(live):
    log = json.loads(sarif_text(live, "support", file="support/study.yaml", version="0.1.0"))

    (run,) = log["runs"]
    assert [(one["ruleId"], one["level"]) for one in run["results"]] == [("grounded", "warning")]
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "support/study.yaml"
    (line,) = github_annotations(live, file="support/study.yaml")
    assert line.startswith("::warning file=support/study.yaml,line=1,title=gate grounded::bot-1.4")
    assert "15.8%25" in line
    assert "\n" not in line


def test_the_age_of_a_validation_is_a_gate_for_judges_only():
    evidence = live_evidence()
    study = replace(evidence.study, gates=(Gate.parse("groundedness", "validated <= 90 days"),))
    findings = measure_study(evidence)

    (never,) = gate_results(study, findings)
    (recent,) = gate_results(study, findings, GateFacts(validation_days={"grounded": 12.3}))

    assert (never.state, recent.state) == (GateState.NOT_MET, GateState.MET)
    assert "not validated  not met" in gate_lines([never])[0]
    assert "grounded  validated <= 90 days  validated 12 days ago  met" in gate_lines([recent])[0]
    assert gates_entry([recent])["gates"][0]["days"] == 12.3


def test_a_deterioration_is_omitted_without_a_baseline():
    evidence = live_evidence()
    study = replace(evidence.study, gates=(Gate.parse("grounded", "worse_by <= 5 points"),))
    findings = measure_study(evidence)
    key = ("bot-1.4", "groundedness", "defect", "grounded")
    change = Estimate(value=0.02, low=-0.01, high=0.04, confidence=0.95, n=57, unit="fraction", method="paired")

    assert gate_results(study, findings) == ()
    (unnamed,) = gate_results(study, findings, GateFacts(differences={}))
    (other,) = gate_results(study, findings, GateFacts(differences={("other", "g", "r", "a"): change}))
    (known,) = gate_results(study, findings, GateFacts(differences={key: change}))

    assert "no baseline run was named" in unnamed.reason
    assert "the baseline has no such rate" in other.reason
    assert known.state is GateState.MET
    assert "+2.0 points (-1.0 to +4.0), n 57 pairs" in gate_lines([known])[0]
