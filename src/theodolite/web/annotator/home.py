"""The context of an annotator, the home page, profile and content opt-outs, and the one-time login of `label`."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from theodolite.annotation import assignment, quality, queues, review
from theodolite.annotation.assignment import CategoryCount, next_work, own_counts, own_pace
from theodolite.annotation.records import RecordCache
from theodolite.annotation.rules import REST_AFTER_MIN, steps_of
from theodolite.domain.annotating.quality import AnnotatorStep, CategoryReadiness, StepStatus
from theodolite.domain.annotating.work import QueueDesign, Reservation
from theodolite.domain.errors import Conflict, InputError, NotFound
from theodolite.domain.event import AcknowledgedText, PersonProfile, Role
from theodolite.domain.identity import digest
from theodolite.domain.study import Study
from theodolite.domain.wording import LocalisedStudy, languages_of, localised
from theodolite.events.next_steps import RoleStep, step_of_annotator
from theodolite.events.sessions import save_avoided_topics
from theodolite.testing.availability import topics_version
from theodolite.web.access import AccessContext, allowed, open_to_all
from theodolite.web.events import server_store
from theodolite.web.middleware import read_language
from theodolite.web.models import Account, HostedStudy, Membership
from theodolite.web.next_steps import NextStepCard, next_step_card
from theodolite.web.participants import TopicLine, read_profile, topic_lines, topic_lines_in
from theodolite.web.questions import humanize


@functools.lru_cache(maxsize=4)
def _records_of(workspace: str) -> RecordCache:
    return RecordCache.at(Path(workspace) / "blobs")


def records() -> RecordCache:
    """Return the records that queues of this server refer to."""
    return _records_of(str(settings.WORKSPACE))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorContext:
    """An annotator in the queue of a study; seniors and organisers view the queue through the same class.

    Attributes:
        access: The account, study and membership of the request.
        queue: Token of the study's queue.
    """

    access: AccessContext
    queue: str

    @property
    def participant(self) -> str:
        """Key of the annotator in the store."""
        return self.access.membership.participant

    @property
    def records(self) -> RecordCache:
        """The records to which the queue refers."""
        return records()

    @property
    def design(self) -> QueueDesign:
        """The design of the queue."""
        return queues.design_of(self.records, self.queue)

    @property
    def study(self) -> Study:
        """The study of the queue."""
        return queues.study_of(self.records, self.queue)

    def address(self, name: str, **parts: str | int) -> str:
        """Return the address of a page for annotators."""
        return reverse(f"annotator:{name}", kwargs={"study": self.access.hosted.token, **parts})


def annotator_context(access: AccessContext) -> AnnotatorContext | None:
    """Return the context of the requesting account; None if the study has no queue yet."""
    queue = queues.queue_named(access.hosted.token)
    return AnnotatorContext(access=access, queue=queue) if queue else None


def queue_view(
    refused: Callable[[HttpRequest, AnnotatorContext, Exception], HttpResponse],
) -> Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponse]]:
    """Call a view as `view(request, annotator, ...)`.

    Another person's reservation, item or thread answers 404.

    Args:
        refused: Answers a request that a service refuses.
    """

    def decorated(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @functools.wraps(view)
        def called(request: HttpRequest, access: AccessContext, **rest: Any) -> HttpResponse:
            annotator = annotator_context(access)
            if annotator is None:
                raise Http404
            try:
                return view(request, annotator, **rest)
            except NotFound as error:
                raise Http404 from error
            except (Conflict, InputError) as error:
                return refused(request, annotator, error)

        return called

    return decorated


def refused(request: HttpRequest, annotator: AnnotatorContext, error: Exception) -> HttpResponse:
    """Report why an action failed: on the next page, or with 409 to a script."""
    messages.warning(request, f"{error}.".replace("..", "."))
    if wants_json(request):
        return JsonResponse({"problem": str(error)}, status=409)
    return redirect(annotator.address("home"))


annotator_view = queue_view(refused)
"""Call a view of annotators as `view(request, annotator, ...)`; a refusal is shown on the next page."""


def wants_json(request: HttpRequest) -> bool:
    """Return whether a script made the request and reads the answer itself."""
    return request.headers.get("Accept", "").startswith("application/json")


def said_time(moment: datetime | None) -> str:
    """Return a time for the page's script, which shows it in the reader's time zone; empty for none."""
    return moment.astimezone(UTC).isoformat(timespec="seconds") if moment else ""


TITLES = {
    AnnotatorStep.BACKGROUND: "Read the background",
    AnnotatorStep.RULES: "Accept the impartiality rules",
    AnnotatorStep.PRACTICE: "Practise on examples",
    AnnotatorStep.TEST: "Pass the test of a category",
    AnnotatorStep.WORK: "Annotate",
}
"""Titles of the steps."""


@dataclass(frozen=True, slots=True)
class StepView:
    """A step as the page shows it."""

    status: StepStatus

    @property
    def title(self) -> str:
        """The heading of the step."""
        return TITLES[self.status.step]

    @property
    def name(self) -> str:
        """The name that the template uses."""
        return self.status.step.value

    @property
    def state(self) -> str:
        """Its status as a word."""
        if self.status.is_done:
            return "done"
        return "now" if self.status.is_next else "to do"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCategory:
    """A category in the progress list: its title, and the annotator's state."""

    title: str
    standing: CategoryReadiness

    @property
    def next_example(self) -> int:
        """Index of the next example to practise; the first one again if all are done."""
        return self.standing.to_practise[0] if self.standing.to_practise else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class OnboardingView:
    """The steps of an annotator to the queue, as the page shows them.

    Attributes:
        steps: The steps that the queue requires, in order; the last is the work itself.
        categories: The annotator's progress in each category.
        background: Background of the series.
        rules: The impartiality rules.
        pass_mark: Required share of right answers in a test, corrected for guessing, as text.
    """

    steps: tuple[StepView, ...]
    categories: tuple[OwnCategory, ...]
    background: str
    rules: tuple[str, ...]
    pass_mark: str

    @property
    def current_step(self) -> StepView:
        """The current step."""
        return next(step for step in self.steps if step.status.is_next)

    @property
    def is_cleared(self) -> bool:
        """Whether the annotator may take work."""
        return self.current_step.status.step is AnnotatorStep.WORK


def onboarding_view(annotator: AnnotatorContext) -> OnboardingView:
    """Return the steps of an annotator to their queue; a queue that asks for nothing has one, the work."""
    design = annotator.design
    onboarding = quality.onboarding(annotator.records, annotator.queue, annotator.participant)
    return OnboardingView(
        steps=tuple(map(StepView, steps_of(design, onboarding))),
        categories=tuple(
            OwnCategory(title=humanize(category.category), standing=category) for category in onboarding.categories
        ),
        background=design.background,
        rules=design.rules,
        pass_mark=f"{design.process.pass_mark:.2f}",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTopics:
    """The content opt-outs on the annotator's home page.

    Attributes:
        topics: All topics of the study; empty if it names none.
        is_limited_by_topics: Whether all open dialogues have topics that the annotator avoids.
        turn: Description of the next dialogue after a heavy one; empty if the last one was not heavy.
    """

    topics: tuple[TopicLine, ...] = ()
    is_limited_by_topics: bool = False
    turn: str = ""

    @property
    def avoided(self) -> tuple[TopicLine, ...]:
        """The topics that the annotator opts out of."""
        return tuple(topic for topic in self.topics if topic.is_avoided)


_TURNS = {
    False: "The last dialogue had a heavy topic. The next one is lighter.",
    True: (
        "The last dialogue had a heavy topic, and so does the next one: no lighter dialogue is available. "
        "Take a break first, or opt out of the topic."
    ),
}


def own_topics(request: HttpRequest, annotator: AnnotatorContext, n_left: int) -> OwnTopics:
    """Return the content opt-outs for the first page of an annotator.

    Args:
        request: The request, whose language is used.
        annotator: The annotator.
        n_left: Dialogues that the annotator may take now; count.
    """
    study = _study(annotator)
    if not study.topics:
        return OwnTopics()
    avoided = server_store().events.participants.avoided_topics(study.name, annotator.participant)
    return OwnTopics(
        topics=topic_lines(_read(request, study), avoided),
        is_limited_by_topics=not n_left
        and bool(assignment.n_passed_over(annotator.records, annotator.queue, annotator.participant)),
        turn=_turn(annotator),
    )


def _turn(annotator: AnnotatorContext) -> str:
    is_heavy = assignment.next_is_heavy(annotator.records, annotator.queue, annotator.participant)
    return "" if is_heavy is None else _TURNS[is_heavy]


def touched_by(request: HttpRequest, annotator: AnnotatorContext, reservation: str) -> tuple[TopicLine, ...]:
    """Return the topics of the dialogue that the annotator has reserved."""
    study = _study(annotator)
    return topic_lines_in(_read(request, study), assignment.scenario_of(reservation)) if study.topics else ()


def must_choose(annotator: AnnotatorContext) -> bool:
    """Return whether a person must still be asked about topics to avoid, in the current wording."""
    version = topics_version(_study(annotator))
    acknowledgements = server_store().events.participants.acknowledgements(annotator.participant) if version else []
    has_chosen = any(
        acknowledgement.subject is AcknowledgedText.TOPICS and acknowledgement.version == version
        for acknowledgement in acknowledgements
    )
    return bool(version) and not has_chosen


@allowed(Role.ANNOTATOR)
@require_http_methods(["GET", "POST"])
@annotator_view
def topics(request: HttpRequest, annotator: AnnotatorContext) -> HttpResponse:
    """Ask for an annotator's topics to avoid, and release their reservations with these."""
    study = _study(annotator)
    if not study.topics:
        return redirect(annotator.address("home"))
    if request.method != "POST":
        topic_texts = topic_lines(
            _read(request, study), server_store().events.participants.avoided_topics(study.name, annotator.participant)
        )
        context = {"access": annotator.access, "topics": topic_texts, "has_chosen": not must_choose(annotator)}
        return render(request, "web/topics.html", context)
    save_avoided_topics(
        server_store().events.participants,
        study,
        annotator.participant,
        request.POST.getlist("topic"),
        now=timezone.now(),
    )
    if assignment.let_go(annotator.records, annotator.queue, annotator.participant):
        messages.info(
            request, "Saved. Your open dialogues on this topic returned to the queue; their answers are kept."
        )
    else:
        messages.success(request, "Saved. You can change it at any time.")
    return redirect(annotator.address("home"))


def _read(request: HttpRequest, study: Study) -> LocalisedStudy:
    return localised(study, read_language(request, languages_of(study)))


def _study(annotator: AnnotatorContext) -> Study:
    return annotator.study


_PURPOSE = "It shows who annotated, and whether groups of annotators answer differently."


@allowed(Role.ANNOTATOR)
@require_http_methods(["GET", "POST"])
def about(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Ask for an annotator's own attributes; a later answer replaces the earlier one."""
    key, store = access.membership.participant, server_store()
    context: dict[str, object] = {"access": access, "purpose": _PURPOSE, "given": _as_sent(store.profile(key))}
    if request.method != "POST":
        return render(request, "web/tester/profile.html", context)
    try:
        profile = read_profile(request.POST)
    except InputError as odd:
        context |= {"error": str(odd), "given": request.POST}
        return render(request, "web/tester/profile.html", context, status=422)
    store.add_profile(key, profile, now=timezone.now())
    messages.success(request, "Saved. You can change it here at any time.")
    return redirect("annotator:home", study=access.hosted.token)


def _as_sent(person_profile: PersonProfile | None) -> dict[str, str]:
    """Return the earlier answers as initial values of the form."""
    if person_profile is None:
        return {}
    groups = "\n".join(f"{name}: {value}" for name, value in person_profile.groups.items())
    return {"expertise": person_profile.expertise, "languages": ", ".join(person_profile.languages), "groups": groups}


@dataclass(frozen=True, slots=True, kw_only=True)
class LastOne:
    """A recent submission of the annotator."""

    title: str
    address: str
    submitted: datetime | None
    is_open: bool


@allowed(Role.ANNOTATOR)
def home(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """Show the annotator's home page."""
    annotator = annotator_context(access)
    context: dict[str, Any] = {"access": access, "annotator": annotator}
    if annotator is None:
        context["next_step"] = next_step_card(RoleStep.AWAIT_QUEUE, access.hosted.token)
    else:
        context |= _at_work(request, annotator)
        context["next_step"] = _next_step(annotator, context)
    return render(request, "web/annotator/home.html", context)


def _next_step(annotator: AnnotatorContext, work: Mapping[str, Any]) -> NextStepCard:
    """Return the next step of an annotator.

    Args:
        annotator: The annotator.
        work: The work as the page shows it, see `_at_work`.
    """
    onboarding, returned, rooms, n_left = work["way"], work["returned"], work["rooms"], work["n_left"]
    step = step_of_annotator(
        has_queue=True,
        n_returned=len(returned),
        has_open=work["held"] is not None,
        n_rooms=len(rooms),
        is_cleared=onboarding.is_cleared,
        n_left=n_left,
    )
    steps_left = sum(not step.status.is_done for step in onboarding.steps[:-1])
    counts = {
        RoleStep.REVISE_ANNOTATION: len(returned),
        RoleStep.VOTE: len(rooms),
        RoleStep.QUALIFY: steps_left,
        RoleStep.ANNOTATE: n_left,
    }
    addresses = {
        RoleStep.REVISE_ANNOTATION: returned[0][0] if returned else "",
        RoleStep.VOTE: rooms[0][1] if rooms else "",
        RoleStep.QUALIFY: "#stage",
    }
    return next_step_card(step, annotator.access.hosted.token, n=counts.get(step, 1), address=addresses.get(step, ""))


def _at_work(request: HttpRequest, annotator: AnnotatorContext) -> dict[str, object]:
    counts = own_counts(annotator.records, annotator.queue, annotator.participant)
    n_left = sum(count.n_left for count in counts)
    pace = own_pace(annotator.queue, annotator.participant, n_left)
    last = assignment.last_ones(annotator.queue, annotator.participant)
    return {
        "categories": [(humanize(count.name), count) for count in counts],
        "n_left": n_left,
        "left": _in_words(pace.left),
        "rest": round(pace.at_work) if pace.at_work >= _rest_after(annotator) else 0,
        "held": next((count for count in counts if count.is_held), None),
        "way": onboarding_view(annotator),
        "topics": own_topics(request, annotator, n_left),
        "returned": [
            (annotator.address("annotation", reservation=check.reservation), check.comment)
            for check in quality.returned_to(annotator.queue, annotator.participant)
        ],
        "rooms": [
            (humanize(category), annotator.address("room", room=token))
            for token, category, _ in review.rooms(annotator.queue, is_open=True)
        ],
        "last_ones": [_last(annotator, task) for task in last],
        "totals": _totals(counts),
    }


def _rest_after(annotator: AnnotatorContext) -> int:
    """Return the minutes until an annotator is reminded to take a break: as for the study's testers, or a default."""
    event = annotator.study.event
    return (event.breaks.every_min if event else 0) or REST_AFTER_MIN


def _in_words(minutes: float | None) -> str:
    """Return an approximate duration; empty if unknown.

    Example:
        >>> _in_words(38.0), _in_words(200.0), _in_words(None)
        ('about 40 minutes', 'about 3 hours', '')
    """
    if not minutes:
        return ""
    if minutes >= 100:
        return f"about {round(minutes / 60)} hours"
    return f"about {max(5, 5 * round(minutes / 5))} minutes"


def _totals(counts: tuple[CategoryCount, ...]) -> dict[str, int]:
    return {"done": sum(count.n_done for count in counts), "today": sum(count.n_today for count in counts)}


def _last(annotator: AnnotatorContext, reservation: Reservation) -> LastOne:
    return LastOne(
        title=humanize(reservation.category),
        address=annotator.address("annotation", reservation=reservation.token),
        submitted=reservation.submitted,
        is_open=reservation.is_open,
    )


_BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


_LOGINS: dict[str, int] = {}
"""Primary keys of memberships by the tokens of unused logins. The process keeps them in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginLink:
    """A login that works once.

    Attributes:
        hosted: Token of the hosted study, which names its queue.
        path: Path of the login address.
    """

    hosted: str
    path: str


@transaction.atomic
def one_time_login(*, study: str, guideline: str, by: str) -> LoginLink:
    """Return a login for the annotator; an earlier membership of the person is reused.

    Args:
        study: Name of the study.
        guideline: Name of the guideline.
        by: Name of the annotator of the labels.
    """
    name = f"label {digest('label annotator', study, guideline, by)}"
    hosted, _ = HostedStudy.objects.get_or_create(
        name=name, defaults={"title": study[:200], "state": HostedStudy.State.OPEN}
    )
    membership = Membership.objects.filter(hosted=hosted, role=Role.ANNOTATOR.value).first()
    if membership is None:
        account = Account.objects.create_user(name=by[:120])
        membership = Membership.objects.create(
            account=account, hosted=hosted, role=Role.ANNOTATOR.value, participant=by
        )
    token = secrets.token_urlsafe(16)
    _LOGINS[token] = membership.pk
    return LoginLink(hosted=hosted.token, path=reverse("label_door", kwargs={"token": token}))


@open_to_all
@require_GET
def enter(request: HttpRequest, token: str) -> HttpResponse:
    """Sign the person in and open the first dialogue; this uses the login up."""
    membership = Membership.objects.select_related("account", "hosted").filter(pk=_LOGINS.pop(token, None)).first()
    if membership is None:
        raise Http404
    login(request, membership.account, backend=_BACKEND)
    annotator = annotator_context(
        AccessContext(account=membership.account, hosted=membership.hosted, membership=membership)
    )
    if annotator is None:
        raise Http404
    if must_choose(annotator):
        return redirect(annotator.address("topics"))
    work = next_work(annotator.records, annotator.queue, annotator.participant)
    return redirect(annotator.address("annotation", reservation=work.token) if work else annotator.address("home"))
