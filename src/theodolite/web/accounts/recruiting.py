"""People whom a recruiting service sends: taken in by what the service adds to the link."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from theodolite.domain.errors import Conflict
from theodolite.domain.people.role import Role
from theodolite.web.accounts.inviting import join
from theodolite.web.approvals import may_invite
from theodolite.web.audit import audit
from theodolite.web.models import Account, Membership, Recruit, RecruitLink
from theodolite.web.models.token import new_token

COMPLETION = "https://app.prolific.com/submissions/complete"
"""Where Prolific wants people sent at the end, with the completion code as `cc`."""

_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What the service says of the visit.

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
        """Whether all three are there and look like such names."""
        return all(_ID.fullmatch(each) for each in (self.person, self.study, self.session))


@transaction.atomic
def take_in(link: RecruitLink, sent: Sent) -> Membership:
    """Return the membership of somebody whom the service sent; a new one at the first visit.

    Who comes back must name the session of the first visit: a person's name at the service is no secret.

    Raises:
        Conflict: If the link is closed, full or meant for another study, or the place is taken.
    """
    held = RecruitLink.objects.select_for_update().select_related("hosted").get(pk=link.pk)
    if not sent.is_whole or (held.study_id and sent.study != held.study_id):
        message = _("the link is not whole; open the study from the service's own page once more")
        raise Conflict(message)
    known = Recruit.objects.select_related("membership").filter(link=held, person_id=sent.person).first()
    if known is not None:
        if known.session_id != sent.session or known.membership.left_at:
            message = _("you have taken part already, or your earlier visit is still open on another machine")
            raise Conflict(message)
        return known.membership
    return _new_recruit(held, Account.objects.create_user(), person=sent.person, session=sent.session)


@transaction.atomic
def take_in_anybody(link: RecruitLink, name: str) -> Membership:
    """Return the membership of somebody who has an open link; a new one at each visit.

    Raises:
        Conflict: If the link is closed or full.
    """
    held = RecruitLink.objects.select_for_update().select_related("hosted").get(pk=link.pk)
    return _new_recruit(held, Account.objects.create_user(name=name), person=new_token(), session="")


def why_shut(link: RecruitLink) -> str:
    """Return why a link lets nobody new in, in words for the person; empty where it does."""
    is_over = link.closed_at is not None or (link.closes_at is not None and link.closes_at <= timezone.now())
    if is_over or link.recruits.count() >= link.most:
        at_service = link.kind == RecruitLink.Kind.PROLIFIC
        if at_service:
            return _("no places are left; please return the study at the service")
        return _("no places are left")
    if may_invite(link.hosted, Role(link.role)):
        return ""
    return _("nobody can be let in just now; ask who gave you the link")


def _new_recruit(link: RecruitLink, account: Account, *, person: str, session: str) -> Membership:
    shut = why_shut(link)
    if shut:
        raise Conflict(shut)
    membership = join(account, link.hosted, Role(link.role))
    Recruit.objects.create(link=link, membership=membership, person_id=person, session_id=session)
    audit(account, "came in by recruiting", f"link {link.token}", hosted=link.hosted, role=link.role)
    return membership


@transaction.atomic
def completion_of(membership: Membership) -> tuple[str, str] | None:
    """Return the completion code of a person who has finished, and the address that hands it in.

    None where no service sent the person, or it gives no code.
    """
    recruit = _recruit_of(membership)
    if recruit is None:
        return None
    link = recruit.link
    if recruit.finished_at is None:
        recruit.finished_at = timezone.now()
        recruit.save(update_fields=["finished_at"])
        audit(membership.account, "was given completion code", f"link {link.token}", hosted=link.hosted)
    return _handed(link.completion_code)


def screened_out_code(membership: Membership) -> tuple[str, str] | None:
    """Return the code of a person who was screened out, and the address that hands it in; None where there is none."""
    recruit = _recruit_of(membership)
    return _handed(recruit.link.screened_out_code) if recruit else None


def _recruit_of(membership: Membership) -> Recruit | None:
    known = Recruit.objects.select_related("link__hosted").filter(membership=membership)
    return known.filter(link__kind=RecruitLink.Kind.PROLIFIC).first()


def _handed(code: str) -> tuple[str, str] | None:
    return (code, f"{COMPLETION}?{urlencode({'cc': code})}") if code else None
