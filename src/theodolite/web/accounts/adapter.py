"""How the sign-in library behaves here: nobody registers, who comes in was invited."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.http import HttpRequest

from theodolite.web.accounts.inviting import Standing, invitation_of, standing_of

INVITED = "invitation"
"""Where a browser session keeps the link on which somebody came, while signing in elsewhere."""


class ClosedDoor(DefaultAccountAdapter):  # type: ignore[misc] # the library has no types
    """Nobody registers by password; the pages of invitations make accounts."""

    def is_open_for_signup(self, _request: HttpRequest) -> bool:
        """Return False."""
        return False


class InvitedOnly(DefaultSocialAccountAdapter):  # type: ignore[misc] # the library has no types
    """Who signs in by an identity provider for the first time must be on the way from an open invitation."""

    def is_open_for_signup(self, request: HttpRequest, _sociallogin: Any) -> bool:
        """Tell whether the browser came by an invitation that is still open."""
        invitation = invitation_of(str(request.session.get(INVITED, "")))
        return invitation is not None and standing_of(invitation) is Standing.OPEN

    def populate_user(self, request: HttpRequest, sociallogin: Any, data: dict[str, Any]) -> Any:
        """Return the account with the name that the provider says."""
        account = super().populate_user(request, sociallogin, data)
        account.email = (account.email or "").lower() or None
        account.name = str(data.get("name") or " ".join(filter(None, [data.get("first_name"), data.get("last_name")])))
        return account
