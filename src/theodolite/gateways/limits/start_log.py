"""The log of starts: what a limit per minute must remember when the program ends.

A process that was killed has used up part of the minute, and the next one must
know. Times are those of the wall clock, the only one that two processes share.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from theodolite.domain.identity import digest
from theodolite.ports.clock import Clock

LARGEST_BYTES = 1_000_000
"""Size at which the log drops what is too old to matter."""


class StartLog:
    """One file of lines, one start each: seconds since 1970 and tokens."""

    def __init__(self, path: Path, clock: Clock) -> None:
        """Keep the path; the file is made with the first start."""
        self._path = path
        self._clock = clock
        self._size = 0

    def recall(self, span_s: float) -> list[tuple[float, int]]:
        """Return the starts of the last seconds as age and tokens, the oldest first; seconds and counts.

        A start that seems to lie in the future (the clock was put back) counts as
        one of this moment: better to wait too long once than to break a limit.
        """
        now_s = self._now_s()
        recent = [(max(0.0, now_s - moment_s), tokens) for moment_s, tokens in self._read()]
        kept = sorted((age for age in recent if age[0] <= span_s), reverse=True)
        self._rewrite(kept, now_s)
        return kept

    def note(self, tokens: int, *, span_s: float) -> None:
        """Write down a start before it happens; a log that cannot be written limits this process alone."""
        line = f"{self._now_s():.6f} {tokens}\n"
        with contextlib.suppress(OSError):
            with self._path.open("a", encoding="ascii") as file:
                file.write(line)
            self._size += len(line)
            if self._size > LARGEST_BYTES:
                self.recall(span_s)

    def _now_s(self) -> float:
        moment: datetime = self._clock.now()
        return moment.timestamp()

    def _read(self) -> Iterator[tuple[float, int]]:
        try:
            lines = self._path.read_text(encoding="ascii", errors="replace").splitlines()
        except OSError:
            return
        for line in lines:
            with contextlib.suppress(ValueError):  # a kill may leave half a line
                moment_s, tokens = line.split()
                yield float(moment_s), int(tokens)

    def _rewrite(self, kept: list[tuple[float, int]], now_s: float) -> None:
        text = "".join(f"{now_s - age_s:.6f} {tokens}\n" for age_s, tokens in kept)
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            fresh = self._path.with_suffix(".new")
            fresh.write_text(text, encoding="ascii")
            fresh.replace(self._path)
            self._size = len(text)


def start_log(folder: Path, clock: Clock, *parts: str) -> StartLog:
    """Return the log of an endpoint; its name is a hash, since hosts and models hold any letters."""
    return StartLog(folder / f"{digest(*parts)[:16]}.starts", clock)
