"""Write mkdocs.yml, the configuration of the documentation site: its navigation follows docs/README.md."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

_LINK = re.compile(r"- \[(?P<title>.+)\]\((?P<file>[^)]+)\)")

Page = dict[str, str]


def pages_by_section(readme: str) -> dict[str, list[Page | dict[str, list[Page]]]]:
    """Return the pages that the contents list, by heading; headings of the third level are groups."""
    sections: dict[str, list[Page | dict[str, list[Page]]]] = {}
    listed: list[Any] = []
    for line in readme.splitlines():
        if line.startswith("## "):
            listed = sections[line[3:].strip()] = []
        elif line.startswith("### "):
            group: list[Page] = []
            next(reversed(sections.values())).append({line[4:].strip(): group})
            listed = group
        elif (link := _LINK.fullmatch(line.strip())) and sections:
            listed.append({link["title"]: link["file"]})
    return sections


def site_config(readme: str) -> dict[str, object]:
    """Return the configuration of the site generator.

    Args:
        readme: The contents, docs/README.md.
    """
    sections = pages_by_section(readme)
    nav: list[object] = [{"Start": "README.md"}]
    nav += [{name: pages} for name, pages in sections.items()]
    features = ["navigation.tabs", "navigation.sections", "navigation.top", "search.highlight", "content.code.copy"]
    return {
        "site_name": "Theodolite",
        "site_description": "Measures the risks of GenAI applications",
        "docs_dir": "docs",
        "site_dir": "build/site",
        "use_directory_urls": False,
        "theme": {"name": "material", "variant": "classic", "font": False, "features": features},
        "plugins": ["search"],
        "markdown_extensions": ["attr_list", "tables", {"toc": {"permalink": True}}],
        "nav": nav,
    }


def main() -> None:
    """Write the file; JSON is YAML."""
    config = site_config((ROOT / "docs" / "README.md").read_text(encoding="utf-8"))
    (ROOT / "mkdocs.yml").write_text(json.dumps(config, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
