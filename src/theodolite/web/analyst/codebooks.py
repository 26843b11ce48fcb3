"""Codebooks: their pages, their forms and their revisions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from operator import itemgetter

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from theodolite.domain.coding import Code, Codebook, CodingWork
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.identity import SHORT
from theodolite.domain.study import Study
from theodolite.events.coding import CodingIndex, question_texts, save_codebook
from theodolite.web.analyst.responses import AnalystContext, for_analysts

FIELDS = ("name", "definition", "include", "exclude", "example")
"""Fields of a code."""


SPARE = 3
"""Empty rows for new codes; count."""


MOST = 60
"""Codes of a form at most; count."""


LONGEST = 2000
"""Characters of a field at most; count."""


LONGEST_NAME = 80
"""Characters of a codebook's name at most; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenBook:
    """A codebook as entered in a form, valid or not.

    Attributes:
        name: Its name; empty for the default of all other questions.
        covers: Indices of its questions.
        rows: Texts for each code, in order.
        note: Description of the change and its reason.
        follows: Revision that the editor started from; 0 for none.
    """

    name: str = ""
    covers: tuple[str, ...] = ()
    rows: tuple[dict[str, str], ...] = ()
    note: str = ""
    follows: int = 0

    @classmethod
    def of(cls, book: Codebook) -> WrittenBook:
        """Return a codebook as form data."""
        rows = tuple({name: getattr(code, name) for name in FIELDS} for code in book.codes)
        return cls(name=book.name, covers=book.covers, rows=rows, follows=book.revision)

    @classmethod
    def posted(cls, form: QueryDict, name: str) -> WrittenBook:
        """Parse the codebook of a form."""
        return cls(
            name=name,
            covers=tuple(form.getlist("covers")[:MOST]) if name else (),
            rows=tuple(_rows(form)),
            note=form.get("note", "")[:LONGEST],
            follows=_number(form.get("follows", "0"), 0),
        )

    def as_codebook(self, study: str, by: str) -> Codebook:
        """Return the form as a codebook.

        Raises:
            InputError: If a code has no meaning, two codes share a name, or there is no code.
        """
        codes = tuple(Code(**row) for row in self.rows)
        return Codebook(
            study=study, codes=codes, revision=self.follows, by=by, note=self.note, name=self.name, covers=self.covers
        )


@for_analysts
@require_http_methods(["GET", "POST"])
def codebook(request: HttpRequest, analyst: AnalystContext, book: str = "") -> HttpResponse:
    """Show a codebook with its history, or store another revision; the general one by default.

    Args:
        request: The request.
        analyst: The context of the reader.
        book: Name of the codebook in the address; empty for the unnamed one.
    """
    index = analyst.coding_index()
    version = index.work.current.get("") if not book else _meant(analyst, index.work, book)
    written = WrittenBook.of(version) if version else WrittenBook()
    if request.method == "POST":
        written = WrittenBook.posted(request.POST, written.name)
    return _answered(request, analyst, index, written)


@for_analysts
@require_http_methods(["GET", "POST"])
def new_codebook(request: HttpRequest, analyst: AnalystContext) -> HttpResponse:
    """Show an empty codebook for some questions, or store it."""
    written = WrittenBook()
    if request.method == "POST":
        written = WrittenBook.posted(request.POST, " ".join(request.POST.get("book", "").split())[:LONGEST_NAME])
    return _answered(request, analyst, analyst.coding_index(), written, is_new=True)


def book_token(analyst: AnalystContext, book: Codebook) -> str:
    """Return the token of a named codebook."""
    return analyst.token_of("codebook", book.name)


def _meant(analyst: AnalystContext, work: CodingWork, token: str) -> Codebook:
    for book in work.current.values():
        if book.name and book_token(analyst, book) == token:
            return book
    raise Http404


def _answered(
    request: HttpRequest, analyst: AnalystContext, index: CodingIndex, written: WrittenBook, *, is_new: bool = False
) -> HttpResponse:
    """Store the form and return to the overview; on an error show it again."""
    problem = ""
    if request.method == "POST":
        try:
            _keep(request, analyst, written, is_new=is_new)
        except (Conflict, InputError) as error:
            problem = str(error)
        else:
            return redirect(analyst.address("coding"))
    context = {
        "access": analyst.access,
        "written": written,
        "is_new": is_new,
        "book": index.work.current.get(written.name),
        "rows": [*written.rows, *({} for _ in range(SPARE))],
        "questions": list(_questions(analyst.study, index, written)),
        "problem": problem,
        "history": [
            (version[:SHORT], book)
            for version, book in reversed(list(index.work.codebooks.items()))
            if book.name == written.name and not is_new
        ],
        "longest": LONGEST,
    }
    return render(request, "web/analyst/codebook.html", context, status=422 if problem else 200)


def _questions(study: Study, index: CodingIndex, written: WrittenBook) -> Iterator[tuple[str, str, bool, str]]:
    """Yield identifier and text of each open question, whether this codebook covers it, and which other does."""
    others = {
        cover: coding.name
        for coding in index.work.current.values()
        if coding.name != written.name
        for cover in coding.covers
    }
    asked = question_texts(study, index.places)
    questions = asked | {cover: cover for cover in written.covers if cover not in asked}
    for key, text in questions.items():
        yield key, text, key in written.covers, others.get(key, "")


def _keep(request: HttpRequest, analyst: AnalystContext, written: WrittenBook, *, is_new: bool) -> None:
    if is_new and not written.name:
        message = "a codebook for selected questions needs a name"
        raise InputError(message)
    book = save_codebook(analyst.store, written.as_codebook(analyst.study.name, analyst.reader))
    analyst.access.audit("wrote a codebook", f"revision {book.revision}", name=book.name, codes=len(book.codes))
    which = f" `{book.name}`" if book.name else ""
    messages.success(request, f"Revision {book.revision} of the codebook{which} applies from now on.")


def _rows(posted: QueryDict) -> Iterator[dict[str, str]]:
    """Yield the fields of each code, in the order of its number; a code without a name is dropped."""
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
