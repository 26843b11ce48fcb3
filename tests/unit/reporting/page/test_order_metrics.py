"""Order metrics in the report and in the summary: values with units, reasons, and what is undefined."""

from __future__ import annotations

import json

import jsonschema
import pytest

from tests.fakes.evidence import facts
from tests.fakes.report import schema_named, words
from tests.unit.measurement.study.test_order_metrics import EIGHT, RISING, scored
from theodolite.config.load_context import report_assets
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.page.order_metrics import order_blocks
from theodolite.reporting.page.report import report_html
from theodolite.reporting.page.subject import subject_of
from theodolite.reporting.results.document import results_document
from theodolite.reporting.terminal.summary import summary_text


def blocks(study):
    evidence = study.evidence()
    return order_blocks(subject_of(evidence, measure_study(evidence), facts(), words()))


def test_a_row_names_both_units_of_permutation_entropy():
    (block,) = blocks(scored(judge=EIGHT, ann=RISING))

    (row,) = block.table.rows
    assert row[:4] == ("bot", "judge", "8", "4.50")
    assert row[4].startswith("0.6931 nats, 0.39 normalised (medium")
    assert block.rankings.rows[0][:3] == ("bot", "ann", "judge")
    assert "<svg" in block.sequences[0].chart


def test_too_few_scores_are_reported_instead_of_a_row():
    (block,) = blocks(scored(judge=EIGHT[:5]))

    assert block.table is None
    assert block.undefined == ("bot by judge: undefined: order metrics need 8 scores; there are 5.",)


def test_the_page_escapes_reasons_and_draws_without_scripts():
    evidence = scored(judge=(1, *EIGHT)).evidence()
    page = report_html(evidence, measure_study(evidence), facts(), report_assets())

    assert 'id="order-metrics"' in page
    assert "no reason was given" in page


@pytest.mark.parametrize("study", [scored(judge=EIGHT, ann=RISING), scored(judge=EIGHT[:5], ann=(1, 2))])
def test_results_conform_to_their_schema(study):
    evidence = study.evidence()
    document = json.loads(json.dumps(results_document(evidence, measure_study(evidence), facts())))

    jsonschema.validate(document["order_metrics"], _schema())


def _schema():
    whole = schema_named("results")
    return {"$defs": whole["$defs"], **whole["properties"]["order_metrics"]}


def test_the_summary_states_metrics_and_rankings():
    evidence = scored(judge=EIGHT, ann=RISING).evidence()
    text = " ".join(summary_text(evidence, measure_study(evidence), facts(), words(), width=400).split())

    assert "Order polite, bot by judge: mean 4.50, PEN 0.6931 nats, 0.39 normalised" in text
    assert "Rankings polite, bot: judge in the order of ann: tau" in text
