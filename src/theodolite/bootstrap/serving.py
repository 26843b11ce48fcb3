"""The web side put together: settings in, a server out.

The web side stands above this package, so it is named here in words only: Django reads
its settings as words, and so does the server.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from theodolite.bootstrap.database import configure_django, database_settings, django_settings, make_workspace
from theodolite.domain.errors import InputError, StorageUnavailable

WEB = "theodolite.web"
"""The package of the web side."""

SECRET_FILE = "secret.key"  # noqa: S105 - the name of a file
"""File of a workspace that holds the key which signs cookies and links."""

GRACE_S = 2
"""How long open streams may go on when the server is stopped; seconds."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """How the web side is to be served.

    Attributes:
        workspace: Folder of database and key.
        database_url: A PostgreSQL database; None for the workspace's own file.
        host: Address to listen on.
        port: Port to listen on; 0 for any that is free.
        study: Folder of a study to be hosted; empty for none.
        demo: Whether to seed an event with one-click accounts; on loopback only.
    """

    workspace: Path
    database_url: str | None = None
    host: str = "127.0.0.1"
    port: int = 8000
    study: str = ""
    demo: bool = False

    def __post_init__(self) -> None:
        """Refuse what would let strangers in."""
        if self.demo and self.host not in LOOPBACK:
            message = f"`--demo` lets everybody in with one click, so it serves 127.0.0.1 only; got `{self.host}`"
            raise InputError(message)


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
        "INSTALLED_APPS": [
            *store["INSTALLED_APPS"],
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
        ],
        "MIDDLEWARE": _MIDDLEWARE,
        "ROOT_URLCONF": f"{WEB}.urls",
        "ASGI_APPLICATION": f"{WEB}.asgi.application",
        "TEMPLATES": [_TEMPLATES],
        "STATIC_URL": static_address(folders),
        "STATIC_FOLDERS": folders,
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
        "ONE_CLICK_ACCOUNTS": demo,
        **_ACCOUNTS,
    }


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

_ACCOUNTS = {
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


def secret_key_of(workspace: Path) -> str:
    """Return the key that signs cookies and links of a workspace; made at the first time.

    Raises:
        StorageUnavailable: If it can be neither read nor written.
    """
    file = workspace / SECRET_FILE
    try:
        if not file.exists():
            file.touch(mode=0o600)
            file.write_text(secrets.token_urlsafe(48), encoding="ascii")
        return file.read_text(encoding="ascii").strip()
    except OSError as error:
        message = f"the key `{file}` could not be read or made: {error}. Give yourself the right to write there."
        raise StorageUnavailable(message) from error


def open_server(serving: Serving) -> None:
    """Make the workspace, set Django up for the web side and bring all tables up to date.

    Raises:
        StorageUnavailable: If folder or database cannot be reached.
        WrongSchema: If the database was written by a newer version of this program.
    """
    make_workspace(serving.workspace)
    database = database_settings(serving.workspace, serving.database_url)
    hosts = (*LOOPBACK, serving.host)
    key = secret_key_of(serving.workspace)
    configure_django(database, serving_settings(database, secret_key=key, hosts=hosts, demo=serving.demo))
    from theodolite.bootstrap.migration import migrate

    migrate(serving.workspace, database, whole=True)


def serve(serving: Serving, tell: Callable[[str], None]) -> None:
    """Serve the web side until it is stopped.

    Args:
        serving: How.
        tell: Told in lines where the server is, once it listens.

    Raises:
        InputError: If the address cannot be listened on.
        StorageUnavailable: If folder or database cannot be reached.
    """
    open_server(serving)
    lines: tuple[str, ...] = import_module(f"{WEB}.opening").opening_lines(demo=serving.demo, study=serving.study)
    import uvicorn

    listening = _listening(serving.host, serving.port)
    port = listening.getsockname()[1]
    for line in lines:
        tell(line.format(address=f"http://{serving.host}:{port}"))
    config = uvicorn.Config(
        f"{WEB}.asgi:application",
        log_config=None,
        server_header=False,
        access_log=False,
        timeout_graceful_shutdown=GRACE_S,
    )
    uvicorn.Server(config).run(sockets=[listening])


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        message = f"nothing can listen on `{host}:{port}`: {error.strerror}. Name another one:  --listen HOST:PORT"
        raise InputError(message) from error
    return listening
