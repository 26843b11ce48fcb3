"""Codebooks: their codes, the questions they are for, what has changed and why, and a further revision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from theodolite.domain.codings.coded import CodingWork
from theodolite.domain.codings.coding import Code, Codebook
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.identity import SHORT
from theodolite.usecases.codebooks import keep_codebook
from theodolite.usecases.coding import CodingRoom
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

LONGEST_NAME = 80
"""Letters of a codebook's name at most; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenBook:
    """A codebook as it stands in a form, whether or not it can be kept.

    Attributes:
        name: What it is called; empty for the one for all other questions.
        covers: Places of its questions.
        rows: What was written of each code, in order.
        note: What has changed, and why.
        follows: Revision that the writer had before them; 0 for none.
    """

    name: str = ""
    covers: tuple[str, ...] = ()
    rows: tuple[dict[str, str], ...] = ()
    note: str = ""
    follows: int = 0

    @classmethod
    def of(cls, book: Codebook) -> WrittenBook:
        """Return a codebook as a form shows it."""
        rows = tuple({name: getattr(code, name) for name in FIELDS} for code in book.codes)
        return cls(name=book.name, covers=book.covers, rows=rows, follows=book.revision)

    @classmethod
    def posted(cls, form: QueryDict, name: str) -> WrittenBook:
        """Return what a form says of a codebook of a name."""
        return cls(
            name=name,
            covers=tuple(form.getlist("covers")[:MOST]) if name else (),
            rows=tuple(_rows(form)),
            note=form.get("note", "")[:LONGEST],
            follows=_number(form.get("follows", "0"), 0),
        )

    def as_codebook(self, study: str, by: str) -> Codebook:
        """Return it as a codebook.

        Raises:
            InputError: If a code has no meaning, two have one name, or there is none.
        """
        codes = tuple(Code(**row) for row in self.rows)
        return Codebook(
            study=study, codes=codes, revision=self.follows, by=by, note=self.note, name=self.name, covers=self.covers
        )


@at_reading_desk
@require_http_methods(["GET", "POST"])
def codebook(request: HttpRequest, desk: ReadingDesk, book: str = "") -> HttpResponse:
    """Show a codebook with its history, or keep a further revision of it; the one for all other questions by default.

    Args:
        request: The request.
        desk: Where the reader sits.
        book: What the address calls the codebook; empty for the one without a name.
    """
    room = desk.room()
    found = room.work.current.get("") if not book else _meant(desk, room.work, book)
    written = WrittenBook.of(found) if found else WrittenBook()
    if request.method == "POST":
        written = WrittenBook.posted(request.POST, written.name)
    return _answered(request, desk, room, written)


@at_reading_desk
@require_http_methods(["GET", "POST"])
def new_codebook(request: HttpRequest, desk: ReadingDesk) -> HttpResponse:
    """Show an empty codebook for some questions alone, or keep it."""
    written = WrittenBook()
    if request.method == "POST":
        written = WrittenBook.posted(request.POST, " ".join(request.POST.get("book", "").split())[:LONGEST_NAME])
    return _answered(request, desk, desk.room(), written, is_new=True)


def book_token(desk: ReadingDesk, book: Codebook) -> str:
    """Return what addresses call a codebook that has a name."""
    return desk.token_of("codebook", book.name)


def _meant(desk: ReadingDesk, work: CodingWork, token: str) -> Codebook:
    for book in work.current.values():
        if book.name and book_token(desk, book) == token:
            return book
    raise Http404


def _answered(
    request: HttpRequest, desk: ReadingDesk, room: CodingRoom, written: WrittenBook, *, is_new: bool = False
) -> HttpResponse:
    """Keep what was posted and go back to the overview; else show it, with what is wrong."""
    problem = ""
    if request.method == "POST":
        try:
            _keep(request, desk, written, is_new=is_new)
        except (Conflict, InputError) as error:
            problem = str(error)
        else:
            return redirect(desk.address("coding"))
    context = {
        "here": desk.here,
        "written": written,
        "is_new": is_new,
        "book": room.work.current.get(written.name),
        "rows": [*written.rows, *({} for _ in range(SPARE))],
        "questions": list(_questions(room, written)),
        "problem": problem,
        "history": [
            (version[:SHORT], one)
            for version, one in reversed(list(room.work.codebooks.items()))
            if one.name == written.name and not is_new
        ],
        "longest": LONGEST,
    }
    return render(request, "web/analyst/codebook.html", context, status=422 if problem else 200)


def _questions(room: CodingRoom, written: WrittenBook) -> Iterator[tuple[str, str, bool, str]]:
    """Yield place and words of each open question, whether the codebook is for it, and which other one is."""
    others = {place: one.name for one in room.work.current.values() if one.name != written.name for place in one.covers}
    asked = room.questions | {place: place for place in written.covers if place not in room.questions}
    for place, words in asked.items():
        yield place, words, place in written.covers, others.get(place, "")


def _keep(request: HttpRequest, desk: ReadingDesk, written: WrittenBook, *, is_new: bool) -> None:
    if is_new and not written.name:
        message = "a codebook for some questions alone needs a name"
        raise InputError(message)
    book = keep_codebook(desk.store, written.as_codebook(desk.study.name, desk.reader))
    audit(
        desk.here.account,
        "wrote a codebook",
        f"revision {book.revision}",
        hosted=desk.here.hosted,
        name=book.name,
        codes=len(book.codes),
    )
    which = f" `{book.name}`" if book.name else ""
    messages.success(request, f"Revision {book.revision} of the codebook{which} holds from now on.")


def _rows(posted: QueryDict) -> Iterator[dict[str, str]]:
    """Yield what was written of each code, in the order that its number says; a code whose name is cleared is gone."""
    columns = {name: posted.getlist(name)[:MOST] for name in (*FIELDS, "place")}
    rows = []
    for at in range(len(columns["name"])):
        row = {name: _at(columns[name], at).strip()[:LONGEST] for name in FIELDS}
        if row["name"]:
            rows.append((_number(_at(columns["place"], at), MOST), row))
    yield from (row for _, row in sorted(rows, key=itemgetter(0)))


def _at(column: list[str], at: int) -> str:
    return column[at] if at < len(column) else ""


def _number(text: str, otherwise: int) -> int:
    return int(text[:4]) if text[:4].isdecimal() else otherwise
