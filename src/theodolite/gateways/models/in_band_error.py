"""Late errors: what a server says is wrong after it has said 200.

Servers that hand requests on, and those that send replies piece by piece, learn of a fault
when the status is out already. What would pass under a status of its own passes here too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from theodolite.gateways.api_error import api_error_in
from theodolite.gateways.attempt_error import Again, AttemptError, of_status
from theodolite.gateways.http.event_stream import EventReader
from theodolite.gateways.secret_redaction import Secret


def passing_error(body: bytes, secret: Secret) -> AttemptError | None:
    """Return what a good answer complains about, where another try may do better; None otherwise.

    Args:
        body: The answer, in one piece or as events.
        secret: What must not be repeated.
    """
    if b'"error"' not in body:  # no key of JSON and no value of it, since quotes inside of texts are escaped
        return None
    for found in _objects(body):
        api_error = api_error_in(found) if found.get("error") else None
        if api_error is None or not api_error.status or api_error.is_filter or api_error.is_quota:
            continue
        attempt_error = of_status(api_error.status, "")
        if attempt_error.again is not Again.NEVER:
            return replace(attempt_error, words=f"200 with an error: {secret.scrub(api_error.words)}")
    return None


def late_words(body: bytes) -> str:
    """Return what a good answer complains about, whatever it is; empty where it does not complain."""
    if b'"error"' not in body:
        return ""
    complaints = (api_error_in(found) for found in _objects(body) if found.get("error"))
    return "; ".join(api_error.words for api_error in complaints if api_error is not None)


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
