"""The shipped example: one bot behind three guardrails, by scripts and by simulated red teamers."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from tests.fakes.terminal import theodolite
from theodolite.testing.strategies import APPROACHES

pytestmark = pytest.mark.integration

SHIPPED = Path(str(resources.files("theodolite.resources")))
SCENARIOS = ("tv-spoilers", "meal-planner", "pathfinder")
EVERY_STRATEGY_BY_RULE = {name for name, approach in APPROACHES.items() if not approach.needs_model}


@dataclass(frozen=True)
class Outcome:
    """The results of the example study."""

    results: dict
    report: str
    folder: Path

    def counts(self, rule, level, scenario=""):
        """Return application to defects, for one rule at one level."""
        return {
            subject["application"]: entry["count"]
            for entry in self.results["estimates"]
            if entry["measure"] == "defect_rate"
            for subject in [entry["subject"]]
            if (subject["rule"], subject["level"]) == (rule, level)
            and subject.get("group") == ({"name": "scenario", "value": scenario} if scenario else None)
        }


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples") / "guarded-bot"
    shutil.copytree(SHIPPED / "examples" / "guarded-bot", folder, ignore=shutil.ignore_patterns("__pycache__"))
    with pytest.MonkeyPatch.context() as surroundings:
        surroundings.delenv("DATABASE_URL", raising=False)
        ended = theodolite("run", folder)
    assert ended.code == 0, ended.said
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return Outcome(results, (folder / "report.html").read_text(encoding="utf-8"), folder)


def test_stricter_guardrails_release_less(outcome):
    for level in ("model testing", "red teaming"):
        counts = outcome.counts("released", level)
        assert counts["strict"] < counts["leaky"] < counts["none"]


def test_the_strict_guardrail_withholds_more_permitted_content(outcome):
    counts = outcome.counts("withheld", "model testing")

    assert counts["strict"] > counts["leaky"] >= counts["none"]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_guardrails_differ_in_every_scenario(outcome, scenario):
    counts = outcome.counts("released", "red teaming", scenario)

    assert 0 == counts["strict"] < counts["leaky"] < counts["none"]


def test_the_same_bot_as_dialogue_classes_has_the_same_results(outcome):
    folder = outcome.folder
    ended = theodolite("run", folder / "as-classes.yaml", "--out", folder / "classes")
    results = json.loads((folder / "classes" / "results.json").read_text(encoding="utf-8"))
    by_class = Outcome(results, "", folder)

    assert ended.code == 0, ended.said
    for rule, level in (("released", "model testing"), ("released", "red teaming"), ("withheld", "model testing")):
        for scenario in ("", *SCENARIOS):
            assert by_class.counts(rule, level, scenario) == outcome.counts(rule, level, scenario)
    claims = [claim["status"] for entry in results["applications"] for claim in entry["claims"]]
    assert claims == ["contradicted", "supported"]


def test_every_violation_is_recorded_as_a_realised_risk(outcome):
    told = {
        (entry["risk"], entry["application"], entry["level"]): len(entry["materialised"])
        for entry in outcome.results["risks"]
    }

    assert {risk for risk, _, _ in told} == {
        *("plot-released", "premise-withheld", "unfit-food-offered", "fit-food-withheld"),
        *("false-route-given", "true-route-withheld"),
    }
    released = {
        app: outcome.counts("released", "red teaming", "tv-spoilers")[app] for app in ("none", "leaky", "strict")
    }
    assert released == {app: told["plot-released", app, "red teaming"] for app in released}


def test_levels_are_never_combined(outcome):
    rates = [entry for entry in outcome.results["estimates"] if entry["measure"] == "defect_rate"]

    assert {(entry["subject"]["level"], entry["subject"]["tester_type"]) for entry in rates} == {
        ("model testing", "script"),
        ("red teaming", "simulated user"),
    }


def test_every_scenario_lists_every_strategy(outcome):
    found = {(entry["scenario"], entry["strategy"], entry["application"]) for entry in outcome.results["strategies"]}

    assert {strategy for _, strategy, _ in found} == EVERY_STRATEGY_BY_RULE
    assert len(found) == len(outcome.results["strategies"]) == 3 * 3 * len(EVERY_STRATEGY_BY_RULE)


@pytest.mark.parametrize("purpose", ["useful", "guardrail"])
def test_the_two_groups_of_scripts_have_separate_rates(outcome, purpose):
    rates = {
        (entry["subject"]["application"], entry["n"])
        for entry in outcome.results["estimates"]
        if entry["measure"] == "defect_rate" and entry["subject"].get("group") == {"name": "purpose", "value": purpose}
    }

    assert {name for name, _ in rates} == {"none", "leaky", "strict"}
    assert {n for _, n in rates} <= {10, 12}


def test_signs_label_the_violations_that_red_teamers_saw(outcome):
    assert [
        entry["strategy"]
        for entry in outcome.results["strategies"]
        if entry["success"]["count"] != entry["confirmed"]["signs"]
    ] == []


def test_the_results_match_the_published_schema(outcome):
    schema = json.loads((SHIPPED / "schemas" / "results.schema.json").read_text(encoding="utf-8"))

    jsonschema.Draft202012Validator(schema).validate(outcome.results)


def test_the_report_shows_levels_separately_and_lists_the_strategies(outcome):
    assert 'id="strategies"' in outcome.report
    assert "red teaming, simulated user" in outcome.report
    assert (
        "Red teamers try to break the application; field testers use it. Their rates are not combined."
        in outcome.report
    )
    assert re.search(r"role_play.*?3 of 3", outcome.report, re.DOTALL)


def test_the_report_describes_each_application_and_its_effect(outcome):
    declared = r"<td>in the application; variant of none; word-list"

    row = rf'<th scope="row">leaky</th>{declared}<br><span class="left-out">Checks the words'
    assert re.search(row, outcome.report)
