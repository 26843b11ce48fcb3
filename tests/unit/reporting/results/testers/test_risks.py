from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import jsonschema

from tests.unit.reporting.results.document.test_document import schema
from theodolite.domain.dialogue import Level
from theodolite.domain.findings.risks import RiskFinding
from theodolite.domain.study_parts import Risk
from theodolite.measurement.study.risks import RiskUnit, adjusted_together, risk_contrasts, risk_parts
from theodolite.reporting.page.applications import risk_table
from theodolite.reporting.results.testers import risk_entry


def finding():
    sides = {"old": (True, 5), "young": (False, 6), "teen": (True, 2)}
    units = [
        RiskUnit(person=f"{age}{number}", groups={"age": age}, is_real=is_real)
        for age, (is_real, n) in sides.items()
        for number in range(n)
    ]
    parts = risk_parts(units)
    bare = RiskFinding(risk=Risk(name="felt"), application="blue", level=Level.FIELD_TESTING, n=13)
    (found,) = adjusted_together([replace(bare, parts=parts, contrasts=tuple(risk_contrasts(units, parts, seed=1)))])
    return found


def test_an_entry_conforms_to_the_schema_and_withholds_small_groups():
    entry = risk_entry(finding())

    whole = schema()
    jsonschema.Draft202012Validator({**whole["$defs"]["risk"], "$defs": whole["$defs"]}).validate(entry)
    assert [(one["part"], one["materialised"], one["withheld"]) for one in entry["groups"]] == [
        ("old", 5, False),
        ("teen", None, True),
        ("young", 0, False),
    ]
    assert entry["contrasts"][0]["adjusted_p_value"] == entry["contrasts"][0]["p_value"]


def test_the_page_shows_groups_and_their_comparison():
    table = risk_table(SimpleNamespace(findings=SimpleNamespace(risks=(finding(),))))

    assert table.rows[0][2].details[-2:] == (
        "age: old: 5 of 5; age: teen: too few to tell; age: young: 0 of 6",
        "age, old and young: p 0.002, adjusted 0.002; effect -1.00; 11 clusters, permutation of people, exact",
    )


def test_the_name_of_a_risk_is_shown_once_above_its_rows():
    felt, other = finding(), replace(finding(), risk=Risk(name="seen"))
    findings = SimpleNamespace(risks=(felt, replace(felt, application="green"), other))

    assert [row[0].span for row in risk_table(SimpleNamespace(findings=findings)).rows] == [2, 0, 1]
