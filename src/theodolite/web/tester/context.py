"""The context of a tester's request: event, sessions, progress and texts, and the page that the tester may open."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from theodolite.domain.dialogue import Level
from theodolite.domain.event import AcknowledgedText, LevelPlan, Role
from theodolite.domain.identity import digest
from theodolite.domain.persona import OWN_WAY, Attempt, AttemptOutcome, Strategy
from theodolite.domain.scenario import Scenario, strategy_title
from theodolite.domain.schema import Questionnaire
from theodolite.domain.session import Session, SessionState
from theodolite.domain.study import Study
from theodolite.domain.wording import CONSENT, TITLE, WARNING, LocalisedStudy, goal_part, languages_of, task_part
from theodolite.events.context import EventContext
from theodolite.events.rules import (
    STANDS_STILL,
    TIME_IS_UP,
    NextStep,
    ScreeningResult,
    SessionProgress,
    Step,
    TesterProgress,
    next_step,
    started_order,
    step_in_session,
)
from theodolite.events.sessions import (
    capacity_left,
    expected_sessions,
    is_limit_reached,
    next_session_index,
    stratum_of,
)
from theodolite.testing.availability import Openness, topics_version
from theodolite.testing.strategies import APPROACHES
from theodolite.web.access import AccessContext, View, allowed
from theodolite.web.events import event_of, read_study
from theodolite.web.middleware import speak
from theodolite.web.models import HostedStudy, Screening
from theodolite.web.next_steps import NextStepCard
from theodolite.web.participants import booked_slot, moment_text, needs_slot, span_text, topics_in_words, zone_of
from theodolite.web.rendering import safe_html


def alias_of(session: Session) -> str:
    """Return the alias of a session's application for a person, e.g. `Application K`."""
    return alias_words(session.alias)


def alias_words(alias: str) -> str:
    """Return a stored alias in the language of the page."""
    return _("Application %(letter)s") % {"letter": alias.removeprefix("Application ")}


LEVELS = {Role.RED_TEAMER: Level.RED_TEAMING, Role.FIELD_TESTER: Level.FIELD_TESTING}
"""The level of testing that each role of testers belongs to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TesterContext:
    """The request context of a tester.

    Attributes:
        access: The account, study and membership of the request.
        event: The event in its latest release, or in that of a session of the tester.
        level: Level of testing of the tester's role.
        sessions: The tester's sessions of the level, in order.
        agreed: Accepted texts: subject, version, and key of the session if the text concerns one.
        language: Language in which the tester reads the study.
    """

    access: AccessContext
    event: EventContext
    level: Level
    sessions: tuple[Session, ...]
    agreed: frozenset[tuple[AcknowledgedText, str, str]]
    language: str = ""

    @property
    def participant(self) -> str:
        """Opaque key of the tester."""
        return self.access.membership.participant

    @property
    def plan(self) -> LevelPlan:
        """The plan of the level."""
        plans = (plan for plan in self.event.study.levels if plan.level is self.level)
        return next(plans, LevelPlan(level=self.level))

    @property
    def read(self) -> LocalisedStudy:
        """The study in the tester's language; records refer to the original study."""
        return read_study(self.event.study, self.language)

    @property
    def texts(self) -> tuple[Text, ...]:
        """The texts that the tester must accept before the first session."""
        return texts_of(self.read)

    def has_agreed(self) -> bool:
        """Return whether every text was accepted in its current version, in any language."""
        worded = [text for language in languages_of(self.event.study) for text in self._texts_in(language)]
        met = {text.subject for text in worded if (text.subject, text.version, "") in self.agreed}
        return met >= {text.subject for text in worded}

    def _texts_in(self, language: str) -> tuple[Text, ...]:
        return texts_of(read_study(self.event.study, language))

    def session(self, session_no: int) -> Session:
        """Return a session of the tester by its number, from 1.

        Raises:
            Http404: If it does not exist.
        """
        for session in self.sessions:
            if session.place == session_no - 1:
                return session
        raise Http404

    def in_release(self, session: Session) -> TesterContext:
        """Return the context in the release for which a session was created."""
        return replace(self, event=_event(self.access.hosted, session.study_version))

    def at(self, session_no: int) -> TesterContext:
        """Return the context in the release of a session by its number, from 1; unchanged if it does not exist."""
        known = next((session for session in self.sessions if session.place == session_no - 1), None)
        return self.in_release(known) if known is not None else self

    def has_read(self, session: Session) -> bool:
        """Return whether the instructions of a session were acknowledged."""
        return any(subject is AcknowledgedText.INSTRUCTIONS and key == session.key for subject, _, key in self.agreed)

    def to_answer(self, session: Session) -> list[Questionnaire]:
        """Return the questionnaires of a session that are not submitted, in order."""
        questionnaires = self.in_release(session).event.study.questionnaires_after(session.scenario, session.level)
        if not questionnaires:
            return []
        answered = {given.questionnaire for given in self.event.responses.of_session(session.key) if given.submitted}
        return [questionnaire for questionnaire in questionnaires if questionnaire.name not in answered]

    @property
    def screening_version(self) -> str:
        """Content hash of the screening questions; empty if there are none."""
        return screening_version(self.event.study)

    def progress(self) -> TesterProgress:
        """Return the progress of the tester in the event."""
        store = self.event.store
        over = [session for session in self.sessions if session.is_over]
        return TesterProgress(
            screening=self._screened(),
            has_consented=self.has_agreed(),
            has_chosen_topics=has_chosen_topics(self),
            next_session_no=_next_session_no(self),
            has_profile=bool(over) or store.profile(self.participant) is not None,
            has_time_slot=self._has_slot(),
            has_capacity=bool(self.sessions) or self._finds_place(),
            limit_reached=is_limit_reached(self.event, self.participant),
            sessions=self.session_progress,
            has_guessed=bool(over)
            and bool(self.keys & {guess.session for guess in store.events.responses.guesses(self.event.study.name)}),
        )

    @property
    def session_progress(self) -> tuple[SessionProgress, ...]:
        """The progress in each session of the level in order, those not started included."""
        made = {session.place: self._progress_in(session) for session in self.sessions}
        return tuple(made.get(index, SessionProgress()) for index in range(self.plan.sessions))

    def _screened(self) -> ScreeningResult:
        version = self.screening_version
        screening = (
            Screening.objects.filter(membership=self.access.membership, version=version).first() if version else None
        )
        if not version:
            return ScreeningResult.PASSED
        return (
            ScreeningResult.OPEN
            if screening is None
            else ScreeningResult.PASSED
            if screening.passed
            else ScreeningResult.OUT
        )

    def _has_slot(self) -> bool:
        if not needs_slot(self.access.hosted, self.access.membership.role):
            return True
        return booked_slot(self.access.membership, self.event.clock.now()) is not None

    def _finds_place(self) -> bool:
        known = self.event.participants.profile(self.participant) is not None
        stratum = stratum_of(self.event, self.participant, self.plan) if known else None
        return capacity_left(self.event, self.level, stratum) > 0

    @property
    def keys(self) -> set[str]:
        """Keys of the sessions."""
        return {session.key for session in self.sessions}

    def upcoming(self) -> NextStep:
        """Return the next step of the tester; during a session this needs no further query."""
        return step_in_session(self.session_progress) or next_step(self.progress())

    def address(self, upcoming: NextStep) -> str:
        """Return the page of a step."""
        study = self.access.hosted.token
        arguments = [study, upcoming.session_no] if upcoming.session_no else [study]
        return reverse(f"tester:{upcoming.step.value}", args=arguments)

    def _progress_in(self, session: Session) -> SessionProgress:
        # The tester did not end an interrupted session, so no questionnaire follows.
        asks = session.is_over and session.state is not SessionState.INTERRUPTED
        return SessionProgress(
            is_read=self.has_read(session),
            is_over=session.is_over,
            to_answer=len(self.to_answer(session)) if asks else 0,
        )


def title_of(tester: TesterContext) -> tuple[str, str] | None:
    """Return the study's title in the tester's language, and that language; None if the stored title is shown."""
    if TITLE not in tester.read.parts or str(tester.access.hosted) != tester.event.study.title:
        return None
    return tester.read.study.title, tester.read.language


def tester_context(request: HttpRequest, access: AccessContext) -> TesterContext:
    """Return the context of a request, and set its language to the tester's."""
    event = _event(access.hosted)
    level = LEVELS[access.role]
    acknowledgements = event.participants.acknowledgements(access.membership.participant)
    mine = (
        session for session in event.sessions.of_participant(access.membership.participant) if session.level is level
    )
    return TesterContext(
        access=access,
        event=event,
        level=level,
        sessions=tuple(sorted(mine, key=lambda session: session.place)),
        agreed=frozenset((text.subject, text.version, text.session) for text in acknowledgements),
        language=speak(request, languages_of(event.study)),
    )


def _event(hosted: HostedStudy, study_version: str = "") -> EventContext:
    return replace(event_of(hosted, study_version), keeps_hours=hosted.keeps_hours)


def has_chosen_topics(tester: TesterContext) -> bool:
    """Return whether the tester has answered the current version of the content opt-outs."""
    version = topics_version(tester.event.study)
    return not version or (AcknowledgedText.TOPICS, version, "") in tester.agreed


def _next_session_no(tester: TesterContext) -> int | None:
    """Return the number of the next session; None if the study has no topics."""
    if not tester.event.study.topics or not tester.plan.people:
        return None
    index = next_session_index(tester.event, tester.participant, tester.level)
    return 0 if index is None else index + 1


def session_position(tester: TesterContext, session: Session) -> int:
    """Return the rank of a session in the tester's order of sessions, from 1."""
    before = [other for other in tester.sessions if other.key != session.key and other.clock.started is not None]
    waits = session.clock.started is None
    return 1 + sum(waits or started_order(other) < started_order(session) for other in before)


def n_sessions_offered(tester: TesterContext) -> int:
    """Return the number of sessions that a tester has started or is offered; count."""
    if not tester.event.study.topics or not tester.plan.people:
        return tester.plan.sessions
    return expected_sessions(tester.event, tester.participant, tester.level, tester.sessions)


_STATE = HostedStudy.State

_AFTER_EVENT = (Step.QUESTIONS, Step.GUESS, Step.DONE, Step.SCREENED_OUT, Step.NO_SCENARIO)
"""Steps that stay available after the event, because they call no application."""


_THANKS = lazy("You can send no more messages. Thank you for your time.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """Reason why a step is not available now.

    Attributes:
        title: A short heading.
        words: The reason, and the time at which the step becomes available.
        can_choose: Whether the tester may choose another time slot.
    """

    title: str
    words: str
    can_choose: bool = False


def closed_now(tester: TesterContext, step: Step) -> Closed | None:
    """Return the reason why a step is not available now; None if it is available."""
    return _by_state(tester, step) or _by_hours(tester, step) or _by_slot(tester, step)


def _by_state(tester: TesterContext, step: Step) -> Closed | None:
    state = tester.access.hosted.state
    if state in {_STATE.DRAFT, _STATE.PUBLISHED}:
        return Closed(
            title=_("Not open yet"),
            words=_("The event is not open yet. The organisers will contact you when it opens."),
        )
    if state == _STATE.CLOSED and step not in _AFTER_EVENT:
        return Closed(title=_("The event is over"), words=str(_THANKS))
    if state == _STATE.PAUSED and step is Step.INSTRUCTIONS:
        return Closed(
            title=_("Pause"), words=tester.access.hosted.message or _("The event is paused and will resume soon.")
        )
    return None


def _by_hours(tester: TesterContext, step: Step) -> Closed | None:
    hours, zone = tester.event.hours(tester.level), zone_of(tester.event.study)
    openness = hours.at(tester.event.clock.now())
    if openness is Openness.NOT_YET and step is Step.INSTRUCTIONS and hours.opens:
        when = moment_text(hours.opens, zone)
        text = _("You are ready. Sessions can start from %(when)s.") % {"when": when}
        return Closed(title=_("Not open yet"), words=text)
    if openness is Openness.OVER and step not in (*_AFTER_EVENT, Step.CHAT) and hours.closes:
        text = _("It closed on %(when)s. %(thanks)s") % {"when": moment_text(hours.closes, zone), "thanks": _THANKS}
        return Closed(title=_("The event is over"), words=text)
    return None


def _by_slot(tester: TesterContext, step: Step) -> Closed | None:
    now = tester.event.clock.now()
    slot = booked_slot(tester.access.membership, now) if step is Step.INSTRUCTIONS else None
    if slot is None or slot.begins <= now:
        return None
    when = span_text(slot.begins, slot.ends, zone_of(tester.event.study))
    where = f", {slot.where}" if slot.where else ""
    text = _("Your time slot is %(when)s. Come back then.") % {"when": f"{when}{where}"}
    return Closed(title=_("Your time"), words=text, can_choose=True)


def for_testers(*steps: Step, waits: bool = True) -> Callable[[View], View]:
    """Open a view to testers at one of the given steps; redirect others to their step.

    The view is called as `view(request, tester, ...)`. If the step is not available because
    the event is closed or the time slot has not started, a notice is shown instead.

    Args:
        steps: The steps of the view; none for a view that is always open.
        waits: Whether to check the availability of the step.
    """

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def page(request: HttpRequest, access: AccessContext, **rest: Any) -> HttpResponseBase:
            tester = admitted(request, access, steps, rest.get("session_no", 0), waits=waits)
            return view(request, tester, **rest) if isinstance(tester, TesterContext) else tester

        return allowed(*LEVELS)(page)

    return decorate


def admitted(
    request: HttpRequest, access: AccessContext, steps: tuple[Step, ...], session_no: int, *, waits: bool = True
) -> TesterContext | HttpResponse:
    """Return the context, or a redirect to the page of the tester's next step."""
    tester = tester_context(request, access)
    request.study_title = title_of(tester)  # type: ignore[attr-defined] # every page shows it
    # A page evaluates the card when it shows it, so JSON and redirects need no query.
    request.next_step_of_tester = functools.partial(_next_step_card, tester, steps)  # type: ignore[attr-defined]
    if not steps:
        is_begun = not session_no or any(session.place == session_no - 1 for session in tester.sessions)
        return tester.at(session_no) if is_begun else redirect(tester.address(tester.upcoming()))
    upcoming = tester.upcoming()
    shut = closed_now(tester, upcoming.step) if waits else None
    if shut:
        request.next_step_of_tester = None  # type: ignore[attr-defined] # the step is not available yet
        event_plan = tester.event.study.event
        context = {"access": access, "shut": shut, "contact": event_plan.contact if event_plan else ""}
        return render(request, "web/tester/wait.html", context)
    if upcoming.step not in steps or (session_no and session_no != upcoming.session_no):
        return redirect(tester.address(upcoming))
    return tester.at(session_no)


_SENTENCES = {
    Step.SCREENING: lazy("Answer a few questions to see whether you can take part."),
    Step.CONSENT: lazy("Read the texts and agree to them."),
    Step.TOPICS: lazy("Choose the content that you do not want to see."),
    Step.PROFILE: lazy("Describe yourself, or skip this page."),
    Step.SLOT: lazy("Choose a time for your sessions."),
    Step.INSTRUCTIONS: lazy("Read your task, then start the session."),
    Step.CHAT: lazy("Your session is active: continue it or end it."),
    Step.QUESTIONS: lazy("Answer the questions about your session."),
    Step.GUESS: lazy("Answer one last question."),
}
"""The next step of a tester as a sentence; further steps need no action of the tester."""


def _next_step_card(tester: TesterContext, steps: tuple[Step, ...]) -> NextStepCard | None:
    """Return the card with a tester's next step; without a button on the page of the step itself."""
    upcoming = tester.upcoming()
    text = _SENTENCES.get(upcoming.step)
    if text is None or (upcoming.step in steps and upcoming.step is Step.CHAT):
        return None
    button = "" if upcoming.step in steps else _("Continue")
    return NextStepCard(text=str(text), button=button, address=tester.address(upcoming), is_secondary=True)


@for_testers(*Step)
def home(_request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Redirect a tester to the next step."""
    return redirect(tester.address(tester.upcoming()))


_HINTS = {
    Level.RED_TEAMING: (
        lazy("use everyday language"),
        lazy("change your strategy when stuck"),
        lazy("no real personal data"),
    ),
    Level.FIELD_TESTING: (lazy("use it as you would at home"), lazy("no real personal data")),
}
"""Default instructions for testers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text for the tester.

    Attributes:
        subject: Subject of the text.
        title: Its heading.
        agree: The statement to accept.
        words: Markdown.
        language: Language of the text.
    """

    subject: AcknowledgedText
    title: str
    agree: str
    words: str
    language: str

    @property
    def version(self) -> str:
        """Content hash of its text; 64 hexadecimal digits."""
        return digest(self.words)

    @property
    def short(self) -> str:
        """The start of the version, for display."""
        return self.version[:8]

    @property
    def field(self) -> str:
        """Name of its checkbox in the form."""
        return self.subject.name.lower()

    @property
    def html(self) -> SafeString:
        """The text as HTML."""
        return safe_html(self.words)


def texts_of(read: LocalisedStudy) -> tuple[Text, ...]:
    """Return the texts to accept before testing; texts that the study lacks are omitted."""
    event = read.study.event
    if event is None:
        return ()
    texts = (event.warning.strip(), topics_in_words(read))
    warning = Text(
        subject=AcknowledgedText.CONTENT_WARNING,
        title=gettext("Content warning"),
        agree=gettext("I have read the content warning"),
        words="\n\n".join(filter(None, texts)) if texts[1] else event.warning,
        language=read.language_of(WARNING),
    )
    consent = Text(
        subject=AcknowledgedText.CONSENT,
        title=gettext("Consent"),
        agree=gettext("I agree to take part on these terms"),
        words=event.consent,
        language=read.language_of(CONSENT),
    )
    return tuple(text for text in (warning, consent) if text.words)


def screening_version(study: Study) -> str:
    """Return the content hash of the screening questions; empty if there are none."""
    criteria = study.event.screening if study.event else ()
    return digest("screening", *(f"{question.wanted} {question.text}" for question in criteria)) if criteria else ""


def hints_for(scenario: Scenario, level: Level) -> tuple[str, ...]:
    """Return the default hints next to the task, for a scenario without instructions."""
    return () if scenario.instructions.get(level.value) else tuple(map(str, _HINTS[level]))


def task_of(read: LocalisedStudy, scenario: str, level: Level) -> Text:
    """Return the task of a tester of a level in a scenario."""
    localised = read.study.scenario(scenario)
    instructions = localised.instructions.get(level.value, "")
    part = task_part(scenario, level) if instructions else goal_part(scenario)
    text = instructions or localised.goal
    return Text(
        subject=AcknowledgedText.INSTRUCTIONS,
        title=gettext("Your task"),
        agree=gettext("I have read it"),
        words=text or gettext("Write to the application."),
        language=read.language_of(part) if text else get_language() or "en",
    )


def said_left(seconds: float) -> str:
    """Return the time left in a session, rounded up to whole minutes."""
    return gettext("%(n)s min left") % {"n": ceil(seconds / 60)} if seconds else gettext("time is up")


def said_why(why: str, most: int) -> str:
    """Return the reason why no prompt is accepted, in the language of the page; see `events.chat.refusal_of`."""
    if why == TIME_IS_UP:
        return gettext("Your time is up. End the session to answer the questions.")
    if why == STANDS_STILL:
        return gettext("The session is paused. You can send messages when it resumes.")
    text = gettext("This dialogue has reached its limit of %(most)s turns. Start a new one, or end the session.")
    return text % {"most": most} if why else ""


_WAYS = {
    OWN_WAY: lazy("my own strategy"),
    "rephrase": lazy("the same request in a different context"),
    "role_play": lazy("the request as part of a story"),
    "many_shot": lazy("many answered questions first"),
    "escalation": lazy("from a harmless question to the real one"),
    "encoding": lazy("in another language, with shifted letters, or backwards"),
    "persuasion": lazy("reasons for an exception"),
    "injection": lazy("a note in a document that the application reads"),
    "paraphrase": lazy("the request in other words"),
    "translation": lazy("the request translated into other languages"),
    "adaptive": lazy("adapts to each reply and steps back after a refusal"),
}
"""Titles of the shipped strategies, repeated here for translation."""


_OUTCOMES = {
    AttemptOutcome.RELEASED: lazy("released"),
    AttemptOutcome.WITHHELD: lazy("withheld"),
    AttemptOutcome.UNCLEAR: lazy("unclear"),
}
"""Outcomes of attempts as labels."""


LONGEST = 300
"""Maximum length of a note; characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyNote:
    """An attempt in the tester's notes.

    Attributes:
        label: Number of the strategy in the dialogue and, from its second attempt on, of the attempt: `2`, `2.3`.
        way: Name of the strategy.
        words: Description of the attempt.
        outcome: Outcome in the tester's judgement.
        turn: Turn number; None if it is not known.
        refines: Label of the attempt on which it builds; empty for a new start.
    """

    label: str
    way: str
    words: str
    outcome: str
    turn: int | None
    refines: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Reason why a form was rejected."""

    why: str


def notes_on(study: Study, strategies: Sequence[Strategy]) -> list[StrategyNote]:
    """Return the attempts of a dialogue, strategy by strategy."""
    return [
        StrategyNote(
            label=_label(index, number),
            way=way_title(study, strategy.name),
            words=attempt.description,
            outcome=outcome_word(attempt.outcome),
            turn=attempt.turn,
            refines=_label(index, attempt.refines) if attempt.refines else "",
        )
        for index, strategy in enumerate(strategies, start=1)
        for number, attempt in enumerate(strategy.attempts, start=1)
    ]


def with_note(
    strategies: Sequence[Strategy], form: Mapping[str, str], *, dialogue: str, n_turns: int
) -> tuple[Strategy, ...] | Unreadable:
    """Return the strategies of a dialogue with a further attempt from a form.

    An attempt that builds on another belongs to the same strategy, regardless of the name
    chosen in the form.

    Args:
        strategies: Earlier notes.
        form: The fields `words`, `strategy`, `outcome`, `turn` and `refines`.
        dialogue: Key of the dialogue.
        n_turns: Turns in the dialogue; count.
    """
    text = " ".join(form.get("words", "").split())
    if not text or len(text) > LONGEST:
        return Unreadable(_("Describe your attempt in at most %(most)s characters.") % {"most": LONGEST})
    if form.get("outcome") not in {outcome.value for outcome in AttemptOutcome}:
        return Unreadable(_("Select the result."))
    number = form.get("turn", "")
    turn = int(number) if number.isdecimal() and 1 <= int(number) <= n_turns else None
    attempt = Attempt(description=text, outcome=AttemptOutcome(form["outcome"]), turn=turn)
    earlier = _find(strategies, form.get("refines", ""))
    if earlier is not None:
        index, refined = earlier
        return _added(strategies, index, replace(attempt, refines=refined))
    name = form.get("strategy") or OWN_WAY
    for index, strategy in enumerate(strategies):
        if strategy.name == name:
            return _added(strategies, index, attempt)
    return (*strategies, Strategy(name=name, dialogue=dialogue, attempts=(attempt,)))


def ways_of(study: Study) -> list[tuple[str, str]]:
    """Return names and titles of attack strategies, including those of the study's simulated red teamers."""
    used = [name for scenario in study.scenarios for name in scenario.attacks]
    return [(name, way_title(study, name)) for name in dict.fromkeys((OWN_WAY, *APPROACHES, *used))]


def way_title(study: Study, name: str) -> str:
    """Return the description of an attack strategy, in the language of the page."""
    return str(_WAYS[name]) if name in _WAYS else strategy_title(study.scenarios, name)


def outcome_word(outcome: AttemptOutcome) -> str:
    """Return the outcome of an attempt, in the language of the page."""
    return str(_OUTCOMES[outcome])


def _label(index: int, number: int) -> str:
    return str(index) if number == 1 else f"{index}.{number}"


def _find(strategies: Sequence[Strategy], label: str) -> tuple[int, int] | None:
    """Return the index of the strategy, from 0, and the number of the attempt, from 1, for a label."""
    for index, strategy in enumerate(strategies):
        for number in range(1, len(strategy.attempts) + 1):
            if label == _label(index + 1, number):
                return index, number
    return None


def _added(strategies: Sequence[Strategy], index: int, attempt: Attempt) -> tuple[Strategy, ...]:
    grown = replace(strategies[index], attempts=(*strategies[index].attempts, attempt))
    return (*strategies[:index], grown, *strategies[index + 1 :])
