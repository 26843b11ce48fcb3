"""A finished study is read where nothing can be written: read-only media, caches of CI."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.fakes.terminal import theodolite

pytestmark = pytest.mark.integration

STUDY = """\
study: shop
models: {m: {script: [Good day]}}
applications: {app: {kind: model, model: m}}
scenarios: {buy: {scripts: {hello: [Hello]}}}
judges: {rude: {ask: "Rude?", defect: "== yes", rule: {any: [day], then: yes, else: no}}}
"""


@pytest.fixture
def archived(tmp_path, monkeypatch):
    """A finished study in a read-only folder."""
    home = tmp_path / "shop"
    home.mkdir()
    (home / "study.yaml").write_text(STUDY)
    assert theodolite("run", home).code == 0
    folders = [home, *(path for path in home.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    if os.access(home, os.W_OK):  # root may write anywhere, so the system is asked for somebody else
        real = os.access
        monkeypatch.setattr(
            os, "access", lambda path, mode: False if mode == os.W_OK and Path(path) in folders else real(path, mode)
        )
    before = sorted(path.name for path in home.rglob("*"))
    yield home
    assert sorted(path.name for path in home.rglob("*")) == before
    for folder in folders:
        folder.chmod(0o755)


def test_status_and_results_of_an_archive_are_shown(archived, tmp_path):
    assert "finished" in theodolite("status", archived).out

    reported = theodolite("report", archived, "--out", tmp_path / "out")

    assert reported.code == 0, reported.said
    assert (tmp_path / "out" / "report.html").exists()
    assert theodolite("show", archived, "d001").code == 0


def test_a_run_on_a_read_only_archive_is_refused_with_a_message(archived):
    said = theodolite("run", archived, "--new-run")

    assert said.code == 3
    assert "Traceback" not in said.said
    assert "write" in said.said
