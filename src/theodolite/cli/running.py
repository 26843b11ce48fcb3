"""Runs a study at the terminal: endpoint checks, progress, Ctrl-C, and the text at the end."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

import click

from theodolite.bootstrap.observers import logs_json
from theodolite.bootstrap.running import RunResult, run_study, slots_for
from theodolite.bootstrap.study_context import StudyContext
from theodolite.cli.terminal import as_line, is_terminal, wants_colour, width
from theodolite.domain.annotation import Annotation, Outcome
from theodolite.domain.annotator import HandLabels, PythonLabeller, RecordedLabels
from theodolite.domain.application import AriaClass, PythonCallable
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import RunStopped
from theodolite.domain.plan import EVERYTHING, Selection
from theodolite.domain.run import Failure, Spending, UnitKind, UnitState
from theodolite.domain.study import Budget
from theodolite.domain.text import cost_text, dollars
from theodolite.domain.text import spent_text as cost_of_calls
from theodolite.execution.clients import Clients
from theodolite.ports.application import EndpointCheck
from theodolite.ports.progress import Clock, Progress
from theodolite.usecases.running import RunOptions, RunStatus, check_endpoints

if TYPE_CHECKING:
    from theodolite.domain.evidence import Evidence


USER_CODE_LOG = "theodolite.gateways.applications"
"""Logger to which the adapters of applications and judges write tracebacks of foreign code, at level DEBUG."""

NOT_FINISHED = 3
"""Exit code of an incomplete run."""

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""Signals that stop a run: Ctrl-C, and `kill` from a shell, a container or a scheduler."""


def run_interactively(
    context: StudyContext, options: RunOptions, *, progress: Progress, quiet: bool = False
) -> RunResult:
    """Run a study; the first Ctrl-C stops it cleanly.

    Raises:
        RunStopped: If an endpoint cannot be used; the message names it and the remedy.
    """

    async def check(context: StudyContext, clients: Clients, options: RunOptions) -> None:
        await check_endpoints_first(context, clients, options.kinds, selection=options.selection, quiet=quiet)

    running = run_study(
        context, options, progress=progress, before_asking=check, on_connect=_stop_on_signals, tell=note
    )
    # Output of application code must not mix with the JSON object on stdout.
    with redirect_stdout(sys.stderr) if quiet else nullcontext():
        return asyncio.run(running)


def work_interactively(
    contexts: Callable[[], Sequence[StudyContext]],
    *,
    of: str,
    until_done: bool,
    concurrency: int | None,
    as_json: bool = False,
    is_refused: Callable[[], bool] = lambda: False,
) -> int:
    """Join the open runs of studies until a signal drains the worker; return the exit code.

    Args:
        contexts: Returns the studies.
        of: Description of the studies.
        until_done: End when no run is open.
        concurrency: Concurrent calls; None for the limit of the endpoints.
        as_json: Print one object at the end instead of text.
        is_refused: Returns at the end whether a study could not be opened, so that the work is incomplete.
    """
    from theodolite.bootstrap.workers import Drain, join_runs  # a run does not need them

    async def check(context: StudyContext, clients: Clients, options: RunOptions) -> None:
        await check_endpoints_first(context, clients, options.kinds, quiet=True)

    left_runs: list[dict[str, object]] = []

    async def work() -> int:
        drain, code = Drain(), 0
        catch_stop_signals(drain.request)
        click.echo(f"Worker {socket.gethostname()}, process {os.getpid()}, waits for open runs of {of}.")
        joined = join_runs(
            contexts,
            drain=drain,
            until_done=until_done,
            options=lambda context: RunOptions(concurrency=concurrency or slots_for(context)),
            progress=lambda context: PlainProgress(context.clock),
            before_asking=check,
            tell=note,
        )
        async for left in joined:
            status = left.result.status
            code = NOT_FINISHED if status.stopped and not drain.is_requested() else code
            click.echo(_left_text(status))
            left_runs.append(_left_entry(status))
        return code

    with redirect_stdout(sys.stderr) if as_json or logs_json() else nullcontext():
        code = asyncio.run(work())
    code = NOT_FINISHED if is_refused() else code
    if as_json:
        click.echo(as_line({"exit_code": code, "runs": left_runs}))
    return code


def _left_entry(status: RunStatus) -> dict[str, object]:
    return {
        "study": status.run.study,
        "run": status.run.number,
        "stopped": status.stopped,
        "dialogues": status.dialogues,
        "planned": status.planned,
        "annotations": status.annotated,
        "due": status.due,
    }


def _left_text(status: RunStatus) -> str:
    why = f"; {status.stopped}" if status.stopped else ""
    done = f"{status.dialogues:,} of {status.planned:,} dialogues, {status.annotated:,} of {status.due:,} annotations"
    return f"Left run {status.run.number} of `{status.run.study}`: {done}{why}."


def note(text: str) -> None:
    """Print a note on standard error."""
    click.echo(f"Note: {text}.", err=True)


class _Distinct(logging.Filter):
    """Passes each record once; sixty failed calls often raise the same error."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        is_new = text not in self._seen
        self._seen.add(text)
        return is_new


@contextmanager
def tracebacks(*, shown: bool) -> Iterator[None]:
    """Print the tracebacks of the study's own code on standard error, each of them once."""
    if not shown:
        yield
        return
    if logs_json():  # the handler of the JSON lines writes them
        logging.getLogger(USER_CODE_LOG).setLevel(logging.DEBUG)
        yield
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    handler.addFilter(_Distinct())
    log = logging.getLogger(USER_CODE_LOG)
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


def progress_for(context: StudyContext, *, quiet: bool) -> Progress:
    """Return progress bars on a terminal, else plain log lines."""
    if quiet or logs_json() or not is_terminal():
        return PlainProgress(context.clock, quiet=quiet or logs_json())
    return BarProgress(context.clock)


def _stop_on_signals(clients: Clients) -> None:
    """Stop cleanly at the first SIGINT or SIGTERM; the second one ends the process at once."""

    def stop() -> None:
        clients.stop_conditions.stop(BY_USER)
        release()
        click.echo("Stopping after the calls in flight. Press Ctrl-C again to stop at once.", err=True)

    release = catch_stop_signals(stop)


def catch_stop_signals(handler: Callable[[], object]) -> Callable[[], None]:
    """Call a handler in the running loop at SIGINT and SIGTERM; return a function that ends this."""
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in _STOP_SIGNALS}

    def remove() -> None:
        for number in _STOP_SIGNALS:
            loop.remove_signal_handler(number)

    def restore() -> None:
        for number, previous in before.items():
            signal.signal(number, previous)

    try:
        for number in _STOP_SIGNALS:
            loop.add_signal_handler(number, handler)
    except RuntimeError:  # event loops of Windows have no signal handlers
        for number in _STOP_SIGNALS:
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(handler))
        return restore
    return remove


_FEWEST, _ENOUGH, _REACH = 3, 100, 10
"""Units before the time left may be shown, before it is always shown, and of a small run (counts).

The first finished units say little about the many that started with them and finish soon after.
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
    """Progress of a run, and its pace."""

    clock: Clock
    sessions: _ProgressTally = field(default_factory=_ProgressTally)
    annotations: _ProgressTally = field(default_factory=_ProgressTally)
    total: Spending = field(default_factory=Spending)
    before: Spending | None = None
    started_s: float = 0.0
    done_before: int = 0

    def begin(self, *, sessions: int, annotations: int, done: int, annotated: int) -> None:
        """Set the numbers of units to do; counts."""
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
        """Set the number of finished units of all processes; counts."""
        # The stored state may be slightly older than the displayed one.
        self.sessions.done = max(self.sessions.done, sessions)
        self.annotations.done = max(self.annotations.done, annotations)

    def spent(self, total: Spending) -> None:
        """Update the cost so far."""
        if self.before is None:
            self.before = total
        self.total = total

    @property
    def done_earlier(self) -> str:
        """Sentence about the results of earlier sessions or runs, printed at the start; empty if there are none."""
        if not self.done_before:
            return ""
        parts = [f"{self.sessions.done:,} of {self.sessions.total:,} dialogues"]
        if self.annotations.total:
            parts.append(f"{self.annotations.done:,} of {self.annotations.total:,} annotations")
        rest = self.sessions.total + self.annotations.total - self.done_before
        return f"Already complete: {', '.join(parts)}; {'running the rest' if rest else 'nothing to run'}."

    @property
    def calls(self) -> int:
        """Number of calls since this command started; shows progress during the first dialogues."""
        return self.total.calls - (self.before.calls if self.before else 0)

    @property
    def calls_per_s(self) -> float:
        """Calls of this command a second."""
        elapsed = self.clock.monotonic_s() - self.started_s
        return self.calls / elapsed if elapsed > 0 else 0.0

    @property
    def left(self) -> str:
        """Time left, e.g. `0:14 left`; empty while it is unknown."""
        over = self.sessions.done + self.annotations.done
        fresh = over - self.done_before
        to_do = self.sessions.total + self.annotations.total - over
        if to_do <= 0 or fresh < max(_FEWEST, min(to_do / _REACH, _ENOUGH)):
            return ""
        seconds = int((self.clock.monotonic_s() - self.started_s) / fresh * to_do)
        return f"{seconds // 60}:{seconds % 60:02d} left"

    @property
    def money(self) -> str:
        """Cost of the run, e.g. `$0.61`; empty if no price is known."""
        if self.total.unpriced_calls and not self.total.cost_microusd:
            return ""
        return cost_text(self.total.cost_microusd)

    @property
    def tokens(self) -> str:
        """Tokens, e.g. `12.3k tokens`; empty if the endpoints report none."""
        n = self.total.tokens
        if not n:
            return ""
        few = next((f"{n / unit:.1f}{sign}" for unit, sign in _UNITS if n >= unit), f"{n}")
        return f"{few} tokens"

    def words(self, tally: _ProgressTally, *, of_sessions: bool) -> str:
        """Return the text after a bar."""
        parts = [f"{tally.done:,}/{tally.total:,}"]
        if not of_sessions:
            parts.append(f"{tally.unparseable:,} unparseable")
        if tally.failed or of_sessions:
            parts.append(f"{tally.failed:,} failed")
        if of_sessions:
            parts += [f"{self.calls:,} calls, {self.calls_per_s:.1f}/s", self.money, self.left]
        # Position of free space: behind the bar of assessment, or of the only one there is.
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
        """Set the numbers of units to do; counts."""
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
        """Set the number of finished units of all processes; counts."""
        self._counts.over(sessions=sessions, annotations=annotations)

    def spent(self, total: Spending) -> None:
        """Update the cost so far."""
        self._counts.spent(total)
        self._maybe_write()

    def end(self) -> None:
        """Write nothing; the summary follows."""

    def _maybe_write(self) -> None:
        if self._clock.monotonic_s() - self._last_s >= _EVERY_S:
            self._last_s = self._clock.monotonic_s()
            counts = self._counts
            test = counts.words(counts.sessions, of_sessions=True)
            assess = counts.words(counts.annotations, of_sessions=False)
            click.echo(f"test {test}; assess {assess}", err=self._quiet)


_DRAWN_EVERY_S = 0.125

_WIDEST, _NARROWEST = 20, 1

_NAME = 9


class BarProgress:
    """Draws one bar for testing and one for assessment."""

    def __init__(self, clock: Clock) -> None:
        from rich.console import Console  # slow to import, and useless without a terminal
        from rich.progress import BarColumn, TaskID, TextColumn
        from rich.progress import Progress as Bars
        from rich.table import Column

        self._clock = clock
        self._counts = Counts(clock)
        self._drawn_s = 0.0
        console = Console(no_color=not wants_colour(), highlight=False)
        # The colour of plain text: red and green would look like verdicts.
        self._bar = BarColumn(bar_width=_WIDEST, style="dim", complete_style="bold", finished_style="bold")
        name = TextColumn("  {task.description:<7}", table_column=Column(no_wrap=True, min_width=_NAME))
        columns = (name, self._bar, TextColumn("{task.fields[words]}"))
        self._bars = Bars(*columns, console=console, refresh_per_second=8)
        self._test = TaskID(0)
        self._assess = TaskID(0)

    def begin(self, *, sessions: int, annotations: int, done: int, annotated: int) -> None:
        """Draw the bars with their initial counts."""
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
        """Set the number of finished units of all processes; counts."""
        self._counts.over(sessions=sessions, annotations=annotations)

    def spent(self, total: Spending) -> None:
        """Update the cost so far."""
        self._counts.spent(total)
        self._maybe_draw()

    def end(self) -> None:
        """Leave the bars unchanged."""
        self._draw()
        self._bars.stop()

    def _maybe_draw(self) -> None:
        """Draw at most eight times a second: a run may finish a thousand units in one."""
        if self._clock.monotonic_s() - self._drawn_s >= _DRAWN_EVERY_S:
            self._draw()

    def _draw(self) -> None:
        self._drawn_s = self._clock.monotonic_s()
        counts = self._counts
        test, assess = counts.sessions, counts.annotations
        tested, assessed = counts.words(test, of_sessions=True), counts.words(assess, of_sessions=False)
        # The text has priority: a narrow terminal gets a shorter bar.
        room = self._bars.console.width - _NAME - max(len(tested), len(assessed)) - 2
        self._bar.bar_width = max(_NARROWEST, min(_WIDEST, room))
        self._bars.update(self._test, completed=test.done, words=tested)
        self._bars.update(self._assess, completed=assess.done, words=assessed)


BY_USER = "stopped by you"
"""Reason of a stop that the user asked for."""

_WIDTH = 80


def stopped_text(status: RunStatus, *, spent: Spending, budget: Budget, at: datetime, command: str, path: str) -> str:
    """Return the message for a run that stopped before its plan was done."""
    if status.stopped == BY_USER:
        stored = f"{_n(status.dialogues, 'dialogue')} and {_n(status.annotated, 'annotation')} are saved"
        progress = "".join(f"\n{line}" for line in _paragraph(_progress_text(status, spent)))
        return f"Stopped. {stored}. Run the same command to resume.{progress}"
    stored = f"{status.dialogues:,} of {status.planned:,} dialogues, {status.annotated:,} of {status.due:,} annotations"
    remedy = f"{status.remedy}, then  " if status.remedy else ""
    lines = [
        *_paragraph(f"Stopped at {at.astimezone():%H:%M:%S}: {status.stopped}."),
        f"  Saved   {stored}; no call is repeated",
        *(f"          {line}" for line in _paragraph(_progress_text(status, spent))),
        f"  Cost    {spent_text(spent, budget)}",
        f"  Resume  {remedy}{command}",
        f"  Report  theodolite report {path} --partial",
    ]
    return "\n".join(lines)


def _progress_text(status: RunStatus, spent: Spending) -> str:
    """Return a note that partial dialogues are saved; empty once a dialogue is complete."""
    is_in_mid_dialogue = spent.calls and not status.dialogues
    return "Every turn of the unfinished dialogues is saved, too." if is_in_mid_dialogue else ""


def spent_text(spent: Spending, budget: Budget) -> str:
    """Return the cost, the number of calls and the budget."""
    limit = f" of {dollars(budget.usd)}" if budget.usd is not None else ""
    cost = cost_of_calls(spent.cost_microusd, spent.calls, spent.unpriced_calls)
    return f"{cost}{limit}, {_n(spent.calls, 'call')}"


def waiting_text(status: RunStatus, command: str) -> str:
    """Return the message for a run that is not complete; units that other workers have leased are counted."""
    stored = f"{status.dialogues:,} of {status.planned:,} dialogues are complete"
    n_leased = sum(states.get(UnitState.LEASED, 0) for states in (status.sessions, status.annotations))
    rest = f"; other workers have leased {_n(n_leased, 'unit')}" if n_leased else ""
    return f"Not finished: {stored}{rest}.\nResume  {command}"


def failures_text(status: RunStatus, path: str) -> str:
    """Return the last line of a run with failed units; empty if none failed."""
    counts = ((status.sessions, "dialogue"), (status.annotations, "annotation"))
    failed = [_n(states[UnitState.FAILED], noun) for states, noun in counts if states.get(UnitState.FAILED)]
    if not failed:
        return ""
    return f"Failed: {' and '.join(failed)}. Retry:  theodolite run {path} --retry-failed"


def nothing_text(status: RunStatus, evidence: Evidence, path: str, selected: Sequence[int] | None = None) -> str:
    """Return the message for a run without any dialogue or annotation, with the next step for the study at `path`.

    With `selected`, the message concerns only the sessions at these positions.
    """
    if not status.planned:
        text = (
            "All sessions of this study need human testers, and none has taken place yet: there is nothing to measure."
        )
        return "\n".join([*_paragraph(text), f"  Testers join through  theodolite serve {path}"])
    archive, dialogues = evidence.archive, evidence.answers.dialogues
    n_dialogues = status.dialogues if selected is None else sum(dialogues[at] is not None for at in selected)
    of, rate = ("", "") if selected is None else ("selected ", " for them")
    what = f"annotation{' of a selected dialogue' if of else ''}" if n_dialogues else f"{of}dialogue"
    lines = _paragraph(f"No {what} succeeded, so there is nothing to measure{rate}: the rate is undefined, not 0.")
    causes, unreadable = tuple(_causes(archive.failures(selected))), tuple(_unreadable(archive.annotations(selected)))
    lines += [line for cause in (*causes, *unreadable) for line in _paragraph(cause)]
    if causes:
        lines.append("  Fix the cause, then run again with  --retry-failed")
        if _runs_code(evidence):
            lines.append("  Tracebacks of your code:  --retry-failed --debug")
    elif unreadable:
        lines += [line for advice in _advice(evidence) for line in _paragraph(advice)]
    else:
        lines.append("  Run the same command to resume.")
    return "\n".join(lines)


def _runs_code(evidence: Evidence) -> bool:
    """Return whether a study runs its own Python code, whose tracebacks `--debug` prints."""
    connections = (application.connection for application in evidence.study.applications)
    return any(isinstance(connection, PythonCallable | AriaClass) for connection in connections) or any(
        isinstance(annotator.labelling, PythonLabeller) for annotator in evidence.study.annotators
    )


def _advice(evidence: Evidence) -> Iterator[str]:
    """Yield the remedy for unreadable labels, once per source of labels."""
    known = {annotator.name: annotator.labelling for annotator in evidence.study.annotators}
    came = [
        known.get(name) for name in dict.fromkeys(annotation.annotator for annotation in evidence.archive.annotations())
    ]
    recorded = [labelling for labelling in came if isinstance(labelling, RecordedLabels)]
    if recorded:
        columns = ", ".join(f"`{labelling.column}`" for labelling in recorded)
        yield f"  Map the values of {columns} to labels with `spelling`, then run again."
    if any(isinstance(labelling, HandLabels) for labelling in came):
        yield "  Export the answers, replace values outside the scale and import the file again."
    if len(recorded) < len(came) and not all(
        isinstance(annotation, RecordedLabels | HandLabels) for annotation in came
    ):
        yield "  Change the model or the prompt of the judge, then run again: the dialogues are saved."


def _causes(failures: Iterable[Failure]) -> Iterator[str]:
    """Yield one line per source, endpoint and kind of failure, most frequent first."""
    examples: dict[tuple[str, str, str], Failure] = {}
    counts: Counter[tuple[str, str, str]] = Counter()
    for failure in failures:
        cause = (failure.party.value, failure.endpoint, failure.kind.value)
        examples.setdefault(cause, failure)
        counts[cause] += 1
    for cause, n in counts.most_common():
        party, endpoint, kind = cause
        example = examples[cause]
        yield f"  {n:,} x {party} `{endpoint}` {kind}, e.g. {example.label}: {example.message}"


def _unreadable(annotations: Iterable[Annotation]) -> Iterator[str]:
    """Yield one line per annotator and outcome without label, with an example reply."""
    raws: dict[tuple[str, Outcome], str] = {}
    counts: Counter[tuple[str, Outcome]] = Counter()
    for annotation in annotations:
        for answer in annotation.answers:
            counts[annotation.annotator, answer.outcome] += 1
            raws.setdefault((annotation.annotator, answer.outcome), answer.raw)
    for (annotator, outcome), n in counts.most_common():
        raw = raws[annotator, outcome]
        text = f'. Reply: "{textwrap.shorten(raw, 200, placeholder=" ...")}"' if raw else ""
        yield f"  {n:,} x `{annotator}` {outcome.value}{text}"


def _paragraph(text: str) -> list[str]:
    """Wrap text for a terminal; continuation lines keep the indentation."""
    indent = "    " if text.startswith(" ") else ""
    return textwrap.wrap(text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _n(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")


async def check_endpoints_first(
    context: StudyContext,
    clients: Clients,
    kinds: frozenset[UnitKind],
    *,
    selection: Selection = EVERYTHING,
    quiet: bool,
) -> None:
    """Call each endpoint that these kinds of work need once.

    Raises:
        RunStopped: If one of them cannot be used; the message names it and the remedy.
    """
    answers = await check_endpoints(context.endpoints(clients, kinds, selection))
    checks = [check for check in answers if check.host or not check.alive]
    dead = [check for check in checks if not check.alive]
    if dead:
        raise RunStopped(_not_started(context, checks, dead))
    if checks and not quiet:
        text = ", ".join(f"{check.name} {_short(check)}" for check in checks)
        click.echo(textwrap.fill(f"Checking endpoints: {text}", width(), subsequent_indent="  "))


def _short(check: EndpointCheck) -> str:
    return check.answer.split(", answers as")[0].replace(", ", " ")


def _not_started(context: StudyContext, checks: list[EndpointCheck], dead: list[EndpointCheck]) -> str:
    name_width = max(len(check.name) for check in checks) + 3
    host_width = max(len(check.host) for check in checks) + 3
    lines = ["Checking endpoints ..."]
    for check in checks:
        location = context.place_of(check.name)
        where = f", {location}" if location and not check.alive else ""
        lines += _row(f"  {check.name:<{name_width}}{check.host:<{host_width}}", check.answer + where)
    for check in dead:
        lines += _endpoint_advice(context.users_of(check.name), check)
    if any(not check.reached for check in dead):
        lines += _on_proxies(context.environ)
    spent = sum((check.spent for check in checks if check.reached), start=Spending())
    calls = f"{spent.calls} call{'' if spent.calls == 1 else 's'}"
    lines.append(f"Nothing recorded; {calls} made ({cost_text(spent.cost_microusd)}).")
    return "\n".join(lines)


def _row(start: str, text: str) -> list[str]:
    wrapped = textwrap.wrap(text, max(20, _WIDTH - len(start)), break_long_words=False, break_on_hyphens=False)
    rest = (" " * len(start) + line for line in wrapped[1:])
    return [start + (wrapped[0] if wrapped else ""), *rest]


def _on_proxies(environ: Mapping[str, str]) -> list[str]:
    """Name the proxy variable that is set; it may be the reason why an endpoint was not reached."""
    for name in _PROXIES:
        if environ.get(name) or environ.get(name.lower()):
            return [f"  `{name}` is set: calls go through that proxy, except to hosts in `NO_PROXY` and this machine."]
    return []


def _endpoint_advice(users: str, check: EndpointCheck) -> list[str]:
    if not check.hint:
        return [f"Not started: {users} cannot be used."]
    text = "cannot be used. Try" if check.reached else "cannot be reached. Start it, or try"
    return [f"Not started: {users} {text}", f"  {check.hint}"]
