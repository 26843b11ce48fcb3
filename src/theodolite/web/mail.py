"""Mail, where the operator has named a server that takes it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TypeVar

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils import timezone

from theodolite.web.accounts.inviting import invitation_path
from theodolite.web.models import Invitation
from theodolite.web.pages import absolute

Item = TypeVar("Item")

_LOG = logging.getLogger(__name__)


def over_one_line(send_one: Callable[[Item, BaseEmailBackend], bool], items: Iterable[Item]) -> int:
    """Mail something to many: a server that does not answer is waited for once, not once for each of them.

    Args:
        send_one: Sends one mail over the line that it is given, and tells whether the server took it.
        items: For each of them once.

    Returns:
        Mails that the server took; count.
    """
    if not settings.SENDS_MAIL:
        return 0
    line = get_connection()
    try:
        line.open()
        return sum(send_one(item, line) for item in items)
    except OSError as error:
        _LOG.warning("the mail server cannot be reached: %s", error)
        return 0
    finally:
        line.close()


def send_invitation(request: HttpRequest, invitation: Invitation, line: BaseEmailBackend | None = None) -> bool:
    """Mail an invitation to its address.

    Args:
        request: For the address of this server.
        invitation: What is sent.
        line: A line to the mail server that is open already; None for one of its own.

    Returns:
        Whether the mail server took it; False too where there is no server or no address.
    """
    shown = {"invitation": invitation, "address": absolute(request, invitation_path(invitation))}
    if not send(invitation.email, f"Invitation: {invitation.hosted}", "web/accounts/invitation.txt", shown, line):
        return False
    invitation.sent_at = timezone.now()
    invitation.save(update_fields=["sent_at"])
    return True


def send(to: str, subject: str, template: str, shown: dict[str, object], line: BaseEmailBackend | None = None) -> bool:
    """Mail a text.

    Args:
        to: One address.
        subject: One line.
        template: Of the text.
        shown: What fills the template.
        line: A line to the mail server that is open already; None for one of its own.

    Returns:
        Whether the mail server took it; False too where there is no server or no address.
    """
    if not settings.SENDS_MAIL or not to:
        return False
    body = render_to_string(template, shown)
    try:
        return EmailMessage(" ".join(subject.split()), body, to=[to], connection=line).send() == 1
    except OSError as error:  # the library's own errors of sending are of this kind
        _LOG.warning("a mail could not be sent: %s", error)
        return False
