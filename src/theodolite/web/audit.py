"""Writing the audit log."""

from __future__ import annotations

from typing import Any

from theodolite.web.models import Account, AuditEntry, HostedStudy


def audit(
    actor: object, verb: str, subject: str = "", *, hosted: HostedStudy | None = None, **facts: Any
) -> AuditEntry:
    """Add an act to the audit log; call it in the transaction that does it.

    Args:
        actor: The account; anything else (a stranger, None for the server) is written as nobody.
        verb: What was done, in the past tense.
        subject: What it was done to: kind and token.
        hosted: The study that it belongs to.
        facts: What else is to be known, as JSON takes it; never secrets, never what people said.
    """
    who = actor.token if isinstance(actor, Account) else ""
    return AuditEntry.objects.create(actor=who, verb=verb, subject=subject, hosted=hosted, facts=facts)
