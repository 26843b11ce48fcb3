"""Role breaks of simulated users in words."""

from __future__ import annotations

from collections.abc import Sequence

from theodolite.domain.findings.role_break import RoleBreakCheck
from theodolite.reporting.words import figures


def role_breaks_text(checks: Sequence[RoleBreakCheck]) -> str:
    """Return the number of dialogues in which simulated users broke character; empty for none."""
    found = [check for check in checks if check.n_dialogues]
    if not found:
        return ""
    concerned = len({label for check in found for label in check.dialogues()})
    kinds = ", ".join(f"{check.kind.value} {figures.count(check.n_dialogues)}" for check in found)
    n = max(check.n for check in checks)
    unread = unread_text(max(checks, key=lambda check: check.unread))
    more = f"; {unread}" if unread else ""
    return f"broke character in {figures.share(concerned, n)} dialogues ({kinds}{more}): review these first"


def unread_text(check: RoleBreakCheck) -> str:
    """Return how many dialogues are in a language whose words a rule does not know; empty for none."""
    return f"words not known in {figures.count(check.unread)}" if check.unread else ""
