"""Second factors: in which roles nobody works by a password alone."""

from __future__ import annotations

from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings

from theodolite.domain.people.role import Role
from theodolite.web.models import Account, HostedStudy

FACTOR_ROLES = (Role.ORGANISER, Role.SENIOR, Role.ANALYST, Role.TEAM)
"""Roles that may need one: those that come in by link and have a password; a slip of paper has no place for another."""


def required_by_server() -> frozenset[Role]:
    """Return the roles that need a second factor in every study of this server."""
    return frozenset(Role(each) for each in settings.SECOND_FACTOR)


def required_roles(hosted: HostedStudy) -> frozenset[Role]:
    """Return the roles that need a second factor in a study: the server's, and the study's own."""
    return required_by_server() | {Role(each) for each in hosted.second_factor}


def lacks_factor(account: Account, roles: frozenset[Role], role: Role) -> bool:
    """Tell whether a person in a role has to set a second factor up first.

    Args:
        account: The person.
        roles: Roles that need one.
        role: In which the person comes.
    """
    return role in roles and not is_mfa_enabled(account)
