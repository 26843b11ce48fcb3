"""What testers know applications by, in the language of the page."""

from __future__ import annotations

from django.utils.translation import gettext as _

from theodolite.domain.people.session import Session


def alias_of(session: Session) -> str:
    """Return what a person knows the application of a session by, e.g. `Application K`."""
    return alias_words(session.alias)


def alias_words(alias: str) -> str:
    """Return an alias as it is stored in the language of the page."""
    return _("Application %(letter)s") % {"letter": alias.removeprefix("Application ")}
