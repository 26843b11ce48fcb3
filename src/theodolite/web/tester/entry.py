"""The pages around the sessions: screening, consent, profile, opt-outs, time slots, questionnaires, personal data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET

from theodolite.domain.annotation import Answer
from theodolite.domain.choices import UserType
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.event_record import BlindingGuess, GuessedThing, Withdrawal
from theodolite.domain.identity import version_of
from theodolite.domain.persona import AttemptOutcome
from theodolite.domain.schema import Questionnaire, QuestionnaireResponse
from theodolite.domain.series_review import FeedbackSource, SeriesPart
from theodolite.domain.session import Session
from theodolite.domain.wording import SCREENING
from theodolite.events.context import EventContext
from theodolite.events.results import stored_data, time_text
from theodolite.events.rules import Step
from theodolite.events.sessions import (
    acknowledge,
    choose_release,
    is_limit_reached,
    opt_out,
    release_choice,
    save_profile,
)
from theodolite.usecases.series_review import add_feedback, feedback_by
from theodolite.web.access import audit, open_to_all
from theodolite.web.accounts.invitations import completion_of, screened_out_code
from theodolite.web.events import event_of, server_store
from theodolite.web.middleware import page_languages, speak
from theodolite.web.models import Membership, Screening
from theodolite.web.participants import book, booked_slot, offered, read_profile, span_text, topic_lines, zone_of
from theodolite.web.questions import FormPage, form_page
from theodolite.web.rendering import safe_html
from theodolite.web.session_end import close_session, end_participation, withdraw_participant
from theodolite.web.tester.context import (
    TesterContext,
    alias_of,
    alias_words,
    for_testers,
    has_chosen_topics,
    n_sessions_offered,
    outcome_word,
    session_position,
    way_title,
)

_YES_NO = {"yes": True, "no": False}


_OUT_WORDS = lazy(
    "Thank you for your answers. You do not match the criteria of this study. Your answers were not stored."
)

_OUT = (lazy("This study has other criteria"), _OUT_WORDS)

_FULL_WORDS = lazy(
    "All places in the study are taken. Thank you for your interest. "
    "If a place becomes free, the people who invited you will contact you."
)

_FULL = (lazy("All places are taken"), _FULL_WORDS)


@for_testers(Step.SCREENING)
def screening(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Ask the screening questions; only the outcome is stored."""
    event_plan = tester.read.study.event
    criteria = event_plan.screening if event_plan else ()
    answers = [request.POST.get(f"q{number}", "") for number in range(1, len(criteria) + 1)]
    questions = [(question.text, answer) for question, answer in zip(criteria, answers, strict=True)]
    context: dict[str, object] = {
        "access": tester.access,
        "questions": questions,
        "language_of_words": tester.read.language_of(SCREENING),
        "contact": event_plan.contact if event_plan else "",
    }
    if request.method != "POST":
        return render(request, "web/tester/screening.html", context)
    if any(answer not in _YES_NO for answer in answers):
        context["error"] = _("Answer every question with yes or no.")
        return render(request, "web/tester/screening.html", context, status=422)
    passed = all(_YES_NO[answer] is question.wanted for question, answer in zip(criteria, answers, strict=True))
    Screening.objects.update_or_create(
        membership=tester.access.membership, defaults={"version": tester.screening_version, "passed": passed}
    )
    verb = "passed screening" if passed else "was screened out"
    audit(request.user, verb, f"membership {tester.access.membership.token}", hosted=tester.access.hosted)
    return redirect("tester:home", study=tester.access.hosted.token)


@for_testers(Step.SCREENED_OUT)
def screened_out(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Show that the tester does not qualify, with the code of the recruiting service if there is one."""
    return _notice(request, tester, _OUT, handed=screened_out_code(tester.access.membership))


@for_testers(Step.FULL)
def full(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Show the page for a full event."""
    return no_capacity(request, tester)


def no_capacity(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Return the page for a full event."""
    return _notice(request, tester, _FULL)


def _notice(
    request: HttpRequest, tester: TesterContext, texts: tuple[Any, Any], handed: tuple[str, str] | None = None
) -> HttpResponse:
    event_plan = tester.event.study.event
    context = {
        "access": tester.access,
        "title": texts[0],
        "words": texts[1],
        "code": handed[0] if handed else "",
        "back": handed[1] if handed else "",
        "contact": event_plan.contact if event_plan else "",
    }
    return render(request, "web/tester/no_place.html", context)


_TYPES = (
    (UserType.EVERYDAY, lazy("As an everyday tool")),
    (UserType.DOMAIN_EXPERT, lazy("As an expert in the subject")),
    (UserType.ADVERSARIAL, lazy("To look for weaknesses")),
)


@for_testers(Step.CONSENT)
def consent(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Show consent and content warning, or store the acceptance of their versions and the choice about releases."""
    event_plan = tester.event.study.event
    context: dict[str, object] = {
        "access": tester.access,
        "texts": tester.texts,
        "contact": event_plan.contact if event_plan else "",
        "is_released": release_choice(tester.event, tester.participant),
    }
    if request.method != "POST":
        return render(request, "web/tester/consent.html", context)
    if any(request.POST.get(text.field) != text.version for text in tester.texts):
        context["error"] = _("Tick each box to take part. Participation is voluntary.")
        return render(request, "web/tester/consent.html", context, status=422)
    for text in tester.texts:
        acknowledge(tester.event, tester.participant, text.subject, text.version)
        audit(request.user, "agreed", f"{text.subject.value} {text.version}", hosted=tester.access.hosted)
    choose_release(tester.event, tester.participant, included=request.POST.get("release") == "yes")
    return redirect("tester:home", study=tester.access.hosted.token)


@for_testers()
def release(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Ask whether the tester's dialogues may be part of a public release; the latest choice counts."""
    choice = request.POST.get("release", "")
    if request.method == "POST" and choice in _YES_NO:
        choose_release(tester.event, tester.participant, included=_YES_NO[choice])
        audit(request.user, "chose about releases", "", hosted=tester.access.hosted)
        messages.success(request, _("Saved."))
        return redirect("tester:release", study=tester.access.hosted.token)
    error = _("Choose yes or no.") if request.method == "POST" else ""
    context = {
        "access": tester.access,
        "is_released": release_choice(tester.event, tester.participant),
        "error": error,
    }
    return render(request, "web/tester/release.html", context, status=422 if error else 200)


_FEEDBACK_PARTS = (
    (SeriesPart.SCENARIOS, lazy("The task")),
    (SeriesPart.SIMULATION, lazy("The situation compared with real use")),
    (SeriesPart.ORGANISATION, lazy("Invitation, sessions and questionnaires")),
)
"""Subjects on which a tester can give feedback."""


_MOST_CHARACTERS = 2000
"""Maximum length of feedback; characters."""


@for_testers()
def feedback(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Ask for feedback on the event, and list the tester's earlier feedback."""
    if not (tester.sessions or tester.has_agreed()):
        return redirect("tester:home", study=tester.access.hosted.token)
    store, study, participant = server_store(), tester.access.hosted.name, tester.participant
    titles, sent = {part.value: label for part, label in _FEEDBACK_PARTS}, request.POST
    error = ""
    if request.method == "POST":
        text, part = sent.get("text", "").strip(), sent.get("part", "")
        error = "" if text and part in titles else _("Choose a topic and write a text.")
        if not error:
            with suppress(Conflict):  # stored already, or as many as one may send: the list below shows it
                add_feedback(
                    store, study, part=SeriesPart(part), source=FeedbackSource.TESTER,
                    text=text[:_MOST_CHARACTERS], by=participant, now=tester.event.clock.now(),
                )  # fmt: skip
                audit(request.user, "gave feedback", "", hosted=tester.access.hosted)
                messages.success(request, _("Saved."))
            return redirect("tester:feedback", study=tester.access.hosted.token)
    context = {
        "access": tester.access,
        "parts": [(value, str(label)) for value, label in titles.items()],
        "lines": [(titles[one.entry.part.value], one.entry) for one, _states in feedback_by(store, study, participant)],
        "error": error,
        "sent": sent,
    }
    return render(request, "web/tester/feedback.html", context, status=422 if error else 200)


@for_testers(Step.PROFILE)
def profile(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Ask for the profile; an empty profile is valid."""
    context = {"access": tester.access, "types": [(kind.value, label) for kind, label in _TYPES]}
    if request.method != "POST":
        return render(request, "web/tester/profile.html", context)
    try:
        stated = read_profile(request.POST)
    except InputError as odd:
        context |= {"error": str(odd), "given": request.POST}
        return render(request, "web/tester/profile.html", context, status=422)
    save_profile(tester.event, tester.participant, stated)
    return redirect("tester:home", study=tester.access.hosted.token)


_ENDED = lazy(
    "The active session was about this topic and has ended. You do not have to give a reason, and no questions follow. "
    "Its messages are kept; you can still withdraw them."
)


@for_testers()
def topics(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Ask for content opt-outs, and end an active session that touches one."""
    study, store = tester.event.study, tester.event.store
    if not study.topics or not (
        tester.sessions or tester.has_agreed()
    ):  # consent worded again waits for the next session
        return redirect("tester:home", study=tester.access.hosted.token)
    if request.method != "POST":
        avoided = store.events.participants.avoided_topics(study.name, tester.participant)
        context = {
            "access": tester.access,
            "topics": topic_lines(tester.read, avoided),
            "has_chosen": has_chosen_topics(tester),
        }
        return render(request, "web/topics.html", context)
    try:
        ended = opt_out(tester.event, tester.participant, request.POST.getlist("topic"), closed=_closing(tester))
    except InputError as odd:  # a topic of an earlier published version
        messages.error(request, f"{odd}.")
        return redirect("tester:topics", study=tester.access.hosted.token)
    if ended:
        messages.info(request, _ENDED)
    return redirect("tester:home", study=tester.access.hosted.token)


@for_testers(Step.NO_SCENARIO, waits=False)
def no_scenario(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Show that every remaining session touches an avoided topic."""
    event_plan = tester.event.study.event
    context = {"access": tester.access, "contact": event_plan.contact if event_plan else ""}
    return render(request, "web/tester/no_scenario.html", context)


def _closing(tester: TesterContext) -> Callable[[Session], EventContext]:
    def let_go(session: Session) -> EventContext:
        close_session(tester.access.hosted, session)
        return event_of(tester.access.hosted, session.study_version)

    return let_go


_SLOT_STEPS = (Step.SLOT, Step.INSTRUCTIONS)


@for_testers(*_SLOT_STEPS, waits=False)
def slot(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Offer time slots, or book one."""
    membership, now, zone = tester.access.membership, tester.event.clock.now(), zone_of(tester.event.study)
    error = ""
    if request.method == "POST":
        try:
            book(tester.access.account, membership, request.POST.get("slot", ""), now)
            return redirect("tester:home", study=tester.access.hosted.token)
        except Conflict as conflict:
            error = f"{conflict}."
    own = booked_slot(membership, now)
    times = [
        {
            "token": offer.slot.token,
            "when": span_text(offer.slot.begins, offer.slot.ends, zone),
            "where": offer.slot.where,
            "left": offer.left,
            "is_own": own is not None and own.pk == offer.slot.pk,
        }
        for offer in offered(tester.access.hosted, membership.role, now)
    ]
    context = {"access": tester.access, "times": times, "own": own, "error": error}
    return render(request, "web/tester/slot.html", context, status=409 if error else 200)


_TRIES = 3
"""Number of attempts to store a revision while others arrive at the same moment; count."""


@for_testers(Step.QUESTIONS)
def first_open(_request: HttpRequest, tester: TesterContext, session_no: int) -> HttpResponse:
    """Redirect to the first unsubmitted questionnaire of a session."""
    questionnaires, pending = _questionnaires(tester, session_no), tester.to_answer(tester.session(session_no))
    if not pending:  # handed in a moment ago
        return redirect("tester:home", study=tester.access.hosted.token)
    number = questionnaires.index(pending[0]) + 1
    return redirect("tester:questionnaire", study=tester.access.hosted.token, session_no=session_no, number=number)


@for_testers(Step.QUESTIONS)
def questionnaire(request: HttpRequest, tester: TesterContext, session_no: int, number: int) -> HttpResponse:
    """Show a questionnaire of a session, or store its answers; answers after its submission are ignored."""
    session, questionnaires = tester.session(session_no), _questionnaires(tester, session_no)
    pending = tester.to_answer(session)
    if not 1 <= number <= len(questionnaires) or questionnaires[number - 1] not in pending:
        return redirect("tester:home", study=tester.access.hosted.token)
    try:
        return form_page(request, _form(tester, session, questionnaires[number - 1]))
    except Conflict:
        return redirect("tester:home", study=tester.access.hosted.token)


def _questionnaires(tester: TesterContext, session_no: int) -> tuple[Questionnaire, ...]:
    session = tester.session(session_no)
    return tester.event.study.questionnaires_after(session.scenario, session.level)


def _form(tester: TesterContext, session: Session, questionnaire: Questionnaire) -> FormPage:
    latest = _latest(tester, session, questionnaire)

    def save(answers: tuple[Answer, ...], is_done: bool) -> None:  # noqa: FBT001 - the page calls it so
        _save(tester, session, questionnaire, answers, submitted=is_done)

    part = ("questionnaires", questionnaire.name)
    read = tester.read.study.questionnaire(questionnaire.name)  # answers are stored under the names that both share
    return FormPage(
        instrument=read.instrument,
        answers=latest.answers if latest else (),
        save=save,
        next_page=reverse("tester:home", args=[tester.access.hosted.token]),
        template="web/tester/questions.html",
        context={
            "access": tester.access,
            "title": read.title or _("Questions"),
            "about": read.about,
            "language_of_words": tester.read.language_of(part),
            "alias": alias_of(session),
            "position": session_position(tester, session),
            "of": n_sessions_offered(tester),
        },
    )


def _latest(tester: TesterContext, session: Session, questionnaire: Questionnaire) -> QuestionnaireResponse | None:
    responses = tester.event.responses.of_session(session.key)
    return next((response for response in responses if response.questionnaire == questionnaire.name), None)


def _save(
    tester: TesterContext,
    session: Session,
    questionnaire: Questionnaire,
    answers: tuple[Answer, ...],
    *,
    submitted: bool,
) -> None:
    """Store another revision; if another arrives at the same moment, retry with the next number.

    Raises:
        Conflict: If it was already submitted.
    """
    for left in reversed(range(_TRIES)):
        before = _latest(tester, session, questionnaire)
        response = QuestionnaireResponse(
            session=session.key,
            participant=tester.participant,
            questionnaire=questionnaire.name,
            instrument_version=version_of(questionnaire),
            answers=answers,
            revision=before.revision + 1 if before else 1,
            submitted=submitted,
        )
        try:
            tester.event.responses.add(response)
        except Conflict:
            if not left or (before and before.submitted):
                raise
        else:
            return


_LEVELS = {
    Level.RED_TEAMING.value: lazy("to make the application fail"),
    Level.FIELD_TESTING.value: lazy("to use it as in everyday life"),
}


_ENOUGH = lazy(
    "Your part is complete: this event limits the amount of difficult content for each person, and you have reached "
    "the limit. You did nothing wrong, and nothing is missing."
)


_LIMITED_BY_TOPICS = lazy(
    "Your part is complete: the remaining tasks contain topics that you opted out of. "
    "You did nothing wrong, and nothing is missing."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessQuestion:
    """A question about the blinding.

    Attributes:
        field: Name of the form field.
        ask: Text of the question.
        session: The session concerned.
        about: Subject of the guess.
        options: Values and labels, in random order.
    """

    field: str
    ask: str
    session: Session
    about: GuessedThing
    options: Sequence[tuple[str, str]]


@for_testers(Step.GUESS)
def guess(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Ask for a guess about each session, after everything else."""
    questions = _questions(tester)
    context = {"access": tester.access, "questions": questions}
    if request.method != "POST":
        return render(request, "web/tester/guess.html", context)
    guesses = [(question, request.POST.get(question.field)) for question in questions]
    if any(answer not in {"", *(value for value, _ in question.options)} for question, answer in guesses):
        context["error"] = _("Answer every question; “I do not know” is an answer.")
        return render(request, "web/tester/guess.html", context, status=422)
    for question, answer in guesses:
        options = tuple(value for value, _ in question.options)
        believed = BlindingGuess(
            session=question.session.key,
            about=question.about,
            guess=answer or "",
            options=options,
            at=tester.event.clock.now(),
        )
        tester.event.responses.add_guess(believed)
    return redirect("tester:home", study=tester.access.hosted.token)


@for_testers(Step.DONE)
def done(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Thank the tester, with the completion code if there is one."""
    n = sum(session.is_over for session in tester.sessions)
    event_plan = tester.event.study.event
    is_enough = n < tester.plan.sessions and is_limit_reached(tester.event, tester.participant)
    is_limited_by_topics = (
        n < tester.plan.sessions and not is_enough and n_sessions_offered(tester) < tester.plan.sessions
    )
    completed = completion_of(tester.access.membership)
    context = {
        "access": tester.access,
        "said": ngettext(
            "You completed %(n)s session. Everything is saved.", "You completed %(n)s sessions. Everything is saved.", n
        )
        % {"n": n},
        "enough": _ENOUGH if is_enough else _LIMITED_BY_TOPICS if is_limited_by_topics else "",
        "code": completed[0] if completed else "",
        "back": completed[1] if completed else "",
        "contact": event_plan.contact if event_plan else "",
    }
    return render(request, "web/tester/done.html", context)


def _questions(tester: TesterContext) -> list[GuessQuestion]:
    finished = [session for session in tester.sessions if session.is_over]
    questions = [
        GuessQuestion(
            field=f"application-{session.place + 1}",
            ask=_("Which application do you think %(alias)s was?") % {"alias": alias_of(session)},
            session=session,
            about=GuessedThing.APPLICATION,
            options=[(name, name) for name in _names(tester, session)],
        )
        for session in finished
    ]
    level = GuessQuestion(
        field="level",
        ask=_("What do you think was your task in this event?"),
        session=finished[0],
        about=GuessedThing.LEVEL,
        options=[(value, str(label)) for value, label in _LEVELS.items()],
    )
    return [*questions, level]


def _names(tester: TesterContext, session: Session) -> list[str]:
    return sorted({application.name for application in tester.in_release(session).event.study.applications})


def personal_data(membership: Membership) -> dict[str, Any]:
    """Return the personal data of a tester in one study as plain values; applications appear under their aliases.

    Args:
        membership: The membership of the tester, who must not have withdrawn: a withdrawal cuts the link to the data.
    """
    hosted = membership.hosted
    stored = stored_data(
        event_of(hosted), membership.participant, context_of=lambda session: event_of(hosted, session.study_version)
    )
    return {
        "event": str(hosted),
        "as": membership.role,
        "since": time_text(membership.joined_at),
        **stored,
        "messages": _messages(membership),
    }


def _messages(membership: Membership) -> list[dict[str, str]]:
    """Return a tester's questions to the organisers with the answers."""
    return [
        {
            "at": time_text(message.at),
            "from": "organisers" if message.is_from_organiser else "you",
            "text": message.text,
        }
        for message in membership.event_messages.all()
    ]


_KEEP = "keep"

_WISHES = {_KEEP, Withdrawal.ANONYMISE.value, Withdrawal.REMOVE.value}


@for_testers()
def leave(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Ask what happens to the tester's texts, and end the participation."""
    wish = request.POST.get("what", "")
    if request.method != "POST" or wish not in _WISHES:
        error = _("Choose what happens to your data.") if request.method == "POST" else ""
        status = 422 if error else 200
        return render(request, "web/tester/leave.html", {"access": tester.access, "error": error}, status=status)
    if wish == _KEEP:
        end_participation(tester.access.membership)
    else:
        withdraw_participant(tester.access.membership, Withdrawal(wish))
    audit(request.user, "left", wish, hosted=tester.access.hosted)
    return redirect("tester:left", study=tester.access.hosted.token)


def left(request: HttpRequest, study: str) -> HttpResponse:  # noqa: ARG001 - part of the address
    """Confirm the end of the participation, without any detail."""
    speak(request, page_languages())
    return render(request, "web/tester/left.html")


open_to_all(left)


_WORDS = {
    "kind of user": lazy("kind of user"),
    "expertise": lazy("expertise"),
    "languages": lazy("languages"),
    "consent": lazy("consent"),
    "content warning": lazy("content warning"),
    "instructions": lazy("instructions"),
    "waiting": lazy("waiting"),
    "active": lazy("active"),
    "complete": lazy("complete"),
    "interrupted": lazy("interrupted"),
    "failed": lazy("failed"),
}
"""Terms in the file, in the language of the page."""


FILE = "what-is-kept-of-me.json"


@for_testers()
@require_GET
def mine(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Show a tester the personal data; guesses are only in the file, because they name applications."""
    data = personal_data(tester.access.membership)
    data["about_you"] = {str(_WORDS.get(name, name)): value for name, value in data["about_you"].items()}
    for text in data["agreed_to"]:
        text["shown"] = str(_WORDS.get(text["text"], text["text"]))
    for session in data["sessions"]:
        session["shown"] = session["with"] and alias_words(session["with"])
        session["state"] = str(_WORDS.get(session["state"], session["state"]))
        for dialogue in session["dialogues"]:
            for turn in dialogue["turns"]:
                turn["html"] = safe_html(turn["reply"])
            for strategy in dialogue["tried"]:
                strategy["way"] = way_title(tester.event.study, strategy["strategy"])
                strategy["brought"] = outcome_word(AttemptOutcome(strategy["outcome"]))
    has_topics = bool(tester.event.study.topics)
    titles = {part.value: str(label) for part, label in _FEEDBACK_PARTS}
    for entry in data["feedback"]:
        entry["about"] = titles[entry["about"]]
    choice = data["public_release"][-1] if data["public_release"] else None
    context = {"access": tester.access, "kept": data, "has_topics": has_topics, "choice": choice}
    return render(request, "web/tester/my_data.html", context)


@for_testers()
@require_GET
def mine_as_file(request: HttpRequest, tester: TesterContext) -> HttpResponse:
    """Return the personal data as a file."""
    audit(request.user, "downloaded own data", "", hosted=tester.access.hosted)
    return personal_data_file(personal_data(tester.access.membership))


def personal_data_file(data: dict[str, object]) -> JsonResponse:
    """Return personal data as a download."""
    headers = {"Content-Disposition": f'attachment; filename="{FILE}"'}
    return JsonResponse(data, headers=headers, json_dumps_params={"indent": 2, "ensure_ascii": False})
