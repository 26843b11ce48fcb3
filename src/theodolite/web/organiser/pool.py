"""The pool: everybody of an event, and where each of them stands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from theodolite.domain.consent import AcknowledgedText
from theodolite.domain.session import Session, SessionState
from theodolite.store.models.people import AcknowledgementRow
from theodolite.web.models import HostedStudy, Membership
from theodolite.web.organiser.ethics import TESTERS
from theodolite.web.venues import server_store


class PoolState(StrEnum):
    """Where a person of an event stands."""

    JOINED = "joined"
    CONSENTED = "consented"
    ACTIVE = "active"
    DONE = "done"
    LEFT = "left"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """One person, as organisers see it.

    Attributes:
        membership: Who, and as what.
        state: Where the person stands; testers only go through all of it.
        over: Sessions that are over; count.
        held: Sessions in all that were made; count.
    """

    membership: Membership
    state: PoolState
    over: int = 0
    held: int = 0


def pool_of(hosted: HostedStudy) -> list[Pooled]:
    """Return everybody of an event in order of coming, in a constant number of queries."""
    members = list(hosted.memberships.select_related("account", "code").order_by("id"))
    sessions: dict[str, list[Session]] = defaultdict(list)
    for session in server_store().sessions(hosted.name):
        sessions[session.participant].append(session)
    consented = set(
        AcknowledgementRow.objects.filter(study=hosted.name, subject=AcknowledgedText.CONSENT.value).values_list(
            "participant__key", flat=True
        )
    )
    return [_pooled(one, sessions[one.participant], consented) for one in members]


def _pooled(membership: Membership, sessions: Iterable[Session], consented: set[str]) -> Pooled:
    own = list(sessions)
    over = sum(one.is_over for one in own)
    if membership.left_at is not None:
        state = PoolState.LEFT
    elif membership.as_role not in TESTERS or membership.participant not in consented:
        state = PoolState.JOINED
    elif any(one.state is SessionState.ACTIVE for one in own):
        state = PoolState.ACTIVE
    elif own and over == len(own):
        state = PoolState.DONE
    else:
        state = PoolState.CONSENTED
    return Pooled(membership=membership, state=state, over=over, held=len(own))
