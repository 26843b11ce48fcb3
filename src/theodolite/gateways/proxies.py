"""Proxies and certificates: which proxy forwards a call, which authorities TLS trusts, and our own certificate.

Settings of the study come first, then the variables of the environment that curl, pip and
requests read as well: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`.
"""

from __future__ import annotations

import base64
import ipaddress
import re
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from theodolite.domain.errors import InputError
from theodolite.domain.network import NO_PROXY, NetworkSettings
from theodolite.ports.application import HostResolver

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")
"""IPv6 addresses by which a network without IPv4 reaches the IPv4 Internet (NAT64, RFC 6052)."""

_UNICAST = ipaddress.ip_network("2000::/3")
"""The IPv6 addresses that IANA has allocated for the Internet."""


# Python's own tables differ between its versions, so everything relevant is listed here.
_REFUSED_4 = tuple(
    map(
        ipaddress.IPv4Network,
        (
            "168.63.129.16/32",  # Azure's platform service
            "192.0.0.0/24",  # protocol assignments, among them Oracle's metadata service
            "192.88.99.0/24",  # relays of 6to4
            "100.64.0.0/10",  # behind a carrier's translation, among them Alibaba's metadata service
        ),
    )
)

_REFUSED_6 = tuple(
    map(
        ipaddress.IPv6Network,
        (
            "2001::/23",  # protocol assignments, among them Teredo, which contains an IPv4 address
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4, which contains an IPv4 address
            "3fff::/20",  # documentation
        ),
    )
)


_PUBLIC = "name a host that the Internet can reach"


def is_public(address: str) -> bool:
    """Return whether a numeric address is publicly routable; other texts are not addresses."""
    try:
        met = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    embedded = _embedded_ipv4(met)
    if embedded is not None or isinstance(met, ipaddress.IPv4Address):
        return _is_public_4(embedded or ipaddress.IPv4Address(met.packed))
    return met.is_global and met in _UNICAST and not any(met in network for network in _REFUSED_6)


def _is_public_4(address: ipaddress.IPv4Address) -> bool:
    is_given_out = address.is_global and not address.is_multicast
    return is_given_out and not any(address in network for network in _REFUSED_4)


def _embedded_ipv4(address: _Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address within an IPv6 address of a known form; None for all others."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in _TRANSLATED else address.ipv4_mapped


@dataclass(frozen=True, slots=True)
class SystemHostResolver:
    """Resolves host names as the machine does; implements `HostResolver`."""

    def addresses(self, host: str) -> tuple[str, ...]:
        """Return the numeric addresses of a host name; none if it cannot be resolved."""
        try:
            result = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            return ()
        return tuple(dict.fromkeys(str(address[0]) for *_, address in result))


def require_public_host(url: str, *, what: str, resolver: HostResolver | None = None) -> None:
    """Reject an address whose host is not public.

    The connection checks names again, because their addresses may change.

    Args:
        url: The address.
        what: Owner of the address, for the message.
        resolver: Resolves a host name; None to check numeric addresses only.

    Raises:
        InputError: If an address of the host belongs to a private network, to this machine, or to several machines.
    """
    host = urlsplit(url).hostname or ""
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        met = resolver.addresses(host) if resolver is not None and host else ()
        refused = next((address for address in met if not is_public(address)), "")
        if refused:
            message = f"{what} is at `{host}`, whose address {refused} is not a public address; {_PUBLIC}"
            raise InputError(message) from None
        return
    if not is_public(host):
        message = f"{what} is at `{host}`, which is not a public address; {_PUBLIC}"
        raise InputError(message)


CA_FILE = "THEODOLITE_CA_FILE"
"""Environment variable with a PEM file of certificate authorities to trust besides those of the system."""

CLIENT_CERT = "THEODOLITE_CLIENT_CERT"
"""Environment variable with the PEM file of the client certificate."""

CLIENT_KEY = "THEODOLITE_CLIENT_KEY"
"""Environment variable with the PEM file of its private key."""

CLIENT_KEY_PASSWORD = "THEODOLITE_CLIENT_KEY_PASSWORD"  # noqa: S105 - the name of a variable
"""Environment variable with the passphrase of the private key."""

_SEPARATORS = re.compile(r"[,\s]+")

_AUTHORIZATION = "Proxy-Authorization"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpProxy:
    """A proxy that forwards calls.

    Attributes:
        url: Its address, without user and password.
        headers: The header that authenticates this machine to it; empty if not required.
        source: The setting that names it, for messages: `proxy`, or an environment variable.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    source: str = "proxy"

    @property
    def host(self) -> str:
        """Host and port."""
        return web_address(self.url).authority


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRoute:
    """How calls to one endpoint leave this machine.

    Attributes:
        proxies: Scheme of an address to the proxy that forwards calls to it.
        direct: Hosts that are called directly despite a proxy.
        tls: Trusted authorities and client certificate; None for the system's authorities and no client certificate.
        is_loopback_direct: Whether loopback addresses are called directly.
        public_only: Whether to connect only to addresses of the public Internet.
    """

    proxies: Mapping[str, HttpProxy] = field(default_factory=dict)
    direct: tuple[str, ...] = ()
    tls: ssl.SSLContext | None = None
    is_loopback_direct: bool = True
    public_only: bool = False

    def proxy_for(self, address: WebAddress) -> HttpProxy | None:
        """Return the proxy that forwards calls to an address; None for a direct connection."""
        proxy = self.proxies.get(address.scheme)
        if proxy is None or (self.is_loopback_direct and _is_loopback(address.host)):
            return None
        return None if any(_names(entry, address) for entry in self.direct) else proxy


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkContext:
    """Source of network settings.

    Attributes:
        environ: Environment variables.
        folder: The study's folder, to which paths are relative.
    """

    environ: Mapping[str, str] = field(default_factory=dict)
    folder: Path = field(default_factory=Path)


def route_of(network: NetworkSettings, context: NetworkContext, *, what: str, public_only: bool = False) -> CallRoute:
    """Return how calls to one endpoint leave this machine.

    Calls to a host that must be public are direct: a proxy would look the name up
    itself, and might reach our own private network. They also present no
    certificate of the environment, because it names the operator.

    Args:
        network: The study's settings.
        context: Where the settings are read.
        what: Owner of the settings, for messages: "model `app`".
        public_only: Whether to connect only to addresses of the public Internet.

    Raises:
        InputError: If a proxy or a certificate cannot be used.
    """
    tls = _tls_of(network, context, what=what, with_environment=not public_only)
    if public_only or network.proxy == NO_PROXY:
        return CallRoute(tls=tls, public_only=public_only)
    if network.proxy:
        proxy = _proxy(network.proxy, source=f"`proxy` of {what}")
        return CallRoute(
            proxies={"http": proxy, "https": proxy}, direct=network.no_proxy, tls=tls, is_loopback_direct=False
        )
    direct = _entries(_variable(context.environ, "no_proxy")[1])
    return CallRoute(proxies=_proxies_of(context.environ), direct=(*direct, *network.no_proxy), tls=tls)


def _proxies_of(environ: Mapping[str, str]) -> dict[str, HttpProxy]:
    """Return the proxies that the environment names, by scheme of the target address."""
    result: dict[str, HttpProxy] = {}
    for scheme in ("http", "https"):
        name, value = _variable(environ, f"{scheme}_proxy")
        if not value:
            name, value = _variable(environ, "all_proxy")
        if value:
            result[scheme] = _proxy(value if "://" in value else f"http://{value}", source=f"variable `{name}`")
    return result


def _variable(environ: Mapping[str, str], name: str) -> tuple[str, str]:
    """Return name and value of a variable written in lower or upper case; lower case takes precedence."""
    return next(((form, environ[form]) for form in (name, name.upper()) if environ.get(form)), (name, ""))


def _proxy(url: str, *, source: str) -> HttpProxy:
    """Return a proxy by its address, which is not repeated in a message, since it may contain a password."""
    try:
        parts = urlsplit(url)
        scheme, userinfo = parts.scheme, parts.netloc.rpartition("@")[0]
        plain = f"{scheme}://{parts.netloc.rpartition('@')[2]}"
        if scheme.startswith("socks"):
            message = (
                f"{source} names a SOCKS proxy; expected an HTTP proxy such as `http://proxy.example:3128`."
                " Ask for its HTTP address, or write `proxy: none` where the host can be reached directly."
            )
            raise InputError(message)
        web_address(plain)
    except (NoAddress, ValueError):
        message = f"{source} is not an address of a proxy; expected one such as `http://proxy.example:3128`"
        raise InputError(message) from None
    user, _, password = userinfo.partition(":")
    token = base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode("ascii")
    return HttpProxy(url=plain, headers={_AUTHORIZATION: f"Basic {token}"} if userinfo else {}, source=source)


def _entries(text: str) -> tuple[str, ...]:
    return tuple(filter(None, _SEPARATORS.split(text)))


@cache
def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text.strip("[]"), strict=False)
    except ValueError:
        return None


def _names(entry: str, address: WebAddress) -> bool:
    """Return whether an entry such as `*`, `.example.org`, `host:8000` or `10.0.0.0/8` covers an address."""
    if entry == "*":
        return True
    host = _network(address.host)
    network = _network(entry)
    if network is not None:
        return host is not None and host.version == network.version and host.network_address in network
    name, _, port = entry.lower().removeprefix("*").removeprefix(".").partition(":")
    is_port = not port or port == str(address.port)
    return is_port and (address.host.lower() == name or address.host.lower().endswith(f".{name}"))


def _is_loopback(host: str) -> bool:
    network = _network(host)
    return host.lower() == "localhost" or (network is not None and network.is_loopback)


def _tls_of(
    network: NetworkSettings, context: NetworkContext, *, what: str, with_environment: bool
) -> ssl.SSLContext | None:
    """Return the trusted certificates; None if neither study nor environment names any."""
    environ = context.environ
    password = environ.get(network.client_key_password, "") if network.client_key_password else ""
    authorities = [(context.folder / network.ca, f"`ca` of {what}")] if network.ca else []
    if environ.get(CA_FILE):
        authorities.append((Path(environ[CA_FILE]), f"variable `{CA_FILE}`"))
    certificate: _Certificate | None = None
    if network.client_cert:
        key = context.folder / network.client_key if network.client_key else None
        hint = "name the environment variable with its passphrase as `client_key_password`"
        certificate = _Certificate(
            context.folder / network.client_cert, key, password, f"`client_cert` of {what}", hint
        )
    elif environ.get(CLIENT_CERT) and with_environment:
        key = Path(environ[CLIENT_KEY]) if environ.get(CLIENT_KEY) else None
        password, hint = environ.get(CLIENT_KEY_PASSWORD, ""), f"set `{CLIENT_KEY_PASSWORD}` to its passphrase"
        certificate = _Certificate(Path(environ[CLIENT_CERT]), key, password, f"variable `{CLIENT_CERT}`", hint)
    return _tls_context(tuple(authorities), certificate) if authorities or certificate else None


@dataclass(frozen=True, slots=True)
class _Certificate:
    """A client certificate; `hint` states where the passphrase of its key is named."""

    file: Path
    key: Path | None
    password: str = field(repr=False)
    source: str
    hint: str


@cache
def _tls_context(authorities: tuple[tuple[Path, str], ...], certificate: _Certificate | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    for file, source in authorities:
        _require_file(file, source)
        try:
            context.load_verify_locations(cafile=file)
        except (ssl.SSLError, OSError):
            message = f"{source}: `{file}` holds no certificate; expected a PEM file with `BEGIN CERTIFICATE`"
            raise InputError(message) from None
    if certificate is not None:
        _load_certificate(context, certificate)
    return context


def _load_certificate(context: ssl.SSLContext, certificate: _Certificate) -> None:
    for file in filter(None, (certificate.file, certificate.key)):
        _require_file(file, certificate.source)
    prompted: list[bool] = []

    def password() -> str:  # OpenSSL would ask at the terminal otherwise
        prompted.append(True)
        return certificate.password

    try:
        context.load_cert_chain(certificate.file, certificate.key, password=password)
    except (ssl.SSLError, OSError, ValueError) as error:
        message = f"{certificate.source}: {_why_unusable(error, certificate, was_prompted=bool(prompted))}"
        raise InputError(message) from None


def _why_unusable(error: Exception, certificate: _Certificate, *, was_prompted: bool) -> str:
    """Return why a certificate and its key cannot be used, and the remedy."""
    key = certificate.key or certificate.file
    if was_prompted and not certificate.password:
        return f"the private key in `{key}` is encrypted; {certificate.hint}"
    if was_prompted:
        return f"the passphrase does not open the private key in `{key}`; {certificate.hint}"
    if "KEY_VALUES_MISMATCH" in str(error):
        return f"the private key in `{key}` does not belong to the certificate in `{certificate.file}`"
    return f"`{certificate.file}` and `{key}` hold no certificate with its private key; expected PEM files with both"


def _require_file(file: Path, source: str) -> None:
    if not file.is_file():
        message = f"{source}: there is no file `{file}`; expected a PEM file"
        raise InputError(message)


_PORTS = {"http": 80, "https": 443}

_HOST = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*)|[0-9A-Fa-f:.]+(?:%[\w.-]+)?")

_LONGEST_PART = 63
"""Maximum length of one part of a name; letters."""

_STAYS = "!#$%&'()*+,-./:;=?@[]_~|"


class NoAddress(ValueError):
    """The text is not a web address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebAddress:
    """A parsed web address.

    Attributes:
        url: The whole address.
        scheme: `http` or `https`.
        host: Name in ASCII form, or number.
        port: Port.
        named_port: Port if the address states one.
        target: Path and query, as they are sent.
    """

    url: str
    scheme: str
    host: str
    port: int
    named_port: int | None
    target: str

    @property
    def site(self) -> tuple[str, str, int]:
        """Key by which connections are shared."""
        return self.scheme, self.host, self.port

    @property
    def is_secure(self) -> bool:
        """Whether it uses TLS."""
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """Host and port as a request names them, without an IPv6 zone, which only this machine knows."""
        host = f"[{self.host.partition('%')[0]}]" if ":" in self.host else self.host
        return f"{host}:{self.named_port}" if self.named_port not in {None, _PORTS[self.scheme]} else host


@lru_cache(maxsize=256)
def web_address(url: str) -> WebAddress:
    """Parse an address; cached, because most calls use the same few.

    Raises:
        NoAddress: If it is not one.
    """
    try:
        parts = urlsplit(url)
        host = _networked(parts.hostname or "")
        port = parts.port
    except (ValueError, UnicodeError):
        raise NoAddress from None
    if parts.scheme not in _PORTS or not _HOST.fullmatch(host):
        raise NoAddress
    target = quote(parts.path or "/", safe=_STAYS) + (f"?{quote(parts.query, safe=_STAYS)}" if parts.query else "")
    return WebAddress(
        url=url,
        scheme=parts.scheme,
        host=host,
        port=_PORTS[parts.scheme] if port is None else port,
        named_port=port,
        target=target,
    )


def below(url: str, path: str) -> str:
    """Return the address of a path below another address, with the latter's query at the end.

    Example:
        >>> below("https://models.example/large?version=1", "/chat")
        'https://models.example/large/chat?version=1'
    """
    base, mark, query = url.partition("?")
    return f"{base.rstrip('/')}{path}{mark}{query}"


def _networked(host: str) -> str:
    """Return a host in ASCII form.

    Raises:
        UnicodeError: If it is not a valid name: a part is empty or too long.
    """
    if ":" in host:
        return host.replace("%25", "%")
    if host.isascii() and all(0 < len(part) <= _LONGEST_PART for part in host.removesuffix(".").split(".")):
        return host
    return host.encode("idna").decode("ascii")
