"""The documents hold together: links lead somewhere, decisions stay short, nothing is lost."""

from __future__ import annotations

import json
import re

import click
from tests.browser_pages import Job, documented_actions
from tests.house.tree import ROOT, modules
from tools import json_reference
from tools.check_docs import crowded_lines, faults
from tools.cli_reference import PAGE, contexts_of, reference, root_command

from theodolite.cli.main import WITHOUT_JSON

VARIABLE = re.compile(r"(?:environ(?:\.get)?[\[(]|getenv\(|envvar=)\s*\"(?P<name>[A-Z][A-Z_]+)\"")


def test_the_documents_have_no_automatically_detectable_error():
    assert faults() == []


def test_the_page_of_commands_equals_the_output_of_the_commands():
    assert PAGE.read_text(encoding="utf-8") == reference()


def test_the_page_of_json_output_equals_the_schema():
    schema = json.loads(json_reference.SCHEMA.read_text(encoding="utf-8"))

    assert json_reference.PAGE.read_text(encoding="utf-8") == json_reference.page_text(schema)


def test_every_command_has_documented_json_output_or_a_reason_for_none():
    commands = [one for one in contexts_of(root_command(), "theodolite") if not isinstance(one.command, click.Group)]
    takes_json = {
        one.command_path.partition(" ")[2]: any("--json" in option.opts for option in one.command.params)
        for one in commands
    }
    schema = json.loads(json_reference.SCHEMA.read_text(encoding="utf-8"))
    documented = {json_reference.command_of(name) for name in json_reference.commands(schema)}

    assert {name for name, takes in takes_json.items() if takes} == documented
    assert {name for name, takes in takes_json.items() if not takes} == WITHOUT_JSON.keys()


def test_every_environment_variable_in_use_is_documented():
    page = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    read = {found["name"] for path in modules() for found in VARIABLE.finditer(path.read_text(encoding="utf-8"))}

    assert sorted(name for name in read if f"`{name}`" not in page) == []


def test_a_line_with_two_sentences_is_detected(tmp_path, monkeypatch):
    monkeypatch.setattr("tools.check_docs.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("One sentence, e.g. This. Another one.\nA single one.\n", encoding="utf-8")

    assert len(list(crowded_lines(page))) == 1


def test_main_jobs_meet_their_targets_of_clicks_and_keys():
    documented = documented_actions()

    assert set(documented) == set(Job)
    over = {job: actions.count for job, actions in documented.items() if actions.count > actions.target}
    assert over == {}
