"""The matrix of a run: prompts by applications, the replies side by side with their labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from theodolite.bootstrap.viewing import LocalStudy, ViewedRun
from theodolite.domain.annotator import REFERENCE
from theodolite.domain.study import Study
from theodolite.reporting.queries.cases import CaseRecord, records_at, title_of
from theodolite.usecases.prompt_matrix import MATRIX_VIEWS, MatrixFilter, PromptRow, matrix_rows
from theodolite.usecases.viewing import DialogueView, ListedLabel, RunDialogue
from theodolite.web.viewer.dialogues import TextPart, opened_run, quoted_parts
from theodolite.web.viewer.studies import of_run, page_context

ROWS = 20
"""Rows per page; count."""

MOST_WORDS = 80
"""Words of a reply that are compared, twice as many as four lines hold; count."""

MOST_LABELS = 4
"""Maximum number of labels in a cell; count."""

LONGEST_PROMPT = 400
"""Characters of a prompt in the first column; the dialogue shows all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixAddress:
    """What the address of the page says: filter, order, and columns.

    Attributes:
        chosen: Filter and order of the rows.
        pinned: Application in the first column; empty for the order of the study.
        hidden: Applications without a column.
        with_differences: Whether words are marked that the first column does not have.
    """

    chosen: MatrixFilter
    pinned: str
    hidden: tuple[str, ...]
    with_differences: bool

    def query(self, **changes: object) -> str:
        """Return the query of an address that differs from this one."""
        values: dict[str, object] = {
            "view": self.chosen.view.value if self.chosen.view is not DialogueView.ALL else "",
            "q": self.chosen.text,
            "sort": self.chosen.defects_first,
            "pin": self.pinned,
            "hide": self.hidden,
            "differences": "1" if self.with_differences else "",
            **changes,
        }
        return "?" + urlencode({name: value for name, value in values.items() if value}, doseq=True)

    def columns(self, applications: Sequence[str]) -> list[str]:
        """Return the applications with a column, in order; at least one."""
        ordered = sorted(applications, key=lambda name: name != self.pinned)
        return [name for name in ordered if name not in self.hidden] or ordered[:1]


def _address_of(request: HttpRequest) -> MatrixAddress:
    view = request.GET.get("view", "")
    return MatrixAddress(
        chosen=MatrixFilter(
            view=DialogueView(view) if view in MATRIX_VIEWS else DialogueView.ALL,
            text=request.GET.get("q", "").strip(),
            defects_first=request.GET.get("sort", ""),
        ),
        pinned=request.GET.get("pin", ""),
        hidden=tuple(request.GET.getlist("hide")),
        with_differences=bool(request.GET.get("differences")),
    )


@of_run
@require_GET
def matrix(request: HttpRequest, study: LocalStudy, run: int) -> HttpResponse:
    """Show the replies of all applications to the same prompts, side by side."""
    viewed, address = opened_run(study, run), _address_of(request)
    rows = matrix_rows(viewed.dialogues)
    matching = address.chosen.matching(rows)
    page = Paginator(matching, ROWS).get_page(request.GET.get("page"))
    applications = [application.name for application in viewed.evidence.study.applications]
    columns = address.columns(applications)
    counted = MatrixFilter(text=address.chosen.text).matching(rows)
    context = page_context(
        study,
        "matrix",
        run=viewed.evidence.run,
        number=run,
        address=address,
        chosen=address.chosen,
        views=[_view_link(view, address, counted) for view in MATRIX_VIEWS],
        heads=[_head(name, address, matching, applications) for name in columns],
        rows=list(_shown_rows(viewed, list(page), columns, address)),
        page=page,
        pages={"earlier": address.query(page=page.number - 1), "later": address.query(page=page.number + 1)},
        n_prompts=len(rows),
        differences_query=address.query(differences="" if address.with_differences else "1"),
        all_columns_query=address.query(hide=()) if len(columns) < len(applications) else "",
        several=len(columns) > 1,
    )
    return render(request, "web/viewer/matrix.html", context)


def _view_link(view: DialogueView, address: MatrixAddress, rows: Sequence[PromptRow]) -> dict[str, object]:
    """Return a filter above the matrix with its prompts."""
    return {
        "title": view.value.capitalize(),
        "n": sum(row.is_in(view) for row in rows),
        "query": address.query(view="" if view is DialogueView.ALL else view.value),
        "is_current": view is address.chosen.view,
    }


def _head(
    name: str, address: MatrixAddress, rows: Sequence[PromptRow], applications: Sequence[str]
) -> dict[str, object]:
    """Return the head of a column: its counts over the shown prompts, and the addresses that change the table."""
    chosen = address.chosen
    return {
        "name": name,
        "tint": applications.index(name) % 8 + 1,
        "n_defects": sum(row.has_defect(name) for row in rows),
        "n": sum(name in row.dialogues for row in rows),
        "is_sorted": chosen.defects_first == name,
        "is_pinned": address.pinned == name,
        "sort": address.query(sort="" if chosen.defects_first == name else name),
        "pin": address.query(pin="" if address.pinned == name else name),
        "hide": address.query(hide=(*address.hidden, name)),
    }


def _shown_rows(
    viewed: ViewedRun, rows: Sequence[PromptRow], columns: Sequence[str], address: MatrixAddress
) -> Iterator[dict[str, object]]:
    """Yield the rows of a page with the texts of their dialogues."""
    dialogues = chain.from_iterable(row.dialogues.values() for row in rows)
    records = {record.index: record for record in records_at(viewed.evidence, [one.position for one in dialogues])}
    for row in rows:
        shown = {name: row.dialogues[name] for name in columns if name in row.dialogues}
        base = records[next(iter(shown.values())).position] if shown else None
        values = {label.value for one in row.dialogues.values() for label in [_deciding(one)] if label and label.value}
        yield {
            "prompt": _prompt(records[row.first.position]),
            "name": row.first.tester if "/" in row.first.label else row.first.label,
            "groups": [value.replace("_", " ") for value in dict.fromkeys(row.first.groups.values())][:2],
            "n_labels": len(values),
            "cells": [
                _cell(viewed, records, shown.get(name), base if address.with_differences else None) for name in columns
            ],
        }


def _prompt(record: CaseRecord) -> str:
    """Return the first prompt of a dialogue."""
    if record.dialogue is None or not record.dialogue.turns or record.dialogue.turns[0].withheld:
        return ""
    return record.dialogue.turns[0].prompt[:LONGEST_PROMPT]


def _cell(
    viewed: ViewedRun, records: Mapping[int, CaseRecord], dialogue: RunDialogue | None, base: CaseRecord | None
) -> dict[str, object] | None:
    """Return one dialogue of the matrix; None if it is not planned."""
    if dialogue is None:
        return None
    record = records[dialogue.position]
    return {
        "label": dialogue.label,
        "parts": reply_parts(record, base if base is not None and base is not record else None),
        "turn": _turn_text(record),
        "failure": next((failure.message for failure in record.failures), "") if record.dialogue is None else "",
        "labels": _labels(viewed.evidence.study, dialogue)[:MOST_LABELS],
        "n_failed": dialogue.n_failed,
    }


def telling_turn(record: CaseRecord) -> int:
    """Return the number of the first turn that an annotator quotes, else of the last turn; 0 without turns."""
    if record.dialogue is None:
        return 0
    last = len(record.dialogue.turns)
    answers = [answer for annotation in record.annotations.values() for answer in annotation.answers]
    return min(
        (q.turn for answer in answers for q in answer.evidence if q.verified and 0 < q.turn <= last), default=last
    )


def _turn_text(record: CaseRecord) -> str:
    n_turns = len(record.dialogue.turns) if record.dialogue else 0
    return f"Turn {telling_turn(record)} of {n_turns}" if n_turns > 1 else ""


def reply_parts(record: CaseRecord, base: CaseRecord | None) -> tuple[TextPart, ...]:
    """Return the reply of the telling turn in parts, with quotes marked, or the words that `base` does not have."""
    number = telling_turn(record)
    if record.dialogue is None or not number:
        return ()
    turn = record.dialogue.turns[number - 1]
    if turn.withheld:
        return (TextPart(text=f"Texts withheld: {turn.withheld}"),)
    if base is not None and base.dialogue is not None and base.dialogue.turns:
        return differing_parts(base.dialogue.turns[telling_turn(base) - 1].response, turn.response)
    answers = [answer for annotation in record.annotations.values() for answer in annotation.answers]
    quotes = [quote.text for answer in answers for quote in answer.evidence if quote.verified and quote.turn == number]
    return quoted_parts(turn.response, quotes)


def differing_parts(before: str, after: str) -> tuple[TextPart, ...]:
    """Split a text into parts, and mark the words that the other text does not have in the same order.

    Example:
        >>> [(part.text, part.is_new) for part in differing_parts("the limit is 60 days", "the limit is 30 days")]
        [('the limit is ', False), ('30 ', True), ('days ', False)]
    """
    first, second = before.split()[:MOST_WORDS], after.split()[:MOST_WORDS]
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return tuple(
        TextPart(text="".join(f"{word} " for word in second[start:end]), is_new=kind != "equal")
        for kind, _, _, start, end in matcher.get_opcodes()
        if start < end
    )


def _deciding(dialogue: RunDialogue) -> ListedLabel | None:
    """Return the label that a dialogue goes by: a defect's, else the final one, else the first one."""
    final = [label for label in dialogue.labels if label.annotator == REFERENCE]
    labels = [label for label in final or dialogue.labels if label.value]
    return max(labels, key=lambda label: bool(label.is_defect), default=None)


def _labels(study: Study, dialogue: RunDialogue) -> list[dict[str, object]]:
    """Return the labels of a cell: for each guideline the deciding one, then those of annotators who differ."""
    people = {annotator.name for annotator in study.annotators if annotator.by_hand}
    guidelines = list(dict.fromkeys(label.guideline for label in dialogue.labels))
    shown: list[dict[str, object]] = []
    for guideline in guidelines:
        labels = [label for label in dialogue.labels if label.guideline == guideline]
        deciding = _first_label(labels, people)
        if deciding is None:
            continue
        text = deciding.value if len(guidelines) == 1 else f"{guideline} {deciding.value}"
        kind = "defect" if deciding.is_defect else "label"
        shown.append({"text": f"{text}, defect" if deciding.is_defect else text, "kind": kind})
        shown += _differing(study, labels, deciding, people)
    return shown


def _first_label(labels: Sequence[ListedLabel], people: set[str]) -> ListedLabel | None:
    """Return the final label, else one of a person, else one of a judge; each time a defect first."""
    valued = [label for label in labels if label.value]
    groups = (
        [label for label in valued if label.annotator == REFERENCE],
        [label for label in valued if label.annotator in people],
        valued,
    )
    group = next((group for group in groups if group), [])
    return max(group, key=lambda label: bool(label.is_defect), default=None)


def _differing(
    study: Study, labels: Sequence[ListedLabel], deciding: ListedLabel, people: set[str]
) -> Iterator[dict[str, object]]:
    """Yield what people said if they differ, and each judge whose label differs."""
    values = dict.fromkeys(label.value for label in labels if label.annotator in people and label.value)
    if len(values) > 1:
        yield {"text": " / ".join(values), "kind": "people"}
    for label in labels:
        value = label.value or label.outcome.value
        if label.annotator not in people | {REFERENCE, deciding.annotator} and value != deciding.value:
            yield {"text": f"{title_of(study, label.annotator)}: {value}", "kind": "judge"}
