"""Collecting: how often Python looks for garbage while a run is under way.

What a run makes is freed by counting references; cycles are rare. Looking for them
after every few hundred objects, among everything that was imported and planned,
takes about a twelfth of a run's time, and finds next to nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = (20_000, 20, 20)
"""Objects, and rounds of younger generations, after which each generation is looked through; counts."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Look for garbage seldom within a block, and not among what was there before it."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
