"""What the demonstration needs before people can be asked in."""

from __future__ import annotations

from datetime import date

from theodolite.web.models import EthicsApproval, HostedStudy


def seed_approval(hosted: HostedStudy) -> None:
    """Record an approval that is none, and says so."""
    EthicsApproval.objects.get_or_create(
        hosted=hosted, body="Nobody: a demonstration", defaults={"number": "none", "granted": date(2026, 1, 1)}
    )
