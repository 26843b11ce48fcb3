"""The context of a senior annotator: the same queue under addresses of its own, and pages of long lists."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from theodolite.annotation import queues
from theodolite.web.annotator.context import AnnotatorContext, queue_view


def _said_on_home(request: HttpRequest, annotator: AnnotatorContext, error: Exception) -> HttpResponse:
    messages.warning(request, f"Not done: {error}.".replace("..", "."))
    return redirect(page_of(annotator, "home"))


senior_view = queue_view(_said_on_home)
"""Call a view of seniors as `view(request, annotator, ...)`; a refusal is shown on their first page."""


def page_of(annotator: AnnotatorContext, name: str, **parts: str | int) -> str:
    """Return the address of a page of seniors."""
    return reverse(f"senior:{name}", kwargs={"study": annotator.access.hosted.token, **parts})


def own_item(annotator: AnnotatorContext, item: str) -> str:
    """Return the token of a work item of this study's queue; others do not exist."""
    if not queues.has_item(annotator.queue, item):
        raise Http404
    return item


MOST = 100_000
"""Pages that an address may name; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """Where one is in a long list.

    Attributes:
        page: Which page, from 0.
        n: Entries of the whole list; count.
        size: Entries of a page; count.
    """

    page: int
    n: int
    size: int

    @property
    def before(self) -> int | None:
        """The page before, as addresses name it; None on the first."""
        return self.page or None

    @property
    def after(self) -> int | None:
        """The page after, as addresses name it; None on the last."""
        return self.page + 2 if (self.page + 1) * self.size < self.n else None

    @property
    def words(self) -> str:
        """Which entries are shown, e.g. `51 to 100 of 230`; empty where one page holds all."""
        last = min(self.n, (self.page + 1) * self.size)
        return f"{self.page * self.size + 1} to {last} of {self.n}" if self.n > self.size else ""


def page_number(request: HttpRequest, name: str = "page") -> int:
    """Return the page that an address names from 1, as a number from 0; the first where it names none."""
    written = request.GET.get(name, "")
    return min(int(written), MOST) - 1 if written.isdecimal() and int(written) > 0 else 0
