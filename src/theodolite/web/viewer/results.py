"""Results of a run: rates, report, dialogues with each annotator's calls, comparisons, judges, monitoring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from theodolite.bootstrap.viewing import LocalStudy, ViewedRun
from theodolite.domain.annotation import SOURCE_MATERIAL, Annotation, Quote
from theodolite.domain.errors import InputError, NotFound
from theodolite.domain.persona import Persona
from theodolite.domain.study import Study
from theodolite.reporting.page.dialogues import estimate_text
from theodolite.reporting.queries.cases import CaseRecord, rules_of, title_of
from theodolite.reporting.queries.rates import lead_rates, rates_of
from theodolite.reporting.terminal.judges import validation_text
from theodolite.reporting.terminal.show import failure_text
from theodolite.reporting.words.descriptions import call_texts, heading_of, notes_of, spent_text
from theodolite.usecases.judge_validation import judges_named
from theodolite.usecases.viewing import DialogueView, RunDialogue, RunDialogueFilter
from theodolite.web.viewer.studies import of_study, page_context, studies

PAGE_SIZE = 50
"""Dialogues per page of the list; count."""

DOCUMENT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-popups; default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors {own}"
)
"""A report is one file with its own script; a sandbox isolates it from the pages that start and stop runs."""


def _opened(study: LocalStudy, run: int) -> ViewedRun:
    """Return a run.

    Raises:
        InputError: If there is no such run, or it cannot be read.
    """
    try:
        return studies().viewed_run(study, run)
    except NotFound as error:
        raise InputError(str(error)) from error


@of_study
@require_GET
def results(request: HttpRequest, study: LocalStudy, run: int) -> HttpResponse:
    """Show the defect rates of a run and its report."""
    viewed = _opened(study, run)
    context = page_context(
        study,
        "results",
        run=viewed.evidence.run,
        number=run,
        rows=list(_rate_rows(viewed)),
        document=reverse("report", args=[study.key, run]),
    )
    return render(request, "web/viewer/results.html", context)


def _rate_rows(viewed: ViewedRun) -> Iterator[dict[str, object]]:
    """Yield the leading rates of a run, each with interval, unit counts and method."""
    study, rates = viewed.evidence.study, rates_of(viewed.findings, viewed.evidence.study)
    for guideline, rule in rules_of(study):
        for rate in lead_rates(rates, guideline.name, rule.name):
            result, outcomes = rate.measurement.result, rate.measurement.outcomes
            yield {
                "rule": heading_of(guideline, rule),
                "application": rate.measurement.application,
                "annotator": title_of(study, rate.annotator),
                "text": estimate_text(result),
                "method": rate.estimate.method if rate.estimate else "",
                "outcomes": outcomes,
            }


def _document(request: HttpRequest, html: str) -> HttpResponse:
    """Return a file as a page in a sandbox that only our pages may frame."""
    response = HttpResponse(html)
    own = f"{request.scheme}://{request.get_host()}"
    response.headers["Content-Security-Policy"] = DOCUMENT_POLICY.format(own=own)
    response.xframe_options_exempt = True  # read by Django's middleware
    return response


@of_study
@require_GET
def report(request: HttpRequest, study: LocalStudy, run: int) -> HttpResponse:
    """Answer with the report of a run."""
    return _document(request, _opened(study, run).report())


@of_study
@require_GET
def results_file(_request: HttpRequest, study: LocalStudy, run: int) -> HttpResponse:
    """Answer with the results file of a run."""
    viewed = _opened(study, run)
    name = f"results-{viewed.evidence.run.number}.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(viewed.results(), content_type="application/json", headers=headers)


def _filter_of(request: HttpRequest) -> RunDialogueFilter:
    view = request.GET.get("view", "")
    return RunDialogueFilter(
        view=DialogueView(view) if view in set(DialogueView) else DialogueView.ALL,
        application=request.GET.get("application", ""),
        text=request.GET.get("q", "").strip(),
    )


def _query_of(chosen: RunDialogueFilter) -> str:
    named = (("view", chosen.view.value), ("application", chosen.application), ("q", chosen.text))
    return urlencode([(name, value) for name, value in named if value and value != DialogueView.ALL])


@of_study
@require_GET
def dialogues(request: HttpRequest, study: LocalStudy, run: int) -> HttpResponse:
    """List the dialogues of a run, filtered and page by page."""
    viewed, chosen = _opened(study, run), _filter_of(request)
    matching = chosen.matching(viewed.dialogues)
    page = Paginator(matching, PAGE_SIZE).get_page(request.GET.get("page"))
    others = RunDialogueFilter(application=chosen.application, text=chosen.text).matching(viewed.dialogues)
    context = page_context(
        study,
        "dialogues",
        run=viewed.evidence.run,
        number=run,
        chosen=chosen,
        query=_query_of(chosen),
        page=page,
        rows=[(dialogue, _label_texts(viewed.evidence.study, dialogue)) for dialogue in page],
        n=len(matching),
        views=[(view, sum(map(view.admits, others))) for view in DialogueView],
        applications=[application.name for application in viewed.evidence.study.applications],
        several=len({dialogue.application for dialogue in viewed.dialogues}) > 1,
    )
    return render(request, "web/viewer/dialogues.html", context)


def _label_texts(study: Study, dialogue: RunDialogue) -> list[tuple[str, str, bool | None]]:
    """Return each label as text: annotator, label, and whether it is a defect."""
    several = len({label.guideline for label in dialogue.labels}) > 1
    return [
        (
            title_of(study, label.annotator),
            f"{label.guideline} {value}" if several else value,
            label.is_defect,
        )
        for label in dialogue.labels
        for value in [label.value or label.outcome.value]
    ]


@of_study
@require_GET
def dialogue(request: HttpRequest, study: LocalStudy, run: int, label: str) -> HttpResponse:
    """Show one dialogue with each annotator's answers and calls."""
    viewed, chosen = _opened(study, run), _filter_of(request)
    position = viewed.evidence.sessions.find(label)
    if position is None:
        raise Http404
    record = viewed.record(position)
    order = [item.position for item in chosen.matching(viewed.dialogues)]
    place = order.index(position) if position in order else None
    label_at = viewed.evidence.sessions.label
    context = page_context(
        study,
        "dialogues",
        run=viewed.evidence.run,
        number=run,
        label=label,
        record=record,
        tester=_tester_name(record),
        turns=list(_turns(record)),
        annotations=[_annotation(viewed.evidence.study, record, item) for item in record.annotations.values()],
        finals=list(record.adjudications.values()),
        failures=[failure_text(failure) for failure in record.failures],
        spent=spent_text(record.calls.get(record.dialogue.key, ())) if record.dialogue else "",
        query=_query_of(chosen),
        place=None if place is None else (place + 1, len(order)),
        before=label_at(order[place - 1]) if place else "",
        after=label_at(order[place + 1]) if place is not None and place + 1 < len(order) else "",
    )
    return render(request, "web/viewer/dialogue.html", context)


def _tester_name(record: CaseRecord) -> str:
    persona = record.dialogue.persona if record.dialogue else None
    return persona.name if isinstance(persona, Persona) else record.session.held_by.value


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """A part of a text: quoted as evidence or not."""

    text: str
    is_quoted: bool = False


def quoted_parts(text: str, quotes: Sequence[str]) -> tuple[TextPart, ...]:
    """Split a text into parts, so that a page can mark the quoted ones; quotes that it does not contain are ignored.

    Example:
        >>> [(part.text, part.is_quoted) for part in quoted_parts("you have 60 days", ["60 days", "none"])]
        [('you have ', False), ('60 days', True)]
    """
    marked = bytearray(len(text))
    for quote in quotes:
        at = text.find(quote) if quote else -1
        if at >= 0:
            marked[at : at + len(quote)] = b"\1" * len(quote)
    parts, start = [], 0
    for at in range(1, len(text) + 1):
        if at == len(text) or marked[at] != marked[start]:
            parts.append(TextPart(text=text[start:at], is_quoted=bool(marked[start])))
            start = at
    return tuple(parts)


def _turns(record: CaseRecord) -> Iterator[dict[str, object]]:
    if record.dialogue is None:
        return
    quotes = [quote for item in record.annotations.values() for answer in item.answers for quote in answer.evidence]
    for turn in record.dialogue.turns:
        here = [quote.text for quote in quotes if quote.verified and quote.turn == turn.number]
        yield {
            "number": turn.number,
            "prompt": quoted_parts(turn.prompt, here),
            "response": quoted_parts(turn.response, here),
            "withheld": turn.withheld,
            "context": turn.context,
            "latency": f"{turn.latency_s:.1f} s" if turn.latency_s else "",
        }


def _annotation(study: Study, record: CaseRecord, annotation: Annotation) -> dict[str, object]:
    """Return an annotation in displayed form: answers with reason and quotes, doubts, and calls."""
    calls = record.calls.get(annotation.unit, ())
    return {
        "title": title_of(study, annotation.annotator),
        "guideline": annotation.guideline,
        "version": annotation.instrument_version[:8],
        "answers": [
            {"answer": answer, "quotes": [(quote, _quote_place(quote)) for quote in answer.evidence]}
            for answer in annotation.answers
        ],
        "notes": notes_of(annotation),
        "scripted": annotation.scripted,
        "calls": call_texts(calls),
        "spent": spent_text(calls),
    }


def _quote_place(quote: Quote) -> str:
    place = f"turn {quote.turn}" if quote.turn > 0 else "no turn named"
    return "source material" if quote.turn == SOURCE_MATERIAL else place


@of_study
@require_GET
def comparison(request: HttpRequest, study: LocalStudy) -> HttpResponse:
    """Choose two runs, and show their comparison."""
    runs = studies().runs(study).runs
    numbers = [run.number for run in runs]
    first, second = (_number(request.GET.get(name, ""), numbers) for name in ("first", "second"))
    if not first and not second and len(numbers) > 1:
        first, second = numbers[1], numbers[0]
    is_pair = bool(first and second and first != second)
    address = f"{reverse('comparison_page', args=[study.key])}?first={first}&second={second}" if is_pair else ""
    context = page_context(study, "compare", runs=runs, first=first, second=second, document=address)
    return render(request, "web/viewer/compare.html", context)


def _number(text: str, known: Sequence[int]) -> int:
    return int(text) if text.isascii() and text.isdecimal() and int(text) in known else 0


@of_study
@require_GET
def comparison_page(request: HttpRequest, study: LocalStudy) -> HttpResponse:
    """Answer with the comparison of two runs."""
    known = [run.number for run in studies().runs(study).runs]
    first, second = (_number(request.GET.get(name, ""), known) for name in ("first", "second"))
    if not first or not second:
        raise Http404
    return _document(request, studies().compared(study, first, second))


@of_study
@require_GET
def judges(request: HttpRequest, study: LocalStudy) -> HttpResponse:
    """Show how well each judge agrees with people, or how to find out."""
    viewed = _opened(study, 0)
    reports = {report.judge: report for report in viewed.evidence.validation_reports}
    try:
        named = judges_named(viewed.evidence.study, "")
    except InputError as error:
        return render(request, "web/viewer/judges.html", page_context(study, "judges", none=str(error)))
    rows = [
        {
            "title": title_of(viewed.evidence.study, judge.name),
            "judge": judge,
            "text": validation_text(reports[judge.name], width=96) if judge.name in reports else "",
        }
        for judge in named
    ]
    return render(request, "web/viewer/judges.html", page_context(study, "judges", rows=rows))


@of_study
@require_GET
def monitoring(request: HttpRequest, study: LocalStudy) -> HttpResponse:
    """Show the scores of a study over its runs."""
    context = page_context(study, "monitor", document=reverse("monitor_page", args=[study.key]), problem="")
    try:
        studies().monitored(study)
    except (InputError, NotFound) as error:
        context["problem"] = str(error)
    return render(request, "web/viewer/monitor.html", context)


@of_study
@require_GET
def monitor_page(request: HttpRequest, study: LocalStudy) -> HttpResponse:
    """Answer with the chart of the scores over time."""
    return _document(request, studies().monitored(study))
