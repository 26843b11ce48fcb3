"""`theodolite dry-run`: bots complete an event over HTTP, and their data are measured."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import run_event
from theodolite.dry_run.bots import MOST_ANNOTATIONS

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

DEAD = """\
study: dead
pack: aria/tv-spoilers
applications:
  green: {kind: python, call: "app.py:reply"}
levels:
  red_teaming: {people: 1, sessions: 1, minutes: 5}
"""


def test_every_bot_completes_the_event(played: tuple[Path, dict[str, Any]]) -> None:
    folder, told = played

    assert told["people"] == {"red teaming": 2, "field testing": 2}
    assert (told["completed"], told["questionnaires"], told["problems"]) == (4, 8, [])
    cells = [(cell["level"], cell["application"], cell["sessions"], cell["failed"]) for cell in told["cells"]]
    assert cells == [
        ("field testing", "careful-toy", 2, 0),
        ("field testing", "leaky-toy", 2, 0),
        ("red teaming", "careful-toy", 2, 0),
        ("red teaming", "leaky-toy", 2, 0),
    ]
    assert sum(cell["dialogues"] for cell in told["cells"]) == 12  # each of the four began anew once
    assert (folder / told["folder"] / "red-teamer-test-chat.html").exists()


def test_bots_annotate_the_dialogues_of_the_event(played: tuple[Path, dict[str, Any]]) -> None:
    folder, told = played
    kept = {file.name for file in (folder / told["folder"]).iterdir()}

    assert (told["annotators"], told["annotations"]) == (2, 2 * MOST_ANNOTATIONS)
    assert {"annotator-annotate-d.html", "senior-review-agreement.html", "senior-review.html"} <= kept


def test_dialogues_and_responses_are_measured_by_level(played: tuple[Path, dict[str, Any]]) -> None:
    folder, told = played
    results = json.loads((folder / told["results"]).read_text(encoding="utf-8"))

    assert results["run"]["completed_dialogues"] == 12
    assert {one["name"]: one["completed"] for one in results["applications"]} == {"careful-toy": 6, "leaky-toy": 6}
    testers = Counter(one["cluster"] for one in results["sessions"] if one["cluster"].startswith("tester-"))
    assert sorted(testers.values()) == [3, 3, 3, 3]
    answered = {one["level"]: (one["responses"], one["other_versions"]) for one in results["responses"]}
    assert answered == {"red teaming": (4, 0), "field testing": (4, 0)}
    assert {(one["level"], one["tester_type"]) for one in results["strategies"]} == {("red teaming", "person")}


def test_a_failure_names_the_application_that_does_not_answer(tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "study.yaml").write_text(DEAD, encoding="utf-8")
    (tmp_path / "study" / "app.py").write_text("def reply(prompt):\n    raise ConnectionError('no power')\n")

    code, told = run_event(tmp_path)

    assert code == 1
    assert {(one["source"], one["who"]) for one in told["problems"]} == {("application", "green")}
    assert all(cell["failed"] == cell["turns"] > 0 for cell in told["cells"])
    assert (told["completed"], told["results"]) == (1, "")
