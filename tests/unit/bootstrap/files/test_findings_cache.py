from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from pydantic import TypeAdapter

from tests.fakes.evidence import changed, facts, live_evidence, xstest_evidence
from tests.fakes.evidence_variants import grown_live
from tests.fakes.pooled import pooled_evidence
from tests.fakes.random_study import random_study
from tests.fakes.report import assets, words
from theodolite.bootstrap.files import fingerprint_of, measured
from theodolite.domain.estimate import Findings
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.page.report import report_html
from theodolite.reporting.results.document import results_document
from theodolite.reporting.terminal.summary import summary_text


def published(evidence, findings):
    """Return everything that is made of findings: results, screen and page."""
    screen = summary_text(evidence, findings, facts(), words())
    return results_document(evidence, findings, facts()), screen, report_html(evidence, findings, facts(), assets())


def never(evidence):
    pytest.fail("it was measured again")


class Counting:
    """Measures and counts how often it was asked to."""

    def __init__(self):
        self.n = 0

    def __call__(self, evidence):
        self.n += 1
        return measure_study(evidence)


@pytest.mark.parametrize("evidence", [live_evidence, xstest_evidence, grown_live])
def test_unchanged_evidence_is_measured_once(tmp_path, evidence):
    measure = Counting()

    first, second = (measured(evidence(), tmp_path, measure) for _ in range(2))

    assert published(evidence(), first) == published(evidence(), second)
    stored = [(path.name, path.read_bytes()[:64]) for path in tmp_path.iterdir()]
    assert measure.n == 1, (stored, fingerprint_of(evidence()), fingerprint_of(evidence()))


def test_findings_have_no_sets():
    """The order of a set differs between two equal ones of strings, so a file could not repeat it exactly."""
    assert "uniqueItems" not in str(TypeAdapter(Findings).json_schema())


def test_stored_findings_equal_measured_ones_on_random_studies(tmp_path):
    for seed in range(12):
        evidence = random_study(Random(seed)).evidence  # noqa: S311  # studies to test with, no secrets
        measured(evidence, tmp_path, measure_study)

        again = measured(evidence, tmp_path, never)
        assert published(evidence, again) == published(evidence, measure_study(evidence))


def test_a_changed_record_is_measured_again(tmp_path):
    measure, evidence = Counting(), live_evidence()
    annotations = list(evidence.archive.annotations())
    revised = [replace(annotations[0], revision=2), *annotations[1:]]

    for one in (evidence, changed(evidence, annotations=annotations[1:]), changed(evidence, annotations=revised)):
        measured(one, tmp_path, measure)

    assert measure.n == 3


@pytest.mark.parametrize("content", [b"", b"no findings", b"\xff\n{", b"{}\n{}"])
def test_a_damaged_file_is_replaced(tmp_path, content):
    measure, evidence = Counting(), live_evidence()
    measured(evidence, tmp_path, measure)
    (file,) = tmp_path.glob("findings-*")
    file.write_bytes(content)

    measured(evidence, tmp_path, measure)
    assert measure.n == 2


def test_findings_with_a_mismatching_header_are_measured_again(tmp_path):
    measure, evidence = Counting(), live_evidence()
    measured(evidence, tmp_path, measure)
    (file,) = tmp_path.glob("findings-*")
    file.write_bytes(fingerprint_of(evidence).encode() + b'\n{"measurements": 3}')

    assert measured(evidence, tmp_path, measure) == measure_study(evidence)


def test_findings_with_participants_are_not_stored(tmp_path):
    measured(pooled_evidence(), tmp_path, measure_study)

    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_workspace_still_returns_the_result(tmp_path):
    file = tmp_path / "file"
    file.write_text("")

    assert measured(live_evidence(), file / "workspace", measure_study) == measure_study(live_evidence())
