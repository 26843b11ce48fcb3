"""Inspect View shows a log that we wrote, in a browser: the task, the rates, and the dialogue of a sample."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.browser_pages import ARGUMENTS, CHROMIUM, PATIENCE_MS
from tests.fakes.evidence import live_evidence
from tests.wire.servers import free_port, serving
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.exporting.inspect_log import inspect_log_name, write_inspect_log

SHOTS = os.environ.get("THEODOLITE_SHOTS", "")
"""Folder in which pictures are left for people to look at; a temporary one if empty."""


@pytest.fixture
def page():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        opened = browser.new_page(viewport={"width": 1400, "height": 900})
        opened.set_default_timeout(PATIENCE_MS)
        yield opened
        browser.close()


def picture(page: Page, folder: Path, name: str) -> Path:
    path = Path(SHOTS or folder) / f"{name}.png"
    page.screenshot(path=str(path))
    return path


def test_inspect_view_shows_an_export(page: Page, tmp_path: Path) -> None:
    evidence = live_evidence()
    application, findings = evidence.study.applications[0].name, measure_study(evidence)
    logs = tmp_path / "logs"
    logs.mkdir()
    with (logs / inspect_log_name(evidence, application)).open("wb") as file:
        write_inspect_log(file, evidence, findings, application, include_text=True)
    dialogue = next(one for one in evidence.archive.dialogues() if one.application == application)

    port = free_port()
    address = f"http://127.0.0.1:{port}"
    command = ["-m", "inspect_ai", "view", "start", "--log-dir", str(logs), "--host", "127.0.0.1", "--port", str(port)]
    with serving(command, address, tmp_path):
        page.goto(address)
        page.get_by_text(evidence.study.name).first.click()
        expect(page.get_by_text(dialogue.label, exact=True).first).to_be_visible()
        listed = picture(page, tmp_path, "inspect-view-samples")
        page.get_by_text(dialogue.label, exact=True).first.click()
        expect(page.get_by_text(dialogue.turns[0].prompt).first).to_be_visible()
        expect(page.get_by_text(dialogue.turns[0].response).first).to_be_visible()
        opened = picture(page, tmp_path, "inspect-view-sample")
    assert min(listed.stat().st_size, opened.stat().st_size) > 10_000
