"""Previews for organisers: every schema and questionnaire of a study, exactly as people see them."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config.diagnostics import render_diagnostics
from theodolite.config.loading import InvalidStudyError, LoadedStudy, load_study
from theodolite.domain.identity import SHORT, version_of
from theodolite.domain.instrument import Instrument
from theodolite.domain.people.role import Role
from theodolite.web.access import AccessContext, allowed
from theodolite.web.questions.sheet import Sheet, sheet_page
from theodolite.web.schemas.preview import preview_page


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One instrument of a study.

    Attributes:
        name: What it is called in the study.
        title: What people call it.
        about: What stands above its questions.
        version: Beginning of its content hash.
        whose: Who answers it, in words.
        instrument: The questions.
    """

    name: str
    title: str
    about: str
    version: str
    whose: str
    instrument: Instrument


@allowed(Role.ORGANISER, Role.SENIOR)
def instruments(request: HttpRequest, access: AccessContext) -> HttpResponse:
    """List what people are asked, with version and what is badly asked."""
    try:
        loaded = _loaded(access)
        context = {"access": access, "shown": _shown(loaded), "notes": loaded.notes}
    except InvalidStudyError as found:
        context = {
            "access": access,
            "faults": render_diagnostics(found.placed, limit=None, ending="Nothing was published."),
        }
    return render(request, "web/questions/list.html", context)


@allowed(Role.ORGANISER, Role.SENIOR)
def instrument(request: HttpRequest, access: AccessContext, name: str) -> HttpResponse:
    """Show one instrument as people see it; what is answered here is kept nowhere.

    A category is shown on the annotation page, a questionnaire on that of testers.
    """
    loaded = _loaded(access)
    category = next((one for schema in loaded.study.schemas for one in schema.categories if one.name == name), None)
    if category is not None:
        return preview_page(request, access, category)
    found = next((each for each in _shown(loaded) if each.name == name), None)
    if found is None:
        raise Http404
    context = {"access": access, "title": found.title, "about": found.about, "shown": found}
    return sheet_page(
        request, Sheet(instrument=found.instrument, template="web/questions/preview.html", context=context)
    )


def _loaded(access: AccessContext) -> LoadedStudy:
    return load_study(access.hosted.folder, resolver=resource_resolver())


def _shown(loaded: LoadedStudy) -> list[Shown]:
    categories = [
        Shown(
            name=category.name,
            title=category.title or category.name,
            about=category.guideline.definition,
            version=version_of(category.guideline)[:SHORT],
            whose=f"annotators, schema {schema.name}",
            instrument=category.guideline.instrument,
        )
        for schema in loaded.study.schemas
        for category in schema.categories
    ]
    asked = [
        Shown(
            name=each.name,
            title=each.title or each.name,
            about=each.about,
            version=version_of(each)[:SHORT],
            whose="testers, after a session",
            instrument=each.instrument,
        )
        for each in loaded.study.questionnaires
    ]
    return [*categories, *asked]
