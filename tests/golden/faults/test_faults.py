"""Broken studies lead to the screens that stand beside them."""

from __future__ import annotations

import pytest

from tests.golden.faults.snapshots import EXPECTED, case_names, read_case, screen
from theodolite.config.loading import load_study
from theodolite.config.yaml_source import InvalidStudyError, Severity


@pytest.mark.parametrize("name", case_names())
def test_a_broken_study_gives_the_stored_screen(name, tmp_path):
    files = read_case(name)

    assert screen(files, tmp_path) == files[EXPECTED]


@pytest.mark.parametrize("name", [name for name in case_names() if "fault" in read_case(name)[EXPECTED]])
def test_a_broken_study_is_never_accepted(name, tmp_path):
    files = read_case(name)
    screen(files, tmp_path)

    with pytest.raises(InvalidStudyError) as caught:
        load_study(tmp_path)

    assert all(fault.severity is Severity.ERROR for fault in caught.value.placed)


def test_no_screen_repeats_a_secret():
    for name in case_names():
        assert not any(secret in read_case(name)[EXPECTED] for secret in ("sk-abc", "0f9e8d7c", "abcdef01"))
