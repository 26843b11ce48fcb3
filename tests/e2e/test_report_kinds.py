"""Reports of published studies and of an event in a browser: no barrier, error, request or overflow."""

from __future__ import annotations

import csv
import gzip
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.test_accessibility import RULES_OF_COLOUR, barriers_of_tabs
from tests.golden.test_human_labels import rows
from tests.integration.published.recorded import run_recorded
from tests.integration.published.test_dices import study_of
from tests.integration.published.test_llm_rubric import STUDY as RUBRIC
from tests.integration.published.test_llm_rubric import judged
from tests.integration.run.test_compare import DRIFT, LABELS

pytestmark = [pytest.mark.browser, pytest.mark.integration, pytest.mark.timeout(300)]


def llm_rubric(folder: Path) -> Path:
    run_recorded(folder, [judged(row) for row in rows("llm_rubric_q0")], RUBRIC)
    return folder


def dices(folder: Path) -> Path:
    """Forty dialogues and twelve raters produce every chart."""
    dialogues = [row for row in rows("dices_labels") if row["set"] == "350"][:40]
    labels = [
        {f"rater{place}": letter for place, letter in enumerate(row["labels"][:12])} | {"expert": row["expert"]}
        for row in dialogues
    ]
    run_recorded(folder, labels, study_of(12))
    return folder


def llm_drift(folder: Path) -> Path:
    with gzip.open(LABELS, "rt", encoding="utf-8", newline="") as file:
        labelled = [row for row in csv.DictReader(file) if row["task"] == "sensitive"]
    (folder / "study.yaml").write_text(DRIFT, encoding="utf-8")
    with (folder / "answers.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "prompt", "response", "system", "yes"])
        writer.writerows([row["id"], row["id"], "-", row["system"], row["yes"]] for row in labelled)
    command = [sys.executable, "-m", "theodolite", "run", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


KINDS = {"llm-rubric": llm_rubric, "dices": dices, "llm-drift": llm_drift}


@pytest.fixture(scope="module", params=[*KINDS, "event"])
def report(request, tmp_path_factory):
    """A report of one kind, created in a process without DATABASE_URL."""
    if request.param == "event":
        folder, found = request.getfixturevalue("played")
        return (folder / found["results"]).with_name("report.html")
    with pytest.MonkeyPatch.context() as surroundings:
        surroundings.delenv("DATABASE_URL", raising=False)
        return KINDS[request.param](tmp_path_factory.mktemp(request.param)) / "report.html"


@pytest.mark.parametrize(("scheme", "rules"), [("light", None), ("dark", RULES_OF_COLOUR)], ids=["light", "dark"])
def test_no_tab_of_a_report_has_a_barrier_an_error_or_a_request(report, browser, scheme, rules):
    page = browser.new_context(viewport={"width": 1280, "height": 800}, bypass_csp=True, color_scheme=scheme).new_page()
    complaints, requests = [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(report.as_uri())
    tabs = [tab.get_attribute("data-tab") for tab in page.locator(".tabs a").all()]
    found = barriers_of_tabs(page, tabs, rules)
    page.context.close()

    assert found == []
    assert len(tabs) > 5
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []


def test_no_tab_is_wider_than_a_phone(report, browser):
    page = browser.new_context(viewport={"width": 390, "height": 844}).new_page()
    page.goto(report.as_uri())
    too_wide = []
    for name in [tab.get_attribute("data-tab") for tab in page.locator(".tabs a").all()]:
        page.goto(f"{report.as_uri()}#{name}")
        expect(page.locator(".tabs a[aria-current]")).to_have_attribute("data-tab", name)
        if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            too_wide.append(name)
    page.context.close()

    assert too_wide == []


def test_print_shows_every_chart_and_splits_no_small_part(report, browser):
    page = browser.new_context().new_page()
    page.goto(report.as_uri())
    page.emulate_media(media="print")
    charts = page.locator("#report .chart").all()
    hidden = [chart.get_attribute("aria-label") for chart in charts if not chart.is_visible()]
    split = page.locator("#report .spread-row, #report .kpis, #report .reads li, #report figure.block").evaluate_all(
        "parts => parts.filter(part => getComputedStyle(part).breakInside !== 'avoid').map(part => part.className)"
    )
    split += page.locator("#report table").evaluate_all(
        "tables => tables.filter(table => table.tBodies[0].rows.length <= 8"
        " && getComputedStyle(table).breakInside !== 'avoid').map(table => table.className)"
    )
    hidden += page.locator("#report .chart .shape").evaluate_all(
        "shapes => shapes.filter(shape => getComputedStyle(shape).display === 'none').map(shape => shape.outerHTML)"
    )
    page.context.close()

    assert hidden == []
    assert split == []
