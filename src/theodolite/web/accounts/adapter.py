"""How the sign-in library behaves here."""

from __future__ import annotations

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class ClosedDoor(DefaultAccountAdapter):  # type: ignore[misc] # the library has no types
    """Nobody registers: who comes in was invited."""

    def is_open_for_signup(self, _request: HttpRequest) -> bool:
        """Return False."""
        return False
