"""Money in words: one form for costs and budgets wherever people read them."""

from __future__ import annotations

MICROS = 1_000_000
"""Millionths in a US dollar; costs are counted in them."""

_CENT = 0.01
_LEAST = 1 / MICROS


def dollars(usd: float) -> str:
    """Return an amount as people read it: "$5.00", and "$0.0012" where whole cents would make a nothing of it.

    Args:
        usd: The amount; US dollars, 0 or more.
    """
    if not usd or usd >= _CENT:
        return f"${usd:,.2f}"
    return f"${max(usd, _LEAST):.6f}".rstrip("0").ljust(len("$0.00"), "0")


def cost_text(microusd: float) -> str:
    """Return a cost as people read it.

    Args:
        microusd: The cost; millionths of a US dollar, 0 or more.
    """
    return dollars(microusd / MICROS)
