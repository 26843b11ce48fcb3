"""The Django application that owns the tables of a workspace."""

from __future__ import annotations

from django.apps import AppConfig


class StoreConfig(AppConfig):
    """Names the application; tables and migrations hang on its label."""

    name = "theodolite.store"
    label = "store"
    default_auto_field = "django.db.models.BigAutoField"
