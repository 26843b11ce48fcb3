"""Money in words."""

from __future__ import annotations

_CENT = 0.01


def dollars(usd: float) -> str:
    """Return an amount as people read it: "$5.00", and "$0.0012" where whole cents would make a nothing of it.

    Args:
        usd: The amount; US dollars, 0 or more.
    """
    return f"${usd:.2f}" if usd >= _CENT or not usd else f"${usd:.2g}"
