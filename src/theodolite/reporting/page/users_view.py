"""The simulated users of a report: how well they kept to their part."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.findings.role_break import RoleBreakCheck
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.words import figures
from theodolite.reporting.words.role_breaks import unread_text

LONGEST = 160
"""Characters of an example that are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleBreakRow:
    """One rule and what it found.

    Attributes:
        kind: The kind of role break.
        meaning: What it is.
        share: Dialogues with it, of all that were looked at.
        more: Of how many the rule does not know the words; empty for none.
        example: What the first one was found by; empty where there is none.
        place: Label and turn of that one.
        opens: Name of its set; empty where there is none.
    """

    kind: str
    meaning: str
    share: str
    more: str
    example: str
    place: str
    opens: str


def users_view(subject: Subject) -> tuple[RoleBreakRow, ...]:
    """Return one row for each rule; none where no simulated user spoke."""
    return tuple(_row(subject, number, check) for number, check in enumerate(subject.findings.role_breaks))


def _row(subject: Subject, number: int, check: RoleBreakCheck) -> RoleBreakRow:
    first = next(iter(check.role_breaks), None)
    words = first.words if first else ""
    cases = [case.index for case in subject.labelled(check.dialogues())]
    return RoleBreakRow(
        kind=check.kind.value,
        meaning=check.meaning,
        share=figures.share(check.n_dialogues, check.n),
        more=unread_text(check),
        example=words if len(words) <= LONGEST else f"{words[:LONGEST]}...",
        place=f"{first.dialogue}, turn {first.turn}" if first else "",
        opens=subject.sets.add(f"role_break{number}", f"simulated user: {check.kind.value}", cases),
    )
