"""Results of a run: rates with their intervals, the report, comparisons, monitoring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from theodolite.bootstrap.viewing import LocalStudy, ViewedRun
from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.errors import InputError, NotFound
from theodolite.domain.estimate import Undefined
from theodolite.domain.study import Study
from theodolite.domain.text import cost_text
from theodolite.domain.undefined_reasons import undefined_text
from theodolite.reporting.interval_bars import IntervalBar, axis_end, bar_of, scale_of
from theodolite.reporting.queries.cases import rules_of, title_of
from theodolite.reporting.queries.rates import (
    Rate,
    guardrail_of,
    interval_words,
    lead_rates,
    rates_of,
    unlabelled_guidelines,
    unmeasured_words,
)
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import heading_of, phrase_of
from theodolite.usecases.viewing import DialogueView
from theodolite.web.viewer.dialogues import opened_run
from theodolite.web.viewer.studies import of_run, of_study, page_context, studies

DOCUMENT_POLICY = (
    "sandbox allow-scripts allow-downloads allow-popups; default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors {own}"
)
"""A report is one file with its own script; a sandbox isolates it from the pages that start and stop runs."""


@of_run
@require_GET
def results(request: HttpRequest, study: LocalStudy, run: int) -> HttpResponse:
    """Show the defect rates of a run with their intervals; each number opens its dialogues."""
    viewed = opened_run(study, run)
    counts = {view.value: sum(map(view.admits, viewed.dialogues)) for view in DialogueView}
    context = page_context(
        study,
        "results",
        run=viewed.evidence.run,
        number=run,
        counts=counts,
        n_completed=viewed.evidence.answers.n_completed,
        rules=list(_rules(viewed)),
        unlabelled=unlabelled_guidelines(viewed.evidence.study, rates_of(viewed.findings, viewed.evidence.study)),
        cost=_cost_text(viewed),
        n_calls=viewed.evidence.spending.calls,
        report=reverse("report", args=[study.key, run]),
        has_trees=bool(viewed.findings.trees),
        judges=_judges(viewed),
    )
    return render(request, "web/viewer/results.html", context)


def _cost_text(viewed: ViewedRun) -> str:
    spending = viewed.evidence.spending
    return "unknown" if spending.unpriced_calls and not spending.cost_microusd else cost_text(spending.cost_microusd)


def _judges(viewed: ViewedRun) -> tuple[int, int] | None:
    """Return how many model judges have a validation report, and how many there are; None without such a judge."""
    names = {judge.name for judge in viewed.evidence.study.asked if judge.kind is AnnotatorKind.MODEL}
    validated = names & {report.judge for report in viewed.evidence.validation_reports}
    return (len(validated), len(names)) if names else None


def _rules(viewed: ViewedRun) -> Iterator[dict[str, object]]:
    """Yield each defect rule with its leading rates on one axis."""
    study = viewed.evidence.study
    rates = rates_of(viewed.findings, study)
    ends = {id(rate): end for leading in _axes(study, rates) for end in [axis_end(leading)] for rate in leading}
    for guideline, rule in rules_of(study):
        leading = lead_rates(rates, guideline.name, rule.name)
        if not leading:
            continue
        end = ends[id(leading[0])]
        yield {
            "title": heading_of(guideline, rule),
            "phrase": phrase_of(rule, {rate.measurement.result.n for rate in leading}),
            "ticks": [(2 * x, text) for x, text in scale_of(end)],
            "rows": [_rate_row(study, rate, end) for rate in leading],
        }


def _axes(study: Study, rates: tuple[Rate, ...]) -> Iterator[tuple[Rate, ...]]:
    """Yield the rates with a common axis: both sides of a guardrail, else one rule."""
    guardrail = guardrail_of(study)
    sides = [(guardrail.guideline, guardrail.withheld), (guardrail.guideline, guardrail.released)] if guardrail else []
    if sides:
        yield tuple(rate for guideline, rule in sides for rate in lead_rates(rates, guideline.name, rule.name))
    for guideline, rule in rules_of(study):
        if (guideline, rule) not in sides:
            yield lead_rates(rates, guideline.name, rule.name)


def _rate_row(study: Study, rate: Rate, end: float) -> dict[str, object]:
    result, outcomes = rate.measurement.result, rate.measurement.outcomes
    names = [application.name for application in study.applications]
    enough = rate.estimate is not None and result.n >= figures.FEW
    name = rate.measurement.application
    return {
        "place": rate.place,
        "application": name,
        "tint": names.index(name) % 8 + 1 if name in names else 8,
        "by": ", ".join(filter(None, (title_of(study, rate.annotator), rate.station))),
        "defects": rate.defects_text,
        "n_dialogues": len(set(rate.measurement.dialogues)),
        "n": figures.count(result.n),
        "percent": figures.percent(rate.estimate.value) if rate.estimate is not None and enough else "",
        "interval": interval_words(rate) if enough else "",
        "undefined": undefined_text(result) if isinstance(result, Undefined) else "",
        "bar": _bar(bar_of(rate, end)) if enough else None,
        "unmeasured": unmeasured_words(rate),
        "n_unmeasured": outcomes.unmeasured,
        "method": rate.estimate.method if rate.estimate is not None else "",
    }


def _bar(bar: IntervalBar) -> dict[str, object]:
    """Return an interval bar in units of a drawing that is 200 wide."""
    low, value, high = (2 * x for x in bar.x)
    return {
        "low": low,
        "value": value,
        "high": high,
        "width": round(high - low, 2),
        "ticks": [2 * x for x in bar.ticks],
    }


def _document(request: HttpRequest, html: str) -> HttpResponse:
    """Return a file as a page in a sandbox that only our pages may frame."""
    response = HttpResponse(html)
    own = f"{request.scheme}://{request.get_host()}"
    response.headers["Content-Security-Policy"] = DOCUMENT_POLICY.format(own=own)
    response.xframe_options_exempt = True  # read by Django's middleware
    return response


@of_run
@require_GET
def report(request: HttpRequest, study: LocalStudy, run: int) -> HttpResponse:
    """Answer with the report of a run."""
    return _document(request, opened_run(study, run).report())


@of_run
@require_GET
def trees(request: HttpRequest, study: LocalStudy, run: int) -> HttpResponse:
    """Show the measurement trees of a run, as the report draws them."""
    viewed = opened_run(study, run)
    document = f"{reverse('report', args=[study.key, run])}#trees"
    context = page_context(
        study,
        "trees",
        run=viewed.evidence.run,
        number=run,
        document=document if viewed.findings.trees else "",
        report=reverse("report", args=[study.key, run]),
    )
    return render(request, "web/viewer/trees.html", context)


@of_run
@require_GET
def results_file(_request: HttpRequest, study: LocalStudy, run: int) -> HttpResponse:
    """Answer with the results file of a run."""
    viewed = opened_run(study, run)
    name = f"results-{viewed.evidence.run.number}.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(viewed.results(), content_type="application/json", headers=headers)


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
