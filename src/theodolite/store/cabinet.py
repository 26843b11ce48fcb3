"""The cabinet: what a workspace keeps that no unit of work brings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import TypeVar

from theodolite.domain.annotation import Annotation
from theodolite.domain.identity import Record
from theodolite.domain.run import Run
from theodolite.store.contents import Contents, content_of
from theodolite.store.filing import file_record, filed_records
from theodolite.store.labels import are_there_labels, keep_labels, open_assignments
from theodolite.store.reading import parts_of
from theodolite.store.readings import Readings
from theodolite.store.workplace import Workplace

R = TypeVar("R", bound=Record)


class Cabinet:
    """Contents by their hash, records by what they are about, labels by hand by their dialogue."""

    def __init__(self, work: Workplace, contents: Contents, readings: Readings) -> None:
        """Say where the work is done, and where large texts go."""
        self._place, self._texts, self._reads = work, contents, readings

    def keep(self, record: Record) -> str:
        """Store a record unless it is there, and return its version."""
        content = content_of(record)
        self._place.write(lambda: self._texts.keep([content]))
        return content.version

    def file(self, subject: str, record: Record) -> str:
        """Keep a record under the hash of what it is about, and return its version."""
        return self._place.write(partial(file_record, self._texts, subject, record))

    def filed(self, kind: type[R], subject: str) -> list[R]:
        """Return the records of one kind that lie under a subject, the oldest first."""
        return self._place.read(partial(filed_records, self._texts, kind, subject))

    def keep_labels(self, annotations: Sequence[Annotation]) -> None:
        """Store annotations that people gave by hand, all or none."""
        self._place.write(partial(keep_labels, annotations))

    def open_assignments(self, study: str) -> list[tuple[str, str, str]]:
        """Return the dialogues that annotators of a study's queues have reserved and not submitted."""
        if not self._place.read(are_there_labels):
            return []
        return self._place.read(partial(open_assignments, study))

    def labels(self, run: Run, at: Collection[int] | None = None) -> Iterator[Annotation]:
        """Yield what people labelled by hand of a run's dialogues, latest revisions."""
        if not self._place.read(are_there_labels):
            return
        for part in parts_of(at):
            yield from self._place.stream(partial(self._reads.labels, run, part))
