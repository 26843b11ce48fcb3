"""What happens once before the server listens."""

from __future__ import annotations

from theodolite.web.demo import seed


def opening_lines(*, demo: bool, study: str) -> tuple[str, ...]:  # noqa: ARG001
    """Prepare the server and return what to tell the operator; `{address}` is filled in later.

    Args:
        demo: Whether to seed the event with one-click accounts.
        study: Folder of a study to be hosted; empty for none.
    """
    if demo:
        seed()
        return ("A seeded event, one click for each role:  {address}/demo/",)
    return ("Serving on {address}/",)
