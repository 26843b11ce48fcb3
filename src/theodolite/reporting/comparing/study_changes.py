"""Changes between two editions of a study: part by part, line by line."""

from __future__ import annotations

import dataclasses
import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from theodolite.domain.identity import canonical_json
from theodolite.domain.study import Study


class ChangeKind(StrEnum):
    """How a part of a study differs from the earlier edition."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyChange:
    """One part of a study that differs.

    Attributes:
        section: Kind of part, e.g. `scenarios`.
        name: Name of the part; empty if the section has only one.
        kind: How it differs.
        lines: Removed (`- ...`) and added (`+ ...`) lines; empty if the whole part was added or removed.
    """

    section: str
    name: str
    kind: ChangeKind
    lines: tuple[str, ...] = ()


def changes_between(earlier: Study, later: Study) -> tuple[StudyChange, ...]:
    """Return the differences, in the order of a study's sections; empty if both have the same version."""
    return tuple(
        change
        for field in dataclasses.fields(Study)
        for change in _in_section(field.name, getattr(earlier, field.name), getattr(later, field.name))
    )


def _in_section(section: str, earlier: object, later: object) -> list[StudyChange]:
    before, after = _parts(earlier), _parts(later)
    result = []
    for name in dict.fromkeys([*before, *after]):
        if name not in after:
            result.append(StudyChange(section=section, name=name, kind=ChangeKind.REMOVED))
        elif name not in before:
            result.append(StudyChange(section=section, name=name, kind=ChangeKind.ADDED))
        elif before[name] != after[name]:
            lines = _lines(before[name], after[name])
            result.append(StudyChange(section=section, name=name, kind=ChangeKind.CHANGED, lines=lines))
    return [*result, *_order(section, before, after)]


def _order(section: str, before: Mapping[str, str], after: Mapping[str, str]) -> list[StudyChange]:
    """Return the change of order of the parts that both have; the order is part of a version."""
    was, now = [name for name in before if name in after], [name for name in after if name in before]
    if was == now:
        return []
    lines = (f"- {', '.join(was)}", f"+ {', '.join(now)}")
    return [StudyChange(section=section, name="order", kind=ChangeKind.CHANGED, lines=lines)]


def _parts(value: object) -> Mapping[str, str]:
    """Return the parts of a section by name, each as canonical JSON; missing parts are left out."""
    if isinstance(value, tuple):
        return {_name(part, position): canonical_json(part) for position, part in enumerate(value, start=1)}
    return {} if value is None or value == "" else {"": canonical_json(value)}


def _name(part: object, place: int) -> str:
    named = (getattr(part, attribute, "") for attribute in ("name", "level", "language"))
    return str(next(filter(None, named), "") or (part if isinstance(part, str) else place))


def _lines(before: str, after: str) -> tuple[str, ...]:
    compared = difflib.unified_diff(_written(before), _written(after), lineterm="", n=0)
    return tuple(f"{line[0]} {line[1:].strip()}" for line in list(compared)[2:] if line[:1] in {"+", "-"})


def _written(text: str) -> list[str]:
    """Return a part split into lines, so that a changed word shows as one line; texts keep their own lines."""
    whole = json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    return [piece for line in whole.splitlines() for piece in line.split("\\n")]
