"""Invitations: made, sent, taken back, and used once. Nobody comes in without one."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum

from django.core import signing
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.people.role import Role
from theodolite.web.accounts.words import as_written, words_for
from theodolite.web.audit import audit
from theodolite.web.blindness import clash_of
from theodolite.web.models import Account, HostedStudy, Invitation, Membership

LASTS = timedelta(days=14)
"""How long an invitation is good for."""

FIRST_LASTS = timedelta(days=2)
"""How long the link for the first organiser is good for; a new start of the server prints another one."""

_SIGNER = signing.Signer(salt="theodolite.web.invitation")
_START = "start"


class Standing(StrEnum):
    """Where an invitation stands."""

    OPEN = "open"
    USED = "used"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


def standing_of(invitation: Invitation) -> Standing:
    """Return where an invitation stands now."""
    if invitation.used_at:
        return Standing.USED
    if invitation.withdrawn_at:
        return Standing.WITHDRAWN
    return Standing.EXPIRED if invitation.expires_at <= timezone.now() else Standing.OPEN


@transaction.atomic
def invite(
    by: Account,
    hosted: HostedStudy,
    role: Role,
    *,
    email: str = "",
    name: str = "",
    language: str = "",
    lasts: timedelta = LASTS,
) -> Invitation:
    """Ask one person in; `invitation_path` is the link to hand over, `send_invitation` mails it.

    Args:
        by: Who invites.
        hosted: Into which study.
        role: As what.
        email: Where the link will be sent; may be empty.
        name: How the person is called; may be empty.
        language: Tag of the language that the person is met in; may be empty.
        lasts: How long the link is good for.

    Raises:
        InputError: If the address is none.
    """
    address = email.strip().lower()
    if address and not is_address(address):
        message = f"an e-mail address was expected, e.g. `ana@example.org`; got {email!r}"
        raise InputError(message)
    invitation = Invitation.objects.create(
        hosted=hosted, role=role.value, email=address, name=name.strip(), language=language,
        made_by=by, expires_at=timezone.now() + lasts,
    )  # fmt: skip
    audit(by, "invited", f"invitation {invitation.token}", hosted=hosted, role=role.value)
    return invitation


def is_address(text: str) -> bool:
    """Tell whether a text is an e-mail address."""
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True


def invitation_path(invitation: Invitation) -> str:
    """Return the path of an invitation's link; signed, so that a row's token alone opens nothing."""
    if invitation.hosted is None:
        return reverse("start", args=[words_for(_START, invitation.token)])
    return reverse("join", args=[_SIGNER.sign(invitation.token)])


def invitation_of(signed: str) -> Invitation | None:
    """Return the invitation of a link, however it stands; None where the link is none of ours."""
    try:
        token = _SIGNER.unsign(signed)
    except signing.BadSignature:
        return None
    return Invitation.objects.select_related("hosted").filter(token=token, hosted__isnull=False).first()


def first_invitation() -> Invitation:
    """Return the invitation of this server's first organiser: the open one, else a new one."""
    for invitation in Invitation.objects.filter(hosted=None, used_at=None, withdrawn_at=None):
        if standing_of(invitation) is Standing.OPEN:
            return invitation
    return Invitation.objects.create(expires_at=timezone.now() + FIRST_LASTS)


def invitation_of_words(words: str) -> Invitation | None:
    """Return the first organiser's invitation by the words of its link."""
    written = as_written(words)
    mine = Invitation.objects.filter(hosted=None)
    return next((each for each in mine if words_for(_START, each.token) == written), None)


@transaction.atomic
def withdraw_invitation(by: Account, invitation: Invitation) -> None:
    """Take an invitation back.

    Raises:
        Conflict: If somebody came in by it already.
    """
    held = Invitation.objects.select_for_update().get(pk=invitation.pk)
    if held.used_at:
        message = "somebody has come in by this invitation already; take the person out of the study instead"
        raise Conflict(message)
    held.withdrawn_at = timezone.now()
    held.save(update_fields=["withdrawn_at"])
    audit(by, "withdrew invitation", f"invitation {held.token}", hosted=held.hosted)


@transaction.atomic
def accept(invitation: Invitation, account: Account) -> Membership | None:
    """Let a person in by an invitation, which is used up by it.

    Returns:
        What the person is in the study now; None for the first organiser of the server.

    Raises:
        Conflict: If it was used, taken back or has expired meanwhile, or the person is something else in the
            study already that does not go with it.
    """
    held = Invitation.objects.select_for_update().get(pk=invitation.pk)
    standing = standing_of(held)
    if standing is not Standing.OPEN:
        message = f"this invitation is {standing}; ask whoever sent it for another one"
        raise Conflict(message)
    held.used_at = timezone.now()
    if held.hosted is None:
        account.is_host = True
        account.save(update_fields=["is_host"])
    else:
        clash = clash_of(account, held.hosted, Role(held.role))
        if clash:
            raise Conflict(clash)
        held.membership = join(account, held.hosted, Role(held.role))
    held.save(update_fields=["used_at", "membership"])
    audit(account, "came in", f"invitation {held.token}", hosted=held.hosted, role=held.role)
    return held.membership


def join(account: Account, hosted: HostedStudy, role: Role) -> Membership:
    """Return a person's membership in a role; made, or taken up again, where it is not held."""
    membership, _ = Membership.objects.get_or_create(account=account, hosted=hosted, role=role.value)
    if membership.left_at:
        membership.left_at, membership.withdrew = None, False
        membership.save(update_fields=["left_at", "withdrew"])
    return membership
