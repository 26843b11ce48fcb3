"""The home page of each role of a study."""

from __future__ import annotations

from django.urls import reverse

from theodolite.domain.people.role import Role
from theodolite.web.models import Membership

HOME_PAGES = {
    Role.ORGANISER: "organiser:home",
    Role.SENIOR: "senior:home",
    Role.ANNOTATOR: "annotator:home",
    Role.RED_TEAMER: "tester:home",
    Role.FIELD_TESTER: "tester:home",
    Role.ANALYST: "organiser:results",
    Role.TEAM: "teams:home",
}
"""Names of the home pages."""


def role_home(held: Membership) -> str:
    """Return the address of the home page of a role."""
    return reverse(HOME_PAGES[held.as_role], args=[held.hosted.token])
