"""Replies as server-sent events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from theodolite.domain.dialogue import TurnState
from theodolite.domain.live import LiveTurn
from theodolite.execution.live_reply import LiveReply

_ANNOUNCED = {
    TurnState.COMPLETE: "Reply: {}",
    TurnState.INTERRUPTED: "Reply, which ends early: {}",
    TurnState.ERROR: "The application did not answer. Your message is kept. {}",
}


async def pieces_of(live: LiveReply, after: int) -> AsyncIterator[str]:
    """Yield the pieces of a reply as events; the id of an event says how many letters are shown with it."""
    async for shown in live.watch(after, pulses=True):
        if shown.text:
            yield f"event: piece\nid: {shown.upto}\ndata: {json.dumps(shown.text)}\n\n"
        else:
            yield ": still there\n\n"


def end_of(html: str, turn: LiveTurn) -> str:
    """Return the last event: the turn as HTML, and the one announcement that a screen reader makes of it."""
    words = _ANNOUNCED[turn.state or TurnState.INTERRUPTED].format(turn.response)
    return f"event: end\ndata: {json.dumps({'html': html, 'words': words})}\n\n"
