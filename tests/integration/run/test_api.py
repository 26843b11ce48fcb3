"""The Python interface returns the results of the command."""

from __future__ import annotations

import asyncio
import json
import shutil
from importlib import resources
from pathlib import Path

import pytest

import theodolite
from theodolite.domain.errors import RunStopped, StudyError
from theodolite.domain.run import RunState

pytestmark = pytest.mark.integration


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    folder = tmp_path / "toy"
    shutil.copytree(str(resources.files("theodolite.resources") / "demo" / "spoiler-guard"), folder)
    return folder


def test_a_study_is_run_and_measured(toy: Path) -> None:
    ran = theodolite.run(str(toy))

    assert ran.status.run.state is RunState.FINISHED
    assert len([*ran.evidence.archive.dialogues()]) == ran.status.planned == 12
    rates = [m for m in ran.findings.measurements if m.measure == "defect_rate"]
    assert rates[0].result.n == 12
    assert json.loads(Path(ran.written.results).read_text(encoding="utf-8"))["study"]["name"] == "spoiler-guard"


async def test_a_study_runs_within_a_running_event_loop(toy: Path) -> None:
    await asyncio.sleep(0)

    assert theodolite.run(str(toy), limit=2).status.dialogues == 2


def test_an_unreachable_endpoint_is_named(toy: Path) -> None:
    study = toy / "study.yaml"
    text = study.read_text(encoding="utf-8")
    dead = "    {kind: http, url: 'http://127.0.0.1:9/chat', body: {q: '{{ prompt }}'}}\n"
    begin, end = text.index("    {kind: python"), text.index("scenarios:")
    study.write_text(text[:begin] + dead + text[end:], encoding="utf-8")

    with pytest.raises(RunStopped, match="application `toy-guard` cannot be used: nobody answers"):
        theodolite.run(str(toy))


def test_all_errors_of_a_study_are_reported(toy: Path) -> None:
    (toy / "study.yaml").write_text("study: broken\napplikations: {}\n", encoding="utf-8")

    with pytest.raises(StudyError, match=r"Did you mean\s+`applications`"):
        theodolite.load_study(toy)


def test_unexported_names_are_not_accessible() -> None:
    with pytest.raises(AttributeError, match="no attribute `walk`"):
        theodolite.walk  # noqa: B018
