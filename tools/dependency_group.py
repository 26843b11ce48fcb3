"""Print the requirements of one dependency group of pyproject.toml, one a line.

The pip of a fresh environment may be too old to know dependency groups.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path


def requirements(group: str) -> list[str]:
    """Return the requirements of a group, included groups first."""
    groups = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    listed: list[str] = []
    for entry in groups[group]:
        listed += [entry] if isinstance(entry, str) else requirements(entry["include-group"])
    return listed


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1])))
