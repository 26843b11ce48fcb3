"""Recovery: what a process that died left under way."""

from __future__ import annotations

from theodolite.ports.people import People


def recover(store: People) -> int:
    """End every reply that nobody waits for any more, and return how many there were.

    Called once when a server begins and before it answers anybody: the prompt and
    what was shown of the reply are kept, and the person goes on from there.
    """
    return store.interrupt_all()
