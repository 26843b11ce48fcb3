"""Django's settings for the web side: those of the store, and what pages, accounts and mail need.

The web side stands above this package, so it is named here in words only.
"""

from __future__ import annotations

from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from theodolite.bootstrap.database import django_settings

WEB = "theodolite.web"
"""The package of the web side."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def static_folders() -> tuple[Path, ...]:
    """Return the folders of files that pages ask for: ours, then those of the sign-in library."""
    homes = (find_spec(WEB), find_spec("allauth.mfa"))
    return tuple(Path(home.origin).parent / "static" for home in homes if home is not None and home.origin)


def static_address(folders: tuple[Path, ...]) -> str:
    """Return the address below which such files are served; another one whenever one of them has changed."""
    seen = sha256()
    for folder in folders:
        for file in sorted(each for each in folder.rglob("*") if each.is_file()):
            seen.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())
    return f"/static/{seen.hexdigest()[:12]}/"


def serving_settings(
    database: dict[str, Any], *, secret_key: str, hosts: tuple[str, ...] = LOOPBACK, demo: bool = False
) -> dict[str, Any]:
    """Return everything that Django has to know to serve the web side.

    Args:
        database: See `database_settings`.
        secret_key: Signs cookies and links.
        hosts: Names under which the server may be called.
        demo: Whether one-click accounts are offered.
    """
    store = django_settings({**database, "CONN_MAX_AGE": 0})  # each request has a thread of its own
    folders = static_folders()
    return {
        **store,
        "SECRET_KEY": secret_key,
        "ALLOWED_HOSTS": list(hosts),
        "AUTH_USER_MODEL": "web.Account",
        "AUTHENTICATION_BACKENDS": ["allauth.account.auth_backends.AuthenticationBackend"],
        "INSTALLED_APPS": [*store["INSTALLED_APPS"], *_APPLICATIONS],
        "MIDDLEWARE": _MIDDLEWARE,
        "ROOT_URLCONF": f"{WEB}.urls",
        "ASGI_APPLICATION": f"{WEB}.asgi.application",
        "TEMPLATES": [_TEMPLATES],
        "STATIC_URL": static_address(folders),
        "STATIC_FOLDERS": folders,
        "ONE_CLICK_ACCOUNTS": demo,
        "WORKSPACE": None,
        "DATABASE_URL": None,
        **_FIXED,
        **_ACCOUNTS,
    }


_APPLICATIONS = [
    "theodolite.web",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.forms",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.mfa",
]

_MIDDLEWARE = [
    "theodolite.web.middleware.closed_headers",
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]

_PASSWORDS = [
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ("email", "name")},
    },
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

_TEMPLATES = {
    "BACKEND": "django.template.backends.django.DjangoTemplates",
    "APP_DIRS": True,
    "OPTIONS": {
        "context_processors": [
            "django.template.context_processors.request",
            "django.contrib.auth.context_processors.auth",
            "django.contrib.messages.context_processors.messages",
            "theodolite.web.accounts.comfort.comfort",
        ],
    },
}

_FIXED: dict[str, Any] = {
    "PASSWORD_HASHERS": ["django.contrib.auth.hashers.Argon2PasswordHasher"],
    "FORM_RENDERER": "django.forms.renderers.TemplatesSetting",
    "AUTH_PASSWORD_VALIDATORS": _PASSWORDS,
    "LOGIN_URL": "account_login",
    "LOGIN_REDIRECT_URL": "home",
    "SESSION_COOKIE_HTTPONLY": True,
    "SESSION_COOKIE_SAMESITE": "Lax",
    "CSRF_COOKIE_HTTPONLY": True,
    "MESSAGE_STORAGE": "django.contrib.messages.storage.session.SessionStorage",
    "SILENCED_SYSTEM_CHECKS": [],
}

_ACCOUNTS: dict[str, Any] = {
    "ACCOUNT_LOGIN_METHODS": {"email"},
    "ACCOUNT_SIGNUP_FIELDS": ["email*", "password1*"],
    "ACCOUNT_USER_MODEL_USERNAME_FIELD": None,
    "ACCOUNT_EMAIL_VERIFICATION": "none",
    "ACCOUNT_ADAPTER": "theodolite.web.accounts.adapter.ClosedDoor",
    "ACCOUNT_LOGOUT_ON_GET": False,
    "ACCOUNT_PREVENT_ENUMERATION": True,
    # A room of people may share one address, so successes are counted generously and failures are not.
    "ACCOUNT_RATE_LIMITS": {
        "login": "120/m/ip",
        "login_failed": "20/5m/ip,5/5m/key",
        "code_failed": "20/5m/ip",
        "reset_password": "20/m/ip,5/m/key",
    },
}
