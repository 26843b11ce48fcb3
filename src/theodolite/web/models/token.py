"""Tokens: what stands in addresses in place of a table's keys."""

from __future__ import annotations

import secrets


def new_token() -> str:
    """Return 12 characters that nobody can guess and that tell nothing."""
    return secrets.token_urlsafe(9)
