"""Django's settings for the web side: those of the store, and those of pages, accounts and mail.

The web side is above this package, so it is named here only as text.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from theodolite.bootstrap.database import django_settings
from theodolite.config.serving import LOOPBACK, Mail, ServingSettings
from theodolite.gateways.proxies import SystemHostResolver

WEB = "theodolite.web"
"""The package of the web side."""

DEMO = "theodolite.demo"
"""The package of the seeded event; it is above the web side."""

YEAR_S = 31_536_000
"""How long browsers must use https after the first response; seconds."""

_WEEK_S = 604_800


def static_folders() -> tuple[Path, ...]:
    """Return the folders of static files: ours, then those of the sign-in library."""
    homes = (find_spec(WEB), find_spec("allauth.mfa"), find_spec("allauth.account"))
    return tuple(Path(home.origin).parent / "static" for home in homes if home is not None and home.origin)


def static_address(folders: tuple[Path, ...]) -> str:
    """Return the address below which static files are served; it changes with their content."""
    seen = sha256()
    for folder in folders:
        for file in sorted(item for item in folder.rglob("*") if item.is_file()):
            seen.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())
    return f"/static/{seen.hexdigest()[:12]}/"


KIT_CLASS = "theodolite.resources.kit.my_application:MyApplication"
"""The echo application of the interface kit: the class that teams of the demonstration may name."""


def serving_settings(
    database: dict[str, Any], *, secret_key: str, serving: ServingSettings | None = None, demo: bool = False
) -> dict[str, Any]:
    """Return Django's settings for the web side.

    Args:
        database: See `database_settings`.
        secret_key: Signs cookies and links.
        serving: Settings of the server; None for a server for this machine only.
        demo: Whether one-click accounts are offered.
    """
    store = django_settings(database)
    folders = static_folders()
    serving = serving or ServingSettings()
    return {
        **store,
        "SECRET_KEY": secret_key,
        "INSTALLED_APPS": [*store["INSTALLED_APPS"], *_APPLICATIONS],
        "MIDDLEWARE": _MIDDLEWARE,
        "ROOT_URLCONF": f"{DEMO}.event" if demo else f"{WEB}.urls",
        "TEMPLATES": [_TEMPLATES],
        "STATIC_URL": static_address(folders),
        "STATIC_FOLDERS": folders,
        "APPLICATION_CLASSES": (KIT_CLASS,) if demo else serving.teams.classes,
        "APPLICATION_ENV": serving.teams.environment,
        "APPLICATION_PYTHONS": serving.teams.interpreters,
        "OPERATOR_KEY": serving.teams.operator_key,
        "ALLOW_PRIVATE": serving.teams.allows_private,
        "HOST_RESOLVER": SystemHostResolver(),
        "SECOND_FACTOR": serving.second_factor,
        "METRICS_TOKEN": serving.metrics_token,
        "WORKSPACE": None,
        "DATABASE_URL": None,
        **_FIXED,
        **_ACCOUNTS,
        **_names(serving),
        **_mail(serving.mail),
        **_sign_ins(serving),
    }


def viewing_settings(*, secret_key: str, cookie: str) -> dict[str, Any]:
    """Return the settings of `theodolite view`: loopback, no accounts, no database of its own.

    The session is a signed cookie. The pages of `theodolite serve` are not routed.

    Args:
        secret_key: Signs the cookies; a new one for each process, so that cookies end with it.
        cookie: Suffix of the cookies' names, because cookies ignore the port of a machine.
    """
    nowhere = {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}
    return {
        **serving_settings(nowhere, secret_key=secret_key),
        "ROOT_URLCONF": f"{WEB}.viewer.urls",
        "ASGI_APPLICATION": f"{WEB}.viewer.asgi.application",
        "SESSION_ENGINE": "django.contrib.sessions.backends.signed_cookies",
        "SESSION_COOKIE_NAME": f"theodolite_view_{cookie}",
        "SESSION_EXPIRE_AT_BROWSER_CLOSE": True,
        "CSRF_COOKIE_NAME": f"theodolite_view_csrf_{cookie}",
        "CSRF_COOKIE_AGE": None,
    }


def _names(serving: ServingSettings) -> dict[str, Any]:
    """Return the settings that depend on the names under which the server is called."""
    own = urlsplit(serving.address).hostname
    return {
        "ALLOWED_HOSTS": [*map(_as_host, [*LOOPBACK, *([own] if own else machine_names(serving.host))])],
        "ADDRESS": serving.address,
        "CSRF_TRUSTED_ORIGINS": [serving.address] if serving.address else [],
        "SESSION_COOKIE_SECURE": serving.is_https,
        "CSRF_COOKIE_SECURE": serving.is_https,
        "SECURE_SSL_REDIRECT": serving.is_https,
        "SECURE_REDIRECT_EXEMPT": [
            r"^(healthz|readyz|metrics)$"
        ],  # probes reach the process directly, without the proxy
        "SECURE_HSTS_SECONDS": YEAR_S if serving.is_https else 0,
        "ACCOUNT_DEFAULT_HTTP_PROTOCOL": "https" if serving.is_https else "http",
        "MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN": serving.is_private,
    }


def _as_host(name: str) -> str:
    """Return a name or address as a browser writes it in front of the port.

    Example:
        >>> _as_host("::1"), _as_host("fe80::1%eth0"), _as_host("event.example")
        ('[::1]', '[fe80::1]', 'event.example')
    """
    return f"[{name.partition('%')[0]}]" if ":" in name else name


def machine_names(host: str) -> tuple[str, ...]:
    """Return the names and addresses under which others may call a server that listens on `host`."""
    if host not in {"0.0.0.0", "::"}:  # noqa: S104 - a comparison
        return (host,)
    name = socket.gethostname()
    result = {name, f"{name}.local"}
    with suppress(OSError):
        result |= {str(entry[4][0]) for entry in socket.getaddrinfo(name, None)}
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # nothing is sent; this only determines the outgoing address
        result.add(str(probe.getsockname()[0]))
    return tuple(sorted(result))


def _mail(mail: Mail | None) -> dict[str, Any]:
    if mail is None:
        return {"EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend", "SENDS_MAIL": False}
    return {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": mail.host,
        "EMAIL_PORT": mail.port,
        "EMAIL_HOST_USER": mail.user,
        "EMAIL_HOST_PASSWORD": mail.password,
        "EMAIL_USE_TLS": mail.encryption == "starttls",
        "EMAIL_USE_SSL": mail.encryption == "tls",
        "EMAIL_TIMEOUT": 20,
        "DEFAULT_FROM_EMAIL": mail.sender,
        "SENDS_MAIL": True,
    }


def _sign_ins(serving: ServingSettings) -> dict[str, Any]:
    apps = [
        {
            "provider_id": sign_in.key,
            "name": sign_in.name,
            "client_id": sign_in.client,
            "secret": sign_in.secret,
            "settings": {
                "server_url": sign_in.server,
                "oauth_pkce_enabled": True,
                "email_authentication": sign_in.trusts_addresses,
            },
        }
        for sign_in in serving.sign_ins
    ]
    return {
        "SOCIALACCOUNT_PROVIDERS": {"openid_connect": {"APPS": apps}},
        "FORM_TARGETS": tuple(dict.fromkeys(origin for sign_in in serving.sign_ins for origin in sign_in.origins)),
    }


_APPLICATIONS = [
    "theodolite.web",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "django.forms",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.mfa",
]

_MIDDLEWARE = [
    "theodolite.web.middleware.measured",
    "theodolite.web.middleware.closed_headers",
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "theodolite.web.middleware.SpokenPages",
    "theodolite.web.middleware.PlainErrors",
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
        "builtins": ["django.templatetags.i18n", "theodolite.web.components"],
        "context_processors": [
            "django.template.context_processors.request",
            "django.contrib.auth.context_processors.auth",
            "django.contrib.messages.context_processors.messages",
            "theodolite.web.middleware.on_every_page",
            "theodolite.web.accounts.sign_in.display_settings_context",
        ],
    },
}

_COUNTS = {
    "BACKEND": f"{WEB}.accounts.sign_in.GuessCounts",
    "LOCATION": "web_guess_count",
    "KEY_FUNCTION": f"{WEB}.accounts.sign_in.hidden_key",
    "OPTIONS": {"MAX_ENTRIES": 10_000},
}

_FIXED: dict[str, Any] = {
    "CACHES": {"default": _COUNTS},
    "ASGI_APPLICATION": f"{WEB}.asgi.application",
    "AUTH_USER_MODEL": "web.Account",
    "AUTHENTICATION_BACKENDS": ["allauth.account.auth_backends.AuthenticationBackend"],
    "LANGUAGE_CODE": "en",
    "LANGUAGES": [("en", "English"), ("de", "Deutsch"), ("ar", "العربية")],
    "SESSION_COOKIE_AGE": _WEEK_S,
    "SECURE_REFERRER_POLICY": "same-origin",
    "X_FRAME_OPTIONS": "DENY",
    "CSRF_FAILURE_VIEW": "theodolite.web.middleware.csrf_failure",
    "PASSWORD_RESET_TIMEOUT": 3600,
    "PASSWORD_HASHERS": ["django.contrib.auth.hashers.Argon2PasswordHasher"],
    "FORM_RENDERER": "django.forms.renderers.TemplatesSetting",
    "AUTH_PASSWORD_VALIDATORS": _PASSWORDS,
    "LOGIN_URL": "account_login",
    "LOGIN_REDIRECT_URL": "home",
    "SESSION_COOKIE_HTTPONLY": True,
    "SESSION_COOKIE_SAMESITE": "Lax",
    "CSRF_COOKIE_HTTPONLY": True,
    "MESSAGE_STORAGE": "django.contrib.messages.storage.session.SessionStorage",
}

_ACCOUNTS: dict[str, Any] = {
    "ACCOUNT_LOGIN_METHODS": {"email"},
    "ACCOUNT_SIGNUP_FIELDS": ["email*", "password1*"],
    "ACCOUNT_USER_MODEL_USERNAME_FIELD": None,
    "ACCOUNT_EMAIL_VERIFICATION": "none",
    "ACCOUNT_ADAPTER": "theodolite.web.accounts.sign_in.ClosedDoor",
    "ACCOUNT_LOGOUT_ON_GET": False,
    "ACCOUNT_PREVENT_ENUMERATION": True,
    "ACCOUNT_EMAIL_SUBJECT_PREFIX": "",
    "ACCOUNT_EMAIL_NOTIFICATIONS": True,
    "ACCOUNT_REAUTHENTICATION_TIMEOUT": 900,
    "SOCIALACCOUNT_ADAPTER": "theodolite.web.accounts.sign_in.InvitedOnly",
    "SOCIALACCOUNT_LOGIN_ON_GET": False,
    "SOCIALACCOUNT_STORE_TOKENS": False,
    "MFA_SUPPORTED_TYPES": ["totp", "webauthn", "recovery_codes"],
    "MFA_PASSKEY_LOGIN_ENABLED": True,
    "MFA_ALLOW_UNVERIFIED_EMAIL": True,
    "MFA_TOTP_ISSUER": "Theodolite",
    "MFA_TOTP_TOLERANCE": 1,  # clocks of phones differ
    # Many people may share one address, so the limit on successes is generous and the one on failures is not.
    "ACCOUNT_RATE_LIMITS": {
        "login": "120/m/ip",
        "login_failed": "20/5m/ip,5/5m/key",
        "code_failed": "20/5m/ip",
        "recruited": "120/m/ip",
        "token_failed": "20/5m/ip",
        "token_used": "300/m/key",
        "reset_password": "20/m/ip,5/m/key",
    },
}
