"""Write mkdocs.yml, the configuration of the documentation site: its navigation follows docs/README.md, by role."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]

_LINK = re.compile(r"- \[(?P<title>.+)\]\((?P<file>[^)]+)\)")

_ROLES = {
    "Applications and models": "own-application other-models simulated-users recorded-file test-cases import-results "
    "audit-with-inspect corporate-network limits-and-cache resume-and-budget real-applications python-and-notebooks",
    "Builds and operation": "ci-gate compare monitor view-runs several-machines",
    "Judges and measures": "judge-in-one-line judges-one-can-trust calibrate-a-judge groundedness harm-areas "
    "marketing-texts measurement-trees share-guidelines write-a-schema",
    "Red teaming": "simulated-red-teaming own-strategy",
    "Annotation": "label-on-a-page run-a-series review-a-series import-and-export-labels",
    "Events": "run-an-event run-an-event-in-two-languages testers-pages ask-people read-testers-answers "
    "submit-an-application report-on-a-series serve postgres",
    "Publication": "document-a-study publish-a-release report-for-an-audience",
}
"""How-to guides by role; guides that stand nowhere here are under `More`."""

Page = dict[str, str]


def pages_by_section(readme: str) -> dict[str, list[Page]]:
    """Return the pages that the contents list, by its headings."""
    sections: dict[str, list[Page]] = {}
    for line in readme.splitlines():
        if line.startswith("## "):
            sections[line[3:].strip()] = []
        elif (link := _LINK.fullmatch(line.strip())) and sections:
            sections[next(reversed(sections))].append({link["title"]: link["file"]})
    return sections


def by_role(pages: list[Page]) -> list[dict[str, list[Page]]]:
    """Return how-to guides in groups; each guide is in exactly one."""
    left = {Path(file).stem: {title: file} for page in pages for title, file in page.items()}
    groups = [{role: [left.pop(name) for name in names.split() if name in left]} for role, names in _ROLES.items()]
    return [*groups, *([{"More": list(left.values())}] if left else [])]


def site_config(readme: str) -> dict[str, object]:
    """Return the configuration of the site generator.

    Args:
        readme: The contents, docs/README.md.
    """
    sections = pages_by_section(readme)
    nav: list[object] = [{"Start": "README.md"}]
    nav += [{name: by_role(pages) if name.startswith("How-to") else pages} for name, pages in sections.items()]
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
