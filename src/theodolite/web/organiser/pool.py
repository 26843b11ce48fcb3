"""The pool: everybody of an event, and where each of them stands."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.db.models import Count
from django.utils import timezone

from theodolite.domain.people.consent import AcknowledgedText
from theodolite.domain.people.session import Session, SessionState
from theodolite.store.models.people import AcknowledgementRow, LiveTurnRow
from theodolite.web.approvals import TESTERS
from theodolite.web.models import HostedStudy, Invitation, Membership
from theodolite.web.venues import server_store


class PoolState(StrEnum):
    """Where a person of an event stands, in order of the way through it."""

    INVITED = "invited"
    """Asked in by a link or a slip that nobody has used yet."""
    HERE = "here"
    """Has come in; testers have nothing behind them yet."""
    SCREENED = "screened"
    SCREENED_OUT = "screened out"
    CONSENTED = "consented"
    ACTIVE = "active"
    DONE = "done"
    LEFT = "left"
    """Went, or was taken out; what was said stays."""
    WITHDRAWN = "withdrawn"
    """Went and took everything back."""


FINISHED = frozenset({PoolState.DONE, PoolState.LEFT, PoolState.WITHDRAWN, PoolState.SCREENED_OUT})
"""States after which nothing is expected of a person any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """One person, as organisers see it.

    Attributes:
        membership: Who, and as what.
        state: Where the person stands; testers only go through all of it.
        sessions: Those that were made, in order.
        minutes: Time in sessions, pauses left out; minutes.
        severe: Turns that the person marked as broken guardrails; count.
    """

    membership: Membership
    state: PoolState
    sessions: tuple[Session, ...] = ()
    minutes: float = 0.0
    severe: int = 0

    @property
    def over(self) -> int:
        """Sessions that are over; count."""
        return sum(one.is_over for one in self.sessions)

    @property
    def is_tester(self) -> bool:
        """Whether the person tests applications."""
        return self.membership.as_role in TESTERS

    @property
    def is_waited_for(self) -> bool:
        """Whether the person is a tester with something left to do."""
        return self.is_tester and self.state not in FINISHED


def pool_of(hosted: HostedStudy) -> list[Pooled]:
    """Return everybody of an event in order of coming, in a constant number of queries."""
    known = ("account", "code", "screening", "booking__slot", "invitation", "recruit")
    members = hosted.memberships.select_related(*known).order_by("id")
    sessions: dict[str, list[Session]] = defaultdict(list)
    for session in server_store().sessions(hosted.name):
        sessions[session.participant].append(session)
    consented, severe, now = _consented(hosted.name), _severe(hosted.name), timezone.now()
    return [
        _pooled(one, tuple(sessions[one.participant]), one.participant in consented, severe, now) for one in members
    ]


def n_invited_testers(hosted: HostedStudy) -> int:
    """Return how many testers were asked in by links that are still open; count."""
    asked = Invitation.objects.filter(hosted=hosted, role__in=[role.value for role in TESTERS], used_at=None)
    return asked.filter(withdrawn_at=None, expires_at__gt=timezone.now()).count()


def counted_states(pool: Iterable[Pooled], n_invited: int) -> list[tuple[str, int]]:
    """Return how many testers stand where, in order of the way; `n_invited` more have not come yet."""
    counts = Counter(one.state for one in pool if one.is_tester)
    counts[PoolState.INVITED] += n_invited
    return [(state.value, counts[state]) for state in PoolState if counts[state]]


def _consented(study: str) -> set[str]:
    agreed = AcknowledgementRow.objects.filter(study=study, subject=AcknowledgedText.CONSENT.value)
    return set(agreed.values_list("participant__key", flat=True))


def _severe(study: str) -> dict[str, int]:
    marked = LiveTurnRow.objects.filter(dialogue__study=study, broke=True)
    by_person = marked.values_list("dialogue__session__participant__key").annotate(n=Count("id"))
    return dict(by_person.order_by())


def _pooled(
    membership: Membership,
    sessions: tuple[Session, ...],
    has_consented: bool,  # noqa: FBT001 - one fact among others
    severe: Mapping[str, int],
    now: datetime,
) -> Pooled:
    return Pooled(
        membership=membership,
        state=_state(membership, sessions, has_consented=has_consented),
        sessions=sessions,
        minutes=sum(one.clock.elapsed_s(now) for one in sessions) / 60,
        severe=severe.get(membership.participant, 0),
    )


def _state(membership: Membership, sessions: tuple[Session, ...], *, has_consented: bool) -> PoolState:
    if membership.left_at is not None:
        return PoolState.WITHDRAWN if membership.withdrew else PoolState.LEFT
    if any(one.state is SessionState.ACTIVE for one in sessions):
        return PoolState.ACTIVE
    if sessions and all(one.is_over for one in sessions):
        return PoolState.DONE
    if has_consented:
        return PoolState.CONSENTED
    return _before_consent(membership)


def _before_consent(membership: Membership) -> PoolState:
    screening = getattr(membership, "screening", None)
    if screening is not None:
        return PoolState.SCREENED if screening.passed else PoolState.SCREENED_OUT
    code = getattr(membership, "code", None)
    invitation = getattr(membership, "invitation", None)
    never_came = code is not None and code.first_used_at is None and invitation is None
    is_recruit = getattr(membership, "recruit", None) is not None
    return PoolState.INVITED if never_came and not is_recruit else PoolState.HERE
