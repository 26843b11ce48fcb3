"""Garbage collection during a run.

Objects of a run are freed by reference counts; cycles are rare. Searching them
after every few hundred objects, among all imported and planned objects,
takes about a fifth of a run's time, and frees next to nothing.

Removal condition (ADR-0074): remove it once it saves less than a tenth of the CPU time of
a run of 800 dialogues, for example under an incremental collector.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = (20_000, 20, 20)
"""Objects, and rounds of younger generations, after which each generation is searched; counts."""

WHILE_LOADING = (200_000, 20, 20)
"""The same for a command: its loaded objects, some 120,000, live to its end and need no collection."""


@contextmanager
def reduced_gc(after: tuple[int, int, int] = SELDOM) -> Iterator[None]:
    """Collect garbage less often within a block, and never search earlier objects.

    Args:
        after: Objects and rounds after which to look, as `gc.set_threshold` takes them.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*after)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
