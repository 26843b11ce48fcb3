"""Dialogues of a run: the filtered list, one dialogue with each annotator's calls, and a judge that reads it again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from theodolite.bootstrap.study_trials import TrialAccess, TrialOutcome, judge_named, model_judges, try_judge
from theodolite.bootstrap.viewing import LocalStudy, ViewedRun
from theodolite.domain.annotation import SOURCE_MATERIAL, Annotation, Quote
from theodolite.domain.annotator import Annotator
from theodolite.domain.dialogue import TesterType
from theodolite.domain.errors import InputError, NotFound, TheodoliteError
from theodolite.domain.estimate import Measurement
from theodolite.domain.persona import Persona
from theodolite.domain.study import Study
from theodolite.reporting.queries.cases import CaseRecord, records_at, rules_of, title_of
from theodolite.reporting.terminal.show import failure_text
from theodolite.reporting.words.descriptions import call_texts, heading_of, notes_of, spent_text
from theodolite.usecases.judge_validation import JudgeTrial
from theodolite.usecases.viewing import DialogueView, RunDialogue, RunDialogueFilter
from theodolite.web.study_trials import price_text
from theodolite.web.study_trials import spent_text as trial_spent_text
from theodolite.web.viewer.studies import of_run, page_context, studies

PAGE_SIZE = 50
"""Dialogues per page of the list; count."""

MOST_NAMES = 3
"""Annotators with the same label that a list names; count."""

EXCERPT = 140
"""Maximum length of a prompt in the list; characters."""


def opened_run(study: LocalStudy, run: int) -> ViewedRun:
    """Return a run.

    Raises:
        InputError: If there is no such run, or it cannot be read.
    """
    try:
        return studies().viewed_run(study, run)
    except NotFound as error:
        raise InputError(str(error)) from error


def _given_of(request: HttpRequest) -> tuple[tuple[str, str], ...]:
    """Return the annotator and label pairs of an address, e.g. `label=gpt-4:yes`."""
    pairs = (text.rpartition(":") for text in request.GET.getlist("label"))
    return tuple((annotator, value) for annotator, _, value in pairs if annotator and value)


def _filter_of(request: HttpRequest, viewed: ViewedRun) -> RunDialogueFilter:
    view = request.GET.get("view", "")
    number = request.GET.get("estimate", "")
    return RunDialogueFilter(
        view=DialogueView(view) if view in set(DialogueView) else DialogueView.ALL,
        application=request.GET.get("application", ""),
        text=request.GET.get("q", "").strip(),
        given=_given_of(request),
        question=request.GET.get("question", ""),
        among=frozenset(_measurement(viewed, int(number)).dialogues) if number.isdecimal() else None,
    )


def _measurement(viewed: ViewedRun, number: int) -> Measurement:
    """Return a number of the results file by its index.

    Raises:
        Http404: If there is none.
    """
    if number >= len(viewed.findings.measurements):
        raise Http404
    return viewed.findings.measurements[number]


_NAMES = ("view", "application", "q", "label", "question", "estimate")
"""Names of the filter in an address."""


def _query_of(request: HttpRequest, **changes: str) -> str:
    """Return the filter of an address as a query, with changes; an empty value removes its name."""
    values = {name: request.GET.getlist(name) for name in _NAMES} | {k: [v] for k, v in changes.items()}
    named = {name: [v for v in given if v] for name, given in values.items()}
    return urlencode({k: v for k, v in named.items() if v and v != [DialogueView.ALL.value]}, doseq=True)


def _conditions(request: HttpRequest, viewed: ViewedRun, chosen: RunDialogueFilter) -> list[str]:
    """Return the conditions that only a link sets, as texts."""
    study = viewed.evidence.study
    result = [f"{title_of(study, annotator)}: {value}" for annotator, value in chosen.given]
    if chosen.among is not None:
        subject = _measurement(viewed, int(request.GET["estimate"])).subject
        rule = next(
            (heading_of(g, r) for g, r in rules_of(study) if (g.name, r.name) == (subject.guideline, subject.rule)), ""
        )
        result.insert(0, f"{rule or subject.guideline}, labels by {title_of(study, subject.annotator)}")
    return result


@of_run
@require_GET
def dialogues(request: HttpRequest, study: LocalStudy, run: int) -> HttpResponse:
    """List the dialogues of a run, filtered and page by page."""
    viewed = opened_run(study, run)
    chosen = _filter_of(request, viewed)
    matching = chosen.matching(viewed.dialogues)
    page = Paginator(matching, PAGE_SIZE).get_page(request.GET.get("page"))
    others = replace(chosen, view=DialogueView.ALL).matching(viewed.dialogues)
    context = page_context(
        study,
        "dialogues",
        run=viewed.evidence.run,
        number=run,
        chosen=chosen,
        query=_query_of(request),
        page=page,
        rows=list(_listed_rows(viewed, list(page))),
        n=len(matching),
        n_all=len(viewed.dialogues),
        views=[(view, sum(map(view.admits, others)), _query_of(request, view=view.value)) for view in DialogueView],
        applications=[application.name for application in viewed.evidence.study.applications],
        several=len({dialogue.application for dialogue in viewed.dialogues}) > 1,
        has_testers=any(item.tester not in item.label for item in page),
        conditions=_conditions(request, viewed, chosen),
        without_conditions=_query_of(request, label="", question="", estimate=""),
        kept=[
            (name, value) for name in ("view", "label", "question", "estimate") for value in request.GET.getlist(name)
        ],
    )
    return render(request, "web/viewer/dialogues.html", context)


def _listed_rows(viewed: ViewedRun, listed: Sequence[RunDialogue]) -> Iterator[dict[str, object]]:
    """Yield the dialogues of a page with the start of their first prompts, and their labels."""
    study = viewed.evidence.study
    names = [application.name for application in study.applications]
    records = {record.index: record for record in records_at(viewed.evidence, [one.position for one in listed])}
    for dialogue in listed:
        record = records[dialogue.position]
        failure = next((failure_text(failure) for failure in record.failures), "")
        yield {
            "dialogue": dialogue,
            "tint": names.index(dialogue.application) % 8 + 1 if dialogue.application in names else 8,
            "prompt": _excerpt(record),
            "is_withheld": record.dialogue is not None and bool(record.dialogue.withheld),
            "failure": failure.capitalize(),
            "labels": _label_texts(study, dialogue),
        }


def _excerpt(record: CaseRecord) -> str:
    """Return the start of the first prompt in one line."""
    turns = record.dialogue.turns if record.dialogue is not None else ()
    if not turns or turns[0].withheld:
        return ""
    flat = " ".join(turns[0].prompt.split())
    return flat if len(flat) <= EXCERPT else f"{flat[: EXCERPT - 1].rstrip()}…"


def _label_texts(study: Study, dialogue: RunDialogue) -> list[tuple[str, str, bool | None]]:
    """Return each label as text: annotators, label, and whether it is a defect; equal labels stand together."""
    several = len({label.guideline for label in dialogue.labels}) > 1
    grouped: dict[tuple[str, bool | None], list[str]] = {}
    for label in dialogue.labels:
        value = label.value or label.outcome.value
        text = f"{label.guideline} {value}" if several else value
        grouped.setdefault((text, label.is_defect), []).append(title_of(study, label.annotator))
    return [(_names(names), text, is_defect) for (text, is_defect), names in grouped.items()]


def _names(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= MOST_NAMES else f"{len(names)} annotators"


@of_run
@require_GET
def dialogue(request: HttpRequest, study: LocalStudy, run: int, label: str) -> HttpResponse:
    """Show one dialogue with each annotator's answers and calls; `part=drawer` is the part inside a drawer."""
    viewed = opened_run(study, run)
    context = _dialogue_context(request, study, viewed, run, label)
    in_drawer = request.GET.get("part") == "drawer"
    template = "web/viewer/_dialogue.html" if in_drawer else "web/viewer/dialogue.html"
    return render(request, template, context | {"in_drawer": in_drawer})


def _dialogue_context(
    request: HttpRequest, study: LocalStudy, viewed: ViewedRun, run: int, label: str
) -> dict[str, object]:
    """Return the variables of the page of a dialogue.

    Raises:
        Http404: If the run has no such dialogue.
    """
    position = viewed.evidence.sessions.find(label)
    if position is None:
        raise Http404
    record = viewed.record(position)
    order = [item.position for item in _filter_of(request, viewed).matching(viewed.dialogues)]
    place = order.index(position) if position in order else None
    label_at = viewed.evidence.sessions.label
    return page_context(
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
        query=_query_of(request),
        place=None if place is None else (place + 1, len(order)),
        before=label_at(order[place - 1]) if place else "",
        after=label_at(order[place + 1]) if place is not None and place + 1 < len(order) else "",
        siblings=_siblings(viewed, position),
        groups=list(dict.fromkeys(value.replace("_", " ") for value in viewed.dialogues[position].groups.values())),
    )


def _siblings(viewed: ViewedRun, position: int) -> list[dict[str, object]]:
    """Return the dialogues of all applications on the same prompts; empty if there is only one."""
    key = viewed.dialogues[position].pair_key
    names = [application.name for application in viewed.evidence.study.applications]
    same = [one for one in viewed.dialogues if one.pair_key == key]
    return [
        {
            "label": one.label,
            "application": one.application,
            "tint": names.index(one.application) % 8 + 1 if one.application in names else 8,
            "is_current": one.position == position,
        }
        for one in same
        if len(same) > 1
    ]


@of_run
@require_POST
def judge_again(request: HttpRequest, study: LocalStudy, run: int, label: str) -> HttpResponse:
    """Let a judge read one dialogue again once its cost is confirmed; the stored label stays, nothing is stored."""
    viewed = opened_run(study, run)
    context = _dialogue_context(request, study, viewed, run, label)
    record = viewed.record(viewed.evidence.sessions.find(label) or 0)
    if record.dialogue is None:
        raise Http404
    loaded = viewed.context.loaded
    trial = JudgeTrial(
        study=loaded.study, judge=_judge(loaded.study, request.POST.get("judge", "")), dialogues=(record.dialogue,)
    )
    outcome = None
    if "confirmed" in request.POST:
        access = TrialAccess(environ=studies().environ)
        try:
            outcome = asyncio.run(try_judge(loaded, trial, access, spent=studies().spent(study)))
        except TheodoliteError as error:
            outcome = TrialOutcome(problem=str(error))
    stored = record.annotations.get(trial.judge.name)
    context |= {
        "trial": trial,
        "title": title_of(loaded.study, trial.judge.name),
        "price": price_text(trial),
        "outcome": outcome,
        "spent_again": trial_spent_text(outcome) if outcome is not None else "",
        "stored": _annotation(loaded.study, record, stored) if stored is not None else None,
        "again": [_annotation(loaded.study, record, one.annotation) for one in outcome.readings if one.annotation]
        if outcome is not None
        else [],
    }
    return render(request, "web/viewer/judge_again.html", context)


def _judge(study: Study, name: str) -> Annotator:
    try:
        return judge_named(study, name)
    except NotFound as error:
        raise InputError(str(error)) from error


def _tester_name(record: CaseRecord) -> str:
    persona = record.dialogue.persona if record.dialogue else None
    if isinstance(persona, Persona):
        return persona.name
    tester = record.session.held_by
    return "recorded user" if tester is TesterType.RECORDED else tester.value


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """A part of a text: quoted as evidence, or not in the text that it is compared with."""

    text: str
    is_quoted: bool = False
    is_new: bool = False


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
    judges = {judge.name for judge in model_judges(study)}
    return {
        "name": annotation.annotator,
        "is_model": annotation.annotator in judges,
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
