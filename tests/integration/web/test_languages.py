"""Testers read pages and study in their language; the stored data are the same in all."""

from __future__ import annotations

import re

import pytest
from django.utils import timezone, translation

from theodolite.domain.dialogue import Level
from theodolite.domain.event import AcknowledgedText, Role
from theodolite.domain.identity import digest
from theodolite.domain.wording import localised
from theodolite.web.accounts.invitations import invitation_path, invite
from theodolite.web.events import event_of, server_store
from theodolite.web.models import Account, DisplaySettings, Invitation, Membership, RecruitLink, Screening

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

GERMAN = {"Accept-Language": "fr;q=0.9, de-AT;q=0.8"}


def field_tester(event) -> Membership:
    return Membership.objects.get(hosted=event, role=Role.FIELD_TESTER.value)


def ticked(page: str) -> dict[str, str]:
    """Return the boxes of a consent page, ticked."""
    return dict(re.findall(r'type="checkbox" name="(\w+)" value="(\w+)"', page))


@pytest.fixture(autouse=True)
def _unscreened(event):
    Screening.objects.filter(membership=field_tester(event)).delete()


def test_the_language_of_the_browser_selects_a_language_of_the_study(event, client_as):
    client = client_as(Role.FIELD_TESTER)
    page = client.get(f"/s/{event.token}/test/screening/", headers=GERMAN, follow=True).content.decode()

    assert '<html lang="de" dir="ltr"' in page
    assert "Vorab einige Fragen" in page
    assert '<legend lang="de" dir="auto">Sind Sie 18 Jahre oder älter?</legend>' in page
    assert '<span lang="de">TV-Spoiler, eine Vorführung</span>' in page


def test_pages_in_arabic_run_from_right_to_left(event, client_as):
    page = client_as(Role.FIELD_TESTER).get(f"/s/{event.token}/test/screening/", headers={"Accept-Language": "ar-EG"})

    assert '<html lang="ar" dir="rtl"' in page.content.decode()
    assert "هل عمرك 18 عاماً أو أكثر؟" in page.content.decode()


def test_other_browsers_get_the_original_language_of_the_study(event, client_as):
    page = client_as(Role.FIELD_TESTER).get(f"/s/{event.token}/test/screening/", headers={"Accept-Language": "fr"})

    assert '<html lang="en" dir="ltr"' in page.content.decode()
    assert "Are you 18 or older?" in page.content.decode()


def test_pages_of_organisers_are_always_in_english(event, client_as):
    page = client_as(Role.ORGANISER).get(f"/s/{event.token}/organise/", headers=GERMAN).content.decode()

    assert '<html lang="en" dir="ltr"' in page
    assert translation.get_language() == "en"


def test_consent_records_the_version_of_the_language_read_and_applies_in_every_language(event, client_as):
    client, way = client_as(Role.FIELD_TESTER), f"/s/{event.token}/test/"
    client.post(f"{way}screening/", {"q1": "yes"}, headers=GERMAN)
    page = client.get(f"{way}consent/", headers=GERMAN).content.decode()
    client.post(f"{way}consent/", ticked(page), headers=GERMAN)
    given = server_store().events.participants.acknowledgements(field_tester(event).participant)
    words = localised(event_of(event).study, "de").study.event.consent

    assert "Warnung vor Inhalten" in page
    assert {one.subject: one.version for one in given}[AcknowledgedText.CONSENT] == digest(words)
    assert client.get(way).headers["Location"].endswith("/profile/")  # in English, and not asked again


def test_the_choice_of_a_person_overrides_the_language_of_the_browser(event, client_as):
    client = client_as(Role.FIELD_TESTER)
    client.post("/display-settings/", {"text_size": "1", "language": "de"})
    page = client.get(f"/s/{event.token}/test/screening/", headers={"Accept-Language": "en"}).content.decode()
    page_of_settings = client.get("/display-settings/").content.decode()

    assert DisplaySettings.objects.get(account=field_tester(event).account).language == "de"
    assert "Vorab einige Fragen" in page
    assert "Anzeigeeinstellungen" in page_of_settings
    assert '<option value="de" selected>Deutsch</option>' in page_of_settings
    assert client.post("/display-settings/", {"text_size": "1", "language": "xx"}).status_code == 422


def test_answers_in_another_language_are_stored_equally(event, client_as):
    client, way, member = client_as(Role.FIELD_TESTER), f"/s/{event.token}/test/", field_tester(event)
    client.post(f"{way}screening/", {"q1": "yes"}, headers=GERMAN)
    client.post(f"{way}consent/", ticked(client.get(f"{way}consent/", headers=GERMAN).content.decode()), headers=GERMAN)
    client.post(f"{way}profile/", {"skip": "yes"}, headers=GERMAN)
    task = client.get(f"{way}1/instructions/", headers=GERMAN).content.decode()
    client.post(
        f"{way}1/instructions/", {"version": re.search(r'name="version" value="(\w+)"', task)[1]}, headers=GERMAN
    )
    chat = client.get(f"{way}1/", headers=GERMAN).content.decode()
    ended = client.post(f"{way}1/end/", {"task": "yes"}, headers=GERMAN)
    sheet = client.get(f"{way}1/questions/1/", headers=GERMAN).content.decode()
    client.post(f"{way}1/questions/1/", {"a:done": "partly", "a:met": "yes", "save": "yes"}, headers=GERMAN)
    (session,) = [
        one
        for one in server_store().events.sessions.of_participant(member.participant)
        if one.level is Level.FIELD_TESTING
    ]
    (given,) = server_store().events.responses.of_session(session.key)

    assert "Ihre Aufgabe: Sie haben die erste Folge" in task
    assert 'data-wait="Warten Sie auf die Antwort, oder halten Sie sie mit Esc an."' in chat
    assert (ended.status_code, 'value="partly"' in sheet, "teilweise" in sheet, 'lang="de"' in sheet) == (302,) + (
        True,
    ) * 3
    assert session.language == "de"
    assert {answer.question: answer.value for answer in given.answers} == {"done": "partly", "met": "yes"}


def test_organisers_can_set_the_language_of_a_person(event, client_as):
    client, way = client_as(Role.ORGANISER), f"/s/{event.token}/organise/"
    people, links = (client.get(f"{way}{page}/").content.decode() for page in ("people", "links"))
    client.post(f"{way}people/invite/", {"role": "field tester", "name": "Omar", "language": "ar"})
    client.post(f"{way}links/", {"kind": "open", "role": "field tester", "most": "5", "language": "de"})

    assert all('<option value="ar">' in page for page in (people, links))
    assert Invitation.objects.get(name="Omar").language == "ar"
    assert RecruitLink.objects.get(language="de").most == 5


def test_an_invitation_can_set_the_language_of_its_guest(event, client_as):
    host = Account.objects.filter(is_host=True).first() or Account.objects.first()
    invitation = invite(host, event, Role.FIELD_TESTER, language="de")
    guest = client_as(None)
    page = guest.get(invitation_path(invitation), headers={"Accept-Language": "en"}).content.decode()
    guest.post(invitation_path(invitation), {"name": "Lena"})

    assert "Ihre Rolle: <strong>Feldtest</strong>" in page
    assert DisplaySettings.objects.get(account__name="Lena").language == "de"
    assert invitation.made_at <= timezone.now()
