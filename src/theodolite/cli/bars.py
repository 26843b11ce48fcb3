"""How far a run is, drawn on a terminal; rich is loaded for nobody else."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Column

from theodolite.cli.progress import Counts
from theodolite.cli.terminal import wants_colour
from theodolite.domain.annotation import Annotation
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.run import Failure, Spending
from theodolite.ports.progress import Clock

_DRAWN_EVERY_S = 0.125
_WIDEST, _NARROWEST = 20, 1
_NAME = 9


class BarProgress:
    """Draws one bar for testing and one for assessment."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._counts = Counts(clock)
        self._drawn_s = 0.0
        console = Console(no_color=not wants_colour(), highlight=False)
        # Plain letters' own colour: red and green would look like verdicts.
        self._bar = BarColumn(bar_width=_WIDEST, style="dim", complete_style="bold", finished_style="bold")
        name = TextColumn("  {task.description:<7}", table_column=Column(no_wrap=True, min_width=_NAME))
        columns = (name, self._bar, TextColumn("{task.fields[words]}"))
        self._bars = Progress(*columns, console=console, refresh_per_second=8)
        self._test = TaskID(0)
        self._assess = TaskID(0)

    def begin(self, *, sessions: int, annotations: int, done: int, annotated: int) -> None:
        """Draw the bars as they stand; counts."""
        self._counts.begin(sessions=sessions, annotations=annotations, done=done, annotated=annotated)
        if self._counts.done_earlier:
            self._bars.console.print(self._counts.done_earlier)
        self._test = self._bars.add_task("test", total=sessions, completed=done, words="")
        self._assess = self._bars.add_task("assess", total=annotations, completed=annotated, words="")
        self._draw()
        self._bars.start()

    def session(self, result: Dialogue | Failure) -> None:
        """Count a session."""
        self._counts.session(result)
        self._maybe_draw()

    def annotation(self, result: Annotation | Failure) -> None:
        """Count an annotation."""
        self._counts.annotation(result)
        self._maybe_draw()

    def over(self, *, sessions: int, annotations: int) -> None:
        """Learn how many units are over, whichever process did them; counts."""
        self._counts.over(sessions=sessions, annotations=annotations)

    def spent(self, total: Spending) -> None:
        """Learn what has been spent."""
        self._counts.spent(total)
        self._maybe_draw()

    def end(self) -> None:
        """Leave the bars as they stand."""
        self._draw()
        self._bars.stop()

    def _maybe_draw(self) -> None:
        """Draw at most eight times a second: nobody reads faster, and a run may end a thousand units in one."""
        if self._clock.monotonic_s() - self._drawn_s >= _DRAWN_EVERY_S:
            self._draw()

    def _draw(self) -> None:
        self._drawn_s = self._clock.monotonic_s()
        counts = self._counts
        test, assess = counts.sessions, counts.annotations
        tested, assessed = counts.words(test, of_sessions=True), counts.words(assess, of_sessions=False)
        # The words go first: a narrow terminal has a shorter bar.
        room = self._bars.console.width - _NAME - max(len(tested), len(assessed)) - 2
        self._bar.bar_width = max(_NARROWEST, min(_WIDEST, room))
        self._bars.update(self._test, completed=test.done, words=tested)
        self._bars.update(self._assess, completed=assess.done, words=assessed)
