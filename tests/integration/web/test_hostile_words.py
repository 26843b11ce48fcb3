"""No page executes texts of applications or people."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from urllib.parse import urljoin

import pytest
from django.urls import reverse

from tests.fakes.annotated_event import (
    a_batch,
    a_case,
    a_draft,
    a_link,
    a_room,
    a_slot,
    a_thread,
    a_view,
    an_invitation,
    answer_everything,
    participant_of,
    queue_token,
)
from theodolite.annotation import assignment
from theodolite.annotation.quality import admit
from theodolite.demo.people import let_begin
from theodolite.domain.dialogue import Level, TurnState
from theodolite.domain.event import Role
from theodolite.domain.identity import version_of
from theodolite.domain.live import LiveEnding
from theodolite.events.chat import finish_turn, send_prompt
from theodolite.events.sessions import end_session, prepare_session, start_session
from theodolite.store.annotation_queue import queue_of
from theodolite.store.models.annotating import QueueRow
from theodolite.web.annotator.home import records
from theodolite.web.events import event_of, publish, study_in_files
from theodolite.web.models import Account, HostedStudy, Invitation, Membership, SavedView
from theodolite.web.senior.home import fill_queue

pytestmark = pytest.mark.integration

EVIL = (
    "</textarea></script><script>alert(1)</script><svg/onload=alert(2)><img src=x onerror=alert(3)>"
    " [press](javascript:alert(4)) ![see](data:text/html;base64,PHNjcmlwdD4=) <a href='jAvAsCrIpT:alert(5)'>x</a>"
    " {{ 7|add:7 }}{% url 'home' %} <style>*{display:none}</style><base href=//evil.example/> &lt;b&gt; \u202e"
)
TOKEN = re.compile(r"/(?=[\w-]*[A-Z0-9_])[\w-]{8,}(?=/)|/\d+(?=/)")
"""What tells the addresses of two pages of one template apart."""

SKIPPED = ("/account/", "/static/", "/demo/")
SCHEMES = re.compile(r"^\s*(javascript|data|vbscript)\s*:", re.IGNORECASE)


class Doing(HTMLParser):
    """Collects what of a page would do something that is not the page's own, and where its links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        own = given.get("src", "").startswith("/s/" if tag == "iframe" else "/static/")
        if tag in {"object", "embed", "base", "style"} or (tag in {"script", "img", "iframe"} and not own):
            self.found.append(self.get_starttag_text() or tag)
        for name, value in given.items():
            if name.startswith("on") or name == "style" or SCHEMES.match(value) or "evil.example" in value[:40]:
                self.found.append(f"{tag} {name}={value}")
        if tag == "a":
            self.links.append(given.get("href", ""))

    def handle_data(self, data):
        self.text += data


@pytest.fixture
def hostile(event):
    """The event with a dialogue of two turns full of attacks, in its queue, submitted by one annotator."""
    publish(event, event.made_by, version_of(study_in_files(event).study))
    context, ravi = event_of(event), Membership.objects.get(hosted=event, role=Role.RED_TEAMER)
    session = start_session(context, prepare_session(context, ravi.participant, Level.RED_TEAMING, 0).key)
    for number in (1, 2):
        turn, _ = send_prompt(context, session.key, f"{number} {EVIL}")
        finish_turn(context, turn.key, LiveEnding(state=TurnState.COMPLETE, text=EVIL))
    end_session(context, session.key)
    QueueRow.objects.filter(name=event.token).update(name="put away")
    fill_queue(event, by="sami")
    anna = participant_of(event)
    queue = queue_token(event)
    let_begin(queue, anna)
    for category in records().design(queue_of(queue).design_id).categories:
        admit(records(), queue, anna, category.name, by="sami", reason="a test")
    ended = next(one.unit for one in context.dialogues.summaries(event.name) if one.session.key == session.key)
    first = records().design(queue_of(queue).design_id).first
    assignment.offer(queue, [(ended, first)], anna)
    work = assignment.next_work(records(), queue, anna)
    answer_everything(work.token, anna, "yes")
    people_write_it_too(event)
    return event


def people_write_it_too(event):
    """Write attacks into all names and notes of people."""
    Account.objects.update(name=EVIL[:120])
    HostedStudy.objects.update(title=EVIL[:200])
    event.refresh_from_db()
    a_case(event, note=EVIL)
    a_thread(event, text=EVIL)
    for made in (a_view, a_slot, a_link, an_invitation, a_room, a_batch, a_draft):
        made(event)
    for rows, column, length in (
        (event.time_slots, "where", 120),
        (event.recruit_links, "name", 80),
        (event.submissions, "description", 120),
        (SavedView.objects, "name", 60),
        (Invitation.objects, "name", 120),
    ):
        assert rows.update(**{column: EVIL[:length]}), column


def pages(client, start):
    """Return every page that links lead to, from one on; of pages of one template, the first two."""
    waiting, seen, shapes = [start], {}, Counter()
    while waiting:
        where = waiting.pop().partition("#")[0]
        if where in seen or not where.startswith("/") or where.startswith(SKIPPED) or "/questions/" in where:
            continue
        shape = TOKEN.sub("/*", where.partition("?")[0])
        shapes[shape] += 1
        if shapes[shape] > 2:
            continue
        answer = client.get(where, follow=True)
        page = Doing()
        if "html" in answer.headers["Content-Type"]:
            page.feed(answer.content.decode())
        seen[where] = page
        waiting += [urljoin(answer.request["PATH_INFO"], link) for link in page.links]
    return seen


@pytest.mark.parametrize(
    ("role", "group"),
    [
        (Role.ANNOTATOR, "annotator"),
        (Role.SENIOR, "senior"),
        (Role.ORGANISER, "organiser"),
        (Role.RED_TEAMER, "tester"),
        (Role.ANALYST, "analyst"),
        (Role.TEAM, "teams"),
    ],
    ids=str,
)
def test_no_page_executes_a_reply(hostile, client_as, role, group):
    client = client_as(role)
    seen = pages(client, reverse(f"{group}:home", args=[hostile.token]))
    if role is Role.ANNOTATOR:
        seen |= pages(client, client.post(reverse("annotator:take", args=[hostile.token])).headers["Location"])

    assert {where: page.found for where, page in seen.items() if page.found} == {}
    assert any("</textarea></script><script>alert(1)</script>" in page.text for page in seen.values())
    if role is Role.ANNOTATOR:
        assert any("<svg/onload=alert(2)>" in page.text and "{{ 7|add:7 }}" in page.text for page in seen.values())


def test_no_page_executes_profiles_and_notes(event, client_as):
    client = client_as(Role.FIELD_TESTER)
    home = reverse("tester:home", args=[event.token])
    consent = client.get(f"{home}consent/").content.decode()
    client.post(f"{home}consent/", dict(re.findall(r'type="checkbox" name="(\w+)" value="(\w+)"', consent)))
    answer = client.post(f"{home}profile/", {"groups": EVIL.replace(":", ""), "expertise": EVIL, "languages": EVIL})
    page = Doing()
    page.feed(answer.content.decode())

    assert (answer.status_code, page.found) == (422, [])


SMUGGLED = ["/\r\nSet-Cookie: evil=1", "/\nLocation: //evil.example", "/%0d%0aX-Evil: 1", "/\x00"]


@pytest.mark.parametrize("value", SMUGGLED)
def test_no_header_can_be_injected_into_a_response(event, client_as, value):
    client = client_as(Role.ANNOTATOR)
    for answer in (
        client.post(reverse("display_settings"), {"text_size": "1", "next": value}),
        client.get("/account/login/", {"next": value}),
        client.get(f"/static/x/{value}"),
        client.get(reverse("annotator:annotation", args=[event.token, "x"]), headers={"x-part": value.strip("\x00")}),
    ):
        assert answer.status_code in {200, 302, 400, 404}
        assert not {"Set-Cookie", "X-Evil"} & {name for name, text in answer.headers.items() if "evil" in text.lower()}
        assert "evil" not in answer.cookies
        assert "\n" not in answer.headers.get("Location", "")
