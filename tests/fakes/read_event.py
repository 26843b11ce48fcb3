"""Things of the seeded event that readers' addresses name."""

from __future__ import annotations

from theodolite.domain.coded import CodedState
from theodolite.domain.role import Role
from theodolite.measurement.study.risks import risk_findings
from theodolite.web.access import Here
from theodolite.web.analyst.codebook import book_token
from theodolite.web.analyst.desk import ReadingDesk
from theodolite.web.models import HostedStudy
from theodolite.web.venues import venue_of


def desk_of(hosted: HostedStudy, role: Role = Role.ANALYST) -> ReadingDesk:
    """Return the desk of the reader of a role."""
    membership = hosted.memberships.get(role=role.value)
    return ReadingDesk(
        here=Here(account=membership.account, hosted=hosted, membership=membership), venue=venue_of(hosted)
    )


def a_disputed_answer(hosted: HostedStudy) -> str:
    """Return what addresses call an answer that was coded differently."""
    desk = desk_of(hosted)
    room = desk.room()
    first = next(one for one in room.differing() if one.state is CodedState.DISPUTED)
    return desk.token_of_text(room.text_of(first.answer))


def a_named_codebook(hosted: HostedStudy) -> str:
    """Return what addresses call the codebook of what red teamers noted."""
    desk = desk_of(hosted)
    return book_token(desk, desk.room().work.current["ways of attack"])


def a_session_to_review(hosted: HostedStudy) -> str:
    """Return what addresses call a session that waits for a combined review."""
    desk = desk_of(hosted)
    found = next(one for one in risk_findings(desk.evidence()) if one.pending)
    return desk.token_of(found.risk.name, found.pending[0])
