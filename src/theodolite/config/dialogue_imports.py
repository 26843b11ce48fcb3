"""Imports dialogues: tables, ConvoKit corpora and Label Studio tasks as records of a study."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any, TypeVar

from theodolite.config.recordings import recorded_dialogues
from theodolite.config.tables import InputTable, decoded, guess_columns
from theodolite.config.threads import Remarks, Utterance, scalars
from theodolite.config.yaml_source import LocatedDiagnostic, few_of
from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.errors import did_you_mean
from theodolite.domain.live import BroughtDialogue, RecordedDialogue
from theodolite.domain.study import Study

W = TypeVar("W", bound=StrEnum)

HOLDERS = (TesterType.PERSON, TesterType.RECORDED)
"""Possible tester types of an imported dialogue."""

_SPOKEN = ("id", "turn", "prompt", "response", "context", "withheld")

_PLACED = ("application", "scenario", "level", "tester")


@dataclass(frozen=True, slots=True, kw_only=True)
class BringColumns:
    """Roles of a table's columns, and constants for all its rows.

    Attributes:
        prompt: The tester's prompt.
        response: The application's reply.
        id: Id of the dialogue; if empty, each row is a dialogue.
        turn: Number of the turn, for dialogues of several rows.
        context: Source material for the response.
        withheld: Reason why a row's texts are missing.
        tester: Column of the tester; if empty, each dialogue has its own tester.
        application: Column of the application; if empty, `of_application` applies.
        scenario: Column of the scenario; if empty, `of_scenario` applies.
        level: Column of the level of testing; if empty, `of_level` applies.
        of_application: The application of all rows.
        of_scenario: The scenario of all rows.
        of_level: The level of all rows.
        held_by: Tester type.
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
    """Content of a table.

    Attributes:
        dialogues: Dialogues without an error, in order of the table.
        faults: All errors, in order of lines.
        columns: Columns of the table.
    """

    dialogues: tuple[BroughtDialogue, ...] = ()
    faults: tuple[LocatedDiagnostic, ...] = ()
    columns: tuple[str, ...] = ()


def guessed_columns(table: InputTable, study: Study) -> BringColumns:
    """Return the detected columns of a table; if no column fits, the study's names are the default."""
    result = {"prompt": "", "response": ""}
    result |= guess_columns(table).columns
    result |= {name: name for name in ("scenario", "level", "tester") if name in table.columns}
    applications, scenarios = (
        [application.name for application in study.applications],
        [application.name for application in study.scenarios],
    )
    for what, names in (("application", applications), ("scenario", scenarios)):
        result[f"of_{what}"] = "" if what in result else next(iter(names), "")
    return BringColumns(**result, of_level="" if "level" in result else Level.MODEL_TESTING.value)


def read_brought(table: InputTable, means: BringColumns, study: Study) -> ReadBrought:
    """Return the dialogues of a table; all errors are in `faults`.

    Args:
        table: The rows.
        means: Roles of its columns.
        study: Study with the applications and scenarios.
    """
    if diagnostics := [*table.faults, *(_missing(table, means) if table.columns else ())]:
        return ReadBrought(faults=few_of(diagnostics, table.file), columns=table.columns)
    reader = _DialogueReader(table=table, means=means, study=study)
    dialogues = reader.dialogues()
    if not table.rows:
        reader.faults.append(LocatedDiagnostic(file=table.file, message="has column names and no rows"))
    result = sorted(reader.faults, key=lambda diagnostic: diagnostic.line)
    return ReadBrought(dialogues=tuple(dialogues), faults=few_of(result, table.file), columns=table.columns)


def _missing(table: InputTable, means: BringColumns) -> list[LocatedDiagnostic]:
    has = f"; it has {', '.join(table.columns)}"
    named = [(name, getattr(means, name)) for name in (*_SPOKEN, *_PLACED)]
    diagnostics = [
        f"has no column `{column}`{did_you_mean(column, table.columns) or has}"
        for _, column in named
        if column and column not in table.columns
    ]
    requested = {"prompt": means.prompt, "response": means.response}
    diagnostics += [f"needs a column that is the {name}{has}" for name, column in requested.items() if not column]
    return [LocatedDiagnostic(file=table.file, line=1, message=message) for message in diagnostics]


@dataclass(slots=True, kw_only=True)
class _DialogueReader:
    """Reads the rows of one table.

    Attributes:
        table: The rows.
        means: Roles of its columns.
        study: Study with the applications and scenarios.
        faults: Errors found so far.
    """

    table: InputTable
    means: BringColumns
    study: Study
    faults: list[LocatedDiagnostic] = field(default_factory=list)

    def dialogues(self) -> list[BroughtDialogue]:
        """Return the dialogues that fit into the study, in order of the table."""
        columns = {name: column for name in _SPOKEN if (column := getattr(self.means, name))}
        by_application: dict[str, list[int]] = defaultdict(list)
        for index, row in enumerate(self.table.rows):
            by_application[self._cell_text(row, "application")].append(index)
        result = [
            dialogue
            for application, positions in by_application.items()
            for dialogue in recorded_dialogues(application, positions, self.table, columns, self.faults)
        ]
        placed = (self._placed(dialogue) for dialogue in sorted(result, key=lambda dialogue: dialogue.line))
        return [dialogue for dialogue in placed if dialogue is not None]

    def _placed(self, recorded_dialogue: RecordedDialogue) -> BroughtDialogue | None:
        applications, scenarios = self.study.applications, self.study.scenarios
        application = self._known(
            recorded_dialogue, "application", recorded_dialogue.application, [item.name for item in applications]
        )
        scenario = self._known(
            recorded_dialogue,
            "scenario",
            self._cell_text(recorded_dialogue.columns, "scenario"),
            [item.name for item in scenarios],
        )
        level = self._word(recorded_dialogue, "level", self._cell_text(recorded_dialogue.columns, "level"), Level)
        held_by = self._word(recorded_dialogue, "held by", self.means.held_by, TesterType, HOLDERS)
        has_text = all(
            turn.prompt.strip() or turn.response.strip() or turn.withheld for turn in recorded_dialogue.turns
        )
        if not has_text:
            self._complain(
                recorded_dialogue.line,
                f"has neither prompt nor response in a turn of `{recorded_dialogue.key}`; say why it is withheld",
            )
        if not (application and scenario and level and held_by and has_text):
            return None
        return BroughtDialogue(
            item=recorded_dialogue.key,
            application=application,
            scenario=scenario,
            level=level,
            held_by=held_by,
            turns=recorded_dialogue.turns,
            tester=recorded_dialogue.columns.get(self.means.tester, "").strip(),
            repeat=recorded_dialogue.repeat,
            line=recorded_dialogue.line,
        )

    def _cell_text(self, row: Mapping[str, str], what: str) -> str:
        """Return a row's application, scenario or level, or the constant for all rows."""
        column = getattr(self.means, what)
        return (row[column].strip() if column else "") or str(getattr(self.means, f"of_{what}"))

    def _known(self, recorded_dialogue: RecordedDialogue, what: str, name: str, known: list[str]) -> str:
        if name not in known:
            choices = did_you_mean(name, known) or f"; there are {', '.join(known) or 'none'}"
            self._complain(recorded_dialogue.line, f"names the {what} `{name}`, which the study does not have{choices}")
            return ""
        return name

    def _word(
        self,
        recorded_dialogue: RecordedDialogue,
        what: str,
        word: str,
        kind: type[W],
        allowed: Iterable[W] | None = None,
    ) -> W | None:
        choices = list(allowed or kind)
        meant = word.replace("_", " ").replace("-", " ").casefold()
        result = next((choice for choice in choices if choice.value == meant), None)
        if result is None:
            known = [choice.value for choice in choices]
            near = did_you_mean(meant, known) or f"; expected {', '.join(known)}"
            self._complain(recorded_dialogue.line, f"says `{word}` for {what}{near}")
        return result

    def _complain(self, line: int, message: str) -> None:
        self.faults.append(LocatedDiagnostic(file=self.table.file, line=line, message=message))


NAMES = tuple(each.name for each in fields(BringColumns))
"""Names of all properties of a table."""

UTTERANCES = "utterances.jsonl"
"""Name of the file that identifies an archive as a corpus."""

PARTS = (UTTERANCES, "speakers.json", "users.json", "conversations.json", "corpus.json")
"""Files to read; `users.json` contains the speakers in older corpora."""

MOST_UNPACKED = 400_000_000
"""Maximum unpacked size of an archive's files; bytes."""

_ZIP = b"PK\x03\x04"

_OLDER = {"user": "speaker", "root": "conversation_id", "reply-to": "reply_to"}

_OWN = ("id", "speaker", "conversation_id", "reply_to", "timestamp", "text", "meta", "vectors")


def is_corpus(stored: bytes, file: str) -> bool:
    """Return whether a file is an archive, or only the utterances of a corpus."""
    return stored.startswith(_ZIP) or file.lower().endswith(UTTERANCES)


def read_corpus(stored: bytes, file: str) -> Remarks:
    """Return the content of a corpus; all errors are in `faults`.

    Fields of an utterance's `meta` keep their names, those of its speaker start with
    `speaker.`; `speaker` is the speaker's id.

    Args:
        stored: The bytes of the archive, whose files may be in one folder; or of `utterances.jsonl` alone.
        file: Name of the file for messages.
    """
    reader = _CorpusReader(file=file)
    parts = reader.unpacked(stored)
    remarks = reader.remarks(parts) if UTTERANCES in parts else ()
    about = reader.metadata(parts, "conversations.json")
    return Remarks(
        file=file,
        remarks=tuple(remarks),
        about=about,
        faults=few_of(reader.faults, file),
        sha256=hashlib.sha256(stored).hexdigest(),
    )


@dataclass(slots=True, kw_only=True)
class _CorpusReader:
    """Reads the files of one archive.

    Attributes:
        file: Name of the archive.
        faults: Errors found so far.
    """

    file: str
    faults: list[LocatedDiagnostic] = field(default_factory=list)

    def unpacked(self, stored: bytes) -> dict[str, bytes]:
        """Return the files by name."""
        if not stored.startswith(_ZIP):
            return {UTTERANCES: stored}
        try:
            with zipfile.ZipFile(io.BytesIO(stored)) as archive:
                result = self._required_members(archive)
                if sum(item.file_size for item in result.values()) > MOST_UNPACKED:
                    self._complain(f"unpacks to more than {MOST_UNPACKED // 1_000_000} MB; cut it in parts")
                    return {}
                parts = {name: archive.read(item) for name, item in result.items()}
        except (zipfile.BadZipFile, RuntimeError, EOFError, OSError) as error:
            self._complain(f"cannot be unpacked: {error}")
            return {}
        if UTTERANCES not in parts:
            self._complain(f"holds no {UTTERANCES}; expected a corpus of ConvoKit")
        return parts

    def _required_members(self, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
        """Return the corpus's files, those nearest to the root."""
        entries = sorted(archive.infolist(), key=lambda entry: len(PurePosixPath(entry.filename).parts), reverse=True)
        named = {PurePosixPath(entry.filename).name: entry for entry in entries}
        return {name: named[name] for name in PARTS if name in named}

    def remarks(self, parts: Mapping[str, bytes]) -> list[Utterance]:
        """Return the utterances, in order of their file."""
        speakers = self.metadata(parts, "speakers.json") or self.metadata(parts, "users.json")
        result = []
        for line, written in self._entries(parts[UTTERANCES]):
            entry = {_OLDER.get(name, name): value for name, value in written.items()}
            if missing := [name for name in ("id", "speaker", "text") if name not in entry]:
                self._complain(f"{UTTERANCES}: has no `{'`, `'.join(missing)}`", line)
                continue
            result.append(_remark(entry, line, speakers))
        if not result and not self.faults:
            self._complain(f"{UTTERANCES} contains no utterance")
        return result

    def _entries(self, stored: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
        for line, text in enumerate(decoded(stored)[0].split("\n"), 1):
            if not text.strip():
                continue
            try:
                entry = json.loads(text)
            except (ValueError, RecursionError):
                entry = None
            if isinstance(entry, dict):
                yield line, entry
            else:
                self._complain(f"{UTTERANCES}: is not a JSON object; expected one in each line", line)

    def metadata(self, parts: Mapping[str, bytes], name: str) -> dict[str, dict[str, str]]:
        """Return a file's metadata of each speaker or conversation."""
        if name not in parts:
            return {}
        try:
            entries = json.loads(decoded(parts[name])[0])
        except (ValueError, RecursionError) as error:
            self._complain(f"{name} is not JSON: {error}")
            return {}
        if not isinstance(entries, dict) or not all(isinstance(entry, dict) for entry in entries.values()):
            self._complain(f"{name} must contain an object with one object for each id")
            return {}
        return {str(key): scalars(_meta(entry)) for key, entry in entries.items()}

    def _complain(self, message: str, line: int = 0) -> None:
        diagnostic = LocatedDiagnostic(file=self.file, line=line, message=message)
        if diagnostic not in self.faults:
            self.faults.append(diagnostic)


def _meta(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the metadata of an entry; some corpora store it next to the entry's own keys."""
    meta = entry.get("meta")
    return meta if isinstance(meta, dict) else {name: value for name, value in entry.items() if name not in _OWN}


def _remark(entry: Mapping[str, Any], line: int, speakers: Mapping[str, Mapping[str, str]]) -> Utterance:
    key, speaker = str(entry["id"]), str(entry["speaker"])
    of_speaker = {f"speaker.{name}": value for name, value in speakers.get(speaker, {}).items()}
    return Utterance(
        key=key,
        conversation=str(entry.get("conversation_id") or key),
        speaker=speaker,
        text=str(entry["text"] or "").strip(),
        line=line,
        answers=str(entry.get("reply_to") or ""),
        at=_seconds(entry.get("timestamp")),
        metadata={**scalars(_meta(entry)), **of_speaker, "speaker": speaker},
    )


def _seconds(timestamp: object) -> float:
    try:
        return float(str(timestamp))
    except ValueError:
        return 0.0


_SPEAKERS = ("role", "author", "speaker", "name", "from")

_WORDS = ("content", "text", "message", "value")

_NAMES = ("item", "dialogue_id", "conversation_id", "id")

_OURS = re.compile(r"^(User|Reply) \d+$")
"""Names of the sides of a turn in our own export."""


def is_tasks(file: str) -> bool:
    """Return whether a file has the name of a Label Studio export."""
    return file.lower().endswith(".json")


def read_tasks(stored: bytes, file: str) -> Remarks:
    """Return the dialogues of a task file; all errors are in `faults`.

    Its names identify no known person, so the field for the tester, if any, is in the metadata.
    A task's dialogue is the field of its `data` with a list of objects that contain a speaker
    (`role`, `author`) and a text (`content`, `text`). The task's index in the file, from 1,
    serves as the line. The other fields of `data` describe the conversation.

    Args:
        stored: The bytes of the JSON file.
        file: Name of the file for messages.
    """
    sha256 = hashlib.sha256(stored).hexdigest()
    try:
        tasks = json.loads(decoded(stored)[0])
    except (ValueError, RecursionError) as error:
        return _broken(file, f"is not JSON: {error}", sha256)
    if not isinstance(tasks, list) or not tasks or not all(isinstance(task, dict) for task in tasks):
        return _broken(file, "should hold a list of tasks, as Label Studio exports them in the format JSON", sha256)
    remarks: list[Utterance] = []
    about: dict[str, dict[str, str]] = {}
    diagnostics: list[LocatedDiagnostic] = []
    for line, task in enumerate(tasks, 1):
        data = task.get("data", task)
        name, statement = _dialogue(data if isinstance(data, dict) else {})
        if not statement:
            diagnostics.append(LocatedDiagnostic(file=file, line=line, message=_NO_DIALOGUE))
            continue
        key = _key(task, data, line)
        if key in about:
            message = f"is about `{key}`, as a task before it; give each its own `item`"
            diagnostics.append(LocatedDiagnostic(file=file, line=line, message=message))
            continue
        about[key] = {item: text for item, text in scalars(data).items() if item != name}
        remarks += _remarks(key, statement, line)
    return Remarks(file=file, remarks=tuple(remarks), about=about, faults=few_of(diagnostics, file), sha256=sha256)


_NO_DIALOGUE = (
    "has no dialogue in its `data`; expected a list of objects with `role` and `content`, or `author` and `text`"
)


def _broken(file: str, message: str, sha256: str) -> Remarks:
    return Remarks(file=file, faults=(LocatedDiagnostic(file=file, message=message),), sha256=sha256)


def _key(task: Mapping[str, Any], data: Mapping[str, Any], line: int) -> str:
    named = [data.get(name) for name in _NAMES] + [task.get("id")]
    return str(next((name for name in named if name not in {None, ""}), f"task-{line}"))


def _dialogue(data: Mapping[str, Any]) -> tuple[str, Sequence[Mapping[str, Any]]]:
    """Return name and entries of the field with a dialogue; an empty name if there is none."""
    for name, value in data.items():
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            keys = set(value[0])
            if keys & set(_SPEAKERS) and keys & set(_WORDS):
                return name, value
    return "", ()


def _remarks(key: str, text: Sequence[Mapping[str, Any]], line: int) -> list[Utterance]:
    result: list[Utterance] = []
    for number, entry in enumerate(text, 1):
        details = scalars({name: value for name, value in entry.items() if name not in _WORDS})
        details = {name: _OURS.sub(r"\1", value) for name, value in details.items()}
        wording = next((entry[name] for name in _WORDS if entry.get(name) is not None), "")
        result.append(
            Utterance(
                key=f"{key}#{number}",
                conversation=key,
                speaker="",
                text=wording.strip() if isinstance(wording, str) else json.dumps(wording, ensure_ascii=False),
                line=line,
                answers=f"{key}#{number - 1}" if number > 1 else "",
                at=float(number),
                metadata=details,
            )
        )
    return result
