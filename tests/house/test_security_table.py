"""The table of security tests names tests that exist."""

from __future__ import annotations

import re

from tests.house.tree import ROOT

_NAMED = re.compile(r"`(?P<file>tests/[\w/]+\.py)::(?P<test>test_\w+)`")


def test_every_security_test_of_the_table_exists():
    page = (ROOT / "docs" / "reference" / "security-tests.md").read_text(encoding="utf-8")
    named = [(found["file"], found["test"]) for found in _NAMED.finditer(page)]

    missing = [
        f"{file}::{test}"
        for file, test in named
        if not (ROOT / file).exists() or f"def {test}(" not in (ROOT / file).read_text(encoding="utf-8")
    ]
    assert named
    assert missing == []
