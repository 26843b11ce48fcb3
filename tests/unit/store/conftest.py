"""Lets the store's modules be imported."""

from __future__ import annotations

from tests import databases  # noqa: F401  # configures Django
