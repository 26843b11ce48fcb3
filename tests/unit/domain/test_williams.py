"""Williams designs are balanced for what stands before what."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from theodolite.domain.williams import williams_rows


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_each_thing_follows_each_other_equally_often(n: int) -> None:
    rows = williams_rows(n)
    followed = Counter(pair for row in rows for pair in pairwise(row))
    assert len(followed) == n * (n - 1)
    assert len(set(followed.values())) == 1
