"""Sliding windows: at most so many starts, and so many tokens, in any minute."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from theodolite.domain.identity import digest
from theodolite.ports.progress import Clock

SPAN_S = 60.0
"""Length of the window that providers mean by "per minute"; seconds."""

_MARGIN = 0.01
"""Share by which a window is longer here than there: two clocks never agree."""

_UNDER_WAY = 0.05
"""Share of a window for which a call may be under way; it counts from its arrival, which nobody here sees."""

_SHORTEST_WAIT_S = 0.001


@dataclass(slots=True)
class Start:
    """One start that a window remembers.

    Attributes:
        moment_s: When it arrived at the latest; seconds on the clock that the window is asked by.
        tokens: What it took or is expected to take; count.
        is_past: Whether the window has forgotten it.
    """

    moment_s: float
    tokens: int = 0
    is_past: bool = False


class Window:
    """Remembers starts and says how long the next one has to wait.

    Not a bucket that fills up again: a bucket lets nearly twice its size pass
    within one window. What counts is each start that the last window really saw.
    Of tokens the answer alone tells how many there were, so a start is entered
    with an estimate and put right afterwards.
    """

    __slots__ = ("_requests", "_span_s", "_starts", "_tokens", "_tokens_in_window", "_under_way_s")

    def __init__(self, *, requests: int | None = None, tokens: int | None = None, span_s: float = SPAN_S) -> None:
        """Remember nothing yet.

        Args:
            requests: Starts in any window at most; count, None for no limit.
            tokens: Tokens in any window at most; count, None for no limit.
            span_s: Length of the window; seconds.
        """
        self._requests = requests
        self._tokens = tokens
        self._span_s = span_s * (1 + _MARGIN)
        self._under_way_s = span_s * _UNDER_WAY
        self._starts: deque[Start] = deque()
        self._tokens_in_window = 0

    @property
    def span_s(self) -> float:
        """How long a start is remembered; seconds."""
        return self._span_s

    @property
    def is_empty(self) -> bool:
        """Whether no start is remembered."""
        return not self._starts

    def keep_to(self, *, requests: int | None = None, tokens: int | None = None) -> None:
        """Keep to these limits as well; the smallest of each holds.

        Args:
            requests: Starts in any window at most; count, None for no further limit.
            tokens: Tokens in any window at most; count, None for no further limit.
        """
        self._requests = _smallest(self._requests, requests)
        self._tokens = _smallest(self._tokens, tokens)

    def recall(self, starts: Iterable[tuple[float, int]]) -> None:
        """Take in earlier starts as moment and tokens, the oldest first; seconds and counts."""
        for moment_s, tokens in starts:
            self.start(moment_s, tokens)

    def wait_s(self, now_s: float, tokens: int = 0) -> float:
        """Return how long a start has to wait; seconds, 0 if it may be now.

        A call that alone is larger than the window waits until the window is empty.

        Args:
            now_s: The present moment; seconds.
            tokens: What the call is expected to take; count.
        """
        self._forget(now_s)
        n_over = len(self._starts) + 1 - self._requests if self._requests is not None else 0
        tokens_over = self._tokens_in_window + tokens - self._tokens if self._tokens is not None else 0
        if n_over <= 0 and tokens_over <= 0:
            return 0.0
        free_at_s = now_s
        for start in self._starts:
            if n_over <= 0 and tokens_over <= 0:
                break
            n_over, tokens_over = n_over - 1, tokens_over - start.tokens
            free_at_s = max(free_at_s, start.moment_s + self._span_s)  # each is forgotten after those before it
        return max(_SHORTEST_WAIT_S, free_at_s - now_s) if self._starts else 0.0

    def start(self, now_s: float, tokens: int = 0) -> Start:
        """Enter a start and return it, to be settled later."""
        begun = Start(now_s + self._under_way_s, tokens)
        self._starts.append(begun)
        self._tokens_in_window += tokens
        return begun

    def settle(self, start: Start, now_s: float, tokens: int | None = None) -> None:
        """Put right what is known of a start once its call has ended.

        Args:
            start: What `start` returned.
            now_s: The present moment, by which it has arrived; seconds.
            tokens: What it has really taken; count, None where unknown.
        """
        start.moment_s = min(start.moment_s, now_s)
        if tokens is not None and not start.is_past:
            self._tokens_in_window += tokens - start.tokens
            start.tokens = tokens

    def _forget(self, now_s: float) -> None:
        while self._starts and now_s - self._starts[0].moment_s > self._span_s:
            oldest = self._starts.popleft()
            oldest.is_past = True
            self._tokens_in_window -= oldest.tokens


def _smallest(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


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
        stored = sorted((age for age in recent if age[0] <= span_s), reverse=True)
        self._rewrite(stored, now_s)
        return stored

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
