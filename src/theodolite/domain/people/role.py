"""Roles: what a person may do in one study."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum


class Role(StrEnum):
    """What a person may do in one study; somebody may have several that do not exclude each other."""

    ORGANISER = "organiser"
    SENIOR = "senior annotator"
    ANNOTATOR = "annotator"
    RED_TEAMER = "red teamer"
    FIELD_TESTER = "field tester"
    ANALYST = "analyst"
    TEAM = "application team"


KNOWING = frozenset({Role.ORGANISER, Role.SENIOR, Role.ANALYST, Role.TEAM})
"""Roles that learn what annotators must not know: levels, applications, or what others have answered."""


def why_not_both(wanted: Role, has: Collection[Role], had: Collection[Role]) -> str:
    """Return why somebody cannot take on a role beside their others; empty where nothing speaks against it.

    Blindness holds both ways: who has ever known does not annotate, and who
    annotates now does not come to know. What was read cannot be unread, so that
    a role that was given up still counts.

    Args:
        wanted: The role.
        has: Roles that they hold in the same study.
        had: Roles that they hold there or ever held.

    Example:
        >>> why_not_both(Role.ANNOTATOR, has=(), had=(Role.ANALYST,)).partition(" cannot")[0]
        'a current or former analyst'
    """
    known = sorted(KNOWING.intersection(had), key=list(Role).index)
    if wanted is Role.ANNOTATOR and known:
        return (
            f"a current or former {known[0].value} cannot annotate the study: annotators must not know applications, "
            "levels or the answers of others. Invite another person"
        )
    if wanted in KNOWING and Role.ANNOTATOR in has:
        return (
            f"an annotator of the study cannot be its {wanted.value}: annotators must not know applications, "
            "levels or the answers of others. Remove the person as annotator first; they cannot become one again"
        )
    return ""
