"""Questions of annotators in their language; what is stored is the same in all."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from django.http import Http404, HttpRequest

from theodolite.domain.errors import TheodoliteError
from theodolite.domain.instrument import Question
from theodolite.domain.study import Study
from theodolite.domain.wording import LocalisedStudy, languages_of
from theodolite.web.annotator.desk import Desk
from theodolite.web.annotator.items import Card
from theodolite.web.annotator.sheet import Sheet
from theodolite.web.events import event_of
from theodolite.web.languages import asked_for, chosen, read_language
from theodolite.web.read_studies import read_study


def spoken(request: HttpRequest, desk: Desk, sheet: Sheet) -> tuple[Sheet, str]:
    """Return a sheet in the language of who asks, with that language; as it is, and none, where it cannot be."""
    if not chosen(request) and not asked_for(request):
        return sheet, ""
    with suppress(Http404, TheodoliteError):  # a desk without a study's files
        study = event_of(desk.here.hosted).study
        read = read_study(study, read_language(request, languages_of(study)))
        found = in_language(sheet, study, read)
        return found, read.language if found is not sheet else ""
    return sheet, ""


def in_language(sheet: Sheet, study: Study, read: LocalisedStudy) -> Sheet:
    """Return a sheet as it reads in a language.

    It stays as it is where its category is not whole in the language, or where it asks what another edition asked.

    Args:
        sheet: The questions of one sitting.
        study: The study as it was written.
        read: The same as it reads in the language.
    """
    name = sheet.guideline.name
    if ("categories", name) not in read.parts or study.guideline(name).instrument != sheet.guideline.instrument:
        return sheet
    (title,) = (one.title for schema in read.study.schemas for one in schema.categories if one.name == name)
    guideline = read.study.guideline(name)
    questions = {question.name: question for question in guideline.instrument.questions}
    cards = tuple(_put(card, questions) for card in sheet.cards)
    shown = replace(guideline, examples=sheet.guideline.examples)
    return replace(sheet, guideline=shown, instrument=guideline.instrument, cards=cards, title=title or sheet.title)


def _put(card: Card, questions: dict[str, Question]) -> Card:
    return replace(card, items=tuple(replace(item, question=questions[item.question.name]) for item in card.items))
