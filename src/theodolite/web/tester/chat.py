"""The chat of a session: prompts, streamed replies, marks, notes and the end of the session."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from theodolite.domain.dialogue import Level, TurnState
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.flow import SayToApplication
from theodolite.domain.live import LiveDialogue, LiveEnding, LiveTurn
from theodolite.events.chat import TurnRef, finish_turn, send_prompt_in
from theodolite.events.chat import retry as ask_again
from theodolite.events.rules import Step
from theodolite.events.sessions import end_session, reset
from theodolite.execution.live_replies import LiveReply
from theodolite.web.access import AccessContext, allowed
from theodolite.web.asgi_handler import once, run_in_pool
from theodolite.web.events import open_event_of
from theodolite.web.middleware import PLAIN
from theodolite.web.participants import topic_lines_in
from theodolite.web.session_end import close_session, reply_manager
from theodolite.web.support import latest_for
from theodolite.web.tester.context import (
    LEVELS,
    TesterContext,
    Unreadable,
    admitted,
    for_testers,
    n_sessions_offered,
    session_position,
    tester_context,
    with_note,
)
from theodolite.web.tester.session_page import (
    LONGEST_PROMPT,
    SessionPage,
    forget_unsent,
    is_paused,
    paused_page,
    session_page,
    unsent_text,
)

_ANNOUNCEMENTS = {
    TurnState.COMPLETE: lazy("Reply: %(text)s"),
    TurnState.INTERRUPTED: lazy("Incomplete reply: %(text)s"),
    TurnState.ERROR: lazy("The application did not answer. Your message is saved. %(text)s"),
}


async def reply_events(live: LiveReply, after: int) -> AsyncIterator[str]:
    """Yield the pieces of a reply as events; the id of an event is the count of characters shown with it."""
    async for shown in live.watch(after, pulses=True):
        if shown.text:
            yield f"event: piece\nid: {shown.upto}\ndata: {json.dumps(shown.text)}\n\n"
        else:
            yield ": still there\n\n"


def end_event(html: str, turn: LiveTurn) -> str:
    """Return the last event: the turn as HTML, and its announcement for screen readers."""
    text = _ANNOUNCEMENTS[turn.state or TurnState.INTERRUPTED] % {"text": turn.response}
    return f"event: end\ndata: {json.dumps({'html': html, 'words': text})}\n\n"


_START_PERIOD = timedelta(seconds=20)


@for_testers(Step.CHAT)
def chat(request: HttpRequest, tester: TesterContext, session_no: int) -> HttpResponse:
    """Show the session, or the page of a paused session."""
    page = session_page(tester, session_no)
    if is_paused(tester, page.session):
        return paused_page(request, tester, page)
    waiting = page.dialogue.under_way if page.dialogue is not None else None
    if waiting is not None and interrupt_lost_reply(tester, waiting) is not waiting:
        page = session_page(tester, session_no)
    return chat_page(request, tester, page, text_given=unsent_text(page))


def interrupt_lost_reply(tester: TesterContext, turn: LiveTurn) -> LiveTurn:
    """Return a turn; mark it as interrupted if no task answers it any more.

    Otherwise the page would wait forever. A turn that was just stored is left unchanged, because
    its reply is about to start.
    """
    now = tester.event.clock.now()
    if not turn.is_under_way or reply_manager().find(turn.key) is not None or now - turn.asked < _START_PERIOD:
        return turn
    try:
        return finish_turn(tester.event, turn.key, LiveEnding(state=TurnState.INTERRUPTED, text=turn.response))
    except Conflict:  # it has just ended
        return tester.event.dialogues.of_turn(turn.key).turns[turn.number - 1]


def chat_page(
    request: HttpRequest, tester: TesterContext, page: SessionPage, *, status: int = 200, **more: object
) -> HttpResponse:
    """Return the page of a session, with further context."""
    met = topic_lines_in(tester.read, page.session.scenario)
    named = ", ".join(topic.inline for topic in met)
    context = {
        "access": tester.access,
        "page": page,
        "news": latest_for(tester.access.membership),
        "nth": session_position(tester, page.session),
        "of": n_sessions_offered(tester),
        "touches": format_html('<span lang="{}">{}</span>', met[0].language, named) if met else "",
    }
    return render(request, "web/tester/chat.html", {**context, **more}, status=status)


@for_testers()
def state(_request: HttpRequest, tester: TesterContext, session_no: int) -> JsonResponse:
    """Return the state of a session for the page's script."""
    page, news = session_page(tester, session_no), latest_for(tester.access.membership)
    standing = {
        "left": page.left,
        "paused": is_paused(tester, page.session),
        "over": page.session.is_over,
        "rest": page.rest,
        "news": {"id": news.pk, "text": news.text} if news else None,
    }
    return JsonResponse(standing)


PART = "X-Part"
"""Header by which a script requests a part of the page; also marks the response."""


@for_testers(Step.CHAT)
@require_POST
def say(request: HttpRequest, tester: TesterContext, session_no: int, dialogue: int) -> HttpResponseBase:
    """Store a prompt, call the application, and show the turn."""
    stored = _store_prompt(request, tester, session_no, dialogue)
    return stored if isinstance(stored, HttpResponse) else _ask(request, tester, stored)


@for_testers(Step.CHAT)
@require_POST
def retry(request: HttpRequest, tester: TesterContext, session_no: int, dialogue: int, turn: int) -> HttpResponseBase:
    """Call the application again after an error."""
    try:
        stored = _store_retry(tester, session_no, dialogue, turn)
    except (Conflict, InputError):  # the page shows the state of the session
        return redirect("tester:chat", study=tester.access.hosted.token, session_no=session_no)
    return _ask(request, tester, stored)


@for_testers(Step.CHAT)
@require_POST
def stop(_request: HttpRequest, tester: TesterContext, session_no: int, dialogue: int, turn: int) -> HttpResponseBase:
    """Stop a reply; its shown part is stored."""
    live_turn = _turn_at(tester, session_no, dialogue, turn)[1]
    response = redirect("tester:chat", study=tester.access.hosted.token, session_no=session_no)
    return once(response, partial(reply_manager().stop, live_turn.key))


@allowed(*LEVELS)
def reply(request: HttpRequest, access: AccessContext, session_no: int, dialogue: int, turn: int) -> HttpResponseBase:
    """Stream a reply from the watcher's position."""
    participant, level = access.membership.participant, LEVELS[access.role]
    live = reply_manager().at(
        TurnRef(participant=participant, level=level, session=session_no, dialogue=dialogue, turn=turn)
    )
    if live is None:
        tester = admitted(request, access, (), session_no)
        if not isinstance(tester, TesterContext):
            return tester
        _turn_at(tester, session_no, dialogue, turn)
    after = request.headers.get("Last-Event-ID") or request.GET.get("after") or "0"

    async def events() -> AsyncIterator[str]:
        if live is not None:
            async for event in reply_events(live, int(after) if after.isdecimal() else 0):
                yield event
        yield await run_in_pool(_end_event, request, access, session_no, dialogue, turn)

    headers = {"X-Accel-Buffering": "no", "Cache-Control": "no-store"}
    return StreamingHttpResponse(events(), content_type="text/event-stream; charset=utf-8", headers=headers)


@dataclass(frozen=True, slots=True)
class _StoredPrompt:
    """A stored prompt with the request to the application; None if it was sent before."""

    page: SessionPage
    turn: LiveTurn
    asked: SayToApplication | None = None


def turn_html(request: HttpRequest, tester: TesterContext, page: SessionPage, turn: LiveTurn) -> str:
    """Return one turn as HTML."""
    context = {"access": tester.access, "page": page, "turn": page.turn(turn)}
    return render_to_string("web/tester/_turn.html", context, request=request)


def _fault(request: HttpRequest, page: SessionPage, dialogue: int, text: str) -> str | None:
    """Return the reason why a prompt is refused; empty if it is accepted, None if it was just stored."""
    if is_paused(page.tester, page.session):
        return _("The session is paused. Your text is kept here; send it when the session resumes.")
    message = page.said
    if (
        dialogue == page.number
        and message
        and request.POST.get("number") == str(len(message))
        and message[-1].prompt == text
    ):
        return None  # the connection was lost after the prompt was stored
    if dialogue != page.number or request.POST.get("number") != str(page.next_number):
        return _("The dialogue has continued in another window. Reload the page; your text is kept here.")
    if not text or len(text) > LONGEST_PROMPT:
        return _("Enter a message of at most %(most)s characters.") % {"most": f"{LONGEST_PROMPT:,}"}
    return page.why_not


def _refused(request: HttpRequest, tester: TesterContext, page: SessionPage, error: str, text: str) -> HttpResponse:
    if PART in request.headers:
        part = render_to_string("web/tester/_error.html", {"error": error})
        return HttpResponse(part, status=422, headers={PART: "fault"})
    return chat_page(request, tester, page, status=422, say_error=error, text_given=text)


def _store_prompt(
    request: HttpRequest, tester: TesterContext, session_no: int, dialogue: int
) -> _StoredPrompt | HttpResponse:
    """Store a prompt; a prompt resent after a lost connection is stored once."""
    page = session_page(tester, session_no)
    text = request.POST.get("text", "").replace("\r\n", "\n").strip()
    fault = _fault(request, page, dialogue, text)
    if fault is None:
        return _StoredPrompt(page, _turn(page, page.next_number - 1))
    if fault:
        return _refused(request, tester, page, fault, text)
    try:
        turn, request_turn = send_prompt_in(tester.event, page.session, page.dialogue, text)
    except (Conflict, InputError) as error:
        return _refused(request, tester, page, session_page(tester, session_no).why_not or str(error), text)
    forget_unsent(page)
    return _StoredPrompt(page.with_turn(turn), turn, request_turn)


def _store_retry(tester: TesterContext, session_no: int, dialogue: int, turn: int) -> _StoredPrompt:
    live_turn = _turn_at(tester, session_no, dialogue, turn)[1]
    again, request_turn = ask_again(tester.event, live_turn.key)
    return _StoredPrompt(session_page(tester, session_no), again, request_turn)


def _ask(request: HttpRequest, tester: TesterContext, stored: _StoredPrompt) -> HttpResponseBase:
    """Call the application; a script gets the turn immediately, a plain form gets the page after the reply."""
    page, turn = stored.page, stored.turn
    opened = open_event_of(tester.access.hosted, page.session.study_version)
    is_script = PART in request.headers

    async def ask() -> None:
        if stored.asked is not None and page.dialogue is not None:
            await reply_manager().ask(opened, tester.event, page.session, page.dialogue, turn, stored.asked)
        if not is_script:
            await reply_manager().over(turn.key)

    if is_script:
        return once(HttpResponse(turn_html(request, tester, page, turn), headers={PART: "turn"}), ask)
    response = redirect("tester:chat", study=tester.access.hosted.token, session_no=page.session_no)
    response["Location"] += f"#turn-{turn.number}"
    return once(response, ask)


def _turn_at(tester: TesterContext, session_no: int, dialogue: int, turn: int) -> tuple[SessionPage, LiveTurn]:
    page = session_page(tester, session_no)
    if page.dialogue is None or page.dialogue.number != dialogue:
        raise Http404
    return page, _turn(page, turn)


def _turn(page: SessionPage, number: int) -> LiveTurn:
    turns = () if page.dialogue is None else page.dialogue.turns
    if not 1 <= number <= len(turns):
        raise Http404
    return turns[number - 1]


def _end_event(request: HttpRequest, access: AccessContext, session_no: int, dialogue: int, turn: int) -> str:
    """Return the last event of a reply: the final turn and its announcement."""
    with translation.override(PLAIN):  # the thread speaks for others next
        tester = tester_context(request, access).at(session_no)
        page, live_turn = _turn_at(tester, session_no, dialogue, turn)
        live_turn = interrupt_lost_reply(tester, live_turn)
        return end_event(turn_html(request, tester, page, live_turn), live_turn)


_TASK_ANSWERS = {"yes": True, "no": False, "unsure": None}


@for_testers(Step.CHAT)
@require_POST
def mark(request: HttpRequest, tester: TesterContext, session_no: int, dialogue: int, turn: int) -> HttpResponse:
    """Store whether a tester marked a turn as a broken guardrail."""
    page, open_dialogue = _red_team_dialogue(tester, session_no, dialogue)
    if not 1 <= turn <= len(open_dialogue.turns):
        raise Http404
    live_turn = open_dialogue.turns[turn - 1]
    marked = tester.event.dialogues.mark_turn(live_turn.key, broke=request.POST.get("broke") == "yes")
    if "HX-Request" in request.headers:
        return HttpResponse(turn_html(request, tester, page, marked))
    return _back_to_chat(tester, session_no, f"#mark-{turn}")


@for_testers(Step.CHAT)
@require_POST
def notes(request: HttpRequest, tester: TesterContext, session_no: int, dialogue: int) -> HttpResponse:
    """Store a red teamer's note."""
    open_dialogue = _red_team_dialogue(tester, session_no, dialogue)[1]
    form = request.POST.dict()
    noted = with_note(
        open_dialogue.strategies, form, dialogue=open_dialogue.key, n_turns=len(open_dialogue.turns)
    )  # fmt: skip
    more: dict[str, object] = {}
    if isinstance(noted, Unreadable):
        more = {"notes_error": noted.why, "notes_given": form}
    else:
        tester.event.dialogues.set_strategies(open_dialogue.key, noted)
    status, page = (422 if more else 200), session_page(tester, session_no)
    if "HX-Request" in request.headers:
        context = {"access": tester.access, "page": page, **more}
        return render(request, "web/tester/_notes.html", context, status=status)
    return (
        chat_page(request, tester, page, status=status, **more) if more else _back_to_chat(tester, session_no, "#notes")
    )


@for_testers(Step.CHAT)
def new_dialogue(request: HttpRequest, tester: TesterContext, session_no: int) -> HttpResponse:
    """Ask for confirmation, then end the dialogue and start a new one."""
    page = session_page(tester, session_no)
    if request.method == "POST":
        close_session(tester.access.hosted, page.session)
        reset(tester.event, page.session.key)
        return _back_to_chat(tester, session_no)
    context = {"access": tester.access, "session_no": session_no, "n_turns": len(page.said)}
    return render(request, "web/tester/new_dialogue.html", context)


@for_testers(Step.CHAT)
def end(request: HttpRequest, tester: TesterContext, session_no: int) -> HttpResponse:
    """Show the next steps, then end the session."""
    page = session_page(tester, session_no)
    asks_task = tester.level is Level.FIELD_TESTING
    context = {
        "access": tester.access,
        "session_no": session_no,
        "asks_task": asks_task,
        "what_comes": _what_follows(tester, page),
    }
    if request.method != "POST":
        return render(request, "web/tester/end.html", context)
    answer = request.POST.get("task", "")
    if asks_task and answer not in _TASK_ANSWERS:
        context["error"] = _("Select whether you completed your task.")
        return render(request, "web/tester/end.html", context, status=422)
    close_session(tester.access.hosted, page.session)
    forget_unsent(page)
    end_session(tester.event, page.session.key, task_done=_TASK_ANSWERS.get(answer))
    return redirect("tester:home", study=tester.access.hosted.token)


def _what_follows(tester: TesterContext, page: SessionPage) -> str:
    """Return the text on the steps after the session, e.g. "Then come 6 questions, about 3 minutes."."""
    questionnaires = tester.event.study.questionnaires_after(page.session.scenario, page.session.level)
    n = sum(len(questionnaire.instrument.questions) for questionnaire in questionnaires)
    if not n:
        return _("No questions follow.")
    minutes = max(round(n / 2), 1)
    questions = ngettext("%(n)s question", "%(n)s questions", n) % {"n": n}
    time = ngettext("%(n)s minute", "%(n)s minutes", minutes) % {"n": minutes}
    return _("%(questions)s follow, about %(time)s.") % {"questions": questions, "time": time}


def _red_team_dialogue(tester: TesterContext, session_no: int, dialogue: int) -> tuple[SessionPage, LiveDialogue]:
    """Return the open dialogue of a red teamer."""
    page = session_page(tester, session_no)
    if not page.is_red or page.dialogue is None or not page.dialogue.is_open or page.dialogue.number != dialogue:
        raise Http404
    return page, page.dialogue


def _back_to_chat(tester: TesterContext, session_no: int, spot: str = "") -> HttpResponse:
    response = redirect("tester:chat", study=tester.access.hosted.token, session_no=session_no)
    response["Location"] += spot
    return response
