"""What roles are called on pages."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from theodolite.domain.people.role import Role

_WORDS = {
    Role.ORGANISER: _("organiser"),
    Role.SENIOR: _("senior annotator"),
    Role.ANNOTATOR: _("annotator"),
    Role.RED_TEAMER: _("red teamer"),
    Role.FIELD_TESTER: _("field tester"),
    Role.ANALYST: _("analyst"),
    Role.TEAM: _("application team"),
}


def role_words(role: str) -> str:
    """Return what a role is called in the language of the page; nothing for none."""
    return str(_WORDS[Role(role)]) if role else ""
