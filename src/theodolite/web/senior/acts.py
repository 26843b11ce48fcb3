"""What seniors and organisers do with many dialogues at once, in words."""

from __future__ import annotations

from dataclasses import dataclass

from theodolite.domain.annotating.bulk import BulkAct
from theodolite.domain.people.role import Role

_BOTH = frozenset({Role.SENIOR, Role.ORGANISER})
_SENIOR = frozenset({Role.SENIOR})


@dataclass(frozen=True, slots=True, kw_only=True)
class ActWords:
    """One act as pages speak of it.

    Attributes:
        button: What its button says.
        done: What was done, after a count.
        undone: What was done by taking it back, after a count.
        roles: Who may do it: the roles that may do the same with one dialogue.
    """

    button: str
    done: str
    undone: str
    roles: frozenset[Role]


ACTS = {
    BulkAct.OFFER: ActWords(button="Offer to", done="offered", undone="taken back", roles=_BOTH),
    BulkAct.FIRST: ActWords(button="Put first", done="put first", undone="in their turn again", roles=_BOTH),
    BulkAct.BACK: ActWords(button="Send back to the queue", done="sent back", undone="", roles=_BOTH),
    BulkAct.ROOM: ActWords(button="Open calibration rooms", done="taken into rooms", undone="closed", roles=_SENIOR),
    BulkAct.CHECK: ActWords(
        button="Add to the quality checks", done="added to the quality checks", undone="left to the plan", roles=_SENIOR
    ),
    BulkAct.REVIEW: ActWords(button="Begin their review", done="under review", undone="open again", roles=_SENIOR),
}
"""The words of each act."""


def acts_for(role: Role) -> list[tuple[str, ActWords]]:
    """Return name and words of the acts that a role may do."""
    return [(act.value, words) for act, words in ACTS.items() if role in words.roles]
