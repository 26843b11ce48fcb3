"""What a tester has begun to write is there again after a lost tab, on another device, and nobody else's."""

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
    client.post(f"{home}you/", {"skip": "yes"})
    task = client.get(f"{home}1/task/").content.decode()
    client.post(f"{home}1/task/", {"version": re.search(r'name="version" value="(\w+)"', task)[1]})
    return client


@pytest.fixture
def keep(fay, event):
    """Return a function that sends what stands in the box; the answer says whether it was kept."""

    def send(text, number=1):
        address = reverse("tester:unsent", args=[event.token, 1])
        return fay.post(address, {"text": text, "number": str(number)}).json()["kept"]

    return send


def box(client, event):
    page = client.get(reverse("tester:chat", args=[event.token, 1])).content.decode()
    return re.search(r"<textarea[^>]*>(.*?)</textarea>", page, re.DOTALL)[1]


def test_a_text_is_there_on_another_device(keep, event, client_as):
    assert keep("Where does </textarea> the dog")

    assert box(client_as(Role.FIELD_TESTER), event) == "Where does &lt;/textarea&gt; the dog"


def test_the_last_one_counts_and_an_emptied_box_stays_empty(keep, fay, event):
    keep("Where")
    keep("Who")
    assert box(fay, event) == "Who"
    keep("  ")

    assert (box(fay, event), UnsentText.objects.count()) == ("", 0)


def test_what_comes_too_late_does_not_come_back(keep, fay, event):
    assert not keep("sent long ago", number=0)

    assert box(fay, event) == ""


def test_nothing_is_left_of_it_when_its_writer_leaves(keep, fay, event):
    keep("I live in")
    fay.post(reverse("tester:leave", args=[event.token]), {"what": "anonymise"})

    assert not UnsentText.objects.exists()


def test_the_end_of_a_session_empties_the_box(keep, fay, event):
    keep("One more thing")
    fay.post(reverse("tester:end", args=[event.token, 1]), {"task": "yes"})

    assert not UnsentText.objects.exists()
