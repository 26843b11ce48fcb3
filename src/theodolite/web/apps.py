"""The Django application that owns accounts and the tables of the web side."""

from __future__ import annotations

from django.apps import AppConfig


class WebConfig(AppConfig):
    """Names the application; tables and migrations depend on its label."""

    name = "theodolite.web"
    label = "web"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Connect to the sign-in signal."""
        from theodolite.web.middleware import listen  # models are there from now on only

        listen()
