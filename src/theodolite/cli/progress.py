"""How far a run is: counts, and a plain line every ten seconds for a log (`bars.py` draws for a terminal)."""

from __future__ import annotations

from dataclasses import dataclass, field

import click

from theodolite.domain.annotation import Annotation, Outcome
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.run import Failure, Spending
from theodolite.domain.text import cost_text
from theodolite.ports.progress import Clock

_FEWEST, _ENOUGH, _REACH = 3, 100, 10
"""Units by which the time left is told at least, and in any case (counts); units to which one may stand.

Those that end first say little of many that were begun together and end soon after them.
"""

_EVERY_S = 10.0
_UNITS = ((1_000_000, "M"), (1_000, "k"))


@dataclass(slots=True)
class _ProgressTally:
    """Counts of one kind of unit."""

    total: int = 0
    done: int = 0
    failed: int = 0
    unparseable: int = 0


@dataclass(slots=True)
class Counts:
    """What a run has done so far, and how fast."""

    clock: Clock
    sessions: _ProgressTally = field(default_factory=_ProgressTally)
    annotations: _ProgressTally = field(default_factory=_ProgressTally)
    total: Spending = field(default_factory=Spending)
    before: Spending | None = None
    started_s: float = 0.0
    done_before: int = 0

    def begin(self, *, sessions: int, annotations: int, done: int, annotated: int) -> None:
        """Learn how much there is to do; counts."""
        self.sessions = _ProgressTally(total=sessions, done=done)
        self.annotations = _ProgressTally(total=annotations, done=annotated)
        self.done_before = done + annotated
        self.started_s = self.clock.monotonic_s()

    def session(self, result: Dialogue | Failure) -> None:
        """Count a session."""
        self.sessions.done += 1
        self.sessions.failed += isinstance(result, Failure)

    def annotation(self, result: Annotation | Failure) -> None:
        """Count an annotation."""
        self.annotations.done += 1
        if isinstance(result, Failure):
            self.annotations.failed += 1
        elif any(answer.outcome is Outcome.UNPARSEABLE for answer in result.answers):
            self.annotations.unparseable += 1

    def over(self, *, sessions: int, annotations: int) -> None:
        """Learn how many units are over, whichever process did them; counts."""
        # What is stored may be a moment behind what was told.
        self.sessions.done = max(self.sessions.done, sessions)
        self.annotations.done = max(self.annotations.done, annotations)

    def spent(self, total: Spending) -> None:
        """Learn what has been spent."""
        if self.before is None:
            self.before = total
        self.total = total

    @property
    def done_earlier(self) -> str:
        """What earlier sittings or runs brought, in a sentence; empty where nothing did. Asked at the beginning."""
        if not self.done_before:
            return ""
        parts = [f"{self.sessions.done:,} of {self.sessions.total:,} dialogues"]
        if self.annotations.total:
            parts.append(f"{self.annotations.done:,} of {self.annotations.total:,} annotations")
        rest = self.sessions.total + self.annotations.total - self.done_before
        return f"Already complete: {', '.join(parts)}; {'running the rest' if rest else 'nothing to run'}."

    @property
    def calls_per_s(self) -> float:
        """Calls of this sitting a second."""
        elapsed = self.clock.monotonic_s() - self.started_s
        calls = self.total.calls - (self.before.calls if self.before else 0)
        return calls / elapsed if elapsed > 0 else 0.0

    @property
    def left(self) -> str:
        """Time left, e.g. `0:14 left`; empty while nobody can tell."""
        over = self.sessions.done + self.annotations.done
        fresh = over - self.done_before
        to_do = self.sessions.total + self.annotations.total - over
        if to_do <= 0 or fresh < max(_FEWEST, min(to_do / _REACH, _ENOUGH)):
            return ""
        seconds = int((self.clock.monotonic_s() - self.started_s) / fresh * to_do)
        return f"{seconds // 60}:{seconds % 60:02d} left"

    @property
    def money(self) -> str:
        """What the run has cost, e.g. `$0.61`; empty where no price is known."""
        if self.total.unpriced_calls and not self.total.cost_microusd:
            return ""
        return cost_text(self.total.cost_microusd)

    @property
    def tokens(self) -> str:
        """What was read and written, e.g. `12.3k tokens`; empty where nobody counts them."""
        n = self.total.tokens
        if not n:
            return ""
        few = next((f"{n / unit:.1f}{sign}" for unit, sign in _UNITS if n >= unit), f"{n}")
        return f"{few} tokens"

    def words(self, tally: _ProgressTally, *, of_sessions: bool) -> str:
        """Return what stands behind a bar."""
        parts = [f"{tally.done:,}/{tally.total:,}"]
        if not of_sessions:
            parts.append(f"{tally.unparseable:,} unparseable")
        if tally.failed or of_sessions:
            parts.append(f"{tally.failed:,} failed")
        if of_sessions:
            parts += [f"{self.calls_per_s:.1f} calls/s", self.money, self.left]
        # Where room is: behind the bar of assessment, or of the only one there is.
        if not of_sessions or not self.annotations.total:
            parts.append(self.tokens)
        return "  ".join(part for part in parts if part)


class PlainProgress:
    """Writes one line every ten seconds, for logs; `quiet` keeps standard output free for JSON."""

    def __init__(self, clock: Clock, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._clock = clock
        self._counts = Counts(clock)
        self._last_s = 0.0

    def begin(self, *, sessions: int, annotations: int, done: int, annotated: int) -> None:
        """Learn how much there is to do; counts."""
        self._counts.begin(sessions=sessions, annotations=annotations, done=done, annotated=annotated)
        self._last_s = self._clock.monotonic_s()
        if self._counts.done_earlier:
            click.echo(self._counts.done_earlier, err=self._quiet)

    def session(self, result: Dialogue | Failure) -> None:
        """Count a session."""
        self._counts.session(result)
        self._maybe_write()

    def annotation(self, result: Annotation | Failure) -> None:
        """Count an annotation."""
        self._counts.annotation(result)
        self._maybe_write()

    def over(self, *, sessions: int, annotations: int) -> None:
        """Learn how many units are over, whichever process did them; counts."""
        self._counts.over(sessions=sessions, annotations=annotations)

    def spent(self, total: Spending) -> None:
        """Learn what has been spent."""
        self._counts.spent(total)
        self._maybe_write()

    def end(self) -> None:
        """Write nothing more: the summary follows."""

    def _maybe_write(self) -> None:
        if self._clock.monotonic_s() - self._last_s >= _EVERY_S:
            self._last_s = self._clock.monotonic_s()
            counts = self._counts
            test = counts.words(counts.sessions, of_sessions=True)
            assess = counts.words(counts.annotations, of_sessions=False)
            click.echo(f"test {test}; assess {assess}", err=self._quiet)
