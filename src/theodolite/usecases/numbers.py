"""Numbers that `measurement` computes for the stages beside it, loaded when they are needed.

The numerical library takes a tenth of a second to load, and few studies have votes that stop by their price.
"""

from __future__ import annotations

from functools import cache


@cache
def below_half(a: float, b: float) -> float:
    """Return the probability that a Beta(a, b) variable lies below one half."""
    from theodolite.measurement.proportion import beta_below_half

    return beta_below_half(a, b)
