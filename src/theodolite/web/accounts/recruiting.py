"""People whom a recruiting service sends: taken in by what the service adds to the link."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db import transaction
from django.utils import timezone

from theodolite.domain.errors import Conflict
from theodolite.domain.role import Role
from theodolite.web.accounts.inviting import join
from theodolite.web.audit import audit
from theodolite.web.models import Account, Membership, Recruit, RecruitLink

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
        message = "the link is not whole; open the study from the service's own page once more"
        raise Conflict(message)
    known = Recruit.objects.select_related("membership").filter(link=held, person_id=sent.person).first()
    if known is not None:
        if known.session_id != sent.session or known.membership.left_at:
            message = "you have taken part already, or your earlier visit is still open on another machine"
            raise Conflict(message)
        return known.membership
    if held.closed_at or held.recruits.count() >= held.most:
        message = "no places are left; please return the study at the service"
        raise Conflict(message)
    membership = join(Account.objects.create_user(), held.hosted, Role(held.role))
    Recruit.objects.create(link=held, membership=membership, person_id=sent.person, session_id=sent.session)
    audit(membership.account, "came in by recruiting", f"link {held.token}", hosted=held.hosted, role=held.role)
    return membership


@transaction.atomic
def completion_of(membership: Membership) -> tuple[str, str] | None:
    """Return the completion code of a person who has finished, and the address that hands it in.

    None where no service sent the person.
    """
    recruit = Recruit.objects.select_related("link__hosted").filter(membership=membership).first()
    if recruit is None:
        return None
    link = recruit.link
    if recruit.finished_at is None:
        recruit.finished_at = timezone.now()
        recruit.save(update_fields=["finished_at"])
        audit(membership.account, "was given completion code", f"link {link.token}", hosted=link.hosted)
    return link.completion_code, f"{COMPLETION}?{urlencode({'cc': link.completion_code})}"
