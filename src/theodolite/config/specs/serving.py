"""What `serve.yaml` may say."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from theodolite.config.specs.base import Filled, Spec, YesNo


class MailSpec(Spec):
    """A server that takes mail."""

    server: Filled
    """`HOST` or `HOST:PORT`."""
    encryption: Literal["starttls", "tls", "none"] = "starttls"
    """How the connection is kept private."""
    user: str = ""
    """Who signs in there."""
    password: str = ""
    """Name of the environment variable that holds the password."""
    sender: Filled
    """What mails come from, e.g. `Field test <event@example.org>`."""


class SignInSpec(Spec):
    """An identity provider (OpenID Connect)."""

    name: Filled
    """What stands on its button."""
    server: Filled
    """Its address; `/.well-known/openid-configuration` is looked for below it."""
    client: Filled
    """What this server is called there."""
    secret: Filled
    """Name of the environment variable that holds the client's secret."""
    trusts_addresses: YesNo = False
    """Whether an address that it has verified signs one in as the account of that address."""
    pages: list[Filled] = Field(default_factory=list)
    """Further addresses on whose pages people sign in; browsers are let through to `server` and these alone."""


class ServingSpec(Spec):
    """How the web side is served."""

    listen: str = ""
    """`HOST:PORT` to listen on."""
    address: str = ""
    """Address under which people call it, e.g. `https://event.example.org`."""
    proxies: list[Filled] = Field(default_factory=list)
    """Addresses of proxies whose word on the caller and on https is taken."""
    application_classes: list[str] = Field(default_factory=list)
    """Classes that application teams may name, as `module:Class`; the operator has installed and read them."""
    application_env: list[str] = Field(default_factory=list)
    """Environment variables of the server that teams may let their classes see; none of these may be a secret."""
    application_pythons: list[str] = Field(default_factory=list)
    """Interpreters or virtual environments, by path, that teams may choose for their classes."""
    mail: MailSpec | None = None
    """A server that takes mail; without it, links are handed over."""
    second_factor: list[Literal["organiser", "senior annotator", "analyst", "application team"]] = Field(
        default_factory=list
    )
    """Roles that need a second factor in every study; organisers can add further ones to theirs."""
    sign_in: dict[str, SignInSpec] = Field(default_factory=dict)
    """Identity providers by a short name."""
