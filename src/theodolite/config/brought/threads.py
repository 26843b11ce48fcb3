"""Threads: conversations whose remarks answer each other, cut into ways from a first remark to a last one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from theodolite.config.brought.remarks import Remark
from theodolite.config.diagnostics import LocatedDiagnostic

MOST_STEPS = 1_000_000
"""Remarks that all ways together may have; a crown repeats its stem once for each of its branches."""


class Ways(StrEnum):
    """How a conversation that branches becomes dialogues.

    Attributes:
        EVERY: Each way from its first remark to a last one is a dialogue; what ways share stands in each of them.
        LONGEST: The way with most remarks is the one dialogue; of equal ones the first in the file.
        TIME: All of it is one dialogue, in order of time.
    """

    EVERY = "every path"
    LONGEST = "longest path"
    TIME = "in order of time"


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One of them.

    Attributes:
        key: Names it: the conversation, and its last remark where the conversation has several.
        remarks: What was said, in order.
    """

    key: str
    remarks: tuple[Remark, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Threads:
    """Conversations cut into ways.

    Attributes:
        ways: In order of the file.
        faults: Everything that is wrong with how remarks answer each other.
        n_left: Remarks that are in none of the ways; count.
        n_orphans: Remarks that answer one which the file does not hold, and therefore begin a way; count.
    """

    ways: tuple[Way, ...] = ()
    faults: tuple[LocatedDiagnostic, ...] = ()
    n_left: int = 0
    n_orphans: int = 0


def threads_of(file: str, remarks: Sequence[Remark], ways: Ways) -> Threads:
    """Return remarks as ways.

    Args:
        file: Name of the file, for faults.
        remarks: What was said, in order of the file; keys differ.
        ways: How conversations that branch are cut.
    """
    known = {one.key: one for one in remarks}
    if faults := _contradictions(file, remarks, known):
        return Threads(faults=tuple(faults))
    n_orphans = sum(bool(one.answers) and one.answers not in known for one in remarks)
    if ways is Ways.TIME:
        return Threads(ways=tuple(_in_time(remarks)), n_orphans=n_orphans)
    ends = _ends(remarks, known, ways)
    steps = sum(depth for _, depth in ends)
    if steps > MOST_STEPS:
        message = (
            f"branches so often that its ways hold {steps:,} remarks; at most {MOST_STEPS:,} are read. Choose `longest`"
        )
        return Threads(faults=(LocatedDiagnostic(file=file, message=message),))
    n_ends = _n_ends(ends)
    found = [
        Way(
            key=end.conversation if n_ends[end.conversation] == 1 else f"{end.conversation}/{end.key}",
            remarks=_way_to(end, known),
        )
        for end, _ in ends
    ]
    told = {one.key for way in found for one in way.remarks}
    return Threads(ways=tuple(found), n_left=len(remarks) - len(told), n_orphans=n_orphans)


def _contradictions(file: str, remarks: Sequence[Remark], known: dict[str, Remark]) -> list[LocatedDiagnostic]:
    """Return what cannot be: two remarks under one key, answers across conversations, answers in a circle."""
    said = []
    for one in remarks:
        meant = known.get(one.answers)
        if known[one.key] is not one:
            said.append((known[one.key].line, f"has the id `{one.key}`, as line {one.line} has; each id stands once"))
        if meant is not None and meant.conversation != one.conversation:
            message = (
                f"`{one.key}` of conversation `{one.conversation}` answers `{one.answers}` of `{meant.conversation}`"
            )
            said.append((one.line, message))
    said += [(one.line, f"`{one.key}` answers itself, by way of others") for one in _circling(remarks, known)]
    return [LocatedDiagnostic(file=file, line=line, message=message) for line, message in sorted(said)]


def _circling(remarks: Sequence[Remark], known: dict[str, Remark]) -> list[Remark]:
    """Return a remark of each circle."""
    settled: set[str] = set()
    found = []
    for one in remarks:
        walked: dict[str, None] = {}
        here: Remark | None = one
        while here is not None and here.key not in settled and here.key not in walked:
            walked[here.key] = None
            here = known.get(here.answers)
        if here is not None and here.key in walked:
            found.append(here)
        settled.update(walked)
    return found


def _in_time(remarks: Sequence[Remark]) -> list[Way]:
    together: dict[str, list[Remark]] = defaultdict(list)
    for one in remarks:
        together[one.conversation].append(one)
    return [
        Way(key=name, remarks=tuple(sorted(said, key=lambda one: (one.at, one.line))))
        for name, said in together.items()
    ]


def _ends(remarks: Sequence[Remark], known: dict[str, Remark], ways: Ways) -> list[tuple[Remark, int]]:
    """Return the last remark of each way with the remarks that lead to it, itself included; count."""
    depths = _depths(remarks, known)
    answered = {one.answers for one in remarks}
    ends = [(one, depths[one.key]) for one in remarks if one.key not in answered]
    if ways is Ways.EVERY:
        return ends
    longest: dict[str, tuple[Remark, int]] = {}
    for end, depth in ends:
        if end.conversation not in longest or depth > longest[end.conversation][1]:
            longest[end.conversation] = end, depth
    return list(longest.values())


def _depths(remarks: Sequence[Remark], known: dict[str, Remark]) -> dict[str, int]:
    depths: dict[str, int] = {}
    for one in remarks:
        open_ones: list[Remark] = []
        here: Remark | None = one
        while here is not None and here.key not in depths:
            open_ones.append(here)
            here = known.get(here.answers)
        depth = depths[here.key] if here is not None else 0
        for step, each in enumerate(reversed(open_ones), 1):
            depths[each.key] = depth + step
    return depths


def _n_ends(ends: Sequence[tuple[Remark, int]]) -> dict[str, int]:
    counts: dict[str, int] = defaultdict(int)
    for end, _ in ends:
        counts[end.conversation] += 1
    return counts


def _way_to(end: Remark, known: dict[str, Remark]) -> tuple[Remark, ...]:
    way = [end]
    while (before := known.get(way[-1].answers)) is not None:
        way.append(before)
    return tuple(reversed(way))
