"""Invitations, access codes and recruiting links, and the first invitation that a starting server prints."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from urllib.parse import urlencode

from django.core import signing
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from theodolite.bootstrap.permission import code_request, key_request
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config.loading import load_study
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.event import Role
from theodolite.web.access import audit, clash_of
from theodolite.web.events import host_study, may_invite, server_store
from theodolite.web.models import Account, HostedStudy, Invitation, Membership, PersonalCode, Recruit, RecruitLink
from theodolite.web.models.account import new_token

LASTS = timedelta(days=14)
"""Lifetime of an invitation."""


FIRST_LASTS = timedelta(days=2)
"""Lifetime of the link for the first organiser; a restart of the server prints a new one."""


_SIGNER = signing.Signer(salt="theodolite.web.invitation")


_START = "start"


class Standing(StrEnum):
    """Status of an invitation."""

    OPEN = "open"
    USED = "used"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


def standing_of(invitation: Invitation) -> Standing:
    """Return the current status of an invitation."""
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
    """Invite a person; `invitation_path` returns the link to hand over, `send_invitation` mails it.

    Args:
        by: The inviting account.
        hosted: The study.
        role: The role of the invited person.
        email: Address that receives the link; may be empty.
        name: Name of the person; may be empty.
        language: Language tag of the invitation; may be empty.
        lasts: Validity of the link.

    Raises:
        InputError: If the e-mail address is invalid.
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
    """Return whether a text is an e-mail address."""
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
    """Return the invitation of a link in any status; None if the link is not from this server."""
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


def invitation_of_words(text: str) -> Invitation | None:
    """Return the first organiser's invitation for the token of its link."""
    written = as_written(text)
    mine = Invitation.objects.filter(hosted=None)
    return next((invitation for invitation in mine if words_for(_START, invitation.token) == written), None)


@transaction.atomic
def withdraw_invitation(by: Account, invitation: Invitation) -> None:
    """Withdraw an invitation.

    Raises:
        Conflict: If it is already used.
    """
    locked = Invitation.objects.select_for_update().get(pk=invitation.pk)
    if locked.used_at:
        message = "somebody has already used this invitation; remove the person from the study instead"
        raise Conflict(message)
    locked.withdrawn_at = timezone.now()
    locked.save(update_fields=["withdrawn_at"])
    audit(by, "withdrew invitation", f"invitation {locked.token}", hosted=locked.hosted)


@transaction.atomic
def accept(invitation: Invitation, account: Account) -> Membership | None:
    """Accept an invitation for an account; it is then used.

    Returns:
        The person's role in the study; None for the first organiser of the server.

    Raises:
        Conflict: If the invitation was used, withdrawn or has expired, or the person has an incompatible
            role in the study.
    """
    locked = Invitation.objects.select_for_update().get(pk=invitation.pk)
    standing = standing_of(locked)
    if standing is not Standing.OPEN:
        message = f"this invitation is {standing}; ask the sender for another one"
        raise Conflict(message)
    locked.used_at = timezone.now()
    if locked.hosted is None:
        account.is_host = True
        account.save(update_fields=["is_host"])
    else:
        clash = clash_of(account, locked.hosted, Role(locked.role))
        if clash:
            raise Conflict(clash)
        locked.membership = join(account, locked.hosted, Role(locked.role))
    locked.save(update_fields=["used_at", "membership"])
    audit(account, "joined", f"invitation {locked.token}", hosted=locked.hosted, role=locked.role)
    return locked.membership


def join(account: Account, hosted: HostedStudy, role: Role) -> Membership:
    """Return a person's membership in a role; creates or reactivates it if necessary."""
    membership, _ = Membership.objects.get_or_create(account=account, hosted=hosted, role=role.value)
    if membership.left_at:
        membership.left_at, membership.withdrew = None, False
        membership.save(update_fields=["left_at", "withdrew"])
    return membership


_PURPOSE = "theodolite.web.words."


def words_for(purpose: str, seed: str) -> str:
    """Return three words and a four-digit number, joined by hyphens: 37 random bits.

    Args:
        purpose: Purpose of the words; one seed gives different words for different purposes.
        seed: Value that the words represent.
    """
    raw = salted_hmac(_PURPOSE + purpose, seed, algorithm="sha256").digest()
    number = int.from_bytes(raw[3:11], "big") % 10_000
    return "-".join([*(WORDS[byte] for byte in raw[:3]), f"{number:04}"])


def as_written(text: str) -> str:
    """Return typed words in their original spelling.

    Example:
        >>> as_written("  Palm RIVER, otter 0481 ")
        'palm-river-otter-0481'
    """
    return "-".join(re.findall(r"[a-z0-9]+", text.lower()))


def digest_of(purpose: str, text: str) -> str:
    """Return a keyed hash of words, to be stored instead of the words; 64 hexadecimal digits."""
    return salted_hmac(_PURPOSE + purpose + ".digest", as_written(text), algorithm="sha256").hexdigest()


_TEXT = """
acorn album alder alpine amber anchor angle apple apron arch arrow atlas autumn badge baker bamboo
banjo barley barn basil basin basket beacon beaver bell bench berry birch bishop blanket blossom
boat bottle branch bread breeze brick bridge brook broom brush bucket buckle butter button cabin
cactus camel canal candle canoe canvas carbon cargo carpet carrot castle cedar cello chalk cherry
chess chimney cinema circle citrus clay cliff clock cloud clover cobalt comet copper coral cotton
cradle crane crater cricket crystal curtain cypress daisy dancer desert diary dolphin donkey drawer
drum dune eagle easel echo elbow ember engine fabric falcon feather fence fern ferry fiddle field
finch flag flame flannel flint flute forest fossil fountain fox garden garlic geyser ginger glacier
globe glove goose granite grape gravel guitar hammer harbor harp hazel heron hill honey hornet
island ivory jacket jasmine jigsaw juniper kayak kettle kiosk kite kiwi ladder lagoon lamp lantern
larch laurel lemon lentil lilac linen lizard lobster locket lotus magnet mango maple marble market
meadow melon meteor mill mirror mitten monsoon mosaic moss muffin nectar needle nickel nutmeg oak
oasis oboe ocean olive onion orbit orchid otter owl oyster paddle palace palm panda paper parade
parrot pebble pencil pepper piano picnic pigeon pillow pine planet plum pocket pollen pond poplar
poppy prairie pretzel prism pulley puzzle quartz quiver rabbit radish rain raven ribbon river robin
rocket rope saddle saffron sail salmon satin saxophone scarf seal shell shore silver sparrow spruce
squash stone summer swan tulip tunnel umbrella valley velvet violin walnut willow wren yacht
"""


WORDS = tuple(_TEXT.split())


WALK_IN = (Role.RED_TEAMER, Role.FIELD_TESTER, Role.ANNOTATOR)
"""Roles that a code may open; other roles need more protection than a printed code."""


_CODE = "code"


@transaction.atomic
def hand_out_codes(by: Account, hosted: HostedStudy, role: Role, seats: Sequence[str]) -> tuple[PersonalCode, ...]:
    """Create a person with a code for each slot.

    Args:
        by: The account that hands them out.
        hosted: The study.
        role: One of `WALK_IN`.
        seats: Name for each slot; empty text for no name.

    Returns:
        Codes in the order of the slots; `words_of` returns the text to print, `code_path` the path for the QR code.

    Raises:
        Conflict: If a code may not open the role.
    """
    _refuse_much(role)
    codes = tuple(
        give_code(Membership.objects.create(account=_nobody(seat), hosted=hosted, role=role.value), seat=seat)
        for seat in seats
    )
    audit(by, "created codes", f"study {hosted.token}", hosted=hosted, role=role.value, n=len(codes))
    return codes


def give_code(membership: Membership, *, seat: str = "") -> PersonalCode:
    """Return a new code for a person; earlier codes stop working.

    Raises:
        Conflict: If a code may not open the role.
    """
    _refuse_much(membership.as_role)
    earlier = PersonalCode.objects.filter(membership=membership).first()
    code = earlier or PersonalCode(membership=membership)
    code.number = earlier.number + 1 if earlier else 1
    code.seat = seat or code.seat
    code.withdrawn_at = None
    code.digest = digest_of(_CODE, words_of(code))
    code.save()
    return code


def words_of(code: PersonalCode) -> str:
    """Return the words of a code for printing."""
    return words_for(_CODE, f"{code.token}.{code.number}")


def code_path(code: PersonalCode) -> str:
    """Return the path in the printed QR code: the form with the words filled in."""
    return reverse("code", args=[words_of(code)])


@transaction.atomic
def come_in(text: str) -> Membership | None:
    """Return the invitation for the words of a code; None if there is none."""
    code = (
        PersonalCode.objects.select_related("membership__account", "membership__hosted")
        .filter(digest=digest_of(_CODE, text), withdrawn_at=None, membership__left_at=None)
        .filter(membership__account__is_active=True)
        .first()
    )
    if code is None:
        return None
    if code.first_used_at is None:
        code.first_used_at = timezone.now()
        code.save(update_fields=["first_used_at"])
    audit(code.membership.account, "joined by code", f"code {code.token}", hosted=code.membership.hosted)
    return code.membership


def _nobody(label: str) -> Account:
    return Account.objects.create_user(name=f"Seat {label}" if label else "")


def _refuse_much(role: Role) -> None:
    if role not in WALK_IN:
        message = f"a code opens {', '.join(WALK_IN)}; `{role}` has more access, so invite the person by link"
        raise Conflict(message)


COMPLETION = "https://app.prolific.com/submissions/complete"
"""Completion page of Prolific, which takes the completion code as `cc`."""


_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """The identifiers in the link of a recruiting service.

    Attributes:
        person: `PROLIFIC_PID`.
        study: `STUDY_ID`.
        session: `SESSION_ID`.
    """

    person: str
    study: str
    session: str

    @property
    def is_whole(self) -> bool:
        """Whether all three are present and well-formed."""
        return all(_ID.fullmatch(name) for name in (self.person, self.study, self.session))


@transaction.atomic
def take_in(link: RecruitLink, sent: Sent) -> Membership:
    """Return the membership of a person from the recruiting service; a new one at the first visit.

    A returning person must present the session of the first visit: the service's participant id is not secret.

    Raises:
        Conflict: If the link is closed, full or for another study, or the slot is taken.
    """
    recruit_link = RecruitLink.objects.select_for_update().select_related("hosted").get(pk=link.pk)
    if not sent.is_whole or (recruit_link.study_id and sent.study != recruit_link.study_id):
        message = _("the link is incomplete; open the study again from the page of the recruiting service")
        raise Conflict(message)
    known = Recruit.objects.select_related("membership").filter(link=recruit_link, person_id=sent.person).first()
    if known is not None:
        if known.session_id != sent.session or known.membership.left_at:
            message = _("you have already taken part, or your earlier visit is still open on another device")
            raise Conflict(message)
        return known.membership
    return _new_recruit(recruit_link, Account.objects.create_user(), person=sent.person, session=sent.session)


@transaction.atomic
def take_in_anybody(link: RecruitLink, name: str) -> Membership:
    """Return the membership of a person with an open link; each visit creates a new one.

    Raises:
        Conflict: If the link is closed or full.
    """
    recruit_link = RecruitLink.objects.select_for_update().select_related("hosted").get(pk=link.pk)
    return _new_recruit(recruit_link, Account.objects.create_user(name=name), person=new_token(), session="")


def why_shut(link: RecruitLink) -> str:
    """Return the reason why a link is closed to new participants; empty if it is open."""
    is_over = link.closed_at is not None or (link.closes_at is not None and link.closes_at <= timezone.now())
    if is_over or link.recruits.count() >= link.most:
        at_service = link.kind == RecruitLink.Kind.PROLIFIC
        if at_service:
            return _("no places are left; return the study in the recruiting service")
        return _("no places are left")
    if may_invite(link.hosted, Role(link.role)):
        return ""
    return _("nobody can join at the moment; ask the person who sent you the link")


def _new_recruit(link: RecruitLink, account: Account, *, person: str, session: str) -> Membership:
    shut = why_shut(link)
    if shut:
        raise Conflict(shut)
    membership = join(account, link.hosted, Role(link.role))
    Recruit.objects.create(link=link, membership=membership, person_id=person, session_id=session)
    audit(account, "joined by recruiting", f"link {link.token}", hosted=link.hosted, role=link.role)
    return membership


@transaction.atomic
def completion_of(membership: Membership) -> tuple[str, str] | None:
    """Return the completion code of a person who has finished, and the address that submits it.

    None if the person did not come from a service, or the service uses no code.
    """
    recruit = _recruit_of(membership)
    if recruit is None:
        return None
    link = recruit.link
    if recruit.finished_at is None:
        recruit.finished_at = timezone.now()
        recruit.save(update_fields=["finished_at"])
        audit(membership.account, "received completion code", f"link {link.token}", hosted=link.hosted)
    return _handed(link.completion_code)


def screened_out_code(membership: Membership) -> tuple[str, str] | None:
    """Return the code of a person who was screened out, and the address that submits it; None if there is none."""
    recruit = _recruit_of(membership)
    return _handed(recruit.link.screened_out_code) if recruit else None


def _recruit_of(membership: Membership) -> Recruit | None:
    known = Recruit.objects.select_related("link__hosted").filter(membership=membership)
    return known.filter(link__kind=RecruitLink.Kind.PROLIFIC).first()


def _handed(code: str) -> tuple[str, str] | None:
    return (code, f"{COMPLETION}?{urlencode({'cc': code})}") if code else None


def opening_lines(study: str) -> tuple[str, ...]:
    """Prepare the server and return the lines for the operator; `{address}` is filled in later.

    Args:
        study: Folder of a study to host; empty for none.

    Raises:
        StudyError: If the study has errors; lists all of them.
    """
    server_store().events.dialogues.interrupt_all()  # no process waits for replies of an earlier one
    if study:
        host_study(study)
    if Account.objects.filter(is_host=True, is_active=True).exists():
        return (*_permission_lines(), "Sign in:  {address}/")
    return (*_permission_lines(), "Organiser, open once: {address}" + invitation_path(first_invitation()))


def _permission_lines() -> Iterator[str]:
    """Yield a warning for each study whose applications cannot answer because code or keys are not allowed."""
    for hosted in HostedStudy.objects.exclude(folder=""):
        try:
            loaded = load_study(hosted.folder, resolver=resource_resolver())
        except InputError:
            continue  # its pages report the error in the study
        missing = [("code", code_request(loaded)), ("keys", key_request(loaded, os.environ))]
        names = [name for name, request in missing if request is not None]
        if names:
            options = " ".join(f"--allow-{name}" for name in names)
            command = f"theodolite serve {shlex.quote(hosted.folder)} {options}"
            summary = f"Study {loaded.study.name}: its {' and its '.join(names)} need permission"
            text = f"{summary}, so its applications do not answer. Restart: {command}"
            yield text.replace("{", "{{").replace("}", "}}")
