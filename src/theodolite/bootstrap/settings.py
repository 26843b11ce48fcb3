"""Django's settings as a module, for tools that require one (mypy's plug-in, `makemigrations`).

The program itself never reads it: `bootstrap.serving` creates the same settings for
its workspace, and `bootstrap.database` those of the store alone.
"""

from __future__ import annotations

from pathlib import Path

from theodolite.bootstrap.database import database_settings
from theodolite.bootstrap.web_settings import serving_settings
from theodolite.ports.application import HostResolver

_SETTINGS = serving_settings(database_settings(Path(".theodolite"), None), secret_key="nothing is signed")  # noqa: S106

globals().update(_SETTINGS)

# Arguments used by our own code are named, so that their types are known.
STATIC_FOLDERS = _SETTINGS["STATIC_FOLDERS"]
WORKSPACE: Path | None = _SETTINGS["WORKSPACE"]
DATABASE_URL: str | None = _SETTINGS["DATABASE_URL"]
ADDRESS: str = _SETTINGS["ADDRESS"]
SENDS_MAIL: bool = _SETTINGS["SENDS_MAIL"]
APPLICATION_CLASSES: tuple[str, ...] = _SETTINGS["APPLICATION_CLASSES"]
APPLICATION_ENV: tuple[str, ...] = _SETTINGS["APPLICATION_ENV"]
APPLICATION_PYTHONS: tuple[str, ...] = _SETTINGS["APPLICATION_PYTHONS"]
OPERATOR_KEY: str = _SETTINGS["OPERATOR_KEY"]
ALLOW_PRIVATE: bool = _SETTINGS["ALLOW_PRIVATE"]
HOST_RESOLVER: HostResolver = _SETTINGS["HOST_RESOLVER"]
SECOND_FACTOR: tuple[str, ...] = _SETTINGS["SECOND_FACTOR"]
METRICS_TOKEN: str = _SETTINGS["METRICS_TOKEN"]
FORM_TARGETS: tuple[str, ...] = _SETTINGS["FORM_TARGETS"]
