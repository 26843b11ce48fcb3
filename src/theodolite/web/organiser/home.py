"""The organiser's first page: what is to be done next, and every page with how far it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from theodolite.domain.people.role import Role
from theodolite.web.access import Here, allowed
from theodolite.web.models import HostedStudy
from theodolite.web.organiser.progress import Progress, progress_of

_State = HostedStudy.State


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A page, and how far what it is for has come.

    Attributes:
        title: What the page is called.
        words: What it is for.
        address: Where it is.
        standing: How far it is, in a few words; empty where there is nothing to tell.
        is_urgent: Whether somebody waits for it.
    """

    title: str
    words: str
    address: str
    standing: str = ""
    is_urgent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Pages that are needed at the same time."""

    title: str
    entries: Sequence[Entry]


@dataclass(frozen=True, slots=True, kw_only=True)
class NextAct:
    """What an organiser would do next, and the page on which it is done."""

    words: str
    act: str
    address: str


@allowed(Role.ORGANISER)
def home(request: HttpRequest, here: Here) -> HttpResponse:
    """Show what is next, and where everything is."""
    progress = progress_of(here.hosted)
    told = {
        "here": here,
        "next": _next(here.hosted, progress),
        "missing": progress.missing if here.hosted.state in {_State.DRAFT, _State.PUBLISHED} else (),
        "groups": _groups(here.hosted, progress),
    }
    return render(request, "web/organiser/home.html", told)


def _next(hosted: HostedStudy, progress: Progress) -> NextAct:
    """Return the first thing that keeps the event from going on."""
    state, n = hosted.state, progress.n_to_decide
    waiting = "a submitted application waits" if n == 1 else f"{n} submitted applications wait"
    acts = (
        (state == _State.PAUSED, "everything stands still until you let it go on.", "Operations", "operations"),
        (n > 0, f"{waiting} for your decision.", "Decide", "submissions"),
        (state == _State.DRAFT, "look at what people will meet, and publish it as the first edition.", "Publish",
         "editions"),
        (state == _State.CLOSED, "the event is closed; measure what was said and answered.", "Results", "results"),
        (not progress.is_approved, "no ethics approval holds today, and no tester can be asked in without one.",
         "Record it", "ethics"),
        (not progress.n_testers, "ask testers in: one by one, by list, by printed slips or by an open link.", "Invite",
         "people"),
        (state != _State.OPEN, "open the event, so that sessions can be begun.", "Open it", "operations"),
        (True, "the event is open. See who tests, what waits, and what went wrong.", "Operations", "operations"),
    )  # fmt: skip
    words, act, page = next(rest for holds, *rest in acts if holds)
    return NextAct(words=words, act=act, address=reverse(f"organiser:{page}", args=[hosted.token]))


_PAGES: Mapping[str, Sequence[tuple[str, str, str]]] = {
    "Before": (
        ("organiser:editions", "Editions", "Publish what people meet, and see what has changed since."),
        ("organiser:questions", "Questions", "Everything that people will answer, exactly as they see it."),
        ("organiser:schemas", "Schemas", "Write, try and publish what annotators are asked."),
        ("organiser:submissions", "Applications of teams", "What was handed in; accept, return or decline it."),
        ("organiser:ethics", "Ethics approval", "No tester is asked in without one."),
        ("organiser:people", "People", "Invite by link, list or printed slips; see where each stands; remind."),
        ("organiser:links", "Recruiting links", "For Prolific, or open to whoever has them."),
        ("organiser:slots", "Time slots", "Times that testers book."),
    ),
    "On the day": (
        ("organiser:operations", "Operations", "Open, pause and close; sessions, stuck replies, errors, cells."),
        ("senior:dialogues", "Dialogues", "How far each is with annotators; find some, assign many at once."),
        ("organiser:blinding", "Blinding", "What testers guessed, and what tells them which application answers."),
    ),
    "Afterwards": (
        ("organiser:results", "Results", "Measure what has ended by now; read the report and take it along."),
        ("analyst:home", "Answers of testers", "Drawn question by question."),
        ("analyst:coding", "Coding", "What people wrote in their own words, put under codes."),
        ("analyst:reviews", "Combined review", "Risks that take dialogue and questionnaire together."),
        ("organiser:exchange", "Take along, take in", "Every answer as a row; Label Studio; labels from elsewhere."),
    ),
    "Settings and records": (
        ("organiser:criteria", "Criteria", "By what annotators are sought, chosen and given work."),
        ("organiser:factors", "Second factors", "Which roles need one, and who has none yet."),
        ("organiser:audit", "Who did what", "Every act, with time and name; nothing is ever taken out."),
    ),
}
"""Name, title and purpose of every page, in order of need."""


def _groups(hosted: HostedStudy, progress: Progress) -> list[Group]:
    standings, urgent = progress.standings, progress.urgent
    return [
        Group(
            title=title,
            entries=[
                Entry(
                    title=called,
                    words=words,
                    address=reverse(name, args=[hosted.token]),
                    standing=standings.get(name, ""),
                    is_urgent=name in urgent,
                )
                for name, called, words in pages
            ],
        )
        for title, pages in _PAGES.items()
    ]
