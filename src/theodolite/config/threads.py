"""Remarks of any number of speakers as dialogues between a tester and an application."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from theodolite.config.tables import InputTable
from theodolite.config.yaml_source import LocatedDiagnostic
from theodolite.domain.errors import did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """A remark by one speaker.

    Attributes:
        key: Id within its file.
        conversation: Id of its conversation.
        speaker: Name of the speaker.
        text: The text.
        line: Its line in the file, from 1.
        answers: Key of the remark that it answers; empty for none.
        at: Its time; seconds from any origin, 0 if unknown.
        metadata: Values by field, of the remark and of its speaker.
    """

    key: str
    conversation: str
    speaker: str
    text: str
    line: int
    answers: str = ""
    at: float = 0.0
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remarks:
    """Content of a file of conversations.

    Attributes:
        file: Name of the file for messages.
        remarks: The remarks, in order of the file.
        about: Fields and values of each conversation.
        notes: Notes on the format, if it is unusual.
        faults: All errors.
        sha256: Hash of the file's bytes.
    """

    file: str
    remarks: tuple[Utterance, ...] = ()
    about: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    faults: tuple[LocatedDiagnostic, ...] = ()
    sha256: str = ""

    @property
    def fields(self) -> tuple[str, ...]:
        """Fields that may name the speaker, in order of appearance."""
        return tuple(dict.fromkeys(name for remark in self.remarks for name in remark.metadata))

    def values(self, name: str) -> Counter[str]:
        """Return the frequency of each value of a field; remarks without a value are not counted."""
        return Counter(value for remark in self.remarks if (value := remark.metadata.get(name, "")))


def scalars(entry: Mapping[str, object], prefix: str = "") -> dict[str, str]:
    """Return the strings, numbers and booleans of a JSON object as text; nested values are omitted.

    Example:
        >>> scalars({"role": "bot", "score": 2, "is_staff": False, "parsed": [1]}, "speaker.")
        {'speaker.role': 'bot', 'speaker.score': '2', 'speaker.is_staff': 'false'}
    """
    plain = {name: str(value).lower() if isinstance(value, bool) else value for name, value in entry.items()}
    return {f"{prefix}{name}": str(value) for name, value in plain.items() if isinstance(value, str | int | float)}


MOST_STEPS = 1_000_000
"""Maximum number of remarks in all paths together; each branch repeats its stem."""


class Ways(StrEnum):
    """Conversion of a branching conversation into dialogues.

    Attributes:
        EVERY: Each path from a first remark to a last one is a dialogue; shared remarks are in each of them.
        LONGEST: The path with most remarks is the only dialogue; of equal ones, the first in the file.
        TIME: The whole conversation is one dialogue, in order of time.
    """

    EVERY = "every path"
    LONGEST = "longest path"
    TIME = "in order of time"


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadWay:
    """A path through a conversation.

    Attributes:
        key: Id of the path: the conversation, and its last remark if the conversation has several paths.
        remarks: The remarks, in order.
    """

    key: str
    remarks: tuple[Utterance, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Threads:
    """Conversations split into paths.

    Attributes:
        ways: The paths, in order of the file.
        faults: All contradictions in how remarks answer each other.
        n_left: Remarks that belong to no path; count.
        n_orphans: Remarks that answer a missing remark and therefore start a path; count.
    """

    ways: tuple[ThreadWay, ...] = ()
    faults: tuple[LocatedDiagnostic, ...] = ()
    n_left: int = 0
    n_orphans: int = 0


def threads_of(file: str, remarks: Sequence[Utterance], branching: Ways) -> Threads:
    """Return remarks as paths.

    Args:
        file: Name of the file, for messages.
        remarks: The remarks, in order of the file; keys differ.
        branching: How branching conversations are split.
    """
    known = {remark.key: remark for remark in remarks}
    if diagnostics := _contradictions(file, remarks, known):
        return Threads(faults=tuple(diagnostics))
    n_orphans = sum(bool(remark.answers) and remark.answers not in known for remark in remarks)
    if branching is Ways.TIME:
        return Threads(ways=tuple(_in_time(remarks)), n_orphans=n_orphans)
    ends = _ends(remarks, known, branching)
    steps = sum(depth for _, depth in ends)
    if steps > MOST_STEPS:
        message = (
            f"branches so often that its ways hold {steps:,} remarks; at most {MOST_STEPS:,} are read. Choose `longest`"
        )
        return Threads(faults=(LocatedDiagnostic(file=file, message=message),))
    n_ends = _n_ends(ends)
    result = [
        ThreadWay(
            key=end.conversation if n_ends[end.conversation] == 1 else f"{end.conversation}/{end.key}",
            remarks=_way_to(end, known),
        )
        for end, _ in ends
    ]
    details = {remark.key for way in result for remark in way.remarks}
    return Threads(ways=tuple(result), n_left=len(remarks) - len(details), n_orphans=n_orphans)


def _contradictions(file: str, remarks: Sequence[Utterance], known: dict[str, Utterance]) -> list[LocatedDiagnostic]:
    """Return contradictions: two remarks under one key, answers across conversations, answers in a circle."""
    texts = []
    for remark in remarks:
        meant = known.get(remark.answers)
        if known[remark.key] is not remark:
            texts.append(
                (known[remark.key].line, f"has the id `{remark.key}`, as line {remark.line} has; each id stands once")
            )
        if meant is not None and meant.conversation != remark.conversation:
            begin = f"`{remark.key}` of conversation `{remark.conversation}`"
            message = f"{begin} answers `{remark.answers}` of `{meant.conversation}`"
            texts.append((remark.line, message))
    texts += [(remark.line, f"`{remark.key}` answers itself, by way of others") for remark in _circling(remarks, known)]
    return [LocatedDiagnostic(file=file, line=line, message=message) for line, message in sorted(texts)]


def _circling(remarks: Sequence[Utterance], known: dict[str, Utterance]) -> list[Utterance]:
    """Return one remark of each circle."""
    resolved: set[str] = set()
    result = []
    for remark in remarks:
        walked: dict[str, None] = {}
        current: Utterance | None = remark
        while current is not None and current.key not in resolved and current.key not in walked:
            walked[current.key] = None
            current = known.get(current.answers)
        if current is not None and current.key in walked:
            result.append(current)
        resolved.update(walked)
    return result


def _in_time(remarks: Sequence[Utterance]) -> list[ThreadWay]:
    together: dict[str, list[Utterance]] = defaultdict(list)
    for remark in remarks:
        together[remark.conversation].append(remark)
    return [
        ThreadWay(key=name, remarks=tuple(sorted(text, key=lambda remark: (remark.at, remark.line))))
        for name, text in together.items()
    ]


def _ends(remarks: Sequence[Utterance], known: dict[str, Utterance], branching: Ways) -> list[tuple[Utterance, int]]:
    """Return the last remark of each path, with the number of remarks on the path; count."""
    depths = _depths(remarks, known)
    answered = {remark.answers for remark in remarks}
    ends = [(remark, depths[remark.key]) for remark in remarks if remark.key not in answered]
    if branching is Ways.EVERY:
        return ends
    longest: dict[str, tuple[Utterance, int]] = {}
    for end, depth in ends:
        if end.conversation not in longest or depth > longest[end.conversation][1]:
            longest[end.conversation] = end, depth
    return list(longest.values())


def _depths(remarks: Sequence[Utterance], known: dict[str, Utterance]) -> dict[str, int]:
    depths: dict[str, int] = {}
    for remark in remarks:
        open_ones: list[Utterance] = []
        current: Utterance | None = remark
        while current is not None and current.key not in depths:
            open_ones.append(current)
            current = known.get(current.answers)
        depth = depths[current.key] if current is not None else 0
        for step, open_one in enumerate(reversed(open_ones), 1):
            depths[open_one.key] = depth + step
    return depths


def _n_ends(ends: Sequence[tuple[Utterance, int]]) -> dict[str, int]:
    counts: dict[str, int] = defaultdict(int)
    for end, _ in ends:
        counts[end.conversation] += 1
    return counts


def _way_to(end: Utterance, known: dict[str, Utterance]) -> tuple[Utterance, ...]:
    way = [end]
    while (before := known.get(way[-1].answers)) is not None:
        way.append(before)
    return tuple(reversed(way))


TURN_COLUMNS = ("id", "turn", "prompt", "response", "tester", "replier", "conversation")
"""Columns of every such table; other fields of conversation and tester follow."""

_APPLICATION = ("assistant", "bot", "chatbot", "application", "model", "ai", "reply")

_NOBODY = ("user", "human", "tester", "customer", "prompter", "person")

_SILENT = ("system", "developer", "tool", "function")

_TELLING = ("role", "author", "type", "kind", "speaker")

_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Voices:
    """Identifies the application's remarks.

    Attributes:
        speaker_field: The field of the speaker; empty to guess it.
        application: Its values for the application; all others are testers'.
        silent: Its values for neither side, whose remarks are omitted; None for usual names like `system`.
        ways: Conversion of branching conversations.
    """

    speaker_field: str = ""
    application: tuple[str, ...] = ()
    silent: tuple[str, ...] | None = None
    ways: Ways = Ways.EVERY

    def is_reply(self, remark: Utterance) -> bool:
        """Return whether a remark is the application's."""
        return _plain(remark.metadata.get(self.speaker_field, "")) in {_plain(name) for name in self.application}

    def is_neither(self, remark: Utterance) -> bool:
        """Return whether a remark belongs to neither side."""
        silent = _SILENT if self.silent is None else self.silent
        return not self.is_reply(remark) and _plain(remark.metadata.get(self.speaker_field, "")) in set(
            map(_plain, silent)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadTable:
    """Remarks as a table with one row per turn.

    Attributes:
        table: The rows, with all errors.
        notes: Notes on the handling of remarks, unless obvious.
    """

    table: InputTable
    notes: tuple[str, ...] = ()


def _plain(value: str) -> str:
    """Return a value in the form used for comparison."""
    return value.strip().casefold()


def with_guess(speakers: Voices, remarks: Remarks) -> Voices:
    """Return the speakers; unless stated, the application's are guessed.

    The guess is the first field whose values include a usual name for the application, such as `assistant`.
    """
    if speakers.speaker_field:
        return speakers
    fields = sorted(remarks.fields, key=lambda name: name.rpartition(".")[2].casefold() not in _TELLING)
    for name in fields:
        result = dict.fromkeys(value for value in remarks.values(name) if _plain(value) in _APPLICATION)
        if result:
            return replace(speakers, speaker_field=name, application=tuple(result))
    return replace(speakers, speaker_field=fields[0] if fields else "")


def silent_among(speakers: Voices, remarks: Remarks) -> tuple[str, ...]:
    """Return the values for remarks of neither side, as written in the file."""
    return tuple(
        dict.fromkeys(
            remark.metadata[speakers.speaker_field] for remark in remarks.remarks if speakers.is_neither(remark)
        )
    )


def turns_of(remarks: Remarks, speakers: Voices) -> ThreadTable:
    """Return remarks as a table with one row per turn; all errors are in the table's `faults`.

    Consecutive remarks of one side are one prompt or one response. A dialogue
    that the application starts has an empty first prompt.

    Args:
        remarks: The remarks.
        speakers: The application's speakers, with their field.
    """
    bare = InputTable(file=remarks.file, columns=TURN_COLUMNS, sha256=remarks.sha256)
    threads = threads_of(remarks.file, remarks.remarks, speakers.ways)
    if diagnostics := (*remarks.faults, *threads.faults, *_unheard(remarks, speakers)):
        return ThreadTable(table=replace(bare, faults=diagnostics), notes=remarks.notes)
    relevant = [(way, [remark for remark in way.remarks if not speakers.is_neither(remark)]) for way in threads.ways]
    answered = [(way, stored) for way, stored in relevant if any(map(speakers.is_reply, stored))]
    placed = [placed for way, stored in answered for placed in _rows(way, stored, speakers, remarks)]
    columns = tuple(dict.fromkeys((*TURN_COLUMNS, *(name for row, _ in placed for name in row))))
    table = replace(
        bare,
        columns=columns,
        rows=tuple({name: row.get(name, "") for name in columns} for row, _ in placed),
        lines=tuple(line for _, line in placed),
    )
    n_joined = sum(len(stored) for _, stored in answered) - sum(bool(row[side]) for row, _ in placed for side in _SIDES)
    notes = _notes(remarks, speakers, threads, n_unheard=len(relevant) - len(answered), n_joined=n_joined)
    return ThreadTable(table=table, notes=(*remarks.notes, *notes))


_SIDES = ("prompt", "response")


def _unheard(remarks: Remarks, speakers: Voices) -> list[LocatedDiagnostic]:
    """Return the reason why the file has no speaker for the application."""
    if remarks.faults or not remarks.remarks:
        return []
    fields, values = remarks.fields, remarks.values(speakers.speaker_field)
    message = ""
    if speakers.speaker_field not in fields:
        near = did_you_mean(speakers.speaker_field, fields) or f"; it has {', '.join(fields[:_SHOWN])}"
        message = f"has no field `{speakers.speaker_field}` that tells who speaks{near}"
    elif not speakers.application:
        field_name = speakers.speaker_field
        message = f"does not tell who speaks for the application; `{field_name}` is one of {_listed(list(values))}"
    elif not any(map(speakers.is_reply, remarks.remarks)):
        text = speakers.application[0]
        near = did_you_mean(text, list(values)) or f"; it is one of {_listed(list(values))}"
        message = f"has no remark whose `{speakers.speaker_field}` is `{text}`{near}"
    return [LocatedDiagnostic(file=remarks.file, message=message)] if message else []


def _listed(values: Sequence[str]) -> str:
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return ", ".join(values[:_SHOWN]) + more


def _rows(
    way: ThreadWay, stored: Sequence[Utterance], speakers: Voices, remarks: Remarks
) -> list[tuple[dict[str, str], int]]:
    """Return the turns of a path, each with the line of its first remark."""
    turns: list[tuple[list[Utterance], list[Utterance]]] = []
    for item in stored:
        reply = speakers.is_reply(item)
        if not turns or (not reply and turns[-1][1]):
            turns.append(([], []))
        turns[-1][reply].append(item)
    tester = next((item for item in stored if not speakers.is_reply(item)), None)
    conversation = way.remarks[0].conversation
    about = {f"conversation.{name}": value for name, value in remarks.about.get(conversation, {}).items()}
    details = {name: value for name, value in tester.metadata.items() if name.startswith("speaker.")} if tester else {}
    shared = {
        "id": way.key,
        "tester": tester.speaker if tester and _plain(tester.speaker) not in _NOBODY else "",
        "replier": next(item.speaker for item in stored if speakers.is_reply(item)),
        "conversation": conversation,
        **about,
        **details,
    }
    return [
        (
            {**shared, "turn": str(number), "prompt": _joined(prompt), "response": _joined(response)},
            (prompt or response)[0].line,
        )
        for number, (prompt, response) in enumerate(turns, 1)
    ]


def _joined(remarks: Sequence[Utterance]) -> str:
    return "\n\n".join(remark.text for remark in remarks if remark.text)


def _notes(remarks: Remarks, speakers: Voices, threads: Threads, *, n_unheard: int, n_joined: int) -> list[str]:
    """Return notes on the handling of remarks that are not a plain side of a turn."""
    silent, n_silent = silent_among(speakers, remarks), sum(map(speakers.is_neither, remarks.remarks))
    n_nameless = sum(not remark.metadata.get(speakers.speaker_field) for remark in remarks.remarks)
    text = (
        (n_silent, f"Remarks of {', '.join(silent)}, which stay out"),
        (n_nameless, f"Remarks that say nothing of `{speakers.speaker_field}` and are taken as testers'"),
        (n_unheard, "Dialogues without a word of the application, which stay out"),
        (n_joined, "Remarks that follow one of the same side, or are empty, and make one turn with it"),
        (
            threads.n_orphans,
            "Remarks that answer one which the file does not hold, so that a dialogue begins with each",
        ),
        (threads.n_left, "Remarks on shorter ways, which stay out"),
    )
    return [f"{wording}: {n:,}." for n, wording in text if n]
