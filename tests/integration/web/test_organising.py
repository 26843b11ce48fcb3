"""Organisers: approval before testers, people by link, list and slip, pauses in which clocks stand still."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from tests.fakes.venue import exchange
from theodolite.domain.dialogue import Level
from theodolite.domain.role import Role
from theodolite.domain.session import Pauser, SessionState
from theodolite.usecases.people.sitting import begin_session, prepare_session
from theodolite.web.models import AuditEntry, EthicsApproval, HostedStudy, Invitation, Membership, PersonalCode
from theodolite.web.organiser.people import read_list
from theodolite.web.venues import venue_of

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

PAUSE = {"message": "Lunch until 13:00; your clocks stand still"}


@pytest.fixture
def organiser(event, client_as):
    return client_as(Role.ORGANISER)


@pytest.fixture
def at(event):
    return f"/s/{event.token}/organise/"


def csv(text: str) -> SimpleUploadedFile:
    return SimpleUploadedFile("people.csv", text.encode())


def begun_session(event):
    tester = Membership.objects.get(hosted=event, role=Role.RED_TEAMER.value)
    venue = venue_of(event)
    session = prepare_session(venue, tester.participant, Level.RED_TEAMING, 0)
    return begin_session(venue, session.key)


def again(event, session):
    return venue_of(event).store.session(session.key)


def test_without_an_approval_no_tester_is_asked_in(event, organiser, at):
    EthicsApproval.objects.all().delete()
    many = {"list": csv("email,name,role\nana@example.org,Ana,field tester\n")}
    answers = [
        organiser.post(f"{at}people/ask/", {"role": "red teamer", "name": "Ana"}),
        organiser.post(f"{at}people/list/", many),
        organiser.post(f"{at}people/slips/new/", {"role": "field tester", "n": 3, "first": 1}),
    ]

    assert [answer.status_code for answer in answers] == [422, 422, 422]
    assert all(b"ethics approval first" in answer.content for answer in answers)
    assert not Invitation.objects.exists()
    assert not PersonalCode.objects.exists()


def test_annotators_are_asked_in_without_one(event, organiser, at):
    EthicsApproval.objects.all().delete()
    organiser.post(f"{at}people/ask/", {"role": "annotator", "name": "Ana"})

    assert Invitation.objects.get().role == "annotator"


def test_an_approval_that_has_ended_holds_no_longer(event, organiser, at):
    EthicsApproval.objects.all().delete()
    organiser.post(f"{at}ethics/", {"body": "Board", "number": "7", "granted": "2020-01-01", "expires": "2020-12-31"})
    refused = organiser.post(f"{at}people/ask/", {"role": "red teamer"})
    backwards = {"body": "Board", "number": "8", "granted": "2026-02-01", "expires": "2026-01-01"}

    assert refused.status_code == 422
    assert organiser.post(f"{at}ethics/", backwards).status_code == 422
    assert [one.holds(date(2020, 6, 1)) for one in EthicsApproval.objects.all()] == [True]


def test_a_list_is_taken_whole_or_not_at_all(event, organiser, at):
    bad = csv("email;role\nana@example.org;red teamer\nnobody;wizard\nana@example.org;red teamer\n")
    refused = organiser.post(f"{at}people/list/", {"list": bad}).content.decode()
    taken = organiser.post(f"{at}people/list/", {"list": csv("Email,Name,Role\nana@example.org,Ana,red teamer\n")})

    assert "Line 3: `nobody` is no e-mail address." in refused.replace("&#x27;", "'")
    assert "Line 3: `wizard` is no role" in refused
    assert "stands in line 2 already" in refused
    assert taken.status_code == 302
    assert Invitation.objects.get().email == "ana@example.org"


@pytest.mark.parametrize(
    ("raw", "fault"), [(b"\xff\xfe\x00", "not UTF-8"), (b"", "got nothing"), (b"name\nAna\n", "expected the columns")]
)
def test_what_is_no_list_is_said(raw, fault):
    assert fault in read_list(raw)[1][0]


def test_slips_carry_code_square_and_seat(event, organiser, at):
    organiser.post(f"{at}people/slips/new/", {"role": "field tester", "n": 2, "first": 7})
    page = organiser.get(f"{at}people/slips/").content.decode()

    assert page.count("data:image/svg+xml;base64,") == 2
    assert "seat 7" in page
    assert "seat 8" in page


def test_a_pause_stops_the_clocks_of_everybody_and_says_why(event, organiser, at):
    session = begun_session(event)
    organiser.post(f"{at}operations/pause/", PAUSE)
    paused = again(event, session)
    event.refresh_from_db()
    organiser.post(f"{at}operations/go-on/")

    assert paused.clock.pausers == {Pauser.ORGANISER}
    assert (event.state, event.message) == ("paused", PAUSE["message"])
    assert again(event, session).clock.pausers == set()
    assert HostedStudy.objects.get(pk=event.pk).state == "open"


def test_an_application_rests_alone(event, organiser, at):
    session = begun_session(event)
    names = [one.name for one in venue_of(event).study.applications]
    other = next(name for name in names if name != session.application)

    organiser.post(f"{at}operations/rest/", {"application": other})
    assert again(event, session).clock.pausers == set()
    organiser.post(f"{at}operations/rest/", {"application": session.application})
    assert again(event, session).clock.pausers == {Pauser.ORGANISER}
    organiser.post(f"{at}operations/go-on/")
    assert again(event, session).clock.pausers == {Pauser.ORGANISER}
    organiser.post(f"{at}operations/rest/", {"application": session.application})
    assert again(event, session).clock.pausers == set()


def test_operations_show_cells_and_sessions_and_are_written_to_the_log(event, organiser, at):
    begun_session(event)
    page = organiser.get(f"{at}operations/").content.decode()
    organiser.post(f"{at}operations/pause/", PAUSE)

    assert "1 session going on" in page
    assert "Ravi" in page
    assert AuditEntry.objects.filter(verb="set event paused").exists()


def test_closing_ends_sessions_with_what_was_said_in_them(event, organiser, at):
    session = begun_session(event)
    exchange(venue_of(event), session)
    organiser.post(f"{at}operations/close/")

    assert again(event, session).state is SessionState.COMPLETE
    held = venue_of(event).store.held(event.name)
    assert [one.unit != "" for one in held if one.session.key == session.key] == [True]
    assert AuditEntry.objects.filter(verb="ended sessions", facts={"n": 1}).exists()


def test_the_pool_says_where_everybody_stands(event, organiser, at):
    begun_session(event)
    page = organiser.get(f"{at}people/").content.decode()

    assert "Ravi" in page
    assert "0 of" in page


def in_state(event, state: str) -> None:
    HostedStudy.objects.filter(pk=event.pk).update(state=state)


def test_an_event_opens_with_what_people_must_be_told_and_not_before(own, organiser, at):
    in_state(own, "published")
    EthicsApproval.objects.all().delete()
    (Path(own.folder) / "consent.md").write_text("I agree with [name].", encoding="utf-8")
    refused = organiser.post(f"{at}operations/go-on/", follow=True).content.decode()
    state = HostedStudy.objects.get().state

    assert state == "published"
    assert "Not opened: no ethics approval holds today; the consent text: places still to be filled in" in refused
    assert (f"{at}ethics/" in refused, f"{at}editions/" in refused) == (True, True)
    assert "Open the event" not in refused


def test_an_event_that_lacks_nothing_opens(event, organiser, at):
    in_state(event, "closed")
    assert b"Open the event" in organiser.get(f"{at}operations/").content

    organiser.post(f"{at}operations/go-on/")

    assert HostedStudy.objects.get().state == "open"


def test_a_pause_ends_whatever_has_run_out_meanwhile(event, organiser, at):
    in_state(event, "paused")
    EthicsApproval.objects.all().delete()

    organiser.post(f"{at}operations/go-on/")

    assert HostedStudy.objects.get().state == "open"
