"""Simulated users beside recorded people, from the files of a study to its results and report."""

import json
from pathlib import Path

import jsonschema
import pytest

from tests.fakes.terminal import theodolite
from theodolite.domain.undefined_reasons import DIFFERENT_APPLICATIONS

pytestmark = pytest.mark.integration

RECORDED = "old: {kind: recorded, file: said.csv, id: id, prompt: prompt, response: reply}"
SAID = """\
id,prompt,reply,age
h1,can i send it back,Yes.,old
h2,Is item 2 returnable?,Yes.,young
h3,hi there,Hello.,young
"""
SCHEMA = Path(__file__).parents[3] / "src/theodolite/resources/schemas/results.schema.json"


@pytest.fixture
def ran(study):
    """A finished study of a bot with simulated users and recorded people."""
    study.write(bot=f"{study.bot}\n  {RECORDED}", rest="groups: [age]")
    (study.folder / "said.csv").write_text(SAID, encoding="utf-8")
    ended = theodolite("run", study.folder)
    assert ended.code == 0, ended.said
    return study


def test_results_contain_both_sides(ran):
    (found,) = ran.results["realism"]
    style = {entry["mark"]: entry for entry in found["style"]}
    capital = style["share of prompts that begin with a capital letter"]

    assert (found["people"]["tester_type"], found["people"]["dialogues"]) == ("recorded", 3)
    assert (found["simulated"]["tester_type"], found["simulated"]["dialogues"]) == ("simulated user", 10)
    assert style["words a prompt"]["people"]["quartiles"] == [3, 4, 4.5]
    assert (capital["people"]["value"], capital["simulated"]["value"]) == (pytest.approx(1 / 3), 1)


def test_rates_of_both_sides_are_shown_as_measured(ran):
    rates = {entry["subject"]["application"]: entry for entry in ran.results["realism"][0]["rates"]}
    whole = [e for e in ran.results["estimates"] if e["measure"] == "defect_rate" and "group" not in e["subject"]]
    measured = {entry["subject"]["application"]: entry for entry in whole}

    for application, side in (("old", "people"), ("bot", "simulated")):
        assert rates[application][side]["value"] == measured[application]["value"]
        assert rates[application]["difference"]["undefined_reason"] == DIFFERENT_APPLICATIONS


def test_results_match_their_schema_and_the_report_has_the_section(ran):
    jsonschema.validate(ran.results, json.loads(SCHEMA.read_text(encoding="utf-8")))
    page = (ran.folder / "report.html").read_text(encoding="utf-8")

    assert 'id="realism"' in page
    assert "age: met by both: none; met by people only: old, young; met by simulated users only: none" in page


def test_without_people_there_is_no_comparison(study):
    assert theodolite("run", study.write()).code == 0

    assert study.results["realism"] == []
    assert 'id="realism"' not in (study.folder / "report.html").read_text(encoding="utf-8")
