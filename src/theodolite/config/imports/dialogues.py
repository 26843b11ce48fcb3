"""Dialogues of a table as records of a study."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TypeVar

from theodolite.config.column_guess import guess_columns
from theodolite.config.diagnostics import LocatedDiagnostic, few_of
from theodolite.config.recordings import recorded_dialogues
from theodolite.config.tables import InputTable
from theodolite.domain.brought import BroughtDialogue
from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.fault import did_you_mean
from theodolite.domain.recording import RecordedDialogue
from theodolite.domain.study import Study

W = TypeVar("W", bound=StrEnum)

HOLDERS = (TesterType.PERSON, TesterType.RECORDED)
"""Who may have held the tester's side of a dialogue that is brought."""

_SPOKEN = ("id", "turn", "prompt", "response", "context", "withheld")

_PLACED = ("application", "scenario", "level", "tester")


@dataclass(frozen=True, slots=True, kw_only=True)
class BringColumns:
    """Which column of a table means what, and what holds for all its rows.

    Attributes:
        prompt: What the tester said.
        response: What the application said.
        id: Identifies the dialogue; each row is one where empty.
        turn: Number of the turn, for dialogues of several rows.
        context: Source material that the response should rest on.
        withheld: Why a row's texts are not there.
        tester: Who held the tester's side; nobody resembles anybody where empty.
        application: Names the application; `of_application` holds where empty.
        scenario: Names the scenario; `of_scenario` holds where empty.
        level: Names the level of testing; `of_level` holds where empty.
        of_application: The application of all rows.
        of_scenario: The scenario of all rows.
        of_level: The level of all rows.
        held_by: Who held the tester's side.
    """

    prompt: str = "prompt"
    response: str = "response"
    id: str = ""
    turn: str = ""
    context: str = ""
    withheld: str = ""
    tester: str = ""
    application: str = ""
    scenario: str = ""
    level: str = ""
    of_application: str = ""
    of_scenario: str = ""
    of_level: str = ""
    held_by: str = TesterType.RECORDED.value


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBrought:
    """What a table brings.

    Attributes:
        dialogues: Those without a fault, in order of the table.
        faults: Everything that is wrong, in order of lines.
        columns: Columns of the table.
    """

    dialogues: tuple[BroughtDialogue, ...] = ()
    faults: tuple[LocatedDiagnostic, ...] = ()
    columns: tuple[str, ...] = ()


def guessed_columns(table: InputTable, study: Study) -> BringColumns:
    """Return what the columns of a table seem to be, with what the study names first where no column does."""
    found = {"prompt": "", "response": ""}
    found |= guess_columns(table).columns
    found |= {name: name for name in ("scenario", "level", "tester") if name in table.columns}
    applications, scenarios = [one.name for one in study.applications], [one.name for one in study.scenarios]
    for what, names in (("application", applications), ("scenario", scenarios)):
        found[f"of_{what}"] = "" if what in found else next(iter(names), "")
    return BringColumns(**found, of_level="" if "level" in found else Level.MODEL_TESTING.value)


def read_brought(table: InputTable, means: BringColumns, study: Study) -> ReadBrought:
    """Return the dialogues of a table; what is wrong with it stands in `faults`, all at once.

    Args:
        table: The rows.
        means: What its columns mean.
        study: Whose applications and scenarios they belong to.
    """
    if faults := [*table.faults, *(_missing(table, means) if table.columns else ())]:
        return ReadBrought(faults=few_of(faults, table.file), columns=table.columns)
    reader = _DialogueReader(table=table, means=means, study=study)
    dialogues = reader.dialogues()
    if not table.rows:
        reader.faults.append(LocatedDiagnostic(file=table.file, message="has column names and no rows"))
    found = sorted(reader.faults, key=lambda fault: fault.line)
    return ReadBrought(dialogues=tuple(dialogues), faults=few_of(found, table.file), columns=table.columns)


def _missing(table: InputTable, means: BringColumns) -> list[LocatedDiagnostic]:
    has = f"; it has {', '.join(table.columns)}"
    named = [(name, getattr(means, name)) for name in (*_SPOKEN, *_PLACED)]
    faults = [
        f"has no column `{column}`{did_you_mean(column, table.columns) or has}"
        for _, column in named
        if column and column not in table.columns
    ]
    wanted = {"prompt": means.prompt, "response": means.response}
    faults += [f"needs a column that is the {name}{has}" for name, column in wanted.items() if not column]
    return [LocatedDiagnostic(file=table.file, line=1, message=message) for message in faults]


@dataclass(slots=True, kw_only=True)
class _DialogueReader:
    """Reads the rows of one table.

    Attributes:
        table: The rows.
        means: What its columns mean.
        study: Names applications and scenarios.
        faults: What is wrong with them so far.
    """

    table: InputTable
    means: BringColumns
    study: Study
    faults: list[LocatedDiagnostic] = field(default_factory=list)

    def dialogues(self) -> list[BroughtDialogue]:
        """Return the dialogues whose place in the study is known, in order of the table."""
        columns = {name: column for name in _SPOKEN if (column := getattr(self.means, name))}
        by_application: dict[str, list[int]] = defaultdict(list)
        for place, row in enumerate(self.table.rows):
            by_application[self._said(row, "application")].append(place)
        found = [
            one
            for application, places in by_application.items()
            for one in recorded_dialogues(application, places, self.table, columns, self.faults)
        ]
        placed = (self._placed(one) for one in sorted(found, key=lambda one: one.line))
        return [one for one in placed if one is not None]

    def _placed(self, one: RecordedDialogue) -> BroughtDialogue | None:
        applications, scenarios = self.study.applications, self.study.scenarios
        application = self._known(one, "application", one.application, [each.name for each in applications])
        scenario = self._known(one, "scenario", self._said(one.columns, "scenario"), [each.name for each in scenarios])
        level = self._word(one, "level", self._said(one.columns, "level"), Level)
        held_by = self._word(one, "held by", self.means.held_by, TesterType, HOLDERS)
        is_said = all(turn.prompt.strip() or turn.response.strip() or turn.withheld for turn in one.turns)
        if not is_said:
            self._complain(
                one.line, f"has neither prompt nor response in a turn of `{one.key}`; say why it is withheld"
            )
        if not (application and scenario and level and held_by and is_said):
            return None
        return BroughtDialogue(
            item=one.key,
            application=application,
            scenario=scenario,
            level=level,
            held_by=held_by,
            turns=one.turns,
            tester=one.columns.get(self.means.tester, "").strip(),
            repeat=one.repeat,
            line=one.line,
        )

    def _said(self, row: Mapping[str, str], what: str) -> str:
        """Return what a row says of its application, scenario or level, or what holds for all rows."""
        column = getattr(self.means, what)
        return (row[column].strip() if column else "") or str(getattr(self.means, f"of_{what}"))

    def _known(self, one: RecordedDialogue, what: str, name: str, known: list[str]) -> str:
        if name not in known:
            choices = did_you_mean(name, known) or f"; there are {', '.join(known) or 'none'}"
            self._complain(one.line, f"names the {what} `{name}`, which the study does not have{choices}")
            return ""
        return name

    def _word(
        self, one: RecordedDialogue, what: str, word: str, kind: type[W], allowed: Iterable[W] | None = None
    ) -> W | None:
        choices = list(allowed or kind)
        meant = word.replace("_", " ").replace("-", " ").casefold()
        found = next((choice for choice in choices if choice.value == meant), None)
        if found is None:
            known = [choice.value for choice in choices]
            near = did_you_mean(meant, known) or f"; expected {', '.join(known)}"
            self._complain(one.line, f"says `{word}` for {what}{near}")
        return found

    def _complain(self, line: int, message: str) -> None:
        self.faults.append(LocatedDiagnostic(file=self.table.file, line=line, message=message))


NAMES = tuple(each.name for each in fields(BringColumns))
"""Names of everything that may be said of a table."""
