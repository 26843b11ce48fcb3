"""Admission: screening, quotas, opening hours, time slots, and the status of people in the pool."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.mail.backends.base import BaseEmailBackend
from django.test import override_settings
from django.utils import timezone

from tests.fakes.tester import ClientVisitor, bot_with
from tests.integration.web.editing import add, change, published
from theodolite.domain.dialogue import Level
from theodolite.domain.event import Role
from theodolite.dry_run.bots import BotProfile, Stuck
from theodolite.store.models.events import LiveTurnRow
from theodolite.web.accounts.invitations import code_path, hand_out_codes
from theodolite.web.models import Account, AuditEntry, Booking, Membership, Screening, TimeSlot

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

OWN = "screening: [{ask: Are you 18 or older?, wanted: yes}]"
"""What the seeded event asks; its testers have been let in already."""

SCREENING = """screening:
  - {ask: Are you 18 or older?, wanted: yes}
  - {ask: Do you work for one of the teams?, wanted: no}"""
YES_NO = {"q1": "yes", "q2": "no"}
LETS_IN = (True, False)


def pool_says(client, event) -> str:
    """Return the state that the page of people shows for the red teamer of the event."""
    page = client.get(f"/s/{event.token}/organise/people/").content.decode()
    return re.search(r"Ravi</a></th><td>red teamer</td><td>([^<]+)</td>", page)[1]


def on(client, event):
    """Return the page of a tester's next step, and its text."""
    answer = client.get(f"/s/{event.token}/test/", follow=True)
    return answer.request["PATH_INFO"].partition("/test/")[2], answer.content.decode()


def walk(client, event, steps: int) -> str:
    """Go some steps as the bot of rehearsals does, where a page leads on; return the page on which one ends."""
    visitor = ClientVisitor(client)
    with suppress(Stuck):
        for _ in range(steps):
            bot_with(visitor, event.token, Level.RED_TEAMING, BotProfile(screening=LETS_IN)).step()
    return on(client, event)[0]


def slot_for(event, *, begins: timedelta, places: int = 1, role: Role = Role.RED_TEAMER) -> TimeSlot:
    start = timezone.now() + begins
    return TimeSlot.objects.create(
        hosted=event, role=role.value, begins=start, ends=start + timedelta(hours=1), places=places
    )


def test_screening_precedes_consent_and_stores_no_answer(own, client_as):
    change(own, OWN, SCREENING)
    published(own)
    tester = client_as(Role.RED_TEAMER)
    where, words = on(tester, own)
    unanswered = tester.post(f"/s/{own.token}/test/screening/", {"q1": "yes"})
    tester.post(f"/s/{own.token}/test/screening/", YES_NO)

    assert (where, "Are you 18 or older?" in words) == ("screening/", True)
    assert unanswered.status_code == 422
    assert on(tester, own)[0] == "consent/"
    assert [one.passed for one in Screening.objects.filter(membership__role="red teamer")] == [True]
    assert pool_says(client_as(Role.ORGANISER), own) == "screened"


def test_a_screened_out_person_is_informed_and_excluded_until_readmitted(own, client_as):
    change(own, OWN, SCREENING)
    published(own)
    tester, organiser = client_as(Role.RED_TEAMER), client_as(Role.ORGANISER)
    tester.post(f"/s/{own.token}/test/screening/", {"q1": "yes", "q2": "yes"})
    again = tester.post(f"/s/{own.token}/test/screening/", YES_NO)
    where, words = on(tester, own)
    member = Membership.objects.get(hosted=own, role="red teamer")

    assert (where, again.status_code) == ("screened-out/", 302)
    assert "has other criteria" in words
    assert pool_says(organiser, own) == "screened out"
    organiser.post(f"/s/{own.token}/organise/people/member/{member.token}/screen/")
    assert on(tester, own)[0] == "screening/"


def test_each_level_and_each_quota_has_its_stated_capacity(own, client_as):
    change(own, "red_teaming:   {people: 6,", "red_teaming:   {people: 2, quotas: {adversarial: 1},")
    published(own)
    codes = hand_out_codes(Account.objects.get(email__startswith="organiser"), own, Role.RED_TEAMER, ["1", "2"])
    first, second, third = (client_as(None) for _ in range(3))
    for client, code in zip((second, third), codes, strict=True):
        client.post("/code/", {"code": code_path(code).split("/")[2]})
    first.force_login(Account.objects.get(name="Ravi"))
    ends = [walk(client, own, 3) for client in (first, second, third)]

    assert ends[0] == "1/"
    assert ends[1:] == ["full/", "full/"]


def test_before_a_level_opens_people_prepare_and_start_no_session(own, client_as):
    add(own, "event: {opens: 2999-03-02T09:00, zone: Europe/Berlin}")
    published(own)
    tester = client_as(Role.RED_TEAMER)
    walk(tester, own, 3)
    where, words = on(tester, own)
    client_as(Role.ORGANISER).post(f"/s/{own.token}/organise/operations/hours/", {"hold": "no"})

    assert (where, "Saturday 2 March 2999, 09:00 (Europe/Berlin)" in words) == ("", True)
    assert walk(tester, own, 1) == "1/"
    assert AuditEntry.objects.filter(verb="suspended schedule").exists()


def test_no_session_starts_after_a_level_has_closed(own, client_as):
    change(own, "people: 6, sessions: 2, minutes: 30", "people: 4, sessions: 2, closes: 2020-01-01T12:00")
    published(own)

    assert "It closed on Wednesday 1 January 2020, 12:00 (UTC)" in on(client_as(Role.RED_TEAMER), own)[1]
    assert on(client_as(Role.FIELD_TESTER), own)[0] == "consent/"


def test_the_remaining_time_ends_at_the_closing_of_the_level(own, client_as):
    soon = (timezone.now() + timedelta(minutes=10)).strftime("%Y-%m-%dT%H:%M")
    add(own, f"event: {{closes: {soon}}}")
    published(own)
    tester = client_as(Role.RED_TEAMER)

    assert walk(tester, own, 3) == "1/"
    assert re.search(r"(9|10) min left", on(tester, own)[1])


def test_a_time_slot_can_be_chosen_awaited_and_changed(event, client_as):
    soon, later = slot_for(event, begins=timedelta(hours=1)), slot_for(event, begins=timedelta(hours=2))
    tester = client_as(Role.RED_TEAMER)

    assert walk(tester, event, 2) == "time-slot/"
    tester.post(f"/s/{event.token}/test/time-slot/", {"slot": soon.token})
    assert "Your time slot is" in on(tester, event)[1]
    tester.post(f"/s/{event.token}/test/time-slot/", {"slot": later.token})
    assert Booking.objects.get().slot == later
    TimeSlot.objects.filter(pk=later.pk).update(begins=timezone.now() - timedelta(minutes=1))
    assert walk(tester, event, 1) == "1/"


def test_a_time_slot_has_a_capacity_and_a_missed_one_can_be_chosen_again(event, client_as):
    slot = slot_for(event, begins=timedelta(hours=1))
    organiser, full = client_as(Role.ORGANISER), client_as(Role.RED_TEAMER)
    hand_out_codes(Account.objects.get(name="Olga"), event, Role.RED_TEAMER, ["1"])
    ravi = Membership.objects.get(hosted=event, account__name="Ravi")
    other = Membership.objects.get(hosted=event, account__name="Seat 1")
    for one in (other, ravi):
        organiser.post(f"/s/{event.token}/organise/people/member/{one.token}/book/", {"slot": slot.token})
    walk(full, event, 2)
    refused = full.post(f"/s/{event.token}/test/time-slot/", {"slot": slot.token})

    assert [one.membership for one in Booking.objects.all()] == [other]
    assert (refused.status_code, b"this time is fully booked" in refused.content) == (409, True)


def test_organisers_create_time_slots_in_the_time_zone_of_the_event(own, client_as):
    add(own, "event: {zone: Europe/Berlin}")
    published(own)
    organiser, page = client_as(Role.ORGANISER), f"/s/{own.token}/organise/slots/"
    slots = {"role": "field tester", "begins": "2999-07-01T09:00", "minutes": 60, "places": 5, "n": 3, "where": "B 12"}
    organiser.post(page, slots)
    begins = [one.begins for one in TimeSlot.objects.all()]
    organiser.post(f"{page}{TimeSlot.objects.first().token}/remove/")

    assert begins == [datetime(2999, 7, 1, hour, tzinfo=UTC) for hour in (7, 8, 9)]
    assert organiser.post(page, {**slots, "begins": "2001-01-01T00:00"}).status_code == 422
    assert TimeSlot.objects.count() == 2
    assert "10:00 to 11:00 (Europe/Berlin)" in organiser.get(page).content.decode()


def test_the_pool_goes_through_all_its_states(event, client_as):
    organiser, tester = client_as(Role.ORGANISER), client_as(Role.RED_TEAMER)
    hand_out_codes(Account.objects.get(name="Olga"), event, Role.RED_TEAMER, ["7"])
    states = [pool_says(organiser, event)]
    for _ in range(3):
        walk(tester, event, 1)
        states.append(pool_says(organiser, event))
    tester.post(f"/s/{event.token}/test/leave/", {"what": "remove"})

    assert states == ["screened", "consented", "consented", "active"]
    assert pool_says(organiser, event) == "withdrawn"
    assert (
        "Seat 7</a></th><td>red teamer</td><td>invited"
        in organiser.get(f"/s/{event.token}/organise/people/").content.decode()
    )


def test_reminders_contain_a_link_to_continue(event, client_as):
    organiser = client_as(Role.ORGANISER)
    (code,) = hand_out_codes(Account.objects.get(name="Olga"), event, Role.RED_TEAMER, ["7"])
    page = organiser.post(f"/s/{event.token}/organise/people/remind/", follow=True).content.decode()

    assert "3 have no e-mail address: their links are below." in page
    assert code_path(code) in page
    assert AuditEntry.objects.filter(verb="reminded all", facts={"n": 3, "sent": 0}).exists()


@override_settings(SENDS_MAIL=True, EMAIL_BACKEND="django.core.mail.backends.locmem.EmailBackend")
def test_reminders_are_mailed_if_a_server_is_configured(event, client_as):
    mail.outbox = []
    member = Membership.objects.get(hosted=event, account__name="Ravi")
    client_as(Role.ORGANISER).post(f"/s/{event.token}/organise/people/member/{member.token}/remind/")
    member.refresh_from_db()

    assert [one.to for one in mail.outbox] == [["red-teamer@demo.invalid"]]
    assert f"/s/{event.token}/test/" in mail.outbox[0].body
    assert member.reminded_at is not None


@override_settings(SENDS_MAIL=True, EMAIL_BACKEND=f"{__name__}.Silent")
def test_an_unresponsive_mail_server_is_awaited_once(event, client_as):
    organiser, Silent.n_asked = client_as(Role.ORGANISER), 0
    rows = SimpleUploadedFile(
        "people.csv", b"email,name,role\na@example.org,A,red teamer\nb@example.org,B,red teamer\n"
    )
    asked = organiser.post(
        f"/s/{event.token}/organise/people/invite-list/", {"list": rows}, follow=True
    ).content.decode()
    n_asked = Silent.n_asked
    organiser.post(f"/s/{event.token}/organise/people/remind/")

    assert "2 invited, 0 by e-mail." in asked
    assert (n_asked, Silent.n_asked) == (1, 2)


class Silent(BaseEmailBackend):
    """A mail server that accepts connections and never responds."""

    n_asked = 0

    def open(self):
        Silent.n_asked += 1
        raise TimeoutError


def test_a_removed_person_has_no_access_and_their_turns_are_kept(event, client_as):
    organiser, tester = client_as(Role.ORGANISER), client_as(Role.RED_TEAMER)
    walk(tester, event, 3)
    member = Membership.objects.get(hosted=event, account__name="Ravi")
    organiser.post(f"/s/{event.token}/organise/people/member/{member.token}/take-out/")
    olga = Membership.objects.get(hosted=event, role=Role.ORGANISER.value)
    organiser.post(f"/s/{event.token}/organise/people/member/{olga.token}/take-out/")

    assert tester.get(f"/s/{event.token}/test/").status_code == 404
    assert pool_says(organiser, event) == "left"
    assert organiser.get(f"/s/{event.token}/organise/").status_code == 200


def words_in(event) -> list[str]:
    """Return the turns of the event's red teamer, whoever they are linked to now."""
    return [one.prompt for one in LiveTurnRow.objects.filter(prompt__startswith="Hello, I am")]


@pytest.mark.parametrize(("wish", "kept"), [("remove", []), ("anonymise", ["Hello, I am " + 13 * "\N{BULLET}"])])
def test_organisers_can_withdraw_data_for_a_person_who_has_left(event, client_as, wish, kept):
    tester, organiser = client_as(Role.RED_TEAMER), client_as(Role.ORGANISER)
    walk(tester, event, 3)
    tester.post(f"/s/{event.token}/test/1/1/say/", {"text": "Hello, I am r@example.org", "number": "1"})
    said = words_in(event)
    tester.post(f"/s/{event.token}/test/leave/", {"what": "keep"})
    member = Membership.objects.get(hosted=event, role="red teamer")
    page = f"/s/{event.token}/organise/people/member/{member.token}/take-back/"
    told = organiser.post(page, {"wish": wish}, follow=True).content.decode()

    assert "Data withdrawn: 1 dialogue" in told
    assert (said, words_in(event)) == (["Hello, I am r@example.org"], kept)
    assert Membership.objects.get(pk=member.pk).participant != member.participant
    assert pool_says(organiser, event) == "withdrawn"


def test_a_second_or_empty_withdrawal_is_refused(event, client_as):
    organiser = client_as(Role.ORGANISER)
    for role, wish in ((Role.ANNOTATOR, "remove"), (Role.RED_TEAMER, "everything")):
        member = Membership.objects.get(hosted=event, role=role.value)
        page = f"/s/{event.token}/organise/people/member/{member.token}/take-back/"
        assert "nothing was withdrawn" in organiser.post(page, {"wish": wish}, follow=True).content.decode()

    assert not Membership.objects.filter(withdrew=True).exists()
