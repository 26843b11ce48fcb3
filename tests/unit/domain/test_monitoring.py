from __future__ import annotations

import pytest

from theodolite.domain.errors import InputError
from theodolite.domain.monitoring import WatchRules


def test_all_rules_that_mean_nothing_are_named_at_once():
    with pytest.raises(InputError) as caught:
        WatchRules(window=3, arl=1, reference=5, baseline=1.5, limit=0)

    assert all(f"`{name}`" in str(caught.value) for name in ("window", "arl", "reference", "baseline", "limit"))
