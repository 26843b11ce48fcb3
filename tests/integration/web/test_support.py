"""Testers ask the organisers for help, and organisers answer and send messages to all testers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from tests.browser_pages import assert_accessible, load_by_click
from tests.integration.web.conftest import demo_server
from theodolite.domain.event import Role
from theodolite.web.models import AuditEntry, EventMessage, Membership
from theodolite.web.support import LONGEST_MESSAGE, MOST_QUESTIONS, latest_for, n_open_questions

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, seeded_copy: Callable[[Path], Path]) -> Iterator[str]:
    """Address of a server for this file: its tests start a session that other tests need unstarted."""
    with demo_server(seeded_copy(tmp_path_factory.mktemp("support"))) as address:
        yield address


@pytest.fixture
def tester(event, client_as):
    """A field tester, with the address of the help page."""
    return client_as(Role.FIELD_TESTER), reverse("tester:help", args=[event.token])


@pytest.fixture
def organiser(event, client_as):
    """An organiser, with the address of the messages."""
    return client_as(Role.ORGANISER), reverse("organiser:messages", args=[event.token])


def membership_of(event, role=Role.FIELD_TESTER):
    return Membership.objects.filter(hosted=event, role=role.value).order_by("id")[0]


def badge(page, section):
    """Return the amount of waiting work in the sidebar's entry of a section, as it is read aloud; empty for none."""
    found = re.search(rf'title="{section}">.*?<span>{section}</span>(.*?)</a>', page, re.DOTALL)
    assert found, section
    text = re.sub(r"<[^>]*>", "", found[1]).strip()
    assert not text or text.endswith(" waiting")
    return text.removesuffix(" waiting")


@pytest.mark.browser
def test_seniors_see_how_many_disputes_questions_and_cases_wait(page_as):
    page = page_as(Role.SENIOR, bypass_csp=True)

    for section, n in {"Home": 6, "Questions": 1, "Sensitive content": 1}.items():
        link = page.get_by_role("navigation", name="Pages").get_by_role("link", name=f"{section} {n} waiting")
        expect(link).to_be_visible()
    expect(page.get_by_title("Agreement")).to_have_text("Agreement")
    assert_accessible(page)


def asked(tester, text="The page shows an error."):
    client, address = tester
    return client.post(address, {"text": text})


def test_a_question_reaches_the_organisers_and_its_answer_the_tester(event, tester, organiser):
    assert asked(tester).status_code == 302
    client, address = organiser
    page = client.get(address).content.decode()
    token = membership_of(event).token
    assert "The page shows an error." in page
    assert n_open_questions(event) == 1
    assert badge(page, "Event") == "1"
    client.post(address, {"member": token, "text": "Reload the page."})

    assert n_open_questions(event) == 0
    assert badge(client.get(address).content.decode(), "Event") == ""
    assert "Reload the page." in tester[0].get(tester[1]).content.decode()
    assert latest_for(membership_of(event)).text == "Reload the page."
    assert latest_for(membership_of(event, Role.RED_TEAMER)) is None


def test_a_message_to_all_testers_reaches_each_of_them_and_is_in_the_audit_log(event, tester, organiser):
    client, address = organiser
    client.post(address, {"text": "Lunch is at noon."})
    testers = [membership_of(event, role) for role in (Role.FIELD_TESTER, Role.RED_TEAMER)]
    entry = AuditEntry.objects.filter(hosted=event).first()

    assert [latest_for(one).text for one in testers] == ["Lunch is at noon."] * 2
    assert (entry.verb, entry.subject) == ("sent a message to all testers", f"study {event.token}")
    assert entry.actor == membership_of(event, Role.ORGANISER).account.token
    assert "Lunch" not in str(entry.facts)


@pytest.mark.parametrize("text", ["", "  ", "x" * (LONGEST_MESSAGE + 1)], ids=["empty", "blank", "too long"])
def test_a_question_without_text_or_with_too_much_is_refused_and_its_text_stays(tester, text):
    refused = asked(tester, text)

    assert refused.status_code == 422
    assert text.strip() in refused.content.decode()
    assert EventMessage.objects.count() == 0


def test_the_number_of_questions_of_one_tester_is_bounded(event, tester):
    membership = membership_of(event)
    EventMessage.objects.bulk_create(
        EventMessage(hosted=event, membership=membership, text="Hello?") for _ in range(MOST_QUESTIONS)
    )

    assert asked(tester).status_code == 422
    assert EventMessage.objects.count() == MOST_QUESTIONS


def test_an_empty_message_to_all_is_not_sent(organiser):
    client, address = organiser
    client.post(address, {"text": " "})

    assert EventMessage.objects.count() == 0


def test_own_messages_are_personal_data_and_a_withdrawal_deletes_them(event, tester):
    asked(tester)
    client = tester[0]
    held = client.get(reverse("tester:my_data_file", args=[event.token])).json()["messages"]
    client.post(reverse("tester:leave", args=[event.token]), {"what": "remove"})

    assert [(message["from"], message["text"]) for message in held] == [("you", "The page shows an error.")]
    assert EventMessage.objects.count() == 0


@pytest.mark.browser
@pytest.mark.timeout(300)
def test_help_and_messages_do_not_change_the_chat(page_as):
    ruth, olga = page_as(Role.RED_TEAMER, bypass_csp=True), page_as(Role.ORGANISER, bypass_csp=True)
    go_to_the_chat(ruth)
    ruth.get_by_label("Your message").fill("A half-written message")
    expect(ruth.locator("#saved")).to_contain_text("Draft saved")
    load_by_click(ruth.get_by_role("link", name="Help"))
    assert_accessible(ruth)
    ruth.get_by_label("Your question").fill("May I ask about the cast?")
    load_by_click(ruth.get_by_role("button", name="Send"))
    expect(ruth.locator("#status")).to_contain_text("sent to the organisers")
    answer_and_tell_all(olga)
    load_by_click(ruth.get_by_role("link", name="Back"))

    expect(ruth.locator("#news")).to_contain_text("Lunch is at noon.")
    expect(ruth.get_by_label("Your message")).to_have_value("A half-written message")
    assert_accessible(ruth)
    ruth.locator("#news-close").click()
    ruth.reload()
    expect(ruth.locator("html.scripted #news")).to_be_hidden()


def go_to_the_chat(page):
    for box in page.get_by_role("checkbox").all():
        box.check()
    load_by_click(page.get_by_role("button", name="I agree"))
    load_by_click(page.get_by_role("button", name="Skip"))
    load_by_click(page.get_by_role("button", name="I have read it; start"))
    expect(page.locator("html.scripted")).to_be_attached()


def answer_and_tell_all(page):
    page.goto(page.locator("a[href*='/organise/']").first.get_attribute("href") + "messages/")
    expect(page.locator("article.card")).to_contain_text("session 1")
    assert_accessible(page)
    page.get_by_label("Answer").fill("Yes.")
    load_by_click(page.get_by_role("button", name="Send answer"))
    page.get_by_label("Text").fill("Lunch is at noon.")
    load_by_click(page.get_by_role("button", name="Send to all testers"))
    expect(page.locator("#status")).to_contain_text("Sent.")
