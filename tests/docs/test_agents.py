"""Coding agents find the skill and the pages that `llms.txt` lists."""

from __future__ import annotations

import re

from ruamel.yaml import YAML
from tests.house.tree import ROOT

SKILLS = sorted((ROOT / "skills").glob("*/SKILL.md"))


def test_a_skill_has_the_name_of_its_folder_and_a_description():
    assert SKILLS
    for skill in SKILLS:
        _, front, body = skill.read_text(encoding="utf-8").split("---\n", 2)
        header = YAML(typ="safe").load(front)

        assert header["name"] == skill.parent.name
        assert 0 < len(header["description"]) <= 1024
        assert body.lstrip().startswith("# ")


def test_the_list_for_agents_has_title_summary_and_described_links():
    lines = (ROOT / "llms.txt").read_text(encoding="utf-8").splitlines()
    bullets = [line for line in lines if line.startswith("- ")]

    assert lines[0] == "# Theodolite"
    assert lines[2].startswith("> ")
    assert [line for line in bullets if not re.fullmatch(r"- \[[^\]]+\]\([^)]+\): .+", line)] == []


def test_the_list_for_agents_names_every_page_of_reference_that_describes_a_file_or_command():
    text = (ROOT / "llms.txt").read_text(encoding="utf-8")

    assert [name for name in ("cli", "study-file", "results-json") if f"docs/reference/{name}.md" not in text] == []
