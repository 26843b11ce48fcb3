"""Both sides: what a tester answered beside what annotators said of the same session, once neither can change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from theodolite.annotation.review import unsettled
from theodolite.annotation.rules import letters_for
from theodolite.domain.annotating.discrepancy import Position
from theodolite.domain.annotation import Annotation, AnnotatorKind
from theodolite.domain.evidence import Evidence
from theodolite.domain.questionnaire import QuestionnaireResponse
from theodolite.reporting.words import figures
from theodolite.web.analyst.desk import ReadingDesk, at_reading_desk
from theodolite.web.analyst.session import answered_in, said_in
from theodolite.web.annotator.items import worded
from theodolite.web.annotator.positions import SideBySide, votes_side_by_side

KIND = "both sides"
"""What makes the tokens of this group's sessions others than those of the rest."""

Sessions = dict[str, list[QuestionnaireResponse]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledLine:
    """One session that can be read from both sides."""

    token: str
    level: str
    application: str
    labels: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryVoices:
    """What annotators said of a dialogue in one category."""

    title: str
    places: tuple[SideBySide, ...]


@at_reading_desk
@require_GET
def settled(request: HttpRequest, desk: ReadingDesk) -> HttpResponse:
    """List the sessions whose questionnaire was handed in and about which annotators have nothing left to say."""
    evidence = desk.evidence()
    answered, labelled = _answered(evidence), _labelled(evidence)
    open_sessions = _settled(desk, answered, labelled)
    lines = [_line(desk, session, answers, labelled) for session, answers in open_sessions.items()]
    context = {"here": desk.here, "lines": lines, "n_closed": len(answered) - len(lines)}
    return render(request, "web/analyst/settled.html", context)


@at_reading_desk
@require_GET
def both_sides(request: HttpRequest, desk: ReadingDesk, session: str) -> HttpResponse:
    """Show a session: what was said, what the tester answered, and what annotators said of it under letters."""
    evidence = desk.evidence()
    labelled = _labelled(evidence)
    for key, answers in _settled(desk, _answered(evidence), labelled).items():
        if desk.token_of(KIND, key) == session:
            return render(request, "web/analyst/both_sides.html", _sheet(desk, evidence, answers, labelled))
    raise Http404


def _answered(evidence: Evidence) -> Sessions:
    """Return what was handed in, by session."""
    found: Sessions = defaultdict(list)
    for one in evidence.responses:
        if one.submitted and one.dialogues:
            found[one.session].append(one)
    return found


def _labelled(evidence: Evidence) -> dict[str, list[Annotation]]:
    """Return what was said of each dialogue that a tester answered about."""
    found: dict[str, list[Annotation]] = defaultdict(list)
    for one in evidence.archive.annotations(set(evidence.answered.values())):
        found[one.dialogue].append(one)
    return found


def _settled(desk: ReadingDesk, answered: Sessions, labelled: dict[str, list[Annotation]]) -> Sessions:
    """Return the sessions of which every dialogue was annotated by a person and waits for nothing."""
    waiting = unsettled(desk.study.name)
    return {
        session: answers
        for session, answers in answered.items()
        if all(_by_people(labelled.get(key, ())) and key not in waiting for key in answers[0].dialogues)
    }


def _by_people(sittings: Sequence[Annotation]) -> bool:
    """Tell whether a person is among those who annotated; only what programs say is a unit of the run."""
    return any(not one.unit for one in sittings)


def _line(
    desk: ReadingDesk, session: str, answers: Sequence[QuestionnaireResponse], labelled: dict[str, list[Annotation]]
) -> SettledLine:
    first = answers[0]
    sittings = [one for key in first.dialogues for one in labelled[key]]
    return SettledLine(
        token=desk.token_of(KIND, session),
        level=first.level.value if first.level else "",
        application=first.application,
        labels=f"{figures.number_of(len(sittings), 'sitting')} in "
        f"{figures.number_of(len({one.guideline for one in sittings}), 'category', 'categories')}",
    )


def _sheet(
    desk: ReadingDesk,
    evidence: Evidence,
    answers: Sequence[QuestionnaireResponse],
    labelled: dict[str, list[Annotation]],
) -> dict[str, object]:
    keys = answers[0].dialogues
    return {
        "here": desk.here,
        "application": answers[0].application,
        "level": answers[0].level.value if answers[0].level else "",
        "dialogues": said_in(desk, keys),
        "answers": [line for one in answers for line in answered_in(desk, one)],
        "voices": [list(_voices(evidence, labelled[key])) for key in keys],
    }


def _voices(evidence: Evidence, sittings: Sequence[Annotation]) -> Iterator[CategoryVoices]:
    """Yield what was said of one dialogue category by category; letters are its own in each."""
    programs = {one.name for one in evidence.study.annotators if one.kind is not AnnotatorKind.PERSON}
    for guideline in evidence.study.guidelines:
        own = [one for one in sittings if one.guideline == guideline.name]
        letters = letters_for([one.annotator for one in own], f"{evidence.run.key} {guideline.name}")
        positions = [
            Position(letter=letters[one.annotator], answer=answer, is_model=one.annotator in programs)
            for one in sorted(own, key=lambda one: letters[one.annotator])
            for answer in one.answers
            if answer.replicate == 1
        ]
        if own:
            yield CategoryVoices(title=worded(guideline.name), places=votes_side_by_side(guideline, positions))
