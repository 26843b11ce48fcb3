"""Organisers: approval before testers, people by link, list and access code, pauses that stop clocks."""

from __future__ import annotations

import asyncio
import re
from datetime import date, timedelta
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from tests.fakes.annotated_event import participant_of, queue_token, submitted
from tests.fakes.event import exchange
from theodolite.annotation import agreement
from theodolite.annotation.assignment import offer
from theodolite.domain.dialogue import Level, TurnState
from theodolite.domain.event import Role
from theodolite.domain.live import LiveEnding
from theodolite.domain.session import Pauser, SessionState
from theodolite.events.chat import finish_turn, send_prompt
from theodolite.events.sessions import prepare_session, start_session
from theodolite.store.models.annotating import ReservationRow, WorkItemRow
from theodolite.store.models.events import LiveTurnRow
from theodolite.web.events import event_of
from theodolite.web.models import AuditEntry, EthicsApproval, HostedStudy, Invitation, Membership, PersonalCode
from theodolite.web.organiser.dashboard import refresh_agreement
from theodolite.web.organiser.people import read_list

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
    context = event_of(event)
    session = prepare_session(context, tester.participant, Level.RED_TEAMING, 0)
    return start_session(context, session.key)


def again(event, session):
    return event_of(event).store.events.sessions.get(session.key)


def test_without_an_approval_no_tester_is_invited(event, organiser, at):
    EthicsApproval.objects.all().delete()
    many = {"list": csv("email,name,role\nana@example.org,Ana,field tester\n")}
    answers = [
        organiser.post(f"{at}people/invite/", {"role": "red teamer", "name": "Ana"}),
        organiser.post(f"{at}people/invite-list/", many),
        organiser.post(f"{at}people/access-codes/new/", {"role": "field tester", "n": 3, "first": 1}),
    ]

    assert [answer.status_code for answer in answers] == [422, 422, 422]
    assert all(b"ethics approval first" in answer.content for answer in answers)
    assert not Invitation.objects.exists()
    assert not PersonalCode.objects.exists()


def test_annotators_are_invited_without_an_approval(event, organiser, at):
    EthicsApproval.objects.all().delete()
    organiser.post(f"{at}people/invite/", {"role": "annotator", "name": "Ana"})

    assert Invitation.objects.get().role == "annotator"


def test_an_expired_approval_is_invalid(event, organiser, at):
    EthicsApproval.objects.all().delete()
    organiser.post(f"{at}ethics/", {"body": "Board", "number": "7", "granted": "2020-01-01", "expires": "2020-12-31"})
    refused = organiser.post(f"{at}people/invite/", {"role": "red teamer"})
    backwards = {"body": "Board", "number": "8", "granted": "2026-02-01", "expires": "2026-01-01"}

    assert refused.status_code == 422
    assert organiser.post(f"{at}ethics/", backwards).status_code == 422
    assert [one.holds(date(2020, 6, 1)) for one in EthicsApproval.objects.all()] == [True]


def test_a_list_is_imported_completely_or_not_at_all(event, organiser, at):
    bad = csv("email;role\nana@example.org;red teamer\nnobody;wizard\nana@example.org;red teamer\n")
    refused = organiser.post(f"{at}people/invite-list/", {"list": bad}).content.decode()
    taken = organiser.post(
        f"{at}people/invite-list/", {"list": csv("Email,Name,Role\nana@example.org,Ana,red teamer\n")}
    )

    assert "Line 3: “nobody” is not an e-mail address." in refused
    assert "Line 3: “wizard” is not a role" in refused
    assert "is already in line 2" in refused
    assert taken.status_code == 302
    assert Invitation.objects.get().email == "ana@example.org"


@pytest.mark.parametrize(
    ("raw", "fault"), [(b"\xff\xfe\x00", "not UTF-8"), (b"", "got nothing"), (b"name\nAna\n", "expected the columns")]
)
def test_a_file_that_is_no_list_is_reported(raw, fault):
    assert fault in read_list(raw)[1][0]


def test_printed_access_codes_show_code_qr_code_and_slot(event, organiser, at):
    organiser.post(f"{at}people/access-codes/new/", {"role": "field tester", "n": 2, "first": 7})
    page = organiser.get(f"{at}people/access-codes/").content.decode()

    assert page.count("data:image/svg+xml;base64,") == 2
    assert "Seat 7" in page
    assert "Seat 8" in page


def test_a_pause_stops_all_clocks_and_states_its_reason(event, organiser, at):
    session = begun_session(event)
    organiser.post(f"{at}operations/pause/", PAUSE)
    paused = again(event, session)
    event.refresh_from_db()
    organiser.post(f"{at}operations/resume/")

    assert paused.clock.pausers == {Pauser.ORGANISER}
    assert (event.state, event.message) == ("paused", PAUSE["message"])
    assert again(event, session).clock.pausers == set()
    assert HostedStudy.objects.get(pk=event.pk).state == "open"


def test_one_application_can_be_paused(event, organiser, at):
    session = begun_session(event)
    names = [one.name for one in event_of(event).study.applications]
    other = next(name for name in names if name != session.application)

    organiser.post(f"{at}operations/pause-application/", {"application": other, "rest": "yes"})
    assert again(event, session).clock.pausers == set()
    for _ in range(2):  # two organisers press it at the same moment
        organiser.post(f"{at}operations/pause-application/", {"application": session.application, "rest": "yes"})
    assert again(event, session).clock.pausers == {Pauser.ORGANISER}
    organiser.post(f"{at}operations/resume/")
    assert again(event, session).clock.pausers == {Pauser.ORGANISER}
    organiser.post(f"{at}operations/pause-application/", {"application": session.application, "rest": "no"})
    assert again(event, session).clock.pausers == set()


def test_operations_show_cells_and_sessions_and_are_written_to_the_log(event, organiser, at):
    begun_session(event)
    page = organiser.get(f"{at}operations/").content.decode()
    organiser.post(f"{at}operations/pause/", PAUSE)

    assert "<dt>Active sessions</dt><dd>1</dd>" in page
    assert "Ravi" in page
    assert AuditEntry.objects.filter(verb="set event paused").exists()


def test_closing_an_event_ends_sessions_and_keeps_their_turns(event, organiser, at):
    session = begun_session(event)
    exchange(event_of(event), session)
    organiser.post(f"{at}operations/close/")

    assert again(event, session).state is SessionState.COMPLETE
    held = event_of(event).store.events.dialogues.summaries(event.name)
    assert [one.unit != "" for one in held if one.session.key == session.key] == [True]
    assert AuditEntry.objects.filter(verb="ended sessions", facts={"n": 1}).exists()


def test_the_pool_shows_the_status_of_all_people(event, organiser, at):
    begun_session(event)
    page = organiser.get(f"{at}people/").content.decode()

    assert "Ravi" in page
    assert "0 of" in page


def in_state(event, state: str) -> None:
    HostedStudy.objects.filter(pk=event.pk).update(state=state)


def test_an_event_opens_only_with_the_required_information_for_people(own, organiser, at):
    in_state(own, "published")
    EthicsApproval.objects.all().delete()
    (Path(own.folder) / "consent.md").write_text("I agree with [name].", encoding="utf-8")
    refused = organiser.post(f"{at}operations/resume/", follow=True).content.decode()
    state = HostedStudy.objects.get().state

    assert state == "published"
    assert "Not opened: no valid ethics approval; the consent text: placeholders to complete" in refused
    assert (f"{at}ethics/" in refused, f"{at}editions/" in refused) == (True, True)
    assert "Open the event" not in refused


def test_a_complete_event_opens(event, organiser, at):
    in_state(event, "closed")
    assert b"Open the event" in organiser.get(f"{at}operations/").content

    organiser.post(f"{at}operations/resume/")

    assert HostedStudy.objects.get().state == "open"


def test_sessions_that_expired_during_a_pause_end_with_it(event, organiser, at):
    in_state(event, "paused")
    EthicsApproval.objects.all().delete()

    organiser.post(f"{at}operations/resume/")

    assert HostedStudy.objects.get().state == "open"


def test_operations_show_the_cause_of_errors_and_testers_do_not_see_it(event, organiser, at, client_as):
    session = begun_session(event)
    context = event_of(event)
    turn, _ = send_prompt(context, session.key, "Hello?")
    finish_turn(
        context, turn.key, LiveEnding(state=TurnState.ERROR, text="", cause="teller at tellers.example has no power")
    )
    page = organiser.get(f"{at}operations/").content.decode()
    sheet = client_as(Role.RED_TEAMER).get(f"/s/{event.token}/test/1/").content.decode()

    assert "teller at tellers.example has no power" in page
    assert "1 failed</dd>" in page
    assert "tellers.example" not in sheet


def test_a_missing_reply_is_shown_at_its_session(event, organiser, at):
    session = begun_session(event)
    turn, _ = send_prompt(event_of(event), session.key, "Hello?")
    LiveTurnRow.objects.filter(key=turn.key).update(asked=timezone.now() - timedelta(seconds=45))
    page = organiser.get(f"{at}operations/").content.decode()

    assert "stuck: waiting for a reply for 45 s" in page
    assert "1 in progress, 1 stuck" in page
    assert "waits for a reply for 45 s; session 1" in page


def test_an_inactive_annotator_is_listed_and_the_cost_of_judges_is_shown(event, organiser, at):
    annotator = event.memberships.filter(role=Role.ANNOTATOR.value).first()
    queue = queue_token(event)
    taken = ReservationRow.objects.filter(participant__key=annotator.participant).values("item_id")
    item = WorkItemRow.objects.filter(queue__token=queue).exclude(id__in=taken).first()
    offer(queue, [(item.dialogue.unit.key, item.category)], annotator.participant)
    offered = ReservationRow.objects.filter(item=item, participant__key=annotator.participant)
    offered.update(created=timezone.now() - timedelta(days=3, minutes=1))
    page = organiser.get(f"{at}operations/").content.decode()

    assert "has saved no answer for 3 days; 1 dialogue offered" in page
    assert reverse("organiser:act_on_person", args=[event.token, annotator.token, "remind"]) in page
    assert re.search(r"<dd class=\"extra\">judges \$0.00, \d+ calls", page)


@pytest.mark.parametrize(
    ("state", "approved", "decided", "next_one"),
    [
        ("draft", True, False, "decide on"),
        ("draft", True, True, "publish them as the first version"),
        ("published", False, True, "no ethics approval is valid"),
        ("published", True, True, "open the event"),
        ("open", True, True, "the event is open"),
        ("paused", True, False, "the event is paused"),
        ("closed", True, True, "measure its dialogues"),
    ],
)
def test_the_first_page_shows_the_next_step(event, organiser, at, state, approved, decided, next_one):
    HostedStudy.objects.filter(pk=event.pk).update(state=state)
    if not approved:
        EthicsApproval.objects.all().delete()
    if decided:
        event.submissions.filter(state="submitted").update(state="returned")

    assert next_one in organiser.get(at).content.decode().lower()


def test_the_first_page_of_each_role_starts_with_one_sentence_and_one_button(event, client_as):
    paths = (
        (Role.SENIOR, "review/"),
        (Role.ANNOTATOR, "annotate/"),
        (Role.TEAM, "team/"),
        (Role.ANALYST, "organise/results/"),
        (Role.ANALYST, "organise/results/?next=yes"),
    )
    for role, path in paths:
        page = client_as(role).get(f"/s/{event.token}/{path}").content.decode()
        (card,) = re.findall('<section class="note next.*?</section>', page)

        assert re.search(r"<strong>Next step:</strong> [^<]+\.</span>", card), role
        assert len(re.findall(">([^<]+)</(?:a|button)>", card)) == 1, role


def test_the_number_of_queries_of_the_first_page_is_constant(event, organiser, at):
    organiser.get(at)  # opens the context
    few = _queries(organiser, at)
    organiser.post(f"{at}people/access-codes/new/", {"role": "field tester", "n": 30, "first": 1})

    assert _queries(organiser, at) == few
    assert "30 invited" in organiser.get(at).content.decode()


def test_pasted_lines_invite_all_people_or_none_and_their_links_are_a_file(event, organiser, at):
    bad = {
        "role": "red teamer",
        "addresses": "ana@example.org, ben@example.org\n\nJo, Ann <ann@example.org>\nANA@example.org",
    }
    refused = organiser.post(f"{at}people/invite-list/", bad).content.decode()
    before = Invitation.objects.count()
    good = {"role": "red teamer", "addresses": "Ana <ana@example.org>, ben@example.org;\n=Cleo"}
    organiser.post(f"{at}people/invite-list/", good)
    page, file = (organiser.get(f"{at}people/{end}") for end in ("", "links.csv"))
    rows = file.content.decode().splitlines()

    assert "Line 3: “Jo, Ann &lt;ann@example.org&gt;” is not an e-mail address" in refused
    assert "Line 4: ANA@example.org is already in line 1." in refused
    assert before == 0
    assert {one.name or one.email for one in Invitation.objects.all()} == {"Ana", "ben@example.org", "=Cleo"}
    assert rows[0] == "name,email,role,status,link"
    assert [row.partition(",")[0] for row in rows[1:4]] == ["'=Cleo", "", "Ana"]
    assert page.content.decode().count("/join/") == 2 * 3  # each link in its row, and in the text of all


def test_the_number_of_queries_of_the_live_dashboard_is_constant(event, organiser, at):
    organiser.get(f"{at}operations/")  # opens the context
    few = _queries(organiser, f"{at}operations/?part=live")
    organiser.post(f"{at}people/access-codes/new/", {"role": "field tester", "n": 30, "first": 1})
    Membership.objects.update(joined_at=timezone.now() - timedelta(days=3))
    session = begun_session(event)
    exchange(event_of(event), session)
    part, page = (organiser.get(f"{at}operations/{query}").content.decode() for query in ("?part=live&tables=yes", ""))

    assert "<html" not in part
    assert "has not continued for 3 days" in part
    assert "95% interval" in part
    assert part.count("<tbody>") == page.count("<tbody>") + 1
    assert _queries(organiser, f"{at}operations/?part=live") <= few + 1
    assert few <= 40


def test_a_request_uses_the_agreement_computed_for_open_dashboards(event, organiser, at, monkeypatch):
    organiser.get(f"{at}operations/")
    computed = []
    monkeypatch.setattr(agreement, "agreement_per_day", lambda *_: computed.append(1) or ())
    submitted(event, participant_of(event))
    organiser.get(f"{at}operations/?part=live")
    assert computed == []

    for _ in range(2):  # the answers change once
        asyncio.run(refresh_agreement())
    assert computed == [1]


def test_a_message_to_one_tester_starts_from_the_dashboard(event, organiser, at):
    member = Membership.objects.get(hosted=event, role=Role.RED_TEAMER.value)
    page = organiser.get(f"{at}messages/?to={member.token}").content.decode()

    assert f"Message to {member.account}" in page
    assert organiser.get(f"{at}messages/?to=nobody").status_code == 404


def test_a_bulk_action_applies_to_all_selected_people_and_names_exceptions(event, organiser, at, client_as):
    people = {
        role: event.memberships.filter(role=role.value, left_at=None).first() for role in (Role.TEAM, Role.FIELD_TESTER)
    }
    tokens = [person.token for person in people.values()]
    again = organiser.post(f"{at}people/selected/", {"act": "screen", "person": tokens}, follow=True).content.decode()
    sure = organiser.post(f"{at}people/selected/", {"act": "take-out", "person": tokens}).content.decode()
    before = event.memberships.filter(left_at=None).count()
    organiser.post(f"{at}people/selected/", {"act": "take-out", "person": tokens, "sure": "yes"})

    assert "Screening repeated: 1 person." in again
    assert f"Not done for {people[Role.TEAM].account}: only testers are screened." in again
    assert "Remove 2 people?" in sure
    assert before - event.memberships.filter(left_at=None).count() == 2
    assert (
        "No person is selected"
        in organiser.post(f"{at}people/selected/", {"act": "screen"}, follow=True).content.decode()
    )
    assert organiser.post(f"{at}people/selected/", {"act": "dance", "person": tokens}).status_code == 404
    assert client_as(Role.ANALYST).post(f"{at}people/selected/", {"act": "screen"}).status_code == 404


def test_selected_invitations_are_revoked_at_once_and_people_filtered_by_role(event, organiser, at):
    lines = "Ana <ana@example.org>\nBo <bo@example.org>\nCy <cy@example.org>"
    organiser.post(f"{at}people/invite-list/", {"role": "annotator", "addresses": lines})
    made = list(Invitation.objects.filter(hosted=event, email__in=["ana@example.org", "bo@example.org"]))
    chosen = {"act": "revoke", "invitation": [one.token for one in made]}
    page = organiser.post(f"{at}people/invitations/", chosen, follow=True).content.decode()
    annotators = organiser.get(f"{at}people/?role=annotator").content.decode()

    assert "2 invitations revoked." in page
    assert "Cy" in page
    assert "Link for Ana" not in page
    assert all(', annotator"' in box for box in re.findall('name="person"[^>]*>', annotators))


def test_people_are_shown_by_state(event, organiser, at):
    organiser.post(f"{at}people/access-codes/new/", {"role": "field tester", "n": 2, "first": 1})
    page = organiser.get(f"{at}people/?state=invited").content.decode()

    assert "2 people: testers, invited" in page
    assert ">Ravi<" not in page


def test_only_open_events_can_be_paused(event, organiser, at):
    organiser.post(f"{at}operations/close/")
    organiser.post(f"{at}operations/pause/", PAUSE)

    assert HostedStudy.objects.get(pk=event.pk).state == "closed"


def _queries(client, page) -> int:
    with CaptureQueriesContext(connection) as asked:
        client.get(page)
    return len(asked)
