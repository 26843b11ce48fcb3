"""The privacy review of a run: without it, texts of sessions with people may not leave the workspace."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from pydantic import Field

from theodolite.config.validation import Filled, Spec, validated
from theodolite.config.yaml_source import InvalidStudyError, read_yaml
from theodolite.domain.errors import InputError

PRIVACY_REVIEW = "privacy-review.yaml"
"""Name of the file in the study's folder."""


class PrivacyReviewSpec(Spec):
    """A person's statement that the texts of a run may leave the workspace."""

    run: int = Field(ge=1)
    """Number of the run whose texts were reviewed."""
    reviewer: Filled
    """Name or role of the reviewer."""
    finished: date | None = None
    """Day on which the review ended, e.g. `2026-03-09`; a review without it is not finished."""
    note: str = ""
    """Scope and findings of the review."""


def require_privacy_review(folder: Path, run: int) -> None:
    """Refuse to write texts of people unless the study folder contains a finished review of that run.

    Args:
        folder: The study's folder.
        run: Number of the run.

    Raises:
        InputError: If there is no review, if it is not finished, or if it concerns another run.
        InvalidStudyError: If the file has errors; lists all of them.
    """
    file = folder / PRIVACY_REVIEW
    if not file.is_file():
        message = (
            f"people took part in run {run}, so its texts need a finished privacy review: write `{file}` with "
            f"`run: {run}`, `reviewer: NAME` and `finished: YYYY-MM-DD`, or leave out --include-text"
        )
        raise InputError(message)
    source = read_yaml(file.read_bytes(), file.name)
    review = validated(source, PrivacyReviewSpec, owner="the privacy review")
    if review is None or source.faults:
        raise InvalidStudyError(tuple(source.faults), ending="Nothing was written.")
    if review.run != run:
        message = (
            f"`{file}` reviews run {review.run}; the export is of run {run}. Review its texts, then set `run: {run}`"
        )
        raise InputError(message)
    if review.finished is None:
        message = f"the privacy review of run {run} in `{file}` is not finished: add `finished: YYYY-MM-DD`"
        raise InputError(message)
