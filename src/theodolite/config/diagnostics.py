"""Diagnostics with file, line and column, and their text form."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from theodolite.domain.errors import StudyError
from theodolite.domain.fault import Diagnostic, Severity
from theodolite.domain.printable import printable, printable_line

if TYPE_CHECKING:
    pass

_WIDTH = 78

_WIDEST_PLACE = 40

_FEW = 50

_RANK = {Severity.FAULT: 0, Severity.NOTE: 1, Severity.OPEN: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedDiagnostic:
    """A fault and where it stands.

    Attributes:
        file: Path as the user would write it, relative to the study's folder.
        message: What came, what was expected, what to do.
        line: Line from 1; 0 where the file as a whole is meant.
        column: Column from 1; 0 where the line as a whole is meant.
        width: Characters that are meant; count.
        severity: Whether it stops the study.
        excerpt: The line itself, secrets struck out; empty where it helps nobody.
    """

    file: str
    message: str
    line: int = 0
    column: int = 0
    width: int = 1
    severity: Severity = Severity.FAULT
    excerpt: str = ""

    @property
    def place(self) -> str:
        """`file`, `file:line`, or for faults `file:line:column`."""
        column = self.column if self.severity is Severity.FAULT else 0
        numbers = [str(number) for number in (self.line, column) if number]
        return ":".join([self.file, *numbers])

    @property
    def words(self) -> str:
        """The message with the severity in front where it is no fault."""
        return self.message if self.severity is Severity.FAULT else f"{self.severity.value}: {self.message}"


@dataclass(slots=True)
class Diagnostics:
    """Everything that was found wrong so far, in no order; `first` is the file that is shown first."""

    first: str = ""
    placed: dict[LocatedDiagnostic, None] = field(default_factory=dict)

    def add(self, *faults: LocatedDiagnostic) -> None:
        """Keep faults, each once."""
        self.placed.update(dict.fromkeys(faults))

    def in_order(self) -> tuple[LocatedDiagnostic, ...]:
        """Return the worst first, then in the order of the files."""
        names = dict.fromkeys([self.first, *(fault.file for fault in self.placed)])
        files = {name: place for place, name in enumerate(names)}

        def rank(fault: LocatedDiagnostic) -> tuple[int, bool, int, int, int]:
            return _RANK[fault.severity], fault.line > 0, files[fault.file], fault.line, fault.column

        return tuple(sorted(self.placed, key=rank))


def few_of(faults: Sequence[LocatedDiagnostic], file: str) -> tuple[LocatedDiagnostic, ...]:
    """Return as many faults of a file's rows as people read, and how many there are besides."""
    n_more = len(faults) - _FEW
    rest = (LocatedDiagnostic(file=file, message=f"has {n_more:,} further faults"),) if n_more > 0 else ()
    return (*faults[:_FEW], *rest)


def render_diagnostics(
    faults: Sequence[LocatedDiagnostic],
    *,
    limit: int | None = 20,
    color: bool = False,
    ending: str = "Nothing was run, nothing was sent.",
) -> str:
    """Return the faults as a terminal shows them, with a count where something must be mended.

    Args:
        faults: What was found, worst first.
        limit: Faults that are shown at most; None for all.
        color: Whether the terminal understands colours.
        ending: What stands behind the count of faults.
    """
    shown = list(faults if limit is None else faults[:limit])
    longest = max((len(fault.place) for fault in shown), default=0)
    width = min(max(longest + 2, min(longest + 3, 18)), _WIDEST_PLACE)
    lines: list[str] = []
    for number, fault in enumerate(shown):
        lines += _wrapped(fault, width)
        if number == 0 and fault.excerpt and fault.column and fault.severity is Severity.FAULT:
            lines += _excerpt(fault, color=color)
    if len(shown) < len(faults):
        lines.append(f"and {len(faults) - len(shown)} more (--all)")
    return "\n".join([*lines, *_closing(faults, ending)])


def _wrapped(fault: LocatedDiagnostic, width: int) -> list[str]:
    """Return place and words, on as many lines as the terminal's width asks for."""
    lines = textwrap.wrap(printable(fault.words), _WIDTH + 2 - width, break_long_words=False, break_on_hyphens=False)
    place = printable_line(fault.place)
    if len(fault.place) >= width:  # a path that leaves no room beside it gets a line of its own
        return [place, *(" " * width + line for line in lines)]
    first, rest = lines[0] if lines else "", lines[1:]
    return [f"{place:<{width}}{first}", *(" " * width + line for line in rest)]


def _closing(faults: Sequence[LocatedDiagnostic], ending: str) -> list[str]:
    n_faults = sum(fault.severity is Severity.FAULT for fault in faults)
    if not n_faults:
        return []
    return [f"{n_faults} fault{'' if n_faults == 1 else 's'}. {ending}"]


def _excerpt(fault: LocatedDiagnostic, *, color: bool) -> list[str]:
    """Show the line with carets under the words that are meant, cut to the terminal's width."""
    room = _WIDTH - 8
    start = max(0, fault.column - 1 + fault.width - room + 3) if fault.column + fault.width > room else 0
    text = printable(fault.excerpt[start:].replace("\t", " "))
    if len(text) > room:
        text = text[: room - 3] + "..."
    indent = " " * (fault.column - 1 - start)
    carets = "^" * max(1, min(fault.width, room - len(indent)))
    if color:
        carets = f"\x1b[31m{carets}\x1b[0m"
    return [f"{fault.line:>5} | {text}", f"      | {indent}{carets}"]


class InvalidStudyError(StudyError):
    """A study's files hold faults; `placed` says where each of them stands."""

    def __init__(
        self, placed: tuple[LocatedDiagnostic, ...], *, ending: str = "Nothing was run, nothing was sent."
    ) -> None:
        """Keep the faults, worst first; `ending` says what did not happen because of them."""
        faults = (Diagnostic(path=(), message=fault.words, severity=fault.severity) for fault in placed)
        super().__init__(render_diagnostics(placed, ending=ending), faults=faults)
        self.placed = placed
