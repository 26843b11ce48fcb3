"""Previews of schemas and questionnaires."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_http_methods

from theodolite.assessment.completeness import current
from theodolite.bootstrap.plugins import resource_resolver
from theodolite.config.loading import LoadedStudy, load_study
from theodolite.config.schema_editing import read_schema
from theodolite.config.yaml_source import InvalidStudyError, render_diagnostics
from theodolite.domain.annotating.work import BlindDialogue, BlindReference, BlindTurn
from theodolite.domain.errors import InputError, NotFound
from theodolite.domain.event import Role
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import SHORT, version_of
from theodolite.domain.instrument import Instrument, QuestionLevel
from theodolite.domain.schema import Category
from theodolite.domain.shown_order import NOT_VARIED, REVERSED, QuestionOrder, ShownOrder, n_orders, shown_order_of
from theodolite.web.access import AccessContext, allowed
from theodolite.web.annotator.annotate import Frame
from theodolite.web.annotator.annotation_page import (
    AnnotationPage,
    annotation_page,
    parse_items,
    reference_of,
    turns_of,
)
from theodolite.web.events import last_edition, study_of
from theodolite.web.middleware import POLICY
from theodolite.web.models import HostedStudy, SchemaDraft
from theodolite.web.questions.form import humanize
from theodolite.web.questions.page import FormPage, form_page
from theodolite.web.schemas.drafts import study_of_files

UNPROCESSABLE = 422


FRAMED_POLICY = POLICY.format(targets="'self'").replace("frame-ancestors 'none'", "frame-ancestors 'self'")
"""The content policy of a page that the editor shows beside the text; other sites still may not."""


_STAND_IN = (
    BlindTurn(number=1, prompt="This is a user's question.", response="This is the application's reply."),
    BlindTurn(number=2, prompt="The user continues.", response="The reply continues too. It has two sentences."),
)
"""Example dialogue of a category without worked examples."""


@allowed(Role.ORGANISER, Role.SENIOR)
@require_http_methods(["GET", "POST"])
@xframe_options_sameorigin
def preview(request: HttpRequest, access: AccessContext, draft: str, number: int, section: str) -> HttpResponse:
    """Show one category of one revision as annotators would meet it; answers that are tried stay on the page."""
    text = (
        SchemaDraft.objects.filter(hosted=access.hosted, token=draft, revisions__number=number)
        .values_list("revisions__text", "name")
        .first()
    )
    schema = read_schema(*text).schema if text else None
    match = next((category for category in schema.categories if category.name == section), None) if schema else None
    if match is None:
        raise Http404
    return preview_page(request, access, match)


def preview_page(request: HttpRequest, access: AccessContext, category: Category) -> HttpResponse:
    """Return the annotation page of a category with an example in place of a dialogue."""
    guideline = category.guideline
    dialogue = _dialogue(guideline, reference_here(access.hosted))
    title = category.title or humanize(guideline.name)
    order, sent = _order(request), request.POST if request.method == "POST" else {}
    page, problems = _tried(annotation_page(guideline, dialogue, (), title, order=order), sent, order)
    if request.headers.get("Accept", "").startswith("application/json"):
        problem = next(iter(problems.values()), "")
        state = {"saved": "", "asked": page.asked, "open": page.open, "problem": problem}
        return JsonResponse(state, status=UNPROCESSABLE if problem else 200)
    handed_in = "submit" in request.POST
    missing = dict.fromkeys(page.open, "This question is not answered yet.") if handed_in else {}
    error = "Not submitted: some questions are not answered." if missing else ""
    context = {
        "access": access,
        "sheet": page.remarked(problems=missing | problems),
        "frame": Frame(address=request.get_full_path(), progress="preview: answers are not stored", is_preview=True),
        "order": order,
        "rows": _rows(guideline),
        "chosen": f"{order.row} of {order.rows}",
        "has_turns": any(question.level is QuestionLevel.TURN for question in guideline.instrument.questions),
        "start": request.GET.get("at", "") or next(iter(missing), "") or next(iter(page.open), ""),
        "problem": error or ("Not everything could be read." if problems else ""),
        "told": "All questions answered: an annotator would get the next dialogue now."
        if handed_in and not missing
        else "",
    }
    answer = render(request, "web/schemas/preview.html", context, status=UNPROCESSABLE if missing or problems else 200)
    answer.headers["Content-Security-Policy"] = FRAMED_POLICY
    return answer


def reference_here(hosted: HostedStudy) -> BlindReference:
    """Return the reference of the edition published last, else of the files, where it has one scenario; or none."""
    release = last_edition(hosted)
    try:
        study = study_of(release) if release else study_of_files(hosted)
    except NotFound:
        study = None
    return reference_of(study) if study else BlindReference()


def _dialogue(guideline: Guideline, reference: BlindReference) -> BlindDialogue:
    example = next(iter(guideline.examples), None)
    turns = turns_of(example.dialogue) if example else _STAND_IN
    return BlindDialogue(name="example", turns=turns, material=example.context if example else "", reference=reference)


def _tried(empty: AnnotationPage, sent: Mapping[str, str], order: ShownOrder) -> tuple[AnnotationPage, dict[str, str]]:
    """Return the sheet with the answers that the page holds, and what is wrong with them."""
    guideline, dialogue = empty.guideline, empty.dialogue
    answers, problems = parse_items(empty, {name: str(value) for name, value in sent.items()})
    counting = current(guideline.instrument, list(answers.values()), [turn.number for turn in dialogue.turns])
    return annotation_page(guideline, dialogue, counting, empty.title, order=order), problems


def _order(request: HttpRequest) -> ShownOrder:
    """Return the order in which the page is asked for; as written where that is none."""
    options = {name: request.GET.get(name, "") for name in ("questions", "options", "turns")}
    parts = [f"questions {options['questions']}"] if options["questions"] else []
    parts += [f"{name} {REVERSED}" for name in ("options", "turns") if options[name]]
    try:
        return shown_order_of("; ".join(parts))
    except InputError:
        return NOT_VARIED


def _rows(guideline: Guideline) -> list[tuple[str, str]]:
    """Return the orders of questions that a study may show: what is sent, and words."""
    counts = {n_orders(guideline.instrument, plan) for plan in QuestionOrder} - {0}
    orders = [f"{row} of {rows}" for rows in sorted(counts) for row in range(2, rows + 1)]
    return [(order, REVERSED if order == "2 of 2" else f"balanced, {order}") for order in orders]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownInstrument:
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
    category = next(
        (category for schema in loaded.study.schemas for category in schema.categories if category.name == name), None
    )
    if category is not None:
        return preview_page(request, access, category)
    shown = next((instrument for instrument in _shown(loaded) if instrument.name == name), None)
    if shown is None:
        raise Http404
    context = {"access": access, "title": shown.title, "about": shown.about, "shown": shown}
    return form_page(
        request, FormPage(instrument=shown.instrument, template="web/questions/preview.html", context=context)
    )


def _loaded(access: AccessContext) -> LoadedStudy:
    return load_study(access.hosted.folder, resolver=resource_resolver())


def _shown(loaded: LoadedStudy) -> list[ShownInstrument]:
    categories = [
        ShownInstrument(
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
    questionnaires = [
        ShownInstrument(
            name=questionnaire.name,
            title=questionnaire.title or questionnaire.name,
            about=questionnaire.about,
            version=version_of(questionnaire)[:SHORT],
            whose="testers, after a session",
            instrument=questionnaire.instrument,
        )
        for questionnaire in loaded.study.questionnaires
    ]
    return [*categories, *questionnaires]
