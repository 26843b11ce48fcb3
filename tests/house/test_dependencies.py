"""Libraries that the program brings: licences that NOTICE must name, and versions with known holes."""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError, metadata

from packaging.requirements import Requirement
from packaging.version import Version
from tests.house.tree import ROOT

SAFE_FROM = {
    "cryptography": "44.0.1",  # CVE-2024-12797
    "django": "5.2.8",  # CVE-2025-64459
    "jinja2": "3.1.6",  # CVE-2025-27516
    "filelock": "3.20.1",  # CVE-2025-68146
    "markdown-it-py": "4.0.0",  # tables of few letters grow to any size before it
}
"""Earliest version of a library without a hole that is known to concern it."""


def requirements() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [line for name, lines in project["optional-dependencies"].items() if name == "postgres" for line in lines]
    return [Requirement(line) for line in (*project["dependencies"], *extras)]


def licence_of(name: str) -> str:
    try:
        told = metadata(name)
    except PackageNotFoundError:
        return ""
    kinds = [line for line in told.get_all("Classifier", []) if line.startswith("License ::")]
    return " ".join([(told.get("License") or "").partition("\n")[0], told.get("License-Expression") or "", *kinds])


def test_the_notice_names_every_library_with_a_copyleft_licence():
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    found = [one.name for one in requirements() if "LGPL" in (text := licence_of(one.name)) or "General Public" in text]

    assert {"python-stdnum", "psycopg"} <= {*found}
    assert [name for name in found if name not in notice] == []


def test_no_version_with_a_known_vulnerability_is_allowed():
    bounds = {
        one.name: Version(part.version) for one in requirements() for part in one.specifier if part.operator == ">="
    }

    assert {name: str(bounds[name]) for name, safe in SAFE_FROM.items() if bounds[name] < Version(safe)} == {}
