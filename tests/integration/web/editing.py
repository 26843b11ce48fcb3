"""Studies whose files a test changes, and publishes."""

from __future__ import annotations

from pathlib import Path

from theodolite.domain.identity import version_of
from theodolite.web.events import publish, study_in_files
from theodolite.web.models import HostedStudy


def change(hosted: HostedStudy, before: str, after: str) -> None:
    """Replace a text in a study's file."""
    file = Path(hosted.folder) / "study.yaml"
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after))


def add(hosted: HostedStudy, lines: str) -> None:
    """Write further lines into a study's file."""
    file = Path(hosted.folder) / "study.yaml"
    file.write_text(f"{file.read_text()}\n{lines}\n")


def published(hosted: HostedStudy) -> None:
    """Publish the current files."""
    publish(hosted, hosted.made_by, version_of(study_in_files(hosted).study))
