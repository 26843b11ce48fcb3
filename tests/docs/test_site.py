"""The navigation of the documentation site has every page that the contents list, once."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]

PROGRAM = """
import json, sys
sys.path.insert(0, "tools")
from docs_site import pages_by_section, site_config
readme = open("docs/README.md", encoding="utf-8").read()
print(json.dumps([site_config(readme), pages_by_section(readme)]))
"""


def files_in(entry: object) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    parts = entry.values() if isinstance(entry, dict) else entry
    return [file for part in parts for file in files_in(part)]


def test_every_page_is_in_the_navigation_once() -> None:
    made = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True)
    config, sections = json.loads(made.stdout)
    listed = files_in(list(sections.values()))
    assert len(listed) > 50
    assert Counter(files_in(config["nav"])) == Counter(["README.md", *listed])
    guides = next(entry for entry in config["nav"] if "How-to guides" in entry)["How-to guides"]
    roles = [role for group in guides for role in group]
    assert roles[:2] == ["Applications and models", "Builds and operation"]
