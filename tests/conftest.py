"""What holds for all tests."""

from __future__ import annotations

import os

import pytest


def _refused(report):
    """Turn a skip into a failure where `CI` is set: there, nothing that a test needs may be missing."""
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and in CI nothing is: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Look at the report of each test."""
    return _refused((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    """Look at the report of each file: a whole file may skip itself."""
    return _refused((yield))
