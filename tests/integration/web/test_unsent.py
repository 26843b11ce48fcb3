"""Unsent texts of a tester are restored after a lost tab and on another device, and are visible to no one else."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from theodolite.domain.event import Role
from theodolite.web.models import UnsentText

pytestmark = pytest.mark.integration


@pytest.fixture
def fay(event, client_as):
    """The field tester, at her first session."""
    client = client_as(Role.FIELD_TESTER)
    home = reverse("tester:home", args=[event.token])
    page = client.get(home, follow=True)
    boxes = dict(re.findall(r'type="checkbox" name="(\w+)" value="(\w+)"', page.content.decode()))
    client.post(f"{home}consent/", boxes)
    client.post(f"{home}profile/", {"skip": "yes"})
    task = client.get(f"{home}1/instructions/").content.decode()
    client.post(f"{home}1/instructions/", {"version": re.search(r'name="version" value="(\w+)"', task)[1]})
    return client


@pytest.fixture
def keep(fay, event):
    """Return a function that sends the unsent text and returns whether it was stored."""

    def send(text, number=1):
        address = reverse("tester:unsent", args=[event.token, 1])
        return fay.post(address, {"text": text, "number": str(number)}).json()["kept"]

    return send


def box(client, event):
    page = client.get(reverse("tester:chat", args=[event.token, 1])).content.decode()
    return re.search(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)[1]


def test_an_unsent_text_is_restored_on_another_device(keep, event, client_as):
    assert keep("Where does </textarea> the dog")

    assert box(client_as(Role.FIELD_TESTER), event) == "Where does &lt;/textarea&gt; the dog"


def test_the_latest_unsent_text_counts_and_an_emptied_box_stays_empty(keep, fay, event):
    keep("Where")
    keep("Who")
    assert box(fay, event) == "Who"
    keep("  ")

    assert (box(fay, event), UnsentText.objects.count()) == ("", 0)


def test_late_requests_do_not_restore_an_old_text(keep, fay, event):
    assert not keep("sent long ago", number=0)

    assert box(fay, event) == ""


def test_a_withdrawal_deletes_unsent_texts(keep, fay, event):
    keep("I live in")
    fay.post(reverse("tester:leave", args=[event.token]), {"what": "anonymise"})

    assert not UnsentText.objects.exists()


def test_the_end_of_a_session_deletes_the_unsent_text(keep, fay, event):
    keep("One more thing")
    fay.post(reverse("tester:end", args=[event.token, 1]), {"task": "yes"})

    assert not UnsentText.objects.exists()
