"""The ASGI application of `theodolite view`."""

from __future__ import annotations

import django

from theodolite.web.asgi_handler import asgi_application, open_pool

django.setup(set_prefix=False)
application = asgi_application([open_pool])
