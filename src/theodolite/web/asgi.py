"""The ASGI application, and the context managers of the server."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import django

from theodolite.web.api.deliveries import delivering
from theodolite.web.asgi_handler import asgi_application, open_pool
from theodolite.web.organiser.results import measuring_bench
from theodolite.web.senior.home import warming
from theodolite.web.session_end import reply_manager, sweeping
from theodolite.web.teams.admission import conformance_bench

COMPANIONS: list[Callable[[], AbstractAsyncContextManager[object]]] = [
    open_pool,
    lambda: reply_manager().open(),
    conformance_bench,
    measuring_bench,
    sweeping,
    warming,
    delivering,
]
"""Context managers that are open from the first request to the last, in the server's event loop."""

django.setup(set_prefix=False)
application = asgi_application(COMPANIONS)
