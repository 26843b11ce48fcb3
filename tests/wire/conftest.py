"""Other people's packages warn about each other, and leave connections open; that is theirs to mend."""

import warnings

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.filterwarnings("default"))
        if item.get_closest_marker("timeout") is None:  # a marker of the test would hide that of its module
            item.add_marker(pytest.mark.timeout(180))


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure() -> None:
    """Let objects that are collected after the last test warn without an error of the whole program."""
    warnings.simplefilter("ignore")
