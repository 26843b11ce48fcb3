"""A pytest plugin that runs the tests in another order: `-p tests.shuffling --shuffle 7`.

Files are shuffled, and the tests within each file. A file stays whole, so that what its tests share is made once.
"""

from __future__ import annotations

import random

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", type=int, metavar="SEED", help="Seed of the order in which tests run.")


def pytest_report_header(config: pytest.Config) -> str:
    return f"shuffled with seed {config.getoption('shuffle')}"


def shuffled(items: list[pytest.Item], seed: int) -> list[pytest.Item]:
    """Return tests in an order that depends on the seed and their ids alone."""
    files: dict[str, list[pytest.Item]] = {}
    for item in sorted(items, key=lambda item: item.nodeid):
        files.setdefault(item.nodeid.partition("::")[0], []).append(item)
    chance = random.Random(seed)  # noqa: S311 - an order, no secret
    names = list(files)
    chance.shuffle(names)
    for tests in files.values():
        chance.shuffle(tests)
    return [item for name in names for item in files[name]]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    seed = config.getoption("shuffle")
    if seed is not None:
        items[:] = shuffled(items, seed)
