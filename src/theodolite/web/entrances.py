"""Entrances: the page on which each role of a study begins."""

from __future__ import annotations

from django.urls import reverse

from theodolite.domain.people.role import Role
from theodolite.web.models import Membership

ENTRANCES = {
    Role.ORGANISER: "organiser:home",
    Role.SENIOR: "senior:home",
    Role.ANNOTATOR: "annotator:home",
    Role.RED_TEAMER: "tester:home",
    Role.FIELD_TESTER: "tester:home",
    Role.ANALYST: "organiser:results",
    Role.TEAM: "teams:home",
}
"""Names of the pages."""


def entrance(held: Membership) -> str:
    """Return the address on which a role in a study begins."""
    return reverse(ENTRANCES[held.as_role], args=[held.hosted.token])
