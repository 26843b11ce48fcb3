"""Network: addresses and headers without secrets, settings of calls, and observed connections."""

from __future__ import annotations

import re
from dataclasses import dataclass

from theodolite.domain.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkUse:
    """The connections of one application that is code.

    Python's own calls are observed. Connections of native libraries and other programs
    are not, unless the system gives the processes no network at all.

    Attributes:
        application: Name of the application.
        allowed: Hosts that the study allows; None for any.
        connections: Destinations of attempted connections, as `host:port`.
        refused: Destinations that the study does not allow.
        programs: Other programs started by the code.
        is_cut_off: Whether the system gave its processes no network.
        is_observed: Whether its code has run, so that the other fields are meaningful.
    """

    application: str
    allowed: tuple[str, ...] | None = None
    connections: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    is_cut_off: bool = False
    is_observed: bool = False

    @property
    def rule(self) -> str:
        """The study's statement: none, no host, or a list."""
        if self.allowed is None:
            return "unknown"
        return f"only {', '.join(self.allowed)}" if self.allowed else "none"

    @property
    def text(self) -> str:
        """The knowledge as text.

        Example:
            >>> NetworkUse(application="blue", connections=("models.example:443",), is_observed=True).text
            'connections attempted: models.example:443'
        """
        if not self.is_observed:
            return f"{self.rule}, not run yet" if self.allowed is None else f"{self.rule} (`network`), not run yet"
        parts = [
            f"connections attempted: {', '.join(self.connections)}" if self.connections else "no connection observed"
        ]
        if self.is_cut_off:
            parts = ["no network (the system enforces `network: none`)"]
        elif self.allowed is not None:
            parts.append(f"allowed: {self.rule.removeprefix('only ')}")
        if self.refused:
            parts.append(f"refused: {', '.join(self.refused)}")
        if self.programs:
            parts.append(f"started other programs, whose connections are not observed: {', '.join(self.programs)}")
        return "; ".join(parts)


WORDS = (
    "an address may hold no user and no password;"
    " keep the key in an environment variable and give `key:` the variable's name"
)
"""Message about an address with a user or a password, without the address itself."""


HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""Names of HTTP headers (RFC 9110, section 5.6.2): servers and proxies may read any other name differently."""


_PLAIN = re.compile(r"https?://(?:[^/?#@:\s\[\]]+|\[[0-9A-Fa-f:.]+\])(?::\d*)?(?:[/?#]|\Z)")

_BEFORE_AT = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?/{0,2}(?P<who>.*)@", re.DOTALL)


def userinfo_of(address: str) -> str:
    """Return the possible user and password in an address, valid or not; empty if there are none.

    Example:
        >>> userinfo_of("https://ana:pa/ss@models.example/v1")
        'ana:pa/ss'
        >>> userinfo_of("https://models.example:8000/@ana")
        ''
    """
    if _PLAIN.match(address):
        return ""
    userinfo = _BEFORE_AT.match(address)
    return userinfo["who"] if userinfo else ""


def without_userinfo(address: str) -> str:
    """Return an address without its user and password."""
    who = userinfo_of(address)
    return address.replace(f"{who}@", "", 1) if who else address


def refuse_userinfo(record: str, address: str) -> None:
    """Reject an address with a user or a password, without repeating it.

    Raises:
        InputError: If it does.
    """
    if userinfo_of(address):
        message = f"{record}: {WORDS}"
        raise InputError(message)


_SHAPES = re.compile(
    r"""
    \bsk-[A-Za-z0-9_-]{12,}
    | \b(?:ghp|gho|ghs|github_pat)_[A-Za-z0-9_]{20,}
    | \bAKIA[0-9A-Z]{12,}
    | \bxox[abprs]-[A-Za-z0-9-]{10,}
    | \bAIza[0-9A-Za-z_-]{20,}
    | \bhf_[A-Za-z0-9]{20,}
    | \b(?:gsk|xai|r8|nvapi|pplx)[_-][A-Za-z0-9_-]{20,}
    | \bglpat-[A-Za-z0-9_-]{16,}
    | \b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}
    | \beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+
    | (?<=Bearer\ )[A-Za-z0-9._~+/-]{12,}=*
    | (?:(?<=[?&]key=)|(?<=[?&]api[_-]key=)|(?<=[?&]apikey=)|(?<=[?&]subscription-key=)|(?<=[?&]sig=)
        |(?<=[?&]token=)|(?<=[?&]access_token=))[^&\#\s{}"']{8,}
    | (?<=://)[^/\s:@{}]+:[^/\s{}]+(?=@)
    """,
    re.VERBOSE,
)

_QUERY = re.compile(r"""([?&][\w.\[\]-]{1,64}=)([^&#\s{}"'<>]{16,})""")

_RUN = re.compile(r"[A-Za-z0-9]{16,}")

_HEADERS = frozenset({"auth", "x-auth", "cookie", "credential", "credentials", "passwd", "x-signature"})

_NAMES = re.compile(r"(?i)(?:.*[_-])?(?:api|access)?(?:key|token|secret|password|authorization)")

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


def names_secret(key: str) -> bool:
    """Return whether the name of a key suggests a secret.

    Example:
        >>> [names_secret(key) for key in ("key", "api_key", "X-Api-Key", "keywords")]
        [True, True, True, False]
    """
    return _NAMES.fullmatch(key) is not None


def is_key_header(name: str) -> bool:
    """Return whether a header of this name carries a key.

    Example:
        >>> [is_key_header(name) for name in ("X-Api-Key", "Authorization", "Cookie", "Accept")]
        [True, True, True, False]
    """
    return names_secret(name) or name.lower() in _HEADERS


def _is_random(value: str) -> bool:
    """Return whether a value contains a long run of letters and digits that is neither a word nor a date."""
    return any(not run.isalpha() and not run.isdigit() for run in _RUN.findall(value))


def _struck_query(match: re.Match[str]) -> str:
    """Return a query value, replaced if it looks random."""
    name, value = match.groups()
    return name + "*" * len(value) if _is_random(value) else match.group()


def strike_out(text: str) -> str:
    """Return the text with everything that looks like a secret replaced by stars of equal length."""
    return _QUERY.sub(_struck_query, _SHAPES.sub(lambda match: "*" * len(match.group()), text))


def holds_secret(text: str) -> bool:
    """Return whether something in the text looks like a secret."""
    return _SHAPES.search(text) is not None or any(_is_random(match[2]) for match in _QUERY.finditer(text))


def is_variable_name(text: str) -> bool:
    """Return whether the text can be the name of an environment variable and not a key itself.

    A long word without underscore that mixes letters and digits counts as a key.
    """
    if not _VARIABLE.fullmatch(text) or holds_secret(text):
        return False
    return len(text) < 20 or "_" in text or not any(letter.isdigit() for letter in text)


NO_PROXY = "none"
"""Value of `proxy` for a direct connection, regardless of the environment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkSettings:
    """Proxy and certificates for calls to one endpoint; they do not affect replies.

    Attributes:
        proxy: Address of the proxy; `none` for a direct connection; empty for the proxy of the environment.
        no_proxy: Hosts that are called directly although `proxy` names a proxy: names with their subdomains,
            IP addresses, or networks such as `10.0.0.0/8`.
        ca: PEM file with certificate authorities to trust besides those of the system, relative to the study folder.
        client_cert: PEM file with the certificate that this side presents.
        client_key: PEM file with its private key; empty if `client_cert` contains it too.
        client_key_password: Name of the environment variable with the key's passphrase; empty for none.
    """

    proxy: str = ""
    no_proxy: tuple[str, ...] = ()
    ca: str = ""
    client_cert: str = ""
    client_key: str = ""
    client_key_password: str = ""
