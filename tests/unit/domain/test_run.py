from __future__ import annotations

import dataclasses

from theodolite.domain.run import Spending


def test_the_sum_of_two_spendings_includes_every_field():
    names = [field.name for field in dataclasses.fields(Spending)]
    first = Spending(**{name: number for number, name in enumerate(names, start=1)})

    total = first + first

    assert dataclasses.astuple(total) == tuple(2 * number for number in range(1, len(names) + 1))
