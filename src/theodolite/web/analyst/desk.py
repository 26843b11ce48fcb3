"""The desk of those who read what testers answered; nobody who tests or annotates in the study ever sits there."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.crypto import salted_hmac

from theodolite.domain.errors import Conflict, InputError, NotFound
from theodolite.domain.evidence import Evidence
from theodolite.domain.people.role import Role
from theodolite.domain.questionnaire import QuestionnaireResponse
from theodolite.domain.study import Study
from theodolite.ports.store import Store
from theodolite.testing.people import event_sessions
from theodolite.testing.planning import draw_plan
from theodolite.usecases.coding import CodingRoom, OpenText, coding_room, notes_in
from theodolite.usecases.measuring import evidence_of, responses_in
from theodolite.usecases.people.venue import Venue
from theodolite.web.access import Here, allowed
from theodolite.web.models import Membership
from theodolite.web.venues import opened_venue, server_store

READERS = (Role.ANALYST, Role.ORGANISER, Role.SENIOR)
"""Who reads what testers answered. The first role of a person is the one under whose key their work is kept."""

BLIND = (Role.ANNOTATOR, Role.RED_TEAMER, Role.FIELD_TESTER)
"""Who must not, whatever else they are in the study: they would meet dialogues and questions knowing answers."""

TOKEN = 16
"""Characters of what an address calls an answer; 64 bits of a keyed hash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingDesk:
    """One reader at the answers of one study.

    Attributes:
        here: Who reads.
        venue: The study's event.
    """

    here: Here
    venue: Venue

    @property
    def reader(self) -> str:
        """Key under which the store knows the reader."""
        return self.here.membership.participant

    @property
    def study(self) -> Study:
        """The study, as it was published last."""
        return self.venue.study

    @property
    def store(self) -> Store:
        """The store of this server."""
        return server_store()

    def responses(self) -> tuple[QuestionnaireResponse, ...]:
        """Return what testers answered, drafts included."""
        return responses_in(self.store, self.study)

    def room(self) -> CodingRoom:
        """Return the answers in own words, with everything that was done about them."""
        notes = notes_in(self.study, self.store.held(self.study.name))
        return coding_room(self.store, self.study, (*self.responses(), *notes), self.gone())

    def gone(self) -> frozenset[str]:
        """Return the keys of readers who have left the study, and hence code no more."""
        left = self.here.hosted.memberships.filter(left_at__isnull=False)
        return frozenset(left.values_list("participant", flat=True))

    def names_of(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the names of some readers by key, in order of coming; for whoever looks after coders."""
        members = self.here.hosted.memberships.filter(participant__in=set(keys)).select_related("account")
        return {one.participant: f"{one.account} ({one.role})" for one in members.order_by("id")}

    def evidence(self) -> Evidence:
        """Return everything that the study's run holds."""
        opened = opened_venue(self.here.hosted)
        _, planned = draw_plan(self.study, opened.loaded.recordings)
        sessions = event_sessions(self.study, planned, self.store.held(self.study.name))
        return evidence_of(self.store, self.study, sessions, self.venue.run)

    def token_of(self, *parts: str) -> str:
        """Return what the addresses of this study's readers call something; it tells nothing of it."""
        value = "\n".join((self.here.hosted.token, *parts))
        return salted_hmac("theodolite.analyst", value, algorithm="sha256").hexdigest()[:TOKEN]

    def address(self, name: str, **parts: str | int) -> str:
        """Return the address of a page of this group."""
        return reverse(f"analyst:{name}", kwargs={"study": self.here.hosted.token, **parts})

    def token_of_text(self, text: OpenText) -> str:
        """Return what addresses call an answer."""
        return self.token_of(text.answer.session, text.answer.questionnaire, text.answer.question)

    def text_in(self, room: CodingRoom, token: str) -> OpenText:
        """Return the answer that an address means.

        Raises:
            Http404: If there is none.
        """
        for text in room.texts:
            if self.token_of_text(text) == token:
                return text
        raise Http404


def at_reading_desk(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Call a view as `view(request, desk, ...)` for readers who are not blind; what is refused is said in words."""

    @functools.wraps(view)
    def seated(request: HttpRequest, here: Here, **rest: Any) -> HttpResponse:
        if is_blind(here):
            return render(request, "web/analyst/blind.html", {"here": here}, status=403)
        desk = ReadingDesk(here=here, venue=opened_venue(here.hosted).venue)
        try:
            return view(request, desk, **rest)
        except NotFound as error:
            raise Http404 from error
        except (Conflict, InputError) as error:
            messages.warning(request, f"Not done: {error}.".replace("..", "."))
            return redirect(request.path if request.method == "POST" else desk.address("home"))

    return allowed(*READERS)(seated)


def is_blind(here: Here) -> bool:
    """Tell whether somebody tests or annotates in the study, or ever did."""
    roles = [role.value for role in BLIND]
    return Membership.objects.filter(account=here.account, hosted=here.hosted, role__in=roles).exists()
