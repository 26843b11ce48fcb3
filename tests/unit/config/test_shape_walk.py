from __future__ import annotations

from theodolite.config.shape_walk import keys_of, sections_with, shape_at
from theodolite.config.shapes.applications import HttpShape
from theodolite.config.shapes.base import KIND
from theodolite.config.shapes.study import StudyShape


def test_sections_are_found_whether_they_are_one_entry_or_hold_many():
    assert sections_with(StudyShape, "repeats") == ["sampling", "levels"]
    assert sections_with(StudyShape, "reply") == ["applications"]
    assert sections_with(StudyShape, "colour") == []


def test_a_place_in_a_file_has_the_shape_of_its_kind():
    assert shape_at(StudyShape, ("applications", "bot", f"{KIND}http")) is HttpShape
    assert "seed" in keys_of(shape_at(StudyShape, ("sampling",)))
    assert shape_at(StudyShape, ("study",)) is None
