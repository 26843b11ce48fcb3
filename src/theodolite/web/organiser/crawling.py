"""The crawl: every page that a tester or an annotator can reach now, searched for what would unblind them.

Pages are asked for in this process, as the very person would get them, by reading
alone: no session is prepared, no work is taken, nothing is sent to an application.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from urllib.parse import urljoin, urlsplit

from django.core.handlers.base import BaseHandler
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from theodolite.assessment.unblinding import SecretWord, plain_names, secrets_for_annotators, secrets_for_testers
from theodolite.bootstrap.blindness import Lookout, PageLeak
from theodolite.bootstrap.page_reading import PageAnswer
from theodolite.domain.people.role import Role
from theodolite.store.models.annotating import ReservationRow, WorkItemRow
from theodolite.usecases.people.venue import Venue
from theodolite.web.models import Account, HostedStudy, Membership
from theodolite.web.venues import venue_of

MOST_PEOPLE = 12
"""People of each role whose pages are opened, those who came last; count."""

MOST_PAGES = 80
"""Pages of one person at most; count."""

MOST_KEYS = 2000
"""Keys of dialogues that annotators' pages are searched for; count."""

_GROUPS = {Role.RED_TEAMER: "tester", Role.FIELD_TESTER: "tester", Role.ANNOTATOR: "annotator"}
_TURNING = (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawled:
    """What a crawl brought.

    Attributes:
        people: People whose pages were opened; count.
        pages: Pages that were searched; count.
        leaks: Secret words that stand on them.
        plain: Names that could not be looked for, since they are words like others.
    """

    people: int
    pages: int
    leaks: tuple[PageLeak, ...]
    plain: tuple[str, ...]


def crawl(hosted: HostedStudy, request: HttpRequest) -> Crawled:
    """Open every page that people of a study can reach now, and search it.

    Args:
        hosted: The study.
        request: Whoever asks for it, for the address of the server.
    """
    venue, asked = venue_of(hosted), _Desk(request)
    lookouts = []
    for membership in _people(hosted):
        lookout = _lookout(hosted, venue, membership)
        for page in _pages(asked, membership, _starts(venue, membership)):
            lookout.look(page)
        lookouts.append(lookout)
    found = {(leak.role, leak.told.secret, _shape(leak.page)): leak for one in lookouts for leak in one.leaks}
    return Crawled(
        people=len(lookouts),
        pages=sum(one.n_pages for one in lookouts),
        leaks=tuple(found.values()),
        plain=plain_names(venue.study),
    )


def _people(hosted: HostedStudy) -> Iterator[Membership]:
    for role in _GROUPS:
        held = Membership.objects.filter(hosted=hosted, role=role.value, left_at=None, account__is_active=True)
        yield from held.select_related("account").order_by("-id")[:MOST_PEOPLE]


def _lookout(hosted: HostedStudy, venue: Venue, membership: Membership) -> Lookout:
    role = membership.as_role
    if role is not Role.ANNOTATOR:
        return Lookout(role.value, secrets_for_testers(venue.study))
    return Lookout(role.value, _secrets(hosted, venue, membership), hears=True)


def _secrets(hosted: HostedStudy, venue: Venue, membership: Membership) -> tuple[SecretWord, ...]:
    others = Membership.objects.filter(hosted=hosted, role__in=[role.value for role in _GROUPS])
    known = others.exclude(account=membership.account).values_list("participant", "account__name", "account__email")
    people = {words for facts in known for words in facts if words and words != membership.account.name}
    items = WorkItemRow.objects.filter(queue__name=hosted.token).order_by("-id")[:MOST_KEYS]
    keys = {words for facts in items.values_list("dialogue__unit__key", "dialogue__unit__label") for words in facts}
    return secrets_for_annotators(venue.study, people=people, keys=keys)


def _starts(venue: Venue, membership: Membership) -> list[str]:
    """Return the addresses from which a person's pages are reached; some are named by no link."""
    group, token = _GROUPS[membership.as_role], membership.hosted.token
    home = reverse(f"{group}:home", args=[token])
    if group == "annotator":
        mine = ReservationRow.objects.filter(item__queue__name=token, participant__key=membership.participant)
        claims = mine.filter(state="submitted").order_by("-id").values_list("token", flat=True)[:10]
        return [home, *(reverse("annotator:sheet", args=[token, claim]) for claim in claims)]
    made = [session.place + 1 for session in venue.store.sessions_of(membership.participant)]
    own = [f"{place}/{rest}" for place in made for rest in ("task/", "", "state/", "end/", "anew/", "questions/")]
    streams = [f"{place}/{dialogue}/1/" for place in made for dialogue in (1, 2)]
    return [
        urljoin(home, rest)
        for rest in ("consent/", "topics/", "you/", "guess/", "done/", "leave/", "mine/", *own, *streams)
    ]


def _pages(desk: _Desk, membership: Membership, starts: list[str]) -> Iterator[PageAnswer]:
    """Yield every page that can be reached from some by links of the person's own group; each once."""
    home = reverse(f"{_GROUPS[membership.as_role]}:home", args=[membership.hosted.token])
    waiting, seen = deque(starts), set[str]()
    while waiting and len(seen) < MOST_PAGES:
        path = waiting.popleft()
        if path in seen:
            continue
        seen.add(path)
        page = desk.ask(membership.account, path)
        yield page
        links = (urlsplit(urljoin(path, link)).path for link in page.links)
        waiting.extend(link for link in links if link.startswith(home) and not _begins(link, starts))


def _begins(path: str, starts: list[str]) -> bool:
    """Tell whether looking at a page begins something: a task not given out, work that is held, data taken along."""
    return path not in starts and (path.endswith(("/task/", "/mine/file/")) or "/annotate/d/" in path)


def _shape(path: str) -> str:
    return "".join("0" if letter.isdigit() else letter for letter in path)


class _Desk:
    """Asks this program for pages, in somebody's place."""

    def __init__(self, request: HttpRequest) -> None:
        self._handler = BaseHandler()
        self._handler.load_middleware()
        self._address = {
            "SERVER_NAME": request.META.get("SERVER_NAME", ""),
            "SERVER_PORT": request.META.get("SERVER_PORT", ""),
            "HTTP_HOST": request.get_host(),
            "wsgi.url_scheme": request.scheme or "http",
        }

    def ask(self, account: Account, path: str) -> PageAnswer:
        """Return a page as somebody would get it; where it leads on, that is the page."""
        environ = {"REQUEST_METHOD": "GET", "PATH_INFO": path, "QUERY_STRING": "", "wsgi.input": BytesIO()}
        request = WSGIRequest({**environ, **self._address})
        request._cached_user = account  # type: ignore[attr-defined]  # noqa: SLF001 - where Django keeps who asks
        response = self._handler.get_response(request)
        headers = "\n".join(f"{name}: {value}" for name, value in response.items())
        return PageAnswer(path, response.status_code, headers, _text(response))


def _text(response: object) -> str:
    if not isinstance(response, HttpResponse) or response.status_code in _TURNING:
        return ""
    return response.content.decode(errors="replace")
