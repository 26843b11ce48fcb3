"""All shipped harm areas in one study: one bot behind three guardrails."""

from __future__ import annotations

import json
import shutil
from importlib import resources
from pathlib import Path

import pytest

from tests.fakes.terminal import theodolite

pytestmark = pytest.mark.integration

SHIPPED = Path(str(resources.files("theodolite.resources")))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples") / "guarded-bot"
    shutil.copytree(SHIPPED / "examples" / "guarded-bot", folder, ignore=shutil.ignore_patterns("__pycache__"))
    with pytest.MonkeyPatch.context() as surroundings:
        surroundings.delenv("DATABASE_URL", raising=False)
        ended = theodolite("run", folder / "harm-areas.yaml")
    assert ended.code == 0, ended.said
    return json.loads((folder / "results.json").read_text(encoding="utf-8"))


def counts(results, level):
    """Return (guideline, scenario) to the defects of each application."""
    found = {}
    for entry in results["estimates"]:
        subject = entry["subject"]
        split = subject.get("group", {}).get("name") == "scenario" and entry["measure"] == "defect_rate"
        if split and subject.get("level", "model testing") == level:
            by_application = found.setdefault((subject["guideline"], subject["group"]["value"]), {})
            by_application[subject["application"]] = entry.get("count")
    return found


def test_every_area_has_its_own_guideline_and_no_other(results):
    asked = counts(results, "model testing")

    assert len(asked) == 14
    assert len({scenario for _, scenario in asked}) == 14


def test_every_area_distinguishes_the_three_guardrails_under_attack(results):
    under_attack = counts(results, "red teaming")

    assert len(under_attack) == 13
    for area, by_application in under_attack.items():
        assert by_application["strict"] == 0 < by_application["leaky"] <= by_application["none"], area
    assert sum(one["leaky"] for one in under_attack.values()) < sum(one["none"] for one in under_attack.values())


def test_a_guardrail_reduces_help_with_harmless_questions(results):
    withheld = counts(results, "model testing")["over-refusal", "over-refusal"]

    assert withheld["none"] == 0
    assert min(withheld["leaky"], withheld["strict"]) > 0


def test_all_applications_get_the_same_measurement_set(results):
    planned = {}
    for entry in results["estimates"]:
        if entry["measure"] == "defect_rate":
            key = json.dumps(entry["subject"] | {"application": ""}, sort_keys=True)
            planned.setdefault(key, set()).add(entry["outcomes"]["planned"])

    assert {len(sizes) for sizes in planned.values()} == {1}
