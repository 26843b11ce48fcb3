"""The codebook: its codes, what has changed and why, and a further revision."""

from __future__ import annotations

from collections.abc import Iterator

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from theodolite.domain.coding import Code
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.identity import SHORT
from theodolite.usecases.coding import keep_codebook
from theodolite.web.analyst.desk import ReadingDesk, at_reading_desk
from theodolite.web.audit import audit

FIELDS = ("name", "definition", "include", "exclude", "example")
"""What is written of a code."""

SPARE = 3
"""Empty places for further codes; count."""

MOST = 60
"""Codes that a form may bring; count."""

LONGEST = 2000
"""Letters of a field at most; count."""


@at_reading_desk
@require_http_methods(["GET", "POST"])
def codebook(request: HttpRequest, desk: ReadingDesk) -> HttpResponse:
    """Show the codebook with its history, or keep a further revision of it."""
    work = desk.room().work
    book, problem = work.codebook, ""
    codes = list(book.codes) if book else []
    if request.method == "POST":
        rows = list(_rows(request.POST))
        try:
            _keep(request, desk, rows)
        except (Conflict, InputError) as error:
            codes, problem = [_code(row) for row in rows], str(error)
        else:
            return redirect(desk.address("coding"))
    written = [{name: getattr(code, name) for name in FIELDS} for code in codes]
    context = {
        "here": desk.here,
        "book": book,
        "rows": [*written, *({} for _ in range(SPARE))],
        "problem": problem,
        "note": request.POST.get("note", ""),
        "history": [(version[:SHORT], one) for version, one in reversed(list(work.codebooks.items()))],
        "longest": LONGEST,
    }
    return render(request, "web/analyst/codebook.html", context, status=422 if problem else 200)


def _keep(request: HttpRequest, desk: ReadingDesk, rows: list[dict[str, str]]) -> None:
    follows = request.POST.get("follows", "0")
    book = keep_codebook(
        desk.store,
        desk.study.name,
        [_code(row) for row in rows],
        by=desk.reader,
        note=request.POST.get("note", "")[:LONGEST],
        follows=int(follows) if follows.isdecimal() else 0,
    )
    audit(
        desk.here.account,
        "wrote a codebook",
        f"revision {book.revision}",
        hosted=desk.here.hosted,
        codes=len(book.codes),
    )
    messages.success(request, f"Revision {book.revision} of the codebook holds from now on.")


def _rows(posted: QueryDict) -> Iterator[dict[str, str]]:
    """Yield what was written of each code, in the order that its number says; a code whose name is cleared is gone."""
    columns = {name: posted.getlist(name)[:MOST] for name in (*FIELDS, "place")}
    rows = [
        {name: _at(columns[name], at).strip()[:LONGEST] for name in (*FIELDS, "place")}
        for at in range(len(columns["name"]))
    ]
    yield from sorted((row for row in rows if row["name"]), key=lambda row: float(_number(row["place"])))


def _at(column: list[str], at: int) -> str:
    return column[at] if at < len(column) else ""


def _number(text: str) -> int:
    return int(text[:4]) if text[:4].isdecimal() else MOST


def _code(row: dict[str, str]) -> Code:
    return Code(**{name: row[name] for name in FIELDS})
