"""Label files of a study: written for people, and read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from theodolite.bootstrap.files import write_whole
from theodolite.bootstrap.permission import require_output_inside
from theodolite.bootstrap.study_context import StudyContext
from theodolite.config.diagnostics import InvalidStudyError
from theodolite.config.imports.label_files import ReadLabels, label_file_text, read_label_file
from theodolite.domain.annotating.label_sample import KeptLabels, LabelSample
from theodolite.domain.errors import InputError
from theodolite.domain.evidence import Evidence
from theodolite.usecases.describing_people import keep_descriptions
from theodolite.usecases.keeping_labels import label_key, labels_to_keep
from theodolite.usecases.label_requests import LabelRequest
from theodolite.usecases.sampling_labels import DrawnLabels, draw_labels


def write_label_sample(context: StudyContext, request: LabelRequest, path: Path, *, by: str = "") -> DrawnLabels:
    """Draw dialogues for people to label, write their file and keep how they were drawn.

    Raises:
        InputError: If the file is there already: it may contain labels.
        StorageUnavailable: If it cannot be written.
    """
    if path.exists():
        message = f"`{path}` exists and may contain labels. Name another file"
        raise InputError(message)
    require_output_inside(context.loaded.folder, path)
    drawn = draw_labels(context.evidence(), request)
    write_whole(path, label_file_text(drawn.slips, name=path.name, by=by))
    context.store.file(LabelSample.subject(context.loaded.study.name), drawn.sample)
    return drawn


def read_labels(context: StudyContext, path: Path, *, by: str = "", store: bool = True) -> tuple[KeptLabels, int]:
    """Read what people labelled and store it, all or nothing.

    Returns:
        What is new, and the rows without an answer; count.

    Raises:
        InvalidStudyError: If the file holds faults; says all of them.
    """
    evidence = context.evidence()
    read = read_label_file(path, label_key(evidence), by=by)
    if read.faults:
        raise InvalidStudyError(read.faults, ending="Nothing was stored.")
    kept = keep_read(context, evidence, read, store=store)
    return kept, read.n_open


def keep_read(context: StudyContext, evidence: Evidence, read: ReadLabels, *, store: bool) -> KeptLabels:
    """Return what a file without faults adds to what is known, and store it if that is wanted."""
    kept = replace(labels_to_keep(evidence, read.labels), annotator_attributes=read.annotator_attributes)
    if store:
        context.store.keep_labels(kept.to_store)
        keep_descriptions(context.store, kept.annotator_attributes, now=context.clock.now())
    return kept
