from __future__ import annotations

from theodolite.config.connections import HttpSpec
from theodolite.config.study import StudySpec
from theodolite.config.validation import KIND, keys_of, sections_with, spec_at


def test_sections_are_found_with_one_or_many_entries():
    assert sections_with(StudySpec, "repeats") == ["sampling", "levels"]
    assert sections_with(StudySpec, "reply") == ["applications"]
    assert sections_with(StudySpec, "colour") == []


def test_a_location_in_a_file_has_the_schema_of_its_kind():
    assert spec_at(StudySpec, ("applications", "bot", f"{KIND}http")) is HttpSpec
    assert "seed" in keys_of(spec_at(StudySpec, ("sampling",)))
    assert spec_at(StudySpec, ("study",)) is None
