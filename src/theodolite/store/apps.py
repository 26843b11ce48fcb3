"""The Django application that owns the tables of a workspace."""

from __future__ import annotations

from importlib import import_module

from django.apps import AppConfig

_OF_PEOPLE = ("events", "annotating")


def load_all_tables() -> None:
    """Load the tables of people in addition to those of runs, because migrations need all of them."""
    for name in _OF_PEOPLE:
        import_module(f"theodolite.store.models.{name}")


class StoreConfig(AppConfig):
    """Names the application; tables and migrations depend on its label."""

    name = "theodolite.store"
    label = "store"
    default = True
    default_auto_field = "django.db.models.BigAutoField"

    def import_models(self) -> None:
        """Load the tables of runs, then those of people."""
        super().import_models()
        load_all_tables()


class RunsConfig(StoreConfig):
    """The application for commands, which load the tables of people only when needed.

    A run with simulated users then starts without a third of the tables.
    """

    default = False

    def import_models(self) -> None:
        """Load the tables of runs."""
        AppConfig.import_models(self)
