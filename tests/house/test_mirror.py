"""`tests/unit` mirrors the package: who reads a module finds its tests by its name."""

from __future__ import annotations

from pathlib import Path

from tests.house.tree import PACKAGE, ROOT

UNIT = ROOT / "tests" / "unit"

EXCEPTIONS = {
    "cli/test_init_from_study.py",
    "config/test_bound_scenarios.py",
    "config/test_hostile_studies.py",
    "config/test_study_page.py",
    "domain/test_records.py",
    "domain/test_study_questions.py",
    "measurement/study/test_pools.py",
    "measurement/test_door.py",
    "measurement/trees/test_values.py",
    "reporting/test_claims.py",
    "reporting/test_codings.py",
    "reporting/test_trees.py",
    "reporting/test_turn_level.py",
    "testing/test_attacks.py",
    "testing/test_bound_applications.py",
    "usecases/test_resuming.py",
}
"""Tests of a behaviour that several modules share. This list only shrinks: merge a file into the test of its module."""


def mirrors(test: Path) -> bool:
    """Tell whether a test has the place and name of a module or package, or stands in a folder named for a module."""
    folder = PACKAGE / test.relative_to(UNIT).parent
    place = folder / test.stem.removeprefix("test_")
    return place.is_dir() or place.with_suffix(".py").is_file() or folder.with_suffix(".py").is_file()


def strangers() -> set[str]:
    return {str(test.relative_to(UNIT)) for test in UNIT.rglob("test_*.py") if not mirrors(test)}


def test_each_unit_test_file_mirrors_a_source_file():
    assert sorted(strangers() - EXCEPTIONS) == [], "expected FOLDER/test_MODULE.py or FOLDER/MODULE/test_SUBJECT.py"


def test_the_list_of_exceptions_is_minimal():
    assert sorted(EXCEPTIONS - strangers()) == []
