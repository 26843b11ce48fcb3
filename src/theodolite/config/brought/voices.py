"""Voices: who speaks for the application, and remarks of several voices as rows of one turn each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from theodolite.config.brought.remarks import Remark, Remarks
from theodolite.config.brought.threads import Threads, Way, Ways, threads_of
from theodolite.config.diagnostics import LocatedDiagnostic
from theodolite.config.tables import Table
from theodolite.domain.fault import did_you_mean

TURN_COLUMNS = ("id", "turn", "prompt", "response", "tester", "replier", "conversation")
"""Columns of every such table; whatever else is told of conversation and tester follows."""

_APPLICATION = ("assistant", "bot", "chatbot", "application", "model", "ai", "reply")
_NOBODY = ("user", "human", "tester", "customer", "prompter", "person")
_SILENT = ("system", "developer", "tool", "function")
_TELLING = ("role", "author", "type", "kind", "speaker")
_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Voices:
    """Which remarks are the application's.

    Attributes:
        told_by: The field that tells it; empty where it is to be guessed.
        application: Its values by which the application speaks; all others are testers'.
        silent: Its values that are neither's, so that such remarks stay out; None for usual names like `system`.
        ways: How conversations that branch become dialogues.
    """

    told_by: str = ""
    application: tuple[str, ...] = ()
    silent: tuple[str, ...] | None = None
    ways: Ways = Ways.EVERY

    def is_reply(self, remark: Remark) -> bool:
        """Whether the application said it."""
        return _plain(remark.told.get(self.told_by, "")) in {_plain(name) for name in self.application}

    def is_neither(self, remark: Remark) -> bool:
        """Whether it is no side's."""
        silent = _SILENT if self.silent is None else self.silent
        return not self.is_reply(remark) and _plain(remark.told.get(self.told_by, "")) in set(map(_plain, silent))


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Remarks as a table with one row a turn.

    Attributes:
        table: The rows, with everything that is wrong.
        notes: What became of remarks, where that is not plain.
    """

    table: Table
    notes: tuple[str, ...] = ()


def _plain(value: str) -> str:
    """Return a value as it is compared."""
    return value.strip().casefold()


def with_guess(voices: Voices, remarks: Remarks) -> Voices:
    """Return voices with who seems to speak for the application, where nobody says.

    That is the first field with a usual name for it among its values, such as `assistant`.
    """
    if voices.told_by:
        return voices
    fields = sorted(remarks.fields, key=lambda name: name.rpartition(".")[2].casefold() not in _TELLING)
    for name in fields:
        found = dict.fromkeys(value for value in remarks.values(name) if _plain(value) in _APPLICATION)
        if found:
            return replace(voices, told_by=name, application=tuple(found))
    return replace(voices, told_by=fields[0] if fields else "")


def silent_among(voices: Voices, remarks: Remarks) -> tuple[str, ...]:
    """Return the values of remarks that are neither side's, as the file writes them."""
    return tuple(dict.fromkeys(one.told[voices.told_by] for one in remarks.remarks if voices.is_neither(one)))


def turns_of(remarks: Remarks, voices: Voices) -> Told:
    """Return remarks as a table with one row a turn; what is wrong stands in the table's faults, all at once.

    Remarks of one side that follow each other are one prompt, or one response. A dialogue
    that the application begins has an empty first prompt.

    Args:
        remarks: What was said.
        voices: Who speaks for the application, with the field that tells it.
    """
    bare = Table(file=remarks.file, columns=TURN_COLUMNS, sha256=remarks.sha256)
    threads = threads_of(remarks.file, remarks.remarks, voices.ways)
    if faults := (*remarks.faults, *threads.faults, *_unheard(remarks, voices)):
        return Told(table=replace(bare, faults=faults), notes=remarks.notes)
    spoken = [(way, [one for one in way.remarks if not voices.is_neither(one)]) for way in threads.ways]
    heard = [(way, kept) for way, kept in spoken if any(map(voices.is_reply, kept))]
    placed = [placed for way, kept in heard for placed in _rows(way, kept, voices, remarks)]
    columns = tuple(dict.fromkeys((*TURN_COLUMNS, *(name for row, _ in placed for name in row))))
    table = replace(
        bare,
        columns=columns,
        rows=tuple({name: row.get(name, "") for name in columns} for row, _ in placed),
        lines=tuple(line for _, line in placed),
    )
    n_joined = sum(len(kept) for _, kept in heard) - sum(bool(row[side]) for row, _ in placed for side in _SIDES)
    notes = _notes(remarks, voices, threads, n_unheard=len(spoken) - len(heard), n_joined=n_joined)
    return Told(table=table, notes=(*remarks.notes, *notes))


_SIDES = ("prompt", "response")


def _unheard(remarks: Remarks, voices: Voices) -> list[LocatedDiagnostic]:
    """Return why nobody in the file speaks for the application."""
    if remarks.faults or not remarks.remarks:
        return []
    fields, values = remarks.fields, remarks.values(voices.told_by)
    message = ""
    if voices.told_by not in fields:
        near = did_you_mean(voices.told_by, fields) or f"; it has {', '.join(fields[:_SHOWN])}"
        message = f"has no field `{voices.told_by}` that tells who speaks{near}"
    elif not voices.application:
        message = f"does not tell who speaks for the application; `{voices.told_by}` is one of {_listed(list(values))}"
    elif not any(map(voices.is_reply, remarks.remarks)):
        said = voices.application[0]
        near = did_you_mean(said, list(values)) or f"; it is one of {_listed(list(values))}"
        message = f"has no remark whose `{voices.told_by}` is `{said}`{near}"
    return [LocatedDiagnostic(file=remarks.file, message=message)] if message else []


def _listed(values: Sequence[str]) -> str:
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return ", ".join(values[:_SHOWN]) + more


def _rows(way: Way, kept: Sequence[Remark], voices: Voices, remarks: Remarks) -> list[tuple[dict[str, str], int]]:
    """Return the turns of a way, each with the line of its first remark."""
    turns: list[tuple[list[Remark], list[Remark]]] = []
    for one in kept:
        reply = voices.is_reply(one)
        if not turns or (not reply and turns[-1][1]):
            turns.append(([], []))
        turns[-1][reply].append(one)
    tester = next((one for one in kept if not voices.is_reply(one)), None)
    conversation = way.remarks[0].conversation
    about = {f"conversation.{name}": value for name, value in remarks.about.get(conversation, {}).items()}
    told = {name: value for name, value in tester.told.items() if name.startswith("speaker.")} if tester else {}
    shared = {
        "id": way.key,
        "tester": tester.speaker if tester and _plain(tester.speaker) not in _NOBODY else "",
        "replier": next(one.speaker for one in kept if voices.is_reply(one)),
        "conversation": conversation,
        **about,
        **told,
    }
    return [
        (
            {**shared, "turn": str(number), "prompt": _joined(prompt), "response": _joined(response)},
            (prompt or response)[0].line,
        )
        for number, (prompt, response) in enumerate(turns, 1)
    ]


def _joined(remarks: Sequence[Remark]) -> str:
    return "\n\n".join(one.text for one in remarks if one.text)


def _notes(remarks: Remarks, voices: Voices, threads: Threads, *, n_unheard: int, n_joined: int) -> list[str]:
    """Return what became of remarks that are no plain side of a turn."""
    silent, n_silent = silent_among(voices, remarks), sum(map(voices.is_neither, remarks.remarks))
    n_nameless = sum(not one.told.get(voices.told_by) for one in remarks.remarks)
    said = (
        (n_silent, f"Remarks of {', '.join(silent)}, which stay out"),
        (n_nameless, f"Remarks that say nothing of `{voices.told_by}` and are taken as testers'"),
        (n_unheard, "Dialogues without a word of the application, which stay out"),
        (n_joined, "Remarks that follow one of the same side, or are empty, and make one turn with it"),
        (
            threads.n_orphans,
            "Remarks that answer one which the file does not hold, so that a dialogue begins with each",
        ),
        (threads.n_left, "Remarks on shorter ways, which stay out"),
    )
    return [f"{words}: {n:,}." for n, words in said if n]
