"""Sends signed webhooks; addresses of private networks are refused at the connection."""

from __future__ import annotations

import base64
import hmac
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import urlsplit

from theodolite.domain.errors import InputError
from theodolite.gateways.http_transport import HttpTransport
from theodolite.gateways.proxies import CallRoute, require_public_host
from theodolite.ports.application import HostResolver

TIMEOUT_S = 10.0
"""Time limit of one delivery, including the connection; seconds."""

SECRET_PREFIX = "whsec_"  # noqa: S105 - how libraries for webhooks recognise a secret
"""Beginning of the secret as people copy it; the rest is its bytes in Base64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookMessage:
    """One message to one receiver.

    Attributes:
        id: Id of the message, equal in all attempts.
        url: Address of the receiver.
        body: The JSON text.
        secret: Bytes of the receiver's secret.
    """

    id: str
    url: str
    body: str
    secret: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryOutcome:
    """The outcome of one attempt.

    Attributes:
        status: HTTP status; None without a response.
        problem: Why the receiver did not accept the message; empty if it did.
    """

    status: int | None
    problem: str = ""


def require_receiver(
    url: str, *, public_only: bool, what: str = "the receiver", resolver: HostResolver | None = None
) -> None:
    """Refuse an address that the server must not call.

    Args:
        url: The address.
        public_only: Whether it must be a public one with https.
        what: Owner of the address, for the message.
        resolver: Resolves a host name that must be public; None to check numeric addresses only.

    Raises:
        InputError: If it is refused.
    """
    parts = urlsplit(url)
    schemes = ("https",) if public_only else ("https", "http")
    if parts.scheme not in schemes or not parts.hostname or "@" in parts.netloc or any(part.isspace() for part in url):
        message = f"expected an address with {' or '.join(schemes)}:// and without a password; got `{url[:200]}`"
        raise InputError(message)
    if public_only:
        require_public_host(url, what=what, resolver=resolver)


def host_problem(host: str, resolver: HostResolver) -> str:
    """Return why a server must not call a host of a study, e.g. `bot.example:8000`; empty if it may."""
    try:
        require_public_host(f"//{host}", what="a call", resolver=resolver)
    except InputError as error:
        return str(error)
    return ""


def signature(message: WebhookMessage, timestamp: int) -> str:
    """Return the header `webhook-signature` of the Standard Webhooks specification: HMAC-SHA256, version 1."""
    content = f"{message.id}.{timestamp}.{message.body}".encode()
    return "v1," + base64.b64encode(hmac.new(message.secret, content, sha256).digest()).decode()


async def send_webhook(message: WebhookMessage, timestamp: int, *, public_only: bool) -> DeliveryOutcome:
    """Send a message once and return the outcome; redirects are not followed.

    Args:
        message: The message.
        timestamp: Time of the attempt; seconds since 1970.
        public_only: Whether to connect only to addresses of the public Internet.
    """
    headers = {
        "Content-Type": "application/json",
        "webhook-id": message.id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(message, timestamp),
    }
    transport = HttpTransport({}, route=CallRoute(public_only=public_only))
    try:
        response = await transport.send(
            "POST", message.url, body=message.body.encode(), headers=headers, timeout_s=TIMEOUT_S, connect_s=TIMEOUT_S
        )
    except Exception as error:  # noqa: BLE001 - a receiver may fail in any way; the outcome states how
        text = str(error) or type(error).__name__
        return DeliveryOutcome(status=None, problem=text[:300])
    finally:
        await transport.close()
    is_accepted = 200 <= response.status < 300
    return DeliveryOutcome(
        status=response.status, problem="" if is_accepted else f"the receiver answered {response.status}"
    )
