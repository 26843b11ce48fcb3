"""The page of a session: its content, instructions, pauses, unsent text and help from the organisers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from theodolite.domain.dialogue import Level, TurnState
from theodolite.domain.errors import Conflict
from theodolite.domain.event import AcknowledgedText, BreakRule
from theodolite.domain.identity import digest
from theodolite.domain.live import LiveDialogue, LiveTurn
from theodolite.domain.persona import AttemptOutcome
from theodolite.domain.session import Pauser, Session
from theodolite.events.chat import refusal_of, session_time_left_s
from theodolite.events.rules import Step
from theodolite.events.sessions import (
    acknowledge,
    avoided_scenarios,
    exposure_of,
    pause_session,
    prepare_session,
    resume_session,
    start_session,
)
from theodolite.web.access import audit
from theodolite.web.models import HostedStudy, UnsentText
from theodolite.web.participants import topic_lines_in
from theodolite.web.rendering import safe_html
from theodolite.web.support import LONGEST_MESSAGE, ask_organisers, messages_for
from theodolite.web.tester.context import (
    StrategyNote,
    TesterContext,
    Text,
    alias_of,
    for_testers,
    hints_for,
    n_sessions_offered,
    notes_on,
    said_left,
    said_why,
    session_position,
    task_of,
    ways_of,
)
from theodolite.web.tester.entry import no_capacity

OUTCOMES = (
    (AttemptOutcome.RELEASED.value, _("It disclosed content that it must withhold")),
    (AttemptOutcome.WITHHELD.value, _("It withheld the content")),
    (AttemptOutcome.UNCLEAR.value, _("I cannot tell")),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTurn:
    """A turn as the page shows it; it does not reveal the application."""

    number: int
    prompt: str
    html: SafeString
    state: str
    is_under_way: bool
    can_retry: bool
    can_mark: bool
    broke: bool


@dataclass(frozen=True, slots=True)
class SessionPage:
    """A session as its page shows it.

    Attributes:
        tester: The reader.
        session: The session.
        dialogue: Its latest dialogue; None before the first prompt.
    """

    tester: TesterContext
    session: Session
    dialogue: LiveDialogue | None

    @property
    def session_no(self) -> int:
        """Number of the session, from 1."""
        return self.session.place + 1

    @property
    def alias(self) -> str:
        """The alias of the application."""
        return alias_of(self.session)

    @property
    def is_red(self) -> bool:
        """Whether the session is one of red teaming, with notes and marks."""
        return self.session.level is Level.RED_TEAMING

    @property
    def number(self) -> int:
        """Number of the open or next dialogue, from 1."""
        if self.dialogue is None:
            return 1
        return self.dialogue.number if self.dialogue.is_open else self.dialogue.number + 1

    @property
    def said(self) -> tuple[LiveTurn, ...]:
        """The turns of the open dialogue."""
        return self.dialogue.turns if self.dialogue is not None and self.dialogue.is_open else ()

    @property
    def turns(self) -> list[ShownTurn]:
        """The displayed turns of the open dialogue, rendered on each access."""
        return [self.turn(turn) for turn in self.said]

    def turn(self, turn: LiveTurn) -> ShownTurn:
        """Return a turn in displayed form."""
        is_last = self.dialogue is not None and turn.number == len(self.dialogue.turns)
        return ShownTurn(
            number=turn.number,
            prompt=turn.prompt,
            html=safe_html(turn.response),
            state="" if turn.state is None else turn.state.value,
            is_under_way=turn.is_under_way,
            can_retry=is_last and turn.state is TurnState.ERROR and not self.session.is_over,
            can_mark=self.is_red and not turn.is_under_way and bool(turn.response),
            broke=turn.broke,
        )

    @property
    def turn_limit(self) -> int:
        """Maximum number of turns in a dialogue; count."""
        return self.tester.event.study.scenario(self.session.scenario).turns

    @property
    def next_number(self) -> int:
        """Number of the next turn, from 1."""
        return len(self.said) + 1

    @property
    def task(self) -> Text:
        """The task."""
        return task_of(self.tester.read, self.session.scenario, self.session.level)

    @property
    def hints(self) -> tuple[str, ...]:
        """Hints next to the task."""
        return hints_for(self.tester.event.study.scenario(self.session.scenario), self.session.level)

    @property
    def left(self) -> str:
        """The time left as text; empty if there is no limit."""
        seconds = session_time_left_s(self.tester.event, self.session)
        return "" if seconds is None else said_left(seconds)

    @property
    def why_not(self) -> str:
        """Reason why a prompt is refused now; empty if it is accepted."""
        return said_why(refusal_of(self.tester.event, self.session, self.dialogue), self.turn_limit)

    @property
    def can_say(self) -> bool:
        """Whether a prompt is accepted now."""
        return not self.why_not

    @property
    def is_open(self) -> bool:
        """Whether the session is open."""
        return not self.session.is_over

    @property
    def rest(self) -> bool:
        """Whether the tester is reminded to take a break."""
        event_plan = self.tester.event.study.event
        if event_plan is None or event_plan.breaks == BreakRule():
            return False
        exposure = exposure_of(self.tester.event, self.tester.participant)
        return event_plan.breaks.is_due(exposure) or event_plan.breaks.is_enough(exposure)

    @property
    def draft(self) -> str:
        """Key under which the browser stores an unsent text; different for each tester and dialogue."""
        return digest("draft", self.session.key, str(self.number))[:16]

    @property
    def saved(self) -> str:
        """When a turn was last stored, in the time zone of the event."""
        if not self.said:
            return ""
        event_plan = self.tester.event.study.event
        zone = ZoneInfo(event_plan.zone) if event_plan else ZoneInfo("UTC")
        return gettext("Saved %(time)s") % {"time": f"{self.said[-1].asked.astimezone(zone):%H:%M:%S}"}

    @property
    def attempts(self) -> list[StrategyNote]:
        """The notes on the dialogue, in order."""
        if self.dialogue is None or not self.dialogue.is_open:
            return []
        return notes_on(self.tester.event.study, self.dialogue.strategies)

    @property
    def ways(self) -> list[tuple[str, str]]:
        """Names and titles of attack strategies."""
        return ways_of(self.tester.event.study)

    @property
    def outcomes(self) -> tuple[tuple[str, str], ...]:
        """Possible outcomes of an attempt."""
        return tuple((value, str(label)) for value, label in OUTCOMES)

    def with_turn(self, turn: LiveTurn) -> SessionPage:
        """Return the page with a new turn; after the first turn of a dialogue the page is reloaded."""
        if self.dialogue is None or not self.dialogue.is_open:
            return session_page(self.tester, self.session_no)
        return replace(self, dialogue=replace(self.dialogue, turns=(*self.dialogue.turns, turn)))


def session_page(tester: TesterContext, session_no: int) -> SessionPage:
    """Return the page of a session by its number, from 1.

    Raises:
        Http404: If it was not started.
    """
    session = tester.session(session_no)
    dialogues = tester.event.dialogues.of_session(session.key)
    return SessionPage(tester, session, dialogues[-1] if dialogues else None)


def is_event_paused(tester: TesterContext) -> bool:
    """Return whether the organiser has paused the event."""
    return tester.access.hosted.state == HostedStudy.State.PAUSED


def is_paused(tester: TesterContext, session: Session) -> bool:
    """Return whether a session is paused: by itself, with its application or with the event."""
    rests = tester.access.hosted.paused_applications.filter(name=session.application)
    return is_event_paused(tester) or bool(session.clock.pausers) or rests.exists()


def paused_page(request: HttpRequest, tester: TesterContext, page: SessionPage) -> HttpResponse:
    """Show that the session is paused, who paused it, and the time left."""
    organiser = Pauser.TESTER not in page.session.clock.pausers or is_event_paused(tester)
    context = {
        "access": tester.access,
        "everybody": organiser,
        "message": tester.access.hosted.message if organiser else "",
        "left": page.left,
        "session_no": page.session_no,
    }
    return render(request, "web/tester/paused.html", context)


@for_testers(Step.CHAT)
@require_POST
def pause(_request: HttpRequest, tester: TesterContext, session_no: int) -> HttpResponse:
    """Pause a session."""
    pause_session(tester.event, tester.session(session_no).key, Pauser.TESTER)
    return redirect("tester:chat", study=tester.access.hosted.token, session_no=session_no)


@for_testers(Step.CHAT)
@require_POST
def resume(_request: HttpRequest, tester: TesterContext, session_no: int) -> HttpResponse:
    """Resume a session."""
    resume_session(tester.event, tester.session(session_no).key, Pauser.TESTER)
    return redirect("tester:chat", study=tester.access.hosted.token, session_no=session_no)


LONGEST_PROMPT = 20_000
"""Maximum length of a prompt; characters."""


@for_testers(Step.CHAT)
@require_POST
def unsent(request: HttpRequest, tester: TesterContext, session_no: int) -> JsonResponse:
    """Store the unsent text, unless the dialogue has continued since."""
    page = session_page(tester, session_no)
    text = request.POST.get("text", "").replace("\r\n", "\n")[:LONGEST_PROMPT].replace("\0", "")
    is_late = request.POST.get("number") != str(page.next_number)
    if is_late or not page.is_open:
        return JsonResponse({"kept": False})
    if text.strip():
        UnsentText.objects.update_or_create(
            membership=tester.access.membership, session=page.session.key, defaults={"text": text}
        )
    else:
        forget_unsent(page)
    return JsonResponse({"kept": True})


def unsent_text(page: SessionPage) -> str:
    """Return the unsent text of a session; empty if there is none."""
    return _unsent_of(page).values_list("text", flat=True).first() or ""


def forget_unsent(page: SessionPage) -> None:
    """Delete the unsent text of a session."""
    if _unsent_of(page).exists():  # a read blocks no writer, a deletion waits for the writer
        _unsent_of(page).delete()


def _unsent_of(page: SessionPage) -> QuerySet[UnsentText]:
    return UnsentText.objects.filter(membership=page.tester.access.membership, session=page.session.key)


@for_testers(Step.INSTRUCTIONS)
def instructions(request: HttpRequest, tester: TesterContext, session_no: int) -> HttpResponse:
    """Show the task of a session, or start the session."""
    try:
        session = prepare_session(tester.event, tester.participant, tester.level, session_no - 1)
    except Conflict:  # another tester took the last slot a moment ago
        return no_capacity(request, tester)
    if tester.event.study.topics and session.scenario in avoided_scenarios(tester.event, tester.participant):
        return redirect("tester:home", study=tester.access.hosted.token)  # another seat than the one looked at before
    task = task_of(tester.read, session.scenario, tester.level)
    if request.method == "POST" and request.POST.get("version") == task.version:
        acknowledge(tester.event, tester.participant, AcknowledgedText.INSTRUCTIONS, task.version, session=session.key)
        begun = start_session(tester.event, session.key, language=tester.language)
        if is_paused(tester, begun):  # its application rests: the clock waits with it
            pause_session(tester.event, session.key, Pauser.ORGANISER)
        return redirect("tester:chat", study=tester.access.hosted.token, session_no=session_no)
    context = {
        "access": tester.access,
        "alias": alias_of(session),
        "nth": session_position(tester, session),
        "of": n_sessions_offered(tester),
        "topics": topic_lines_in(tester.read, session.scenario),
        "minutes": tester.plan.minutes,
        "task": task,
        "hints": hints_for(tester.event.study.scenario(session.scenario), tester.level),
    }
    return render(request, "web/tester/instructions.html", context)


@for_testers()
def help_page(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Take questions to the organisers, and list questions and answers; the clock of the session continues."""
    text, error = request.POST.get("text", "").strip(), ""
    if request.method == "POST":
        if not text or len(text) > LONGEST_MESSAGE:
            error = gettext("Enter a question of at most %(most)s characters.") % {"most": f"{LONGEST_MESSAGE:,}"}
        elif ask_organisers(tester.access.membership, text, _location(tester)):
            audit(request.user, "asked the organisers", hosted=tester.access.hosted)
            messages.success(request, gettext("Your question was sent to the organisers."))
            return redirect("tester:help", study=tester.access.hosted.token)
        else:
            error = gettext("You have sent as many questions as one person may send.")
    context = {
        "access": tester.access,
        "lines": messages_for(tester.access.membership),
        "error": error,
        "text": text,
        "most": LONGEST_MESSAGE,
    }
    return render(request, "web/tester/help.html", context, status=422 if error else 200)


def _location(tester: TesterContext) -> str:
    """Return the tester's current session, dialogue and turn as text; empty outside of sessions."""
    session = next((session for session in tester.sessions if not session.is_over), None)
    if session is None:
        return ""
    dialogues = tester.event.dialogues.of_session(session.key)
    if not dialogues:
        return f"session {session.place + 1}"
    return f"session {session.place + 1}, dialogue {len(dialogues)}, turn {max(len(dialogues[-1].turns), 1)}"
