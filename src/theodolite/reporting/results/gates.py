"""Results of gates for other programs: JSON, JUnit XML, Markdown, SARIF and annotations of GitHub."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET

from theodolite.domain.findings.number import Estimate
from theodolite.domain.gate import GateResult, GateState, worst_of
from theodolite.reporting.queries.gates import rate_text, reason_text, subject_text
from theodolite.reporting.results.estimates import subject_entry

_SARIF_VERSION = "2.1.0"
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {GateState.NOT_MET: "error", GateState.INCONCLUSIVE: "warning"}


def gates_entry(results: Sequence[GateResult]) -> dict[str, Any]:
    """Return the results as JSON: the overall state, and each result with its rate and outcomes."""
    return {"state": worst_of(results).value, "gates": [_entry(result) for result in results]}


def _entry(result: GateResult) -> dict[str, Any]:
    rate = result.result if isinstance(result.result, Estimate) else None
    return {
        "name": result.gate.name,
        "gate": result.gate.text,
        "state": result.state.value,
        "reason": result.reason or None,
        "n_needed": result.n_needed,
        "days": result.days,
        "subject": subject_entry(result.subject),
        "value": rate.value if rate else None,
        "low": rate.low if rate else None,
        "high": rate.high if rate else None,
        "n": result.result.n,
        "missing": result.outcomes.missing,
        "failed": result.outcomes.failed,
        "unparseable": result.outcomes.unparseable,
        "method": rate.method if rate else None,
    }


def junit_xml(results: Sequence[GateResult], study: str) -> str:
    """Return the results as JUnit XML: one test case each, with a failure if a gate is not met or inconclusive."""
    failed = [result for result in results if result.state is not GateState.MET]
    suite = ET.Element("testsuite", name=f"theodolite.{study}", tests=str(len(results)), failures=str(len(failed)))
    for result in results:
        case = ET.SubElement(suite, "testcase", classname=f"{study}.{result.gate.name}", name=_case_name(result))
        if result.state is not GateState.MET:
            words = f"{result.state.value}: {rate_text(result)}"
            ET.SubElement(
                case, "failure", message=words, type=result.state.value
            ).text = f"{words}. {reason_text(result)}"
        ET.SubElement(case, "system-out").text = rate_text(result)
    ET.indent(suite)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suite, encoding="unicode")}\n'


def _case_name(result: GateResult) -> str:
    return f"{subject_text(result)}: {result.gate.text}"


def markdown_summary(results: Sequence[GateResult], study: str, *, command: str = "") -> str:
    """Return the results as a Markdown table, for the summary of a CI job.

    Args:
        results: The results.
        study: Name of the study.
        command: Command that opens the results; empty for none.
    """
    lines = [
        f"### {study}: gates {worst_of(results).value}",
        "",
        "| name | application | gate | result | state |",
        "|---|---|---|---|---|",
    ]
    for result in results:
        cells = (
            result.gate.name,
            subject_text(result),
            f"`{result.gate.text}`",
            rate_text(result),
            f"**{result.state.value}**",
        )
        lines.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |")
    reasons = [
        f"- {result.gate.name}, {subject_text(result)}: {reason_text(result)}" for result in results if result.reason
    ]
    lines += ["", *reasons] if reasons else []
    lines += ["", f"Open the results: `{command}`"] if command else []
    return "\n".join(lines) + "\n"


def sarif_text(results: Sequence[GateResult], study: str, *, file: str, version: str, line: int = 1) -> str:
    """Return the gates that are not met or inconclusive as a SARIF log, for code scanning.

    Args:
        results: The results.
        study: Name of the study.
        file: Path of the study file within the repository.
        version: Version of Theodolite.
        line: Line of the gates in the file.

    Source:
        SARIF 2.1.0, OASIS Standard (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html).
    """
    broken = [gate_result for gate_result in results if gate_result.state is not GateState.MET]
    rules = {one.gate.name: {"id": one.gate.name, "shortDescription": {"text": one.gate.text}} for one in broken}
    location = {"physicalLocation": {"artifactLocation": {"uri": file}, "region": {"startLine": line}}}
    driver = {"name": "Theodolite", "version": version, "rules": list(rules.values())}
    result = [
        {
            "ruleId": one.gate.name,
            "level": _LEVELS[one.state],
            "message": {
                "text": f"{study}, {subject_text(one)}: {one.state.value}, {rate_text(one)}. {reason_text(one)}"
            },
            "locations": [location],
        }
        for one in broken
    ]
    log = {
        "$schema": _SARIF_SCHEMA,
        "version": _SARIF_VERSION,
        "runs": [{"tool": {"driver": driver}, "results": result}],
    }
    return json.dumps(log, ensure_ascii=False, indent=1) + "\n"


def github_annotations(results: Sequence[GateResult], *, file: str, line: int = 1) -> list[str]:
    """Return a workflow command of GitHub Actions for each gate that is not met or inconclusive."""
    return [
        f"::{_LEVELS[result.state]} file={_property(file)},line={line},title={_property(f'gate {result.gate.name}')}::"
        f"{_message(_sentence(result))}"
        for result in results
        if result.state is not GateState.MET
    ]


def _sentence(result: GateResult) -> str:
    verdict = f"{subject_text(result)}: {result.gate.text} {result.state.value}"
    return f"{verdict}, {rate_text(result)}. {reason_text(result)}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
