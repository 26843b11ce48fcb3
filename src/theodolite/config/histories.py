"""Histories of scores: tables with one row per score."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from theodolite.config.tables import OnRows, counted
from theodolite.config.yaml_source import InvalidStudyError, LocatedDiagnostic
from theodolite.domain.annotation import Outcome
from theodolite.domain.errors import did_you_mean
from theodolite.domain.instrument import Condition, Operator
from theodolite.domain.monitoring import History, ScaleDirection, Score, ScoreColumns, in_order_of_time

ROLES: Mapping[str, tuple[str, ...]] = {
    "score": ("score", "value", "stars", "rating"),
    "at": ("at", "date", "time", "timestamp", "created"),
    "application": ("application", "app", "model", "system"),
    "item": ("item", "item_id", "id", "prompt_id"),
    "session": ("session", "session_id"),
    "batch": ("batch", "run"),
    "human": ("human", "human_score"),
    "anchor": ("anchor", "is_anchor"),
    "defect": ("defect", "is_defect"),
    "judge": ("judge", "judge_version"),
    "data": ("data", "dataset", "data_version"),
    "schema": ("schema", "guideline", "schema_version"),
    "reason": ("reason", "why", "reasoning"),
}
"""Roles of a column, and the names that are recognised without configuration."""

INSTRUMENTS = ("judge", "data", "schema")
"""Roles that are parts of the instrument."""

EARLIER = "an earlier one"
"""Version of a part before its first declared change."""

_SCALES = ((0.0, 1.0), (1.0, 5.0), (1.0, 10.0), (0.0, 100.0))
_YES = {"yes", "y", "true", "1"}
_NO = {"no", "n", "false", "0", ""}
_OUTCOMES = {outcome.value: outcome for outcome in Outcome if outcome is not Outcome.ANSWERED}
_EPOCH = re.compile(r"\d{9,13}(\.\d+)?")
_ENDING = "Nothing was watched."


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredChange:
    """A change of the instrument that is not in the table.

    Attributes:
        part: The changed part, e.g. judge.
        version: Its version from then on.
        since: Start of its validity; timezone-aware.
    """

    part: str
    version: str
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryForm:
    """Format of a table's rows.

    Attributes:
        columns: Role to column, if stated.
        scale: Lower and upper end; None to infer it from the scores.
        defect: Condition of a defect; None for no rule.
        worse: Bad end of the scale; None to infer it from the rule.
        changes: Changes of the instrument that are not in the table.
        published: Whether consecutive equal scores are one measurement that was published again.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    scale: tuple[float, float] | None = None
    defect: Condition | None = None
    worse: ScaleDirection | None = None
    changes: tuple[DeclaredChange, ...] = ()
    published: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreTable:
    """Rows of scores from any source.

    Attributes:
        name: Displayed name.
        columns: Names of the columns.
        rows: Line or number of each row, for messages, with its cells; can be read once.
        form: Detected format, e.g. `UTF-8, comma`; empty if unremarkable.
        faults: Errors in unreadable rows; complete after the last row.
    """

    name: str
    columns: Sequence[str]
    rows: Iterable[tuple[int, Sequence[str]]]
    form: str = ""
    faults: Sequence[LocatedDiagnostic] = ()


def read_history(table: ScoreTable, form: HistoryForm, *, on_rows: OnRows | None = None) -> History:
    """Return the scores of a table in order of time.

    Rows without a time keep their order. An empty score is missing, a score
    that names an outcome has that outcome, and a score that is not a number is
    unparseable; no row is dropped.

    Args:
        table: The rows.
        form: Format of the rows.
        on_rows: Called periodically with the step and its rows.

    Raises:
        InvalidStudyError: If columns or cells cannot be used; lists all errors.
    """
    if table.faults and not table.columns:
        raise InvalidStudyError(tuple(table.faults), ending=_ENDING)
    chosen, diagnostics = _columns(table, form)
    if diagnostics:
        raise InvalidStudyError((*table.faults, *diagnostics), ending=_ENDING)
    reader = _HistoryReader(table=table, form=form, columns=chosen)
    scores = ScoreColumns(reader.scores(on_rows))
    diagnostics = [*table.faults, *reader.faults]
    if not diagnostics and not len(scores):
        diagnostics = [LocatedDiagnostic(file=table.name, message="has no row; expected one for each score")]
    if not diagnostics and form.scale is None:
        diagnostics = _without_values(table, chosen["score"], scores)
    if diagnostics:
        raise InvalidStudyError(tuple(diagnostics), ending=_ENDING)
    lowest, highest = form.scale or reader.guessed_scale(scores.value)
    if reader.faults:
        raise InvalidStudyError(tuple(reader.faults), ending=_ENDING)
    scores = in_order_of_time(scores)
    if form.published:
        scores = ScoreColumns(_marked(scores))
    details = "scale " + ("given" if form.scale else "detected from the scores")
    columns = ", ".join(f"{role} <- {column}" for role, column in chosen.items())
    n_rows = f"{len(scores):,} row{'' if len(scores) == 1 else 's'}"
    described = ", ".join(part for part in (n_rows, table.form) if part)
    return History(
        name=table.name,
        scores=scores,
        lowest=lowest,
        highest=highest,
        worse=form.worse or _worse(form.defect),
        source=f"{described}; {columns}; {details}, {lowest:g} to {highest:g}",
    )


def _without_values(table: ScoreTable, column: str, scores: ScoreColumns) -> list[LocatedDiagnostic]:
    """Return a message that no row has a value, with the reasons; empty if a row has one."""
    if scores.n_of(Outcome.ANSWERED):
        return []
    counts = {outcome.value: scores.n_of(outcome) for outcome in Outcome}
    kinds = ", ".join(f"{n:,} {name}" for name, n in counts.items() if n)
    hint = f"is `{column}` the right column?" if set(filter(counts.get, counts)) == {Outcome.UNPARSEABLE.value} else ""
    message = f"none of {len(scores):,} rows has a score ({kinds}), so there is nothing to watch"
    return [LocatedDiagnostic(file=table.name, message=f"{message}; {hint}" if hint else message)]


def _columns(table: ScoreTable, form: HistoryForm) -> tuple[dict[str, str], list[LocatedDiagnostic]]:
    """Return the column of each role, and errors for the given names."""
    diagnostics = []
    for role, column in form.columns.items():
        if role not in ROLES:
            message = f"no column can be a `{role}`; expected one of {', '.join(ROLES)}{did_you_mean(role, ROLES)}"
            diagnostics.append(LocatedDiagnostic(file="--columns", message=message))
        elif column not in table.columns:
            known = ", ".join(table.columns)
            message = f"there is no column `{column}`; it has {known}{did_you_mean(column, table.columns)}"
            diagnostics.append(LocatedDiagnostic(file=table.name, message=message))
    plain = {column.casefold(): column for column in table.columns}
    chosen = {
        role: form.columns.get(role) or next((plain[name] for name in names if name in plain), "")
        for role, names in ROLES.items()
    }
    if not chosen["score"] and not diagnostics:
        message = f"no column looks like a score; say which:  --columns score=NAME  (it has {', '.join(table.columns)})"
        diagnostics.append(LocatedDiagnostic(file=table.name, message=message))
    return {role: column for role, column in chosen.items() if column}, diagnostics


def _marked(scores: Sequence[Score]) -> Iterator[Score]:
    """Yield scores, marking those equal to the preceding score of the same application and item as repeats."""
    known: dict[tuple[str, str], tuple[object, object]] = {}
    for score in scores:
        key, now = (score.application, score.item), (score.value, tuple(sorted(score.instruments.items())))
        yield replace(score, is_repeat=True) if known.get(key) == now and not score.is_anchor else score
        known[key] = now


def _worse(defect: Condition | None) -> ScaleDirection:
    return (
        ScaleDirection.HIGH if defect and defect.operator in {Operator.ABOVE, Operator.AT_LEAST} else ScaleDirection.LOW
    )


@dataclass(slots=True)
class _HistoryReader:
    """Reads rows one by one and collects the errors."""

    table: ScoreTable
    form: HistoryForm
    columns: Mapping[str, str]
    faults: list[LocatedDiagnostic] = field(default_factory=list)

    def scores(self, on_rows: OnRows | None) -> Iterator[Score]:
        """Yield the score of each row; equal texts share one object."""
        where = {role: self.table.columns.index(column) for role, column in self.columns.items()}
        for line, row in counted(self.table.rows, f"Reading scores of {self.table.name}", on_rows):
            yield self._score(line, {role: row[index].strip() for role, index in where.items()})

    def _score(self, line: int, cells: Mapping[str, str]) -> Score:
        value, outcome = _value(cells["score"])
        if outcome is Outcome.UNPARSEABLE and _is_endless(cells["score"]):
            self._complain(line, f"`{cells['score']}` in `{self.columns['score']}` is not a finite number")
        at = self._time(line, cells.get("at", ""))
        return Score(
            value=value,
            outcome=outcome,
            defect=self._defect(line, cells.get("defect"), value),
            at=at,
            application=cells.get("application", ""),
            item=cells.get("item", ""),
            session=cells.get("session", ""),
            batch=cells.get("batch", ""),
            instruments=self._instruments(cells, at),
            human=self._number(line, "human", cells.get("human", "")),
            is_anchor=self._flag(line, "anchor", cells.get("anchor", "")),
            reason=cells.get("reason", ""),
        )

    def guessed_scale(self, values: Sequence[float]) -> tuple[float, float]:
        """Return the shortest usual scale that contains all scores; NaN represents a score without a value."""
        present = {value for value in values if value == value}  # noqa: PLR0124 - NaN differs from itself
        for low, high in _SCALES:
            whole = high in {5.0, 10.0}
            if all(low <= v <= high and (not whole or v.is_integer()) for v in present):
                return low, high
        message = "the scores fit no usual scale (0..1, 1..5, 1..10, 0..100); state it:  --scale LOW..HIGH"
        self._complain(0, message)
        return 0.0, 1.0

    def _instruments(self, cells: Mapping[str, str], at: datetime | None) -> dict[str, str]:
        parts = {part: cells[part] for part in INSTRUMENTS if cells.get(part)}
        if at is not None:
            for change in sorted(self.form.changes, key=lambda declared: declared.since):
                if at >= change.since:
                    parts[change.part] = change.version
                else:
                    parts.setdefault(change.part, EARLIER)
        return parts

    def _defect(self, line: int, cell: str | None, value: float | None) -> bool | None:
        if cell is not None:
            return self._flag(line, "defect", cell) if cell else None
        if self.form.defect is None or value is None:
            return None
        return holds(self.form.defect, value)

    def _time(self, line: int, cell: str) -> datetime | None:
        if not cell:
            return None
        try:
            if _EPOCH.fullmatch(cell):
                seconds = float(cell) / (1000.0 if len(cell.partition(".")[0]) > 11 else 1.0)
                return datetime.fromtimestamp(seconds, tz=UTC)
            return aware(cell)
        except ValueError:
            self._complain(line, f"`{cell}` is not a time; expected one like 2026-03-01 or 2026-03-01T14:02:11+01:00")
            return None

    def _number(self, line: int, role: str, cell: str) -> float | None:
        value, outcome = _value(cell)
        if outcome is Outcome.UNPARSEABLE:
            self._complain(
                line, f"`{cell}` in `{self.columns[role]}` is not a number; leave it empty where there is none"
            )
        return value

    def _flag(self, line: int, role: str, cell: str) -> bool:
        if cell.casefold() not in _YES | _NO:
            self._complain(line, f"`{cell}` in `{self.columns[role]}` is neither yes nor no")
        return cell.casefold() in _YES

    def _complain(self, line: int, message: str) -> None:
        self.faults.append(LocatedDiagnostic(file=self.table.name, line=line, message=message))


def aware(text: str) -> datetime:
    """Return a time in its original time zone; a time without a zone counts as UTC.

    Raises:
        ValueError: If it is not a time.
    """
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _value(cell: str) -> tuple[float | None, Outcome]:
    if not cell:
        return None, Outcome.MISSING
    if cell.casefold() in _OUTCOMES:
        return None, _OUTCOMES[cell.casefold()]
    try:
        value = float(cell)
    except ValueError:
        return None, Outcome.UNPARSEABLE
    return (value, Outcome.ANSWERED) if abs(value) < float("inf") else (None, Outcome.UNPARSEABLE)


def _is_endless(cell: str) -> bool:
    """Return whether a text is an infinity or `nan`, which no scale contains."""
    try:
        return not math.isfinite(float(cell))
    except ValueError:
        return False


def holds(condition: Condition, value: float) -> bool:
    """Return whether a condition with numbers holds for a score."""
    limits = [float(limit) for limit in condition.values]
    return {
        Operator.EQUAL: value == limits[0],
        Operator.UNEQUAL: value != limits[0],
        Operator.BELOW: value < limits[0],
        Operator.AT_MOST: value <= limits[0],
        Operator.ABOVE: value > limits[0],
        Operator.AT_LEAST: value >= limits[0],
        Operator.ONE_OF: value in limits,
    }[condition.operator]
