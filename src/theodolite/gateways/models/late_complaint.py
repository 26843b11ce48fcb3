"""Late complaints: what a server says is wrong after it has said 200.

Servers that hand requests on, and those that send replies piece by piece, learn of a fault
when the status is out already. What would pass under a status of its own passes here too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from theodolite.gateways.attempt_error import Again, AttemptError, of_status
from theodolite.gateways.complaint import complaint_in
from theodolite.gateways.http.event_stream import EventReader
from theodolite.gateways.secrecy import Secret


def passing_error(body: bytes, secret: Secret) -> AttemptError | None:
    """Return what a good answer complains about, where another try may do better; None otherwise.

    Args:
        body: The answer, in one piece or as events.
        secret: What must not be repeated.
    """
    if b'"error"' not in body:  # no key of JSON and no value of it, since quotes inside of texts are escaped
        return None
    for found in _objects(body):
        complaint = complaint_in(found) if found.get("error") else None
        if complaint is None or not complaint.status or complaint.is_filter or complaint.is_quota:
            continue
        attempt_error = of_status(complaint.status, "")
        if attempt_error.again is not Again.NEVER:
            return replace(attempt_error, words=f"200 with an error: {secret.scrub(complaint.words)}")
    return None


def late_words(body: bytes) -> str:
    """Return what a good answer complains about, whatever it is; empty where it does not complain."""
    if b'"error"' not in body:
        return ""
    complaints = (complaint_in(found) for found in _objects(body) if found.get("error"))
    return "; ".join(complaint.words for complaint in complaints if complaint is not None)


def _objects(body: bytes) -> Iterator[Mapping[str, Any]]:
    whole = _object(body)
    if whole is not None:
        yield whole
        return
    reader = EventReader()
    for data in (*reader.feed(body), *reader.end()):
        event = _object(data)
        if event is not None:
            yield event


def _object(text: str | bytes) -> Mapping[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, Mapping) else None
