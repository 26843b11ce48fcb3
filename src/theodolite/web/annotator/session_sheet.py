"""Sheets whose answers wait in the session until they are marked or cast: practice, tests, rooms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from theodolite.domain.annotation import WAYS_OUT, Answer, Outcome
from theodolite.web.access import Here
from theodolite.web.annotator.items import Key, place_of
from theodolite.web.annotator.reading import Unreadable, answer_in
from theodolite.web.annotator.sheet import Sheet
from theodolite.web.annotator.shown import Frame

UNPROCESSABLE = 422

Build = Callable[[Sequence[Answer]], Sheet]
"""From what was answered so far to the sheet."""


def answers_from(given: Mapping[Key, str]) -> list[Answer]:
    """Return as answers what a session holds: keys of the page to values of the form."""
    return [_answer(*place_of(key), value) for key, value in given.items()]


def _answer(question: str, turn: int | None, value: str) -> Answer:
    if value in WAYS_OUT:
        return Answer(question=question, outcome=WAYS_OUT[value], turn=turn)
    return Answer(question=question, outcome=Outcome.ANSWERED, value=value, turn=turn)


class SessionSheet:
    """A sheet of the annotation page that keeps its answers in the session.

    Attributes:
        problems: What is wrong with what was sent, by key of the page.
    """

    def __init__(self, request: HttpRequest, name: str, build: Build) -> None:
        """Say whose session it is, under which name the answers lie there, and what sheet they make."""
        self._request, self._name, self._build = request, name, build
        self.problems: dict[Key, str] = {}

    @property
    def given(self) -> dict[Key, str]:
        """Key of the page to what was chosen or written so far."""
        found: dict[Key, str] = self._request.session.get(self._name, {})
        return found

    @property
    def sheet(self) -> Sheet:
        """The sheet with what was answered so far."""
        return self._build(answers_from(self.given)).without_evidence()

    def begin_with(self, given: Mapping[Key, str]) -> None:
        """Put answers there, unless there are some."""
        if self._name not in self._request.session:
            self._request.session[self._name] = dict(given)

    def forget(self) -> dict[Key, str]:
        """Take the answers out of the session and return them."""
        found: dict[Key, str] = self._request.session.pop(self._name, {})
        return found

    def take(self) -> bool:
        """Take in what was sent; tell whether all of it could be read."""
        sent, dialogue = self._request.POST.dict(), self.sheet.dialogue
        wanted = str(sent.get("key", ""))
        for item in self.sheet.items:
            if wanted and item.key != wanted:
                continue
            try:
                answer = answer_in({name: str(value) for name, value in sent.items()}, item, dialogue)
            except Unreadable as error:
                self.problems[item.key] = str(error)
                continue
            if answer is not None:
                self._request.session[self._name] = self.given | {item.key: str(sent[f"a:{item.key}"]).strip()}
        return not self.problems

    def told(self, feedback: Mapping[Key, str] | None = None) -> JsonResponse:
        """Return what the page's script is told."""
        sheet, problem = self.sheet, next(iter(self.problems.values()), "")
        told = {"saved": "", "asked": sheet.asked, "open": sheet.open, "feedback": dict(feedback or {})}
        return JsonResponse({**told, "problem": problem}, status=UNPROCESSABLE if problem else 200)

    def shown(
        self,
        here: Here,
        frame: Frame,
        *,
        problem: str = "",
        told: str = "",
        feedback: Mapping[Key, str] | None = None,
    ) -> HttpResponse:
        """Return the page, with what is wrong or to be told."""
        problem = problem or ("Not everything could be read." if self.problems else "")
        sheet = self.sheet.remarked(problems=self.problems, feedback=feedback or {})
        context = {
            "here": here,
            "sheet": sheet,
            "frame": frame,
            "start": next(iter(sheet.open), ""),
            "problem": problem,
            "told": told,
        }
        status = UNPROCESSABLE if problem else 200
        return render(self._request, "web/annotator/sheet.html", context, status=status)
