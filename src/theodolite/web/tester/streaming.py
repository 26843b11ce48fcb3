"""Replies as server-sent events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from django.utils.translation import gettext_lazy as _

from theodolite.domain.dialogue import TurnState
from theodolite.domain.live import LiveTurn
from theodolite.execution.live_reply import LiveReply

_ANNOUNCED = {
    TurnState.COMPLETE: _("Reply: %(text)s"),
    TurnState.INTERRUPTED: _("Reply, which ends early: %(text)s"),
    TurnState.ERROR: _("The application did not answer. Your message is kept. %(text)s"),
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
    words = _ANNOUNCED[turn.state or TurnState.INTERRUPTED] % {"text": turn.response}
    return f"event: end\ndata: {json.dumps({'html': html, 'words': words})}\n\n"
