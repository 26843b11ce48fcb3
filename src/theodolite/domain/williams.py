"""Williams designs: orders in which everything stands equally often at each place and after each other thing."""

from __future__ import annotations

from functools import lru_cache


@lru_cache
def williams_rows(n: int) -> tuple[tuple[int, ...], ...]:
    """Return the rows of a Williams design of n treatments: n of them where n is even, else 2n with the mirrored ones.

    Example:
        >>> williams_rows(2)
        ((0, 1), (1, 0))
        >>> len(williams_rows(3)), williams_rows(3)[0], williams_rows(3)[3]
        (6, (0, 2, 1), (1, 2, 0))

    Source:
        Williams, E. J. (1949), Experimental designs balanced for the estimation
        of residual effects of treatments, Australian Journal of Scientific
        Research A 2:149-168.
    """
    first = [step // 2 if step % 2 == 0 else n - (step + 1) // 2 for step in range(n)]
    rows = [tuple((start + shift) % n for start in first) for shift in range(n)]
    if n % 2 and n > 1:
        rows += [tuple(reversed(row)) for row in rows]
    return tuple(rows)
