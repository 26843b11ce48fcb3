"""The ASGI application, and the context managers of the server."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial

import django

from theodolite.web import session_end
from theodolite.web.analyst import responses
from theodolite.web.api import webhooks
from theodolite.web.asgi_handler import asgi_application, open_pool, repeating
from theodolite.web.organiser import dashboard
from theodolite.web.organiser.results import measuring_bench
from theodolite.web.senior.home import warming
from theodolite.web.teams.admission import conformance_bench

COMPANIONS: list[Callable[[], AbstractAsyncContextManager[object]]] = [
    open_pool,
    lambda: session_end.reply_manager().open(),
    conformance_bench,
    measuring_bench,
    warming,
    partial(repeating, session_end.end_abandoned, session_end.EVERY_S),
    partial(repeating, webhooks.deliver_due, webhooks.EVERY_S),
    partial(repeating, dashboard.refresh_agreement, dashboard.AGREEMENT_EVERY_S),
    partial(repeating, responses.refresh_pages, responses.LOOK_EVERY_S),
]
"""Context managers that are open from the first request to the last, in the server's event loop."""

django.setup(set_prefix=False)
application = asgi_application(COMPANIONS)
