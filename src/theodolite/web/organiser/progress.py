"""How far an event is, in a few words for each page of its organisers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.utils.formats import date_format

from theodolite.domain.criteria import CriteriaSubject
from theodolite.domain.people.session import SessionState
from theodolite.store.models.people import GuessRow, ResponseRow
from theodolite.usecases.stating_criteria import criteria_of
from theodolite.web.approvals import approval_of, lacks_before_opening
from theodolite.web.editions import told_changes
from theodolite.web.models import Booking, Edition, EthicsApproval, HostedStudy, Submission
from theodolite.web.organiser.factors import lacking_factor
from theodolite.web.organiser.pool import Pooled, counted_states, n_invited_testers, pool_of
from theodolite.web.published import last_edition
from theodolite.web.venues import server_store, venue_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an event is.

    Attributes:
        is_published: Whether anything was published.
        is_approved: Whether an ethics approval holds today.
        n_to_decide: Submissions that wait for a decision; count.
        n_testers: Testers who were asked in or have come; count.
        lacks: What people must be told and approve before the event opens, as far as it is missing, in words.
        standings: Name of a page to how far it is, in a few words; pages of which nothing is told are left out.
        urgent: Names of pages on which something is missing, or somebody waits.
    """

    is_published: bool
    is_approved: bool
    n_to_decide: int
    n_testers: int
    lacks: tuple[str, ...]
    standings: Mapping[str, str]
    urgent: frozenset[str]

    @property
    def missing(self) -> tuple[str, ...]:
        """What the event lacks before it is opened, in words."""
        unseen = () if self.is_published else ("nothing is published yet",)
        unasked = () if self.n_testers else ("no tester is asked in yet",)
        return (*unseen, *self.lacks, *unasked)


def progress_of(hosted: HostedStudy) -> Progress:
    """Return how far an event is, in a constant number of queries."""
    pool, edition, approval = pool_of(hosted), last_edition(hosted), approval_of(hosted)
    counts = counted_states(pool, n_invited_testers(hosted))
    changes = told_changes(edition) if edition else ""
    n_to_decide = hosted.submissions.filter(state=Submission.State.SUBMITTED).count()
    n_lacking = len(lacking_factor(hosted))
    told = {
        "organiser:editions": _published(edition, changes),
        "organiser:submissions": f"{n_to_decide} to decide" if n_to_decide else "",
        "organiser:ethics": _until(approval),
        "organiser:people": ", ".join(f"{n} {state}" for state, n in counts),
        "organiser:factors": f"{n_lacking} lack one" if n_lacking else "",
        **_gathered(hosted, pool),
    }
    missing = {
        "organiser:editions": edition is None or bool(changes),
        "organiser:submissions": n_to_decide > 0,
        "organiser:ethics": approval is None,
        "organiser:factors": n_lacking > 0,
    }
    return Progress(
        is_published=edition is not None,
        is_approved=approval is not None,
        n_to_decide=n_to_decide,
        n_testers=sum(n for _, n in counts),
        lacks=tuple(one.what for one in lacks_before_opening(hosted, venue_of(hosted).study)),
        standings={page: words for page, words in told.items() if words},
        urgent=frozenset(page for page, is_missing in missing.items() if is_missing),
    )


def _gathered(hosted: HostedStudy, pool: Iterable[Pooled]) -> dict[str, str]:
    """Return how much there is of what comes by itself or is added piece by piece; empty words for nothing."""
    going_on = sum(session.state is SessionState.ACTIVE for one in pool for session in one.sessions)
    measured = hosted.measurements.exclude(done_at=None).order_by("-asked_at").first()
    stated = {one.about for one in criteria_of(server_store(), hosted.name)}
    guesses = GuessRow.objects.filter(session__study=hosted.name).count()
    answered = ResponseRow.objects.filter(session__study=hosted.name, submitted=True).count()
    return {
        "organiser:links": _some(hosted.recruit_links.filter(closed_at=None).count(), "open"),
        "organiser:slots": _slots(hosted),
        "organiser:operations": _some(going_on, "going on"),
        "organiser:blinding": _some(guesses, "guesses" if guesses > 1 else "guess"),
        "organiser:results": f"last on {date_format(measured.asked_at, 'j M Y, H:i')} UTC" if measured else "",
        "organiser:criteria": f"{len(stated)} of {len(CriteriaSubject)} stated",
        "analyst:home": _some(answered, "handed in"),
    }


def _published(edition: Edition | None, changes: str) -> str:
    if edition is None:
        return "nothing published yet"
    words = f"edition {edition.number}, {date_format(edition.made_at, 'j M Y')}"
    return f"{words}; {changes}" if changes else words


def _until(approval: EthicsApproval | None) -> str:
    if approval is None:
        return "none holds today"
    return f"holds until {date_format(approval.expires, 'j M Y')}" if approval.expires else "holds"


def _slots(hosted: HostedStudy) -> str:
    places = list(hosted.time_slots.values_list("places", flat=True))
    booked = Booking.objects.filter(slot__hosted=hosted).count()
    slots = _some(len(places), "slots" if len(places) > 1 else "slot")
    return f"{slots}, {booked} of {sum(places)} places taken" if places else ""


def _some(n: int, what: str) -> str:
    return f"{n} {what}" if n else ""
