"""Mail, where the operator has named a server that takes it."""

from __future__ import annotations

import logging

from django.conf import settings
from django.core.mail import EmailMessage
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils import timezone

from theodolite.web.accounts.inviting import invitation_path
from theodolite.web.models import Invitation
from theodolite.web.pages import absolute

_LOG = logging.getLogger(__name__)


def send_invitation(request: HttpRequest, invitation: Invitation) -> bool:
    """Mail an invitation to its address.

    Returns:
        Whether the mail server took it; False too where there is no server or no address.
    """
    shown = {"invitation": invitation, "address": absolute(request, invitation_path(invitation))}
    if not send(invitation.email, f"Invitation: {invitation.hosted}", "web/accounts/invitation.txt", shown):
        return False
    invitation.sent_at = timezone.now()
    invitation.save(update_fields=["sent_at"])
    return True


def send(to: str, subject: str, template: str, shown: dict[str, object]) -> bool:
    """Mail a text.

    Args:
        to: One address.
        subject: One line.
        template: Of the text.
        shown: What fills the template.

    Returns:
        Whether the mail server took it; False too where there is no server or no address.
    """
    if not settings.SENDS_MAIL or not to:
        return False
    body = render_to_string(template, shown)
    try:
        return EmailMessage(" ".join(subject.split()), body, to=[to]).send() == 1
    except OSError as error:  # the library's own errors of sending are of this kind
        _LOG.warning("a mail could not be sent: %s", error)
        return False
