"""The blinding audit: whether testers saw through, and whether applications told who they are."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from theodolite.domain.estimate import Estimate
from theodolite.domain.people.leak import Leak
from theodolite.domain.people.role import Role
from theodolite.reporting.words import figures
from theodolite.store.models.people import LiveTurnRow
from theodolite.usecases.people.blinding import leaks
from theodolite.web.access import Here, allowed
from theodolite.web.analyst.drawing import ShareLine, UnitStrip, share_line, share_place, unit_strip
from theodolite.web.audit import audit
from theodolite.web.organiser.crawling import crawl
from theodolite.web.venues import venue_of


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakLine:
    """One line of the table of guesses, in words.

    Attributes:
        about: What was guessed.
        level: Level of testing; "all levels" for all together.
        right: Right guesses out of all, and their share where there are enough.
        between: Ends of the interval; empty where there are too few guesses.
        chance: What guessing alone would bring.
        surprise: How often so many or more would be right by guessing alone; empty where nobody guessed.
        n_unknown: Testers who did not know; count.
        n_repeated: Later guesses of the same people; count.
        line: Share and interval on a line from 0 to 100 %; without a place where there are too few guesses.
        chance_at: Where guessing alone stands on that line; pixels.
        strip: Each guess as a square where there are too few for a share: right ones first, unknown ones last.
    """

    about: str
    level: str
    right: str
    between: str
    chance: str
    surprise: str
    n_unknown: int
    n_repeated: int
    line: ShareLine
    chance_at: float
    strip: UnitStrip | None = None

    @property
    def words(self) -> str:
        """What is drawn, for those who do not see it."""
        told = (f"{self.right} right", self.between, f"by chance {self.chance}", f"{self.n_unknown} did not know")
        return f"{self.about}, {self.level}: {', '.join(each for each in told if each)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamingLine:
    """How often one application told who it is: turns, and those in which it did; counts."""

    application: str
    turns: int
    named: int
    words: tuple[str, ...]


@allowed(Role.ORGANISER, Role.ANALYST)
def blinding(request: HttpRequest, here: Here) -> HttpResponse:
    """Show guesses against chance, and how often applications named themselves."""
    return _page(request, here)


@allowed(Role.ORGANISER)
@require_POST
def look_through(request: HttpRequest, here: Here) -> HttpResponse:
    """Open every page that testers and annotators can reach now, and show what would unblind them."""
    found = crawl(here.hosted, request)
    told = {"pages": found.pages, "people": found.people, "leaks": len(found.leaks)}
    audit(here.account, "searched pages for unblinding words", f"study {here.hosted.token}", hosted=here.hosted, **told)
    return _page(request, here, crawled=found)


def _page(request: HttpRequest, here: Here, **more: object) -> HttpResponse:
    venue = venue_of(here.hosted)
    lines = [_leak_line(leak) for leak in leaks(venue)]
    told = {"here": here, "leaks": lines, "few": figures.FEW, "namings": _namings(here.hosted.name), **more}
    return render(request, "web/organiser/blinding.html", told)


def _leak_line(leak: Leak) -> LeakLine:
    rate = leak.rate
    known = isinstance(rate, Estimate)
    n, n_right = (rate.n, rate.count or 0) if isinstance(rate, Estimate) else (0, 0)
    return LeakLine(
        about=leak.about.value,
        level=leak.level.value if leak.level else "all levels",
        right=figures.share(n_right, n) if known else "nobody guessed",
        between=_between(rate) if isinstance(rate, Estimate) else "",
        chance=figures.percent(leak.chance) if known else "",
        surprise="" if leak.p_value is None else f"{leak.p_value:.3f}",
        n_unknown=leak.n_unknown,
        n_repeated=leak.n_repeated,
        line=share_line(rate),
        chance_at=share_place(leak.chance),
        strip=unit_strip(n_right, n - n_right, leak.n_unknown) if 0 < n < figures.FEW else None,
    )


def _between(rate: Estimate) -> str:
    if rate.n < figures.FEW or rate.low is None or rate.high is None:
        return "too few to tell"
    return f"{figures.percent(rate.low)} to {figures.percent(rate.high)}"


def _namings(study: str) -> list[NamingLine]:
    turns = LiveTurnRow.objects.filter(dialogue__study=study)
    counted = turns.values_list("dialogue__session__application").annotate(
        n=Count("id"), named=Count("id", filter=~Q(claims=""))
    )
    return [
        NamingLine(application=application, turns=n, named=named, words=_words(study, application) if named else ())
        for application, n, named in counted.order_by("dialogue__session__application")
    ]


def _words(study: str, application: str) -> tuple[str, ...]:
    """Return the words by which an application told who it is, each once."""
    turns = LiveTurnRow.objects.filter(dialogue__study=study, dialogue__session__application=application)
    said = turns.exclude(claims="").order_by("id").values_list("claims", flat=True)
    return tuple(dict.fromkeys(word for claims in said for word in claims.splitlines()))
