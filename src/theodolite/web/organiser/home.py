"""The first page of organisers, settings of an event, and the studies of this server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from allauth.mfa.models import Authenticator
from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.views.decorators.http import require_http_methods

from theodolite.config.starters import StarterKind, create_study
from theodolite.config.yaml_source import InvalidStudyError, render_diagnostics
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.event import Role
from theodolite.domain.identity import version_of
from theodolite.domain.study_parts import CriteriaSubject, StatedCriteria
from theodolite.events.context import EventContext
from theodolite.events.next_steps import RoleStep, step_of_organiser
from theodolite.events.results import ActivityCounts, activity_counts, cell_counts
from theodolite.usecases.measuring import criteria_of, state_criteria
from theodolite.web.access import (
    FACTOR_ROLES,
    AccessContext,
    account_of,
    allowed,
    hosts_only,
    required_by_server,
    required_roles,
)
from theodolite.web.events import (
    approval_of,
    changes_since,
    event_of,
    host_new_study,
    host_study,
    lacks_before_opening,
    last_edition,
    publish,
    server_store,
    study_in_files,
    told_changes,
)
from theodolite.web.models import (
    Account,
    Booking,
    Edition,
    EthicsApproval,
    HostedStudy,
    Membership,
    Submission,
)
from theodolite.web.new_study import StudyCreation
from theodolite.web.new_study import new_study as new_study_page
from theodolite.web.next_steps import NextStepCard, next_step_card
from theodolite.web.organiser.people import Participant, counted_states, n_invited_testers, participants_of
from theodolite.web.support import n_open_questions


@dataclass(frozen=True, slots=True, kw_only=True)
class EventProgress:
    """The progress of an event.

    Attributes:
        is_published: Whether the study has a release.
        is_approved: Whether an ethics approval is valid today.
        n_to_decide: Submissions that wait for a decision; count.
        n_testers: Testers who were invited or have joined; count.
        lacks: Missing texts and approvals before the event opens, as text.
        standings: Short status of each page by name; pages without one are omitted.
        urgent: Names of pages with missing content, or with people waiting.
        tiles: Label, value and explanation of each key figure.
    """

    is_published: bool
    is_approved: bool
    n_to_decide: int
    n_testers: int
    lacks: tuple[str, ...]
    standings: Mapping[str, str]
    urgent: frozenset[str]
    tiles: tuple[tuple[str, str, str], ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """Missing prerequisites of the opening, as text."""
        unseen = () if self.is_published else ("nothing is published yet",)
        unasked = () if self.n_testers else ("no tester is invited yet",)
        return (*unseen, *self.lacks, *unasked)


def progress_of(hosted: HostedStudy) -> EventProgress:
    """Return the progress of an event, in a constant number of queries."""
    pool, release, approval = participants_of(hosted), last_edition(hosted), approval_of(hosted)
    counts = counted_states(pool, n_invited_testers(hosted))
    changes = told_changes(release) if release else ""
    n_to_decide = hosted.submissions.filter(state=Submission.State.SUBMITTED).count()
    n_lacking = len(lacking_factor(hosted))
    event = event_of(hosted)
    activity = activity_counts(event)
    texts = {
        "organiser:editions": _published(release, changes),
        "organiser:submissions": f"{n_to_decide} to decide" if n_to_decide else "",
        "organiser:ethics": _until(approval),
        "organiser:people": ", ".join(f"{n} {state}" for state, n in counts),
        "organiser:factors": f"{n_lacking} without one" if n_lacking else "",
        **_gathered(hosted, pool, activity),
    }
    missing = {
        "organiser:editions": release is None or bool(changes),
        "organiser:submissions": n_to_decide > 0,
        "organiser:ethics": approval is None,
        "organiser:factors": n_lacking > 0,
    }
    return EventProgress(
        is_published=release is not None,
        is_approved=approval is not None,
        n_to_decide=n_to_decide,
        n_testers=sum(n for _, n in counts),
        lacks=tuple(lack.what for lack in lacks_before_opening(hosted, event.study)),
        standings={page: text for page, text in texts.items() if text},
        urgent=frozenset(page for page, is_missing in missing.items() if is_missing),
        tiles=_tiles(event, activity, n_to_decide),
    )


def _tiles(event: EventContext, activity: ActivityCounts, n_to_decide: int) -> tuple[tuple[str, str, str], ...]:
    """Return label, value and explanation of each key figure."""
    cells = cell_counts(event.study, event.sessions.tallies(event.study.name))
    return (
        ("Completed sessions", str(sum(cell.over for cell in cells)), f"of {sum(cell.planned for cell in cells)}"),
        ("Questionnaires", str(activity.submitted), "submitted"),
        ("Guesses of the application", str(activity.guesses), "by testers, to check the blinding"),
        ("Applications to decide", str(n_to_decide), "submitted by teams"),
    )


def _gathered(hosted: HostedStudy, pool: Iterable[Participant], activity: ActivityCounts) -> dict[str, str]:
    """Return the amounts of collected data as text; empty for none."""
    going_on = sum(member.tally.n_active for member in pool)
    measured = hosted.measurements.exclude(done_at=None).order_by("-asked_at").first()
    stated = {criterion.about for criterion in criteria_of(server_store(), hosted.name)}
    return {
        "organiser:links": _some(hosted.recruit_links.filter(closed_at=None).count(), "open"),
        "organiser:slots": _slots(hosted),
        "organiser:operations": _some(going_on, "active"),
        "organiser:blinding": _some(activity.guesses, "guesses" if activity.guesses > 1 else "guess"),
        "organiser:results": f"last on {date_format(measured.asked_at, 'j M Y, H:i')} UTC" if measured else "",
        "organiser:criteria": f"{len(stated)} of {len(CriteriaSubject)} stated",
        "analyst:home": _some(activity.submitted, "submitted"),
    }


def _published(release: Edition | None, changes: str) -> str:
    if release is None:
        return "nothing published yet"
    text = f"version {release.number}, {date_format(release.made_at, 'j M Y')}"
    return f"{text}; {changes}" if changes else text


def _until(approval: EthicsApproval | None) -> str:
    if approval is None:
        return "no valid approval"
    return f"valid until {date_format(approval.expires, 'j M Y')}" if approval.expires else "valid"


def _slots(hosted: HostedStudy) -> str:
    capacities = list(hosted.time_slots.values_list("places", flat=True))
    booked = Booking.objects.filter(slot__hosted=hosted).count()
    slots = _some(len(capacities), "slots" if len(capacities) > 1 else "slot")
    return f"{slots}, {booked} of {sum(capacities)} places taken" if capacities else ""


def _some(n: int, what: str) -> str:
    return f"{n} {what}" if n else ""


_State = HostedStudy.State


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigationEntry:
    """A page with the progress of its topic.

    Attributes:
        title: Title of the page.
        words: Its purpose.
        address: Its address.
        standing: Its status in a few words; empty if there is none.
        is_urgent: Whether people wait for it.
    """

    title: str
    words: str
    address: str
    standing: str = ""
    is_urgent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigationGroup:
    """Pages that are used in the same phase."""

    title: str
    entries: Sequence[NavigationEntry]


@allowed(Role.ORGANISER)
def home(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the next step and all pages."""
    try:
        progress = progress_of(access.hosted)
    except InvalidStudyError:
        messages.warning(request, "The files of this study contain errors. Correct them here first.")
        return redirect("organiser:edit_study", access.hosted.token)
    context = {
        "access": access,
        "next_step": _next_step(access.hosted, progress),
        "missing": progress.missing if access.hosted.state in {_State.DRAFT, _State.PUBLISHED} else (),
        "groups": _groups(access.hosted, progress),
        "tiles": progress.tiles,
    }
    return render(request, "web/organiser/home.html", context)


def _next_step(hosted: HostedStudy, progress: EventProgress) -> NextStepCard:
    n_questions = n_open_questions(hosted)
    step = step_of_organiser(
        str(hosted.state),
        n_submissions=progress.n_to_decide,
        is_approved=progress.is_approved,
        has_testers=progress.n_testers > 0,
        n_questions=n_questions,
    )
    n = n_questions if step is RoleStep.ANSWER_TESTERS else progress.n_to_decide
    invite = f"{reverse('organiser:people', args=[hosted.token])}#paste_addresses"
    return next_step_card(step, hosted.token, n=n, address=invite if step is RoleStep.INVITE_TESTERS else "")


_PAGES: Mapping[str, Sequence[tuple[str, str, str]]] = {
    "Before": (
        ("organiser:edit_study", "Edit study", "All files of the study, as forms and as text, with their errors."),
        ("organiser:editions", "Published versions", "Publish the study, and see the changes since the last version."),
        ("organiser:questions", "Questions", "All questions, exactly as participants see them."),
        ("organiser:schemas", "Schemas", "Write, test and publish the questions for annotators."),
        ("organiser:submissions", "Applications of teams", "Accept, return or decline submissions."),
        ("organiser:ethics", "Ethics approval", "Required before you invite testers."),
        ("organiser:people", "People", "Invite by link, list or printed access codes; track status; send reminders."),
        ("organiser:links", "Recruiting links", "For Prolific, or open to anyone with the link."),
        ("organiser:slots", "Time slots", "Times for testers to book."),
    ),
    "On the day": (
        ("organiser:operations", "Operations", "Open, pause and close; sessions, stuck replies, errors, cells."),
        ("senior:dialogues", "Dialogues", "Annotation progress; search and bulk actions."),
        ("organiser:blinding", "Blinding", "Guesses of testers, and identifying texts on their pages."),
    ),
    "Afterwards": (
        ("organiser:results", "Results", "Measure completed sessions; read and download reports."),
        ("analyst:home", "Testers' answers", "Charts and comparisons for each question."),
        ("analyst:coding", "Coding", "Code the free-text answers."),
        ("analyst:reviews", "Combined review", "Risks that need both dialogue and questionnaire."),
        (
            "organiser:exchange",
            "Export and import",
            "Answers as rows, Label Studio, Argilla; import of dialogues and labels.",
        ),
    ),
    "Settings and records": (
        ("organiser:series", "Series", "Plan, terms of the programme, evidence of validity, feedback, decisions."),
        ("organiser:criteria", "Criteria", "Recruiting, selecting and assigning annotators."),
        ("organiser:factors", "Second factors", "Roles that need one, and people without one."),
        ("organiser:audit", "Audit log", "Every action, with time and name; entries are never deleted."),
    ),
}
"""Name, title and purpose of every page, in order of use."""


def _groups(hosted: HostedStudy, progress: EventProgress) -> list[NavigationGroup]:
    standings, urgent = progress.standings, progress.urgent
    return [
        NavigationGroup(
            title=title,
            entries=[
                NavigationEntry(
                    title=called,
                    words=text,
                    address=reverse(name, args=[hosted.token]),
                    standing=standings.get(name, ""),
                    is_urgent=name in urgent,
                )
                for name, called, text in pages
            ],
        )
        for title, pages in _PAGES.items()
    ]


class StudyForm(forms.Form):
    """The form that adds the study of an existing folder."""

    folder = forms.CharField(
        label="Folder on this server", help_text="Path relative to the server's start folder, e.g. spoilers."
    )


@hosts_only
def studies(request: HttpRequest) -> HttpResponse:
    """Show the studies on this server, or add the study of a folder."""
    form, errors = StudyForm(request.POST if request.method == "POST" else None), ""
    if request.method == "POST" and form.is_valid():
        try:
            hosted = host_study(form.cleaned_data["folder"], account_of(request))
            return redirect("organiser:editions", hosted.token)
        except InvalidStudyError as found:
            errors = render_diagnostics(found.placed, limit=None, ending="No study was added.")
        except InputError as error:
            form.add_error(None, str(error))
    mine = HostedStudy.objects.filter(memberships__account=account_of(request), memberships__role=Role.ORGANISER.value)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if request.method == "POST" else HTTPStatus.OK
    first = NextStepCard(
        text="Create your first study from a template.", button="New study", address=reverse("new_study")
    )
    shown = {"form": form, "errors": errors, "studies": mine.order_by("made_at"), "next_step": first}
    return render(request, "web/organiser/studies.html", shown, status=status)


@hosts_only
@require_http_methods(["GET", "POST"])
def new_study(request: HttpRequest) -> HttpResponse:
    """Create a study from a template in a new folder of this server, and open its editor."""
    root = Path(str(settings.WORKSPACE)).parent

    def create(name: str, kind: StarterKind, answers: Mapping[str, str]) -> str:
        hosted = host_new_study(create_study(root, name, kind, answers), kind, account_of(request))
        return reverse("organiser:edit_study", args=[hosted.token])

    creation = StudyCreation(
        template="web/base.html",
        root=str(root),
        create=create,
        is_server=True,
        allows_private=bool(settings.ALLOW_PRIVATE),
        resolver=settings.HOST_RESOLVER,
    )
    return new_study_page(request, creation)


@allowed(Role.ORGANISER)
def editions(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the releases and the changes of a new one, or publish it."""
    try:
        if request.method == "POST":
            release = publish(access.hosted, access.account, request.POST.get("version", ""))
            messages.success(request, f"Version {release.number} is published.")
            return redirect("organiser:editions", access.hosted.token)
        shown = _compared(access)
    except InvalidStudyError as faults:
        shown = {"errors": render_diagnostics(faults.placed, limit=None, ending="Nothing was published.")}
    known = access.hosted.editions.select_related("made_by").order_by("-number")
    return render(request, "web/organiser/editions.html", {"access": access, "editions": known, **shown})


def _compared(access: AccessContext) -> dict[str, object]:
    loaded = study_in_files(access.hosted)
    version, last = version_of(loaded.study), last_edition(access.hosted)
    is_new = last is None or last.version != version
    changes = changes_since(last, loaded.study) if last is not None and is_new else ()
    notes = render_diagnostics(loaded.notes, limit=None) if loaded.notes else ""
    return {"version": version, "is_new": is_new, "changes": changes, "notes": notes}


class ApprovalForm(forms.ModelForm):  # type: ignore[type-arg] # not generic when the program runs
    """An ethics approval with its dates."""

    class Meta:
        """Fields, in the order of the page."""

        model = EthicsApproval
        fields = ("body", "number", "granted", "expires")
        labels = {  # noqa: RUF012 - read once by Django
            "body": "Body that approved the event",
            "number": "Number or text of the decision",
            "granted": "Valid from",
            "expires": "Valid until (optional)",
        }
        widgets = {name: forms.DateInput(attrs={"type": "date"}) for name in ("granted", "expires")}  # noqa: RUF012

    def clean(self) -> dict[str, Any]:
        """Return the cleaned fields; the dates must be in order."""
        filled = super().clean() or {}
        granted, expires = filled.get("granted"), filled.get("expires")
        if granted and expires and expires < granted:
            self.add_error("expires", "The end is before the start.")
        return filled


@allowed(Role.ORGANISER)
def ethics(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the approvals of an event, or record one."""
    form = ApprovalForm(request.POST or None, instance=EthicsApproval(hosted=access.hosted, made_by=access.account))
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            approval = form.save()
            access.audit(
                "recorded ethics approval", f"study {access.hosted.token}", body=approval.body, number=approval.number
            )
        messages.success(request, "Recorded. Testers can be invited.")
        return redirect("organiser:people", study=access.hosted.token)
    context = {
        "access": access,
        "form": form,
        "approvals": access.hosted.approvals.all(),
        "holds": approval_of(access.hosted),
    }
    return render(request, "web/organiser/ethics.html", context, status=422 if form.errors else 200)


LONGEST = 10_000
"""Characters of a statement at most; count."""


_ASKED = {
    CriteriaSubject.RECRUITMENT: "How are annotators recruited, informed and paid?",
    CriteriaSubject.SELECTION: "Who can annotate: knowledge, languages, tests, exclusion criteria?",
    CriteriaSubject.ASSIGNMENT: "How are categories and dialogues assigned, how many passes, and which are separated?",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedBefore:
    """The statements on a subject.

    Attributes:
        about: The subject.
        asked: Required topics of the statement.
        statements: Statements with their authors as text, latest first.
    """

    about: CriteriaSubject
    asked: str
    statements: tuple[tuple[StatedCriteria, str], ...]

    @property
    def last(self) -> StatedCriteria | None:
        """The current statement."""
        return self.statements[0][0] if self.statements else None


@allowed(Role.ORGANISER, Role.SENIOR)
@require_http_methods(["GET", "POST"])
def criteria(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the stated criteria, or store a statement."""
    if request.method != "POST":
        return _page(request, access)
    sent = request.POST
    about = next(
        (subject for subject in CriteriaSubject if subject.value == sent.get("about")),
        CriteriaSubject.RECRUITMENT,
    )
    try:
        made = state_criteria(
            server_store(),
            access.hosted.name,
            about,
            sent.get("text", "").replace("\r\n", "\n")[:LONGEST],
            by=access.account.token,
            now=timezone.now(),
            why=sent.get("why", "")[:500],
            follows=int(sent["follows"]) if sent.get("follows", "").isdecimal() else 0,
        )
    except (Conflict, InputError) as error:
        return _page(request, access, problem=f"Not saved: {error}.", text=sent.get("text", ""), about=about)
    facts = {"about": about.value, "revision": made.revision}
    access.audit("stated criteria", f"study {access.hosted.token}", **facts)
    messages.success(request, f"Saved as statement {made.revision} about {about.value}.")
    return redirect("organiser:criteria", study=access.hosted.token)


def _page(
    request: HttpRequest,
    access: AccessContext,
    *,
    problem: str = "",
    text: str = "",
    about: CriteriaSubject | None = None,
) -> HttpResponse:
    criteria = criteria_of(server_store(), access.hosted.name)
    names = dict(
        Account.objects.filter(token__in={statement.by for statement in criteria}).values_list("token", "name")
    )
    stated = [
        StatedBefore(
            about=subject,
            asked=asked,
            statements=tuple(
                (statement, names.get(statement.by, "former member"))
                for statement in reversed(criteria)
                if statement.about is subject
            ),
        )
        for subject, asked in _ASKED.items()
    ]
    context = {"access": access, "stated": stated, "problem": problem, "text": text, "faulty": about}
    return render(request, "web/organiser/criteria.html", context, status=422 if problem else 200)


class FactorForm(forms.Form):
    """The roles that need a second factor."""

    roles = forms.MultipleChoiceField(
        label="Roles that need a second factor in this study",
        choices=[(role.value, role.value) for role in FACTOR_ROLES],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="People without one must set it up at the next click.",
    )


@allowed(Role.ORGANISER)
def factors(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show or store the roles that need a second factor."""
    form = FactorForm(request.POST or None, initial={"roles": access.hosted.second_factor})
    if request.method == "POST":
        form = FactorForm(request.POST)
        if form.is_valid():
            with transaction.atomic():
                access.hosted.second_factor = form.cleaned_data["roles"]
                access.hosted.save(update_fields=["second_factor"])
                access.audit("set second factors", f"study {access.hosted.token}", roles=access.hosted.second_factor)
            messages.success(request, "Kept.")
            return redirect("organiser:factors", study=access.hosted.token)
    shown = {
        "access": access,
        "form": form,
        "by_server": sorted(role.value for role in required_by_server()),
        "lacking": lacking_factor(access.hosted),
        "n_needed": _needing(access.hosted).count(),
    }
    return render(request, "web/organiser/factors.html", shown, status=422 if form.errors else 200)


def lacking_factor(hosted: HostedStudy) -> list[Membership]:
    """Return the memberships of a study that need a second factor and lack it."""
    having = Authenticator.objects.values("user_id")
    return list(_needing(hosted).exclude(account_id__in=having).order_by("id"))


def _needing(hosted: HostedStudy) -> QuerySet[Membership]:
    needed = [role.value for role in required_roles(hosted)]
    return hosted.memberships.filter(left_at=None, role__in=needed).select_related("account")
