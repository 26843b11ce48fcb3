"""Settings of the web server: `serve.yaml`."""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from pydantic import Field

from theodolite.config.permissions import (
    SERVING,
    Permissions,
    StudyPaths,
    read_file,
    read_permissions,
    remember_permissions,
)
from theodolite.config.validation import Filled, Spec, YesNo, validated
from theodolite.config.yaml_source import InvalidStudyError, LocatedDiagnostic, YamlSource, read_yaml
from theodolite.domain.errors import Diagnostic, InputError


class MailSpec(Spec):
    """A mail server."""

    server: Filled
    """`HOST` or `HOST:PORT`."""
    encryption: Literal["starttls", "tls", "none"] = "starttls"
    """Encryption of the connection."""
    user: str = ""
    """User name for signing in."""
    password: str = ""
    """Name of the environment variable that holds the password."""
    sender: Filled
    """Sender of mails, e.g. `Field test <event@example.org>`."""


class SignInSpec(Spec):
    """An identity provider (OpenID Connect)."""

    name: Filled
    """Text of its button."""
    server: Filled
    """Its issuer address; `/.well-known/openid-configuration` is appended."""
    client: Filled
    """Client id of this server at the provider."""
    secret: Filled
    """Name of the environment variable that holds the client's secret."""
    trusts_addresses: YesNo = False
    """Whether a verified address signs a person in to the account with that address."""
    pages: list[Filled] = Field(default_factory=list)
    """Further addresses with sign-in pages; browsers may only be redirected to `server` and these."""


class ServingSpec(Spec):
    """Settings of the web side."""

    listen: str = ""
    """`HOST:PORT` to listen on."""
    address: str = ""
    """Public address of the server, e.g. `https://event.example.org`."""
    proxies: list[Filled] = Field(default_factory=list)
    """Addresses of proxies whose headers on client address and https are trusted."""
    application_classes: list[str] = Field(default_factory=list)
    """Classes that application teams may name, as `module:Class`; installed and reviewed by the operator."""
    application_env: list[str] = Field(default_factory=list)
    """Environment variables of the server that teams may expose to their classes; they must not contain secrets."""
    application_pythons: list[str] = Field(default_factory=list)
    """Interpreters or virtual environments, by path, that teams may choose for their classes."""
    mail: MailSpec | None = None
    """Mail server; without it, links are handed over by hand."""
    second_factor: list[Literal["organiser", "senior annotator", "analyst", "application team"]] = Field(
        default_factory=list
    )
    """Roles that need a second factor in every study; organisers can add further ones to theirs."""
    sign_in: dict[str, SignInSpec] = Field(default_factory=dict)
    """Identity providers by a short name."""


LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Names of the local machine."""

_ENCRYPTION = {"smtp": "starttls", "smtps": "tls", "smtp+plain": "none"}

_ORIGIN = re.compile(r"(?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\])(?::\d+)?")
"""A host and optional port without characters that would end a rule of the content policy."""

_PORTS = {"starttls": 587, "tls": 465, "none": 25}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """A mail server.

    Attributes:
        host: Its name.
        port: Its port.
        encryption: `starttls`, `tls` or `none`.
        user: User name for signing in; empty for none.
        password: Password of the user.
        sender: Sender of mails.
    """

    host: str
    port: int
    encryption: str
    sender: str
    user: str = ""
    password: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """An identity provider (OpenID Connect).

    Attributes:
        key: Short name in addresses.
        name: Text of its button.
        server: Its address.
        client: Client id of this server at the provider.
        secret: The client's secret.
        trusts_addresses: Whether a verified address signs a person in to the account with that address.
        pages: Further addresses with sign-in pages.
    """

    key: str
    name: str
    server: str
    client: str
    secret: str = field(repr=False)
    trusts_addresses: bool = False
    pages: tuple[str, ...] = ()

    @property
    def origins(self) -> tuple[str, ...]:
        """The origins of all its pages, e.g. `https://id.example.org`, each once."""
        parts = (urlsplit(address) for address in (self.server, *self.pages))
        return tuple(dict.fromkeys(f"{part.scheme}://{part.netloc}" for part in parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamSettings:
    """Limits for submissions of application teams.

    Attributes:
        operator_key: Encrypts their credentials; empty if credentials are not accepted.
        classes: Classes that the operator has installed, as `module:Class`.
        allows_private: Whether their addresses may be in private networks.
        environment: Names of environment variables of the server that their classes may see.
        interpreters: Interpreters or virtual environments that may run their classes.
    """

    operator_key: str = field(default="", repr=False)
    classes: tuple[str, ...] = ()
    allows_private: bool = False
    environment: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingSettings:
    """Settings of the web side.

    Attributes:
        host: Address to listen on.
        port: Port to listen on; 0 for any that is free.
        address: Public address without a trailing slash; empty if it equals `host`.
        proxies: Addresses of proxies whose headers on client address and https are trusted.
        mail: Mail server; None if links are handed over by hand.
        sign_ins: Identity providers.
        second_factor: Roles that need a second factor in every study.
        secret_key: Signs cookies and links; empty for the workspace's own.
        teams: Limits for submissions of application teams.
        metrics_token: Token for reading the metrics; empty if only this machine may read them.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    address: str = ""
    proxies: tuple[str, ...] = ()
    mail: Mail | None = None
    sign_ins: tuple[SignIn, ...] = ()
    second_factor: tuple[str, ...] = ()
    secret_key: str = field(default="", repr=False)
    teams: TeamSettings = field(default_factory=TeamSettings)
    metrics_token: str = field(default="", repr=False)

    @property
    def is_private(self) -> bool:
        """Whether the server is reachable only from this machine."""
        return self.host in LOOPBACK

    @property
    def is_https(self) -> bool:
        """Whether its public address uses https."""
        return self.address.startswith("https://")


Confirm = Callable[[Path, str], bool]
"""Asks the operator whether a settings file, given its text, may be used."""


def load_serving(
    environ: Mapping[str, str],
    *,
    folder: Path | None = None,
    file: str = "",
    listen: str = "",
    confirm: Confirm = lambda _, __: False,
) -> ServingSettings:
    """Return the settings of the web side.

    A `serve.yaml` next to a study may come from the study's author, who would then choose the classes of
    teams, the identity provider and the host that gets the mail password. It therefore needs permission.

    Args:
        environ: The environment, the only source of secrets.
        folder: Folder of `serve.yaml`; None for none.
        file: Another file to use instead, named by the operator; must exist.
        listen: `HOST:PORT` from the command line; empty if it was not given.
        confirm: Asks the operator about a `serve.yaml` that is not allowed yet.

    Raises:
        InvalidStudyError: If settings are invalid; lists all errors.
        InputError: If `serve.yaml` was not allowed on this machine.
    """
    reading = _SettingsReading(environ)
    raw = reading.bytes_of(Path(file)) if file else _allowed_bytes(folder, reading, confirm)
    spec = reading.shape_of(raw)
    host, port = reading.listening(listen or environ.get("THEODOLITE_LISTEN", "") or spec.listen)
    settings = ServingSettings(
        host=host,
        port=port,
        address=reading.address(environ.get("THEODOLITE_ADDRESS", "") or spec.address),
        proxies=reading.proxies(environ.get("THEODOLITE_PROXIES", "").replace(",", " ").split() or spec.proxies),
        mail=reading.mail(spec.mail),
        sign_ins=reading.sign_ins(spec.sign_in),
        second_factor=tuple(dict.fromkeys(spec.second_factor)),
        secret_key=environ.get("THEODOLITE_SECRET_KEY", ""),
        teams=reading.teams(spec),
        metrics_token=environ.get("THEODOLITE_METRICS_TOKEN", "").strip(),
    )
    if reading.faults:
        raise InvalidStudyError(tuple(reading.faults), ending="Nothing was served.")
    return settings


def _allowed_bytes(folder: Path | None, reading: _SettingsReading, confirm: Confirm) -> bytes:
    """Return the content of `serve.yaml` in a folder; empty if there is none.

    Raises:
        InputError: If the operator has not allowed it.
    """
    if folder is None or not (folder / SERVING).exists():
        return b""
    file = folder / SERVING
    result = StudyPaths(folder=folder).find(SERVING)
    if not isinstance(result, Path):
        message = f"`{file}` must be a file" if result is None else result.message
        raise InputError(message)
    raw = reading.bytes_of(file)
    sha256 = hashlib.sha256(raw).hexdigest()
    if reading.faults or read_permissions(folder).allows_settings(sha256):
        return raw
    if not confirm(file, raw.decode("utf-8", "replace")):
        message = (
            f"`{file}` sets up the server, and it has not been allowed on this machine. Read it; then name it:"
            f" --settings {file}"
        )
        raise InputError(message)
    remember_permissions(folder, Permissions(settings=(sha256,)))
    return raw


class _SettingsReading:
    """Reads settings and collects their errors."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._source = YamlSource(file=SERVING, lines=[])
        self.faults: list[LocatedDiagnostic] = []

    def bytes_of(self, file: Path) -> bytes:
        """Return the content of a file; empty if it cannot be read."""
        raw = read_file(file)
        if isinstance(raw, LocatedDiagnostic):
            self.faults.append(raw)
            return b""
        self._source = YamlSource(file=file.name, lines=[])
        return raw

    def shape_of(self, raw: bytes) -> ServingSpec:
        """Return the content of a file; empty if the file is empty."""
        if not raw:
            return ServingSpec()
        self._source = read_yaml(raw, self._source.file)
        spec = validated(self._source, ServingSpec, owner="the settings") if self._source.content else None
        self.faults.extend(self._source.faults)
        return spec or ServingSpec()

    def listening(self, text: str) -> tuple[str, int]:
        """Return host and port of `HOST:PORT`, `[HOST]:PORT`, or `:PORT` for this machine."""
        host, _, port = (text or "127.0.0.1:8000").rpartition(":")
        if not port.isdecimal() or int(port) > 65535:
            self._say(("listen",), f"`listen` is `{text}`; expected HOST:PORT, e.g. 0.0.0.0:8000")
            return "127.0.0.1", 8000
        return host.strip("[]") or "127.0.0.1", int(port)

    def address(self, text: str) -> str:
        """Return an address without a trailing slash."""
        parts = urlsplit(text)
        if text and (parts.scheme not in {"http", "https"} or not parts.hostname or parts.path.strip("/")):
            self._say(("address",), f"`address` is `{text}`; expected https://HOST without a path")
        return text.rstrip("/")

    def proxies(self, names: list[str]) -> tuple[str, ...]:
        """Return the addresses of proxies, which must be IP addresses."""
        for name in names:
            try:
                ipaddress.ip_network(name, strict=False)
            except ValueError:
                self._say(("proxies",), f"`{name}` of `proxies` is no IP address or network, e.g. 10.0.0.2")
        return tuple(names)

    def teams(self, spec: ServingSpec) -> TeamSettings:
        """Return the limits for submissions of application teams."""
        named = self._listed("THEODOLITE_APPLICATION_CLASSES") or spec.application_classes
        for name in named:
            module, _, kind = name.partition(":")
            if not module.replace(".", "").isidentifier() or not kind.isidentifier():
                self._say(("application_classes",), f"`{name}` of `application_classes` is no `module:Class`")
        return TeamSettings(
            operator_key=self._environ.get("THEODOLITE_OPERATOR_KEY", ""),
            classes=tuple(named),
            allows_private=self._environ.get("THEODOLITE_ALLOW_PRIVATE", "") == "1",
            environment=tuple(self._listed("THEODOLITE_APPLICATION_ENV") or spec.application_env),
            interpreters=tuple(self._listed("THEODOLITE_APPLICATION_PYTHONS") or spec.application_pythons),
        )

    def _listed(self, variable: str) -> list[str]:
        return self._environ.get(variable, "").replace(",", " ").split()

    def mail(self, spec: MailSpec | None) -> Mail | None:
        """Return the mail server: from `EMAIL_URL`, else from the file."""
        if url := self._environ.get("EMAIL_URL", ""):
            return self._mail_of(url)
        if spec is None:
            return None
        host, _, port = spec.server.partition(":")
        return Mail(
            host=host,
            port=int(port) if port.isdecimal() else _PORTS[spec.encryption],
            encryption=spec.encryption,
            sender=spec.sender,
            user=spec.user,
            password=self._secret(("mail", "password"), spec.password) if spec.password else "",
        )

    def _mail_of(self, url: str) -> Mail | None:
        parts = urlsplit(url)
        sender = self._environ.get("EMAIL_FROM", "")
        if parts.scheme not in _ENCRYPTION or not parts.hostname or not sender:
            expected = "smtp://USER:PASSWORD@HOST:587 (or smtps://, smtp+plain://), and `EMAIL_FROM` a sender"
            self.faults.append(LocatedDiagnostic(file="EMAIL_URL", message=f"expected {expected}"))
            return None
        encryption = _ENCRYPTION[parts.scheme]
        return Mail(
            host=parts.hostname,
            port=parts.port or _PORTS[encryption],
            encryption=encryption,
            sender=sender,
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
        )

    def sign_ins(self, specs: Mapping[str, SignInSpec]) -> tuple[SignIn, ...]:
        """Return the identity providers: one from the environment, else those of the file."""
        environ = self._environ
        if environ.get("OIDC_SERVER"):
            spec = SignInSpec(
                name=environ.get("OIDC_NAME") or "single sign-on",
                server=environ["OIDC_SERVER"],
                client=environ.get("OIDC_CLIENT") or "theodolite",
                secret="OIDC_SECRET",  # noqa: S106 - the name of a variable
            )
            return (self._sign_in("sso", spec),)
        return tuple(self._sign_in(key, spec) for key, spec in specs.items())

    def _sign_in(self, key: str, spec: SignInSpec) -> SignIn:
        for where, address in [("server", spec.server), *(("pages", page) for page in spec.pages)]:
            parts = urlsplit(address)
            if not _ORIGIN.fullmatch(parts.netloc) or (parts.scheme != "https" and parts.hostname not in LOOPBACK):
                self._say(("sign_in", key, where), f"`{where}` of `{key}` must begin with https://; got `{address}`")
        return SignIn(
            key=key,
            name=spec.name,
            server=spec.server,
            client=spec.client,
            secret=self._secret(("sign_in", key, "secret"), spec.secret),
            trusts_addresses=spec.trusts_addresses,
            pages=tuple(spec.pages),
        )

    def _secret(self, path: tuple[str, ...], variable: str) -> str:
        if not self._environ.get(variable):
            self._say(path, f"the variable `{variable}` that `{path[-1]}` names is not set")
        return self._environ.get(variable, "")

    def _say(self, path: tuple[str, ...], message: str) -> None:
        self.faults.append(self._source.place(Diagnostic(path=path, message=message)))
