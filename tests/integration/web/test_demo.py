"""The seeded event: pages of later stages are not empty, however often it is seeded."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client, RequestFactory

from theodolite.annotation import cases, review
from theodolite.annotation.review import rooms
from theodolite.bootstrap.events import event_study_context
from theodolite.demo.event import enter, furnish
from theodolite.domain.event import Role
from theodolite.reporting.queries.cases import title_of
from theodolite.reporting.queries.rates import rates_for, rates_of
from theodolite.store.models.annotating import QueueRow
from theodolite.web.accounts.invitations import accept
from theodolite.web.events import event_of, server_store
from theodolite.web.models import Account, HostedStudy, Invitation

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

PAGES = {"people": ">Nils<", "slots": "Room A", "links": "Notice board"}


def test_the_demo_has_disputes_a_thread_a_case_and_a_session_for_seniors_and_labels_for_analysts(event, client_as):
    furnish(event)
    furnish(event)
    queue = QueueRow.objects.get(name=event.token)

    assert Account.objects.filter(name="Bela").count() == 1
    assert review.n_disputed_items(queue.token) == 6
    assert cases.n_threads(queue.token)[0] == 1
    assert cases.cases(queue.study)
    assert len(rooms(queue.token)) == 1
    page = client_as(Role.SENIOR).get(f"/s/{event.token}/review/").content.decode()
    assert "6 items, most disputed first" in page
    assert rates(event) == {
        ("field testing", "all people"): ("4.5", 10),
        ("field testing", "Bela"): ("5", 10),
        ("field testing", "Cleo"): ("4", 10),
    }


def rates(event):
    """Return, by level and person, dialogues of leaky-toy with a release and all labelled ones."""
    store = server_store()
    study = event_of(event).study
    context = event_study_context(event.folder, Path(str(settings.WORKSPACE)), store, study)
    evidence = context.evidence()
    found = rates_of(context.findings(evidence), evidence.study)
    return {
        (rate.measurement.subject.level.value, title_of(evidence.study, rate.annotator)): (
            rate.defects_text,
            rate.estimate.n,
        )
        for rate in rates_for(found, "risk-assessment", "released", application="leaky-toy")
        if rate.estimate and rate.estimate.n == 10
    }


def test_demo_people_before_admission_can_sign_in_and_topics_are_counted(event):
    furnish(event)
    furnish(event)
    kitchen = HostedStudy.objects.get(name="kitchen-and-garden")
    organiser = Client(SERVER_NAME="localhost")
    organiser.force_login(Account.objects.get(name="Omar"))
    page = organiser.get(f"/s/{kitchen.token}/organise/operations/").content.decode()

    assert kitchen.memberships.count() == 4
    assert re.findall(r">(\d of 2)<", page) == ["1 of 2", "0 of 2"]
    assert [door(who) for who in ("hugo", "greta", "omar")] == ["Hugo", "Greta", "Omar"]
    assert door("nils").startswith("/join/")
    accept(Invitation.objects.get(name="Nils"), Account.objects.create_user(name="Niels"))
    assert door("nils") == "Niels"


def door(who: str) -> str:
    """Return the person who signs in at an address, or its redirect for a new visitor."""
    request = RequestFactory().post("/")
    request.session, request.user = SessionStore(), AnonymousUser()
    answer = enter(request, who)
    return answer["Location"] if answer["Location"] != "/" else request.user.name


def test_the_demo_has_people_slots_a_link_and_quotas_and_one_click_opens_the_task(event, client_as):
    furnish(event)
    furnish(event)
    organiser, tester = client_as(Role.ORGANISER), Client(SERVER_NAME="localhost")
    tester.force_login(Account.objects.get(name="Fay"))
    pages = {name: organiser.get(f"/s/{event.token}/organise/{name}/").content.decode() for name in PAGES}

    states = re.findall(r"</a></th><td>[\w ]+ tester</td><td>([^<]+)</td>", pages["people"])
    assert sorted(states) == ["screened", "screened", "screened out"]
    assert {name: word in pages[name] for name, word in PAGES.items()} == dict.fromkeys(PAGES, True)
    assert tester.get(f"/s/{event.token}/test/", follow=True).request["PATH_INFO"].endswith("/consent/")
