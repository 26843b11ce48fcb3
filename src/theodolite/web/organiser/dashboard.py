"""The dashboard of an event: its current state, its history over days, and testers who need help."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from asgiref.sync import sync_to_async
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from theodolite.annotation.agreement import (
    MOST_AGE,
    DailyAgreement,
    annotations_per_quarter_hour,
    daily_agreement,
    progress,
)
from theodolite.annotation.assignment import StuckAnnotator, stuck_annotators
from theodolite.annotation.cases import n_open_cases
from theodolite.annotation.queues import design_of, queue_named, study_name
from theodolite.domain.errors import TheodoliteError
from theodolite.domain.event import Role
from theodolite.domain.event_record import TesterTally
from theodolite.domain.live import ReplyCounts
from theodolite.domain.run import Spending
from theodolite.domain.session import Session
from theodolite.events.context import EventContext
from theodolite.events.progress import (
    EventTimeline,
    FailingApplication,
    StuckReason,
    StuckTester,
    failing_applications,
    stuck_testers,
    timeline_of,
)
from theodolite.events.results import STUCK_S, CellCount, EventStatus, spent_on_judges, status_of
from theodolite.reporting.words.figures import number_of
from theodolite.testing.assigning import people_levels
from theodolite.testing.availability import hours_of
from theodolite.web.access import AccessContext, allowed
from theodolite.web.annotator.home import records
from theodolite.web.events import TESTERS, event_of, lacks_before_opening
from theodolite.web.models import HostedStudy, Membership
from theodolite.web.organiser.event_charts import Charts, charts_of
from theodolite.web.organiser.operations import PauseForm
from theodolite.web.organiser.people import n_invited_testers
from theodolite.web.participants import moment_text, zone_of
from theodolite.web.senior.annotators import name_of, opt_out_effects, rotations
from theodolite.web.support import n_open_questions, threads_of_testers
from theodolite.web.tester.context import LEVELS

_LOG = logging.getLogger(__name__)

_MILLION = 1_000_000

_State = HostedStudy.State

_BEGUN = frozenset({_State.OPEN, _State.PAUSED})

MOST_ROWS = 8
"""Maximum number of stuck testers, stuck annotators and open questions listed; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveSession:
    """An active session, with the names that organisers see and testers do not.

    Attributes:
        who: Name of the person, or the start of the opaque key.
        member: Token of the membership; empty for a former member.
        session: The session.
        minutes: Elapsed time without pauses; minutes.
        is_paused: Whether the clock is stopped.
        waits_s: Duration of the reply in progress; seconds, None without one.
    """

    who: str
    member: str
    session: Session
    minutes: float
    is_paused: bool
    waits_s: float | None

    @property
    def is_stuck(self) -> bool:
        """Whether a reply has been in progress for too long."""
        return self.waits_s is not None and self.waits_s > STUCK_S


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationStatus:
    """The status of one application: its replies by outcome; counts.

    Attributes:
        name: The application.
        rests: Whether the application is paused.
        sessions: Active sessions with it.
        complete: Complete replies.
        interrupted: Replies that were stopped, or interrupted by a restart.
        errors: Failed replies.
        stuck: Replies in progress for too long.
        cost_usd: Cost of its replies; None if it reports none.
    """

    name: str
    rests: bool
    sessions: int
    complete: int
    interrupted: int
    errors: int
    stuck: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentError:
    """A failed reply with its cause, for organisers; testers do not see the cause."""

    asked: datetime
    application: str
    who: str
    turn: int
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionRow:
    """A task for an organiser, with the action that helps.

    Attributes:
        icon: Name of the icon.
        who: The person, application or case.
        what: Description of the problem.
        act: Text of the button; empty if no page can help.
        address: The page of the action.
        fields: Fields of the form that the action sends.
        is_form: Whether the action sends a form; otherwise it is a link.
    """

    icon: str
    who: str
    what: str
    act: str = ""
    address: str = ""
    fields: Sequence[tuple[str, str]] = ()
    is_form: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Recruitment:
    """Progress of the recruitment of testers; counts of people.

    Attributes:
        invited: Testers with an invitation or a membership.
        joined: Testers who joined.
        consented: Those who consented.
        started: Those who started a session.
        finished: Those who finished all their sessions.
    """

    invited: int
    joined: int
    consented: int
    started: int
    finished: int

    @property
    def steps(self) -> tuple[tuple[str, int], ...]:
        """Title and count of each step, in order."""
        names = ("Invited", "Joined", "Consented", "Started", "Finished")
        return tuple(zip(names, (self.invited, self.joined, self.consented, self.started, self.finished), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotated:
    """The progress of the annotation queue: submitted and required annotations, disputed dialogues; counts."""

    n_done: int = 0
    n_required: int = 0
    n_disputed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    """The state and history of an event.

    Attributes:
        active: The active sessions.
        applications: The applications, those of the study first.
        mishaps: The latest failed replies, latest first.
        cells: The sessions of each cell of the design.
        under_way: Replies in progress; count.
        cost_usd: Cost of the replies to testers; None if no application reports a cost.
        judges: Cost of the calls of judges.
        budget_usd: Limit of the costs in the study; None without one.
        timeline: The event over time.
        charts: The charts over days.
        attention: Tasks for an organiser, the most urgent first.
        n_stuck: Testers without progress for too long; count.
        n_stuck_annotators: Annotators with assigned dialogues and no answer for too long; count.
        n_questions: Testers who wait for an answer; count.
        n_cases: Open cases of sensitive content; count.
        annotated: The progress of the annotation queue; None without a queue.
        recruitment: Progress of the recruitment.
        marked: Turns that testers marked as broken guardrails, and testers who marked any; counts.
    """

    active: list[ActiveSession]
    applications: list[ApplicationStatus]
    mishaps: list[RecentError]
    cells: tuple[CellCount, ...]
    under_way: int
    cost_usd: float | None
    judges: Spending
    budget_usd: float | None
    timeline: EventTimeline
    charts: Charts
    attention: Sequence[AttentionRow]
    n_stuck: int
    n_stuck_annotators: int
    n_questions: int
    n_cases: int
    annotated: Annotated | None
    recruitment: Recruitment
    marked: tuple[int, int]

    @property
    def n_dialogues(self) -> int:
        """Dialogues of testers; count."""
        return sum(day.dialogues for day in self.timeline.days)

    @property
    def judges_usd(self) -> float | None:
        """Known cost of the calls of judges; None if no call has a price."""
        has_price = self.judges.cost_microusd > 0 or self.judges.unpriced_calls < self.judges.calls
        return _usd(self.judges.cost_microusd if has_price or not self.judges.calls else None)

    @property
    def errors(self) -> int:
        """Failed replies; count."""
        return sum(application.errors for application in self.applications)

    @property
    def stuck(self) -> int:
        """Replies that have been in progress for too long; count."""
        return sum(application.stuck for application in self.applications)


@allowed(Role.ORGANISER)
def operations(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the dashboard of the event; its live part refreshes itself every ten seconds."""
    hosted = access.hosted
    event = event_of(hosted)
    shown = {
        "access": access,
        "now": timezone.now(),
        "day": dashboard_of(hosted, event),
        "zone": zone_of(event.study).key,
        "shows_tables": request.GET.get("tables") == "yes",
    }
    if request.GET.get("part") == "live":
        return render(request, "web/organiser/_dashboard.html", shown)
    shown |= {
        "times": _times(event),
        "lacks": () if hosted.state in _BEGUN else lacks_before_opening(hosted, event.study),
        "form": PauseForm(),
        "topics": opt_out_effects(hosted),
        "rotations": rotations(hosted),
    }
    return render(request, "web/organiser/operations.html", shown)


def dashboard_of(hosted: HostedStudy, event: EventContext) -> Dashboard:
    """Return the current dashboard of an event, in a constant number of queries."""
    status, now, zone = status_of(event), timezone.now(), zone_of(event.study)
    known = Membership.objects.filter(hosted=hosted).values_list("participant", "account__name", "token")
    people = {participant: (name, token) for participant, name, token in known}
    queue, is_open = queue_named(hosted.token), hosted.state == _State.OPEN
    timeline = timeline_of(event, status.cells, annotations_per_quarter_hour(queue) if queue else {}, is_open=is_open)
    joined = _joined(hosted)
    tallies = event.sessions.tester_tallies(event.study.name)
    stuck = stuck_testers(event, joined, status, tallies) if is_open else ()
    failing, n_cases = failing_applications(event, status), _open_cases(queue)
    marked = event.store.events.replies.broken_guardrails(event.study.name)
    annotators = stuck_annotators(queue, now=now) if queue and hosted.state != _State.CLOSED else []
    return Dashboard(
        active=[_active(session, people, status.waiting_since, now) for session in status.active],
        applications=_applications(hosted, status),
        mishaps=_recent_errors(status, people),
        cells=status.cells,
        under_way=len(status.waiting_since),
        cost_usd=_usd(status.cost_microusd),
        judges=spent_on_judges(event),
        budget_usd=event.study.budget.usd,
        timeline=timeline,
        charts=charts_of(timeline, _agreement(queue, zone, now), now, zone),
        attention=[
            *(_stuck_row(tester, people, hosted) for tester in stuck[:MOST_ROWS]),
            *(_failing_row(application, hosted) for application in failing),
            *(_stuck_annotator_row(annotator, people, hosted) for annotator in annotators[:MOST_ROWS]),
            *_question_rows(hosted),
            *_case_row(n_cases),
        ],
        n_stuck=len(stuck),
        n_stuck_annotators=len(annotators),
        n_questions=n_open_questions(hosted),
        n_cases=n_cases,
        annotated=_annotated(queue),
        recruitment=_recruitment(event, joined, tallies, n_invited_testers(hosted)),
        marked=(sum(marked.values()), len(marked)),
    )


def _recent_errors(status: EventStatus, people: Mapping[str, tuple[str, str]]) -> list[RecentError]:
    return [
        RecentError(
            asked=failed.asked,
            application=failed.application,
            who=name_of(failed.participant, people),
            turn=failed.turn,
            cause=failed.cause,
        )
        for failed in status.failures
    ]


def _joined(hosted: HostedStudy) -> dict[str, tuple[datetime, int]]:
    """Return the joining time of each tester who has not left and was not screened out, and their planned sessions."""
    plans = {plan.level: plan.sessions for plan in people_levels(event_of(hosted).study)}
    testers = hosted.memberships.filter(role__in=[role.value for role in TESTERS], left_at=None)
    rows = testers.exclude(screening__passed=False).values_list("participant", "joined_at", "role")
    return {participant: (at, plans.get(LEVELS[Role(role)], 0)) for participant, at, role in rows}


def _recruitment(
    event: EventContext,
    joined: Mapping[str, tuple[datetime, int]],
    tallies: Mapping[str, TesterTally],
    n_invited: int,
) -> Recruitment:
    consented = event.participants.consented(event.study.name)
    known = {*joined, *tallies}
    planned = {participant: n for participant, (_, n) in joined.items()}
    return Recruitment(
        invited=len(known) + n_invited,
        joined=len(known),
        consented=len(known & {*consented, *tallies}),
        started=sum(tally.n_active + tally.n_ended > 0 for tally in tallies.values()),
        finished=sum(
            tally.n_ended >= planned.get(participant, 1) and not tally.n_active
            for participant, tally in tallies.items()
        ),
    )


def _annotated(queue: str | None) -> Annotated | None:
    if not queue:
        return None
    categories = progress(queue)
    return Annotated(
        n_done=sum(category.n_done for category in categories),
        n_required=sum(category.n_passes for category in categories),
        n_disputed=sum(category.n_disputed for category in categories),
    )


def _open_cases(queue: str | None) -> int:
    return n_open_cases(study_name(queue)) if queue else 0


def _agreement(
    queue: str | None, zone: ZoneInfo, now: datetime, *, most_age: timedelta = MOST_AGE
) -> DailyAgreement | None:
    """Return the daily agreement of the first category, which decides about defects."""
    if not queue:
        return None
    _viewed[queue, zone.key] = now
    categories = design_of(records(), queue).categories
    if not categories:
        return None
    return daily_agreement(records(), queue, categories[0].name, zone, now=now, most_age=most_age)


AGREEMENT_EVERY_S = 60
"""Time between two computations of the agreement of open dashboards; seconds."""

_VIEWED_FOR = timedelta(minutes=5)

_viewed: dict[tuple[str, str], datetime] = {}
"""Queue and time zone of the dashboards of this process, with the time of the last view."""


async def refresh_agreement() -> None:
    """Compute the agreement of open dashboards, so that no request has to."""
    await sync_to_async(_refresh_agreement, thread_sensitive=False)()


def _refresh_agreement() -> None:
    close_old_connections()
    now = timezone.now()
    for (queue, zone), last in list(_viewed.items()):
        if now - last > _VIEWED_FOR:
            del _viewed[queue, zone]
            continue
        try:
            _agreement(queue, ZoneInfo(zone), now, most_age=timedelta())
        except TheodoliteError as error:
            _LOG.warning("could not compute the agreement of a queue: %s", error)
        _viewed[queue, zone] = last
    close_old_connections()


def _active(
    session: Session, people: Mapping[str, tuple[str, str]], waiting: Mapping[str, datetime], now: datetime
) -> ActiveSession:
    since = waiting.get(session.key)
    return ActiveSession(
        who=name_of(session.participant, people),
        member=people.get(session.participant, ("", ""))[1],
        session=session,
        minutes=session.clock.elapsed_s(now) / 60,
        is_paused=session.clock.paused is not None,
        waits_s=(now - since).total_seconds() if since else None,
    )


def _applications(hosted: HostedStudy, status: EventStatus) -> list[ApplicationStatus]:
    paused = set(hosted.paused_applications.values_list("name", flat=True))
    active = Counter(session.application for session in status.active)
    replies = {name: status.replies.get(name, ReplyCounts()) for name in status.applications}
    return [
        ApplicationStatus(
            name=name,
            rests=name in paused,
            sessions=active[name],
            complete=counts.complete,
            interrupted=counts.interrupted,
            errors=counts.errors,
            stuck=counts.stuck,
            cost_usd=_usd(counts.cost_microusd),
        )
        for name, counts in replies.items()
    ]


def _usd(microusd: int | None) -> float | None:
    return None if microusd is None else microusd / _MILLION


def _times(event: EventContext) -> list[str]:
    """Return when each level is open, as text; levels without a schedule are left out."""
    zone, texts = zone_of(event.study), []
    for plan in people_levels(event.study):
        known = hours_of(event.study.event, plan, zone)
        named = (("opens", known.opens), ("closes", known.closes))
        ends = [f"{verb} {moment_text(moment, zone)}" for verb, moment in named if moment]
        if ends:
            texts.append(f"{plan.level.value} " + ", ".join(ends))
    return texts


def _stuck_row(stuck: StuckTester, people: Mapping[str, tuple[str, str]], hosted: HostedStudy) -> AttentionRow:
    who, member = people.get(stuck.participant, (name_of(stuck.participant, people), ""))
    what = f"{stuck.reason.value} for {duration_text(stuck.for_s)}"
    if stuck.session is not None:
        what += f"; session {stuck.session.place + 1}, {stuck.session.application}"
    if stuck.reason is StuckReason.IDLE:
        address = reverse("organiser:act_on_person", args=[hosted.token, member, "remind"])
        return AttentionRow(icon="user", who=who, what=what, act="Remind", address=address, is_form=True)
    address = f"{reverse('organiser:messages', args=[hosted.token])}?to={member}#to-one"
    return AttentionRow(icon="user", who=who, what=what, act="Message", address=address)


def _stuck_annotator_row(
    stuck: StuckAnnotator, people: Mapping[str, tuple[str, str]], hosted: HostedStudy
) -> AttentionRow:
    who, member = people.get(stuck.participant, (name_of(stuck.participant, people), ""))
    work = [f"{number_of(stuck.n_reserved, 'dialogue')} reserved"] if stuck.n_reserved else []
    work += [f"{number_of(stuck.n_offered, 'dialogue')} offered"] if stuck.n_offered else []
    what = f"has saved no answer for {duration_text(stuck.for_s)}; {', '.join(work)}"
    if not member:
        return AttentionRow(icon="user", who=who, what=what)
    address = reverse("organiser:act_on_person", args=[hosted.token, member, "remind"])
    return AttentionRow(icon="user", who=who, what=what, act="Remind", address=address, is_form=True)


def _failing_row(failing: FailingApplication, hosted: HostedStudy) -> AttentionRow:
    return AttentionRow(
        icon="server",
        who=failing.name,
        what=f"{number_of(failing.n_errors, 'error')} in the last 10 minutes",
        act="Pause",
        address=reverse("organiser:pause_application", args=[hosted.token]),
        fields=(("application", failing.name), ("rest", "yes")),
        is_form=True,
    )


def _question_rows(hosted: HostedStudy) -> list[AttentionRow]:
    threads = [thread for thread in threads_of_testers(hosted) if thread.is_open]
    page = reverse("organiser:messages", args=[hosted.token])
    return [
        AttentionRow(
            icon="help-circle",
            who=f"{thread.membership.account} asks",
            what=f"“{thread.messages[-1].text}”",
            act="Answer",
            address=f"{page}#thread-{thread.membership.token}",
        )
        for thread in threads[:MOST_ROWS]
    ]


def _case_row(n_open: int) -> list[AttentionRow]:
    if not n_open:
        return []
    verb = "waits" if n_open == 1 else "wait"
    what = f"{verb} for a decision of a senior annotator"
    return [AttentionRow(icon="flag", who=number_of(n_open, "case"), what=what)]


def duration_text(seconds: float) -> str:
    """Return a duration in its largest useful unit, e.g. `6 min`.

    Example:
        >>> [duration_text(s) for s in (45, 400, 7_300, 200_000)]
        ['45 s', '6 min', '2 h', '2 days']
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds // 60:.0f} min"
    return f"{seconds // 3600:.0f} h" if seconds < 48 * 3600 else f"{seconds // 86_400:.0f} days"
