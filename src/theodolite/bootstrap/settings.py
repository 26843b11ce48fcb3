"""Django's settings as a module, for tools that insist on one (mypy's plug-in, `makemigrations`).

The program itself never reads it: `bootstrap.database` makes the same settings for
the workspace at hand.
"""

from __future__ import annotations

from pathlib import Path

from theodolite.bootstrap.database import database_settings, django_settings

_SETTINGS = django_settings(database_settings(Path(".theodolite"), None))

DATABASES = _SETTINGS["DATABASES"]
DEFAULT_AUTO_FIELD = _SETTINGS["DEFAULT_AUTO_FIELD"]
INSTALLED_APPS = _SETTINGS["INSTALLED_APPS"]
LOGGING_CONFIG = _SETTINGS["LOGGING_CONFIG"]
SECRET_KEY = _SETTINGS["SECRET_KEY"]
TIME_ZONE = _SETTINGS["TIME_ZONE"]
USE_TZ = _SETTINGS["USE_TZ"]
