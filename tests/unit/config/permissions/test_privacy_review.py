"""A privacy review: what it must state before texts of people leave the workspace."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from theodolite.config.permissions import PRIVACY_REVIEW, require_privacy_review
from theodolite.domain.errors import InputError, StudyError


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(None, "need a finished privacy review", id="none"),
        pytest.param("run: 2\nreviewer: Ana\n", "is not finished: add `finished: YYYY-MM-DD`", id="open"),
        pytest.param(
            "run: 1\nreviewer: Ana\nfinished: 2026-03-09\n", "reviews run 1; the export is of run 2", id="old"
        ),
    ],
)
def test_texts_are_withheld_without_a_finished_review_of_the_run(tmp_path: Path, text: str | None, message: str):
    if text is not None:
        (tmp_path / PRIVACY_REVIEW).write_text(text)

    with pytest.raises(InputError, match=re.escape(message)):
        require_privacy_review(tmp_path, 2)


def test_a_misspelt_key_is_an_error_with_its_line(tmp_path: Path):
    (tmp_path / PRIVACY_REVIEW).write_text("run: 2\nreviewer: Ana\nfinnished: 2026-03-09\n")

    with pytest.raises(StudyError, match=r"privacy-review.yaml:3:1  unknown key `finnished`"):
        require_privacy_review(tmp_path, 2)


def test_a_finished_review_of_the_run_releases_texts(tmp_path: Path):
    (tmp_path / PRIVACY_REVIEW).write_text("run: 2\nreviewer: Ana\nfinished: 2026-03-09\n")

    require_privacy_review(tmp_path, 2)
