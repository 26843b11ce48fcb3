"""Blindness of people: who may be asked to annotate, and who may be let in beside what they are already."""

from __future__ import annotations

from theodolite.domain.people.role import Role, why_not_both
from theodolite.web.models import Account, HostedStudy, Membership


def clash_of(account: Account, hosted: HostedStudy, role: Role) -> str:
    """Return why somebody cannot have a role in a study beside those they have or had there; empty where they can."""
    held = list(Membership.objects.filter(account=account, hosted=hosted))
    return why_not_both(
        role, has=[one.as_role for one in held if one.left_at is None], had=[one.as_role for one in held]
    )


def clash_of_address(email: str, hosted: HostedStudy, role: Role) -> str:
    """Return the same of whoever signs in with an address; empty for an address that nobody here has."""
    account = Account.objects.filter(email=email.strip().lower()).first() if email else None
    return clash_of(account, hosted, role) if account else ""
