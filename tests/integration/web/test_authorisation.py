"""Every address of the web app for every role: the table below lists all permissions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache

import pytest
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from tests.fakes.annotated_event import (
    a_batch,
    a_case,
    a_draft,
    a_link,
    a_measurement,
    a_room,
    a_slot,
    a_thread,
    a_view,
    an_invitation,
    an_item,
    submitted,
)
from tests.fakes.read_event import a_disputed_answer, a_named_codebook, a_session_to_review, a_settled_session
from theodolite.annotation.queues import open_queue
from theodolite.demo.people import design_of, invented_study
from theodolite.domain.event import Role
from theodolite.store.models.annotating import QueueRow
from theodolite.web.annotator.home import records
from theodolite.web.api.requests import PERMISSIONS, TOKEN
from theodolite.web.api.webhooks import store_test
from theodolite.web.events import event_of
from theodolite.web.models import Account, HostedStudy, Membership, StoredKey, Webhook

ANYBODY, SIGNED_IN, HOST = "anybody", "signed in", "host"

_TESTERS = {Role.RED_TEAMER, Role.FIELD_TESTER}
_TESTER_PAGES = (
    *("screening", "screened_out", "full", "slot", "topics", "no_scenario"),
    *(
        "consent",
        "profile",
        "instructions",
        "chat",
        "state",
        "unsent",
        "pause",
        "resume",
        "new_dialogue",
        "end",
        "questions",
        "questionnaire",
    ),
    *(
        "questionnaire",
        "say",
        "notes",
        "reply",
        "stop",
        "retry",
        "mark",
        "guess",
        "done",
        "leave",
        "release",
        "feedback",
        "help",
        "my_data",
        "my_data_file",
    ),
)

_SITTING = ("take", "annotation", "answer", "undo", "submit", "release", "skip", "flag", "comment")
_TRAINING = ("read", "practice", "qualify", "result")
_ROOM = ("room", "room_vote", "room_say")
_SENIOR = (
    *(
        "home",
        "resolution",
        "begin_resolution",
        "resolve",
        "undo",
        "reopen",
        "open_room",
        "room_step",
        "check",
        "judge",
    ),
    *(
        "questions",
        "thread",
        "case",
        "view_case",
        "act_on_case",
        "people",
        "qualify_annotator",
        "agreement",
        "fill_queue",
    ),
    *("judges", "decide", "cases", "gold", "make_gold", "remove_gold", "raters"),
)

_LISTING = ("dialogues", "act_on_many", "batch", "undo_batch", "save_view", "change_view")

_WRITING = (
    "criteria", "schemas", "new_schema", "schema", "schema_impact", "schema_publish", "schema_file",
    "schema_preview",
)  # fmt: skip

_ORGANISING = (
    "ethics", "people", "invite", "invite_many", "links_file", "create_access_codes", "access_codes",
    "remind", "revoke_invitation",
    "operations", "messages", "pause", "resume", "close", "pause_application", "hours", "end_abandoned",
    "person", "stored_data", "act_on_person", "remind_all", "act_on_people", "act_on_invitations",
    "slots", "remove_slot", "links", "close_link", "factors",
)  # fmt: skip

_RUNNING = ("runs", "runs_live", "start_run", "check_run", "stop_run")

_READERS = {Role.ANALYST, Role.ORGANISER, Role.SENIOR}
_READING = (
    "home", "coding", "next", "answer", "codebook", "new_codebook", "named_codebook", "coders", "disagreements",
    "disagreement", "quotes", "quote", "reviews", "review", "sessions", "session_answers",
)  # fmt: skip

PAGES: dict[str, object] = {
    "home": SIGNED_IN,
    "display_settings": SIGNED_IN,
    "second_factor": SIGNED_IN,
    "static": ANYBODY,
    "healthz": ANYBODY,
    "readyz": ANYBODY,
    "metrics": ANYBODY,
    "no_address_page": ANYBODY,
    "no_confirmation_page": ANYBODY,
    "demo": ANYBODY,
    "demo_enter": ANYBODY,
    "start": ANYBODY,
    "join": ANYBODY,
    "code_entry": ANYBODY,
    "code": ANYBODY,
    "recruited": ANYBODY,
    "organiser:home": {Role.ORGANISER},
    "studies": HOST,
    "new_study": HOST,
    "components": HOST,
    "organiser:editions": {Role.ORGANISER},
    "organiser:edit_study": {Role.ORGANISER},
    "organiser:keys": {Role.ORGANISER},
    "organiser:remove_key": {Role.ORGANISER},
    "organiser:add_application": {Role.ORGANISER},
    "organiser:audit": {Role.ORGANISER},
    "organiser:results": {Role.ORGANISER, Role.ANALYST},
    "organiser:release": {Role.ORGANISER},
    "organiser:identifiers": {Role.ORGANISER},
    "organiser:measure": {Role.ORGANISER, Role.ANALYST},
    "organiser:measured_file": {Role.ORGANISER, Role.ANALYST},
    "organiser:share": {Role.ORGANISER},
    **{f"organiser:{name}": {Role.ORGANISER, Role.ANALYST} for name in _RUNNING},
    "organiser:permit_judges": {Role.ORGANISER},
    "organiser:series": {Role.ORGANISER, Role.ANALYST},
    "organiser:series_add": {Role.ORGANISER, Role.ANALYST},
    "organiser:series_terms": {Role.ORGANISER},
    "organiser:series_decide": {Role.ORGANISER},
    "organiser:series_carry": {Role.ORGANISER},
    "organiser:blinding": {Role.ORGANISER, Role.ANALYST},
    "organiser:scan_dialogues": {Role.ORGANISER},
    "organiser:questions": {Role.ORGANISER, Role.SENIOR},
    "organiser:question": {Role.ORGANISER, Role.SENIOR},
    **{f"organiser:{name}": {Role.ORGANISER, Role.SENIOR} for name in _WRITING},
    **{f"senior:{name}": {Role.SENIOR} for name in _SENIOR},
    **{f"senior:{name}": {Role.SENIOR, Role.ORGANISER} for name in _LISTING},
    "annotator:home": {Role.ANNOTATOR},
    "annotator:about": {Role.ANNOTATOR},
    "annotator:topics": {Role.ANNOTATOR},
    **{f"annotator:{name}": {Role.ANNOTATOR} for name in (*_SITTING, *_TRAINING)},
    **{f"annotator:{name}": {Role.ANNOTATOR, Role.SENIOR} for name in _ROOM},
    **{f"analyst:{name}": _READERS for name in _READING},
    "label_door": ANYBODY,
    "api_tokens": SIGNED_IN,
    "api_token_revoke": SIGNED_IN,
    "api:openapi": ANYBODY,
    "api:unknown": ANYBODY,
    **dict.fromkeys(map("api:{}".format, PERMISSIONS), TOKEN),
    "tester:home": _TESTERS,
    **{f"tester:{page}": _TESTERS for page in _TESTER_PAGES},
    "tester:left": ANYBODY,
    "teams:home": {Role.TEAM},
    "teams:criteria": {Role.TEAM, Role.ORGANISER},
    "teams:kit": {Role.TEAM, Role.ORGANISER},
    "teams:feedback": {Role.TEAM},
    "teams:new": {Role.TEAM},
    "teams:submission": {Role.TEAM},
    "teams:results": {Role.TEAM},
    "teams:edit": {Role.TEAM},
    "teams:examine": {Role.TEAM},
    "teams:submit": {Role.TEAM},
    "teams:withdraw": {Role.TEAM},
    **{f"organiser:{name}": {Role.ORGANISER} for name in _ORGANISING},
    "organiser:submissions": {Role.ORGANISER},
    **{f"organiser:{name}": {Role.ORGANISER} for name in ("webhooks", "webhook_test", "webhook_remove", "redeliver")},
    "organiser:import_dialogues": {Role.ORGANISER},
    "organiser:exchange": {Role.ORGANISER, Role.ANALYST},
    "organiser:archive": {Role.ORGANISER, Role.ANALYST},
    "organiser:label_studio": {Role.ORGANISER, Role.ANALYST},
    "organiser:submission": {Role.ORGANISER},
    "organiser:try_submission": {Role.ORGANISER},
}
"""Who may see the page of a name: a set of roles of the study, or one of the words above.

Operations of the API take a token; `test_api.py` asks each of them in every role.
"""

OTHERS = ("account_", "mfa_", "socialaccount_", "openid_connect_")
"""Beginnings of the names of the sign-in records's own pages; `test_signing_in.py` looks at them."""

STAND_INS: dict[str, str | Callable[[HostedStudy], str]] = {
    "answer": a_disputed_answer,
    "due": a_session_to_review,
    "session": a_settled_session,
    "book": a_named_codebook,
    "reservation": submitted,
    "item": an_item,
    "case": a_case,
    "room": a_room,
    "batch": a_batch,
    "view": a_view,
    "thread": a_thread,
    "category": "risk_assessment",
    "example": "1",
    "subject": "rules",
    "name": "tv-spoilers-red-teaming",
    "session_no": "1",
    "guideline": lambda hosted: event_of(hosted).study.guidelines[0].name,
    "dialogue": "1",
    "turn": "1",
    "invitation": an_invitation,
    "member": lambda hosted: hosted.memberships.get(role="field tester").token,
    "what": "remind",
    "slot": a_slot,
    "link": a_link,
    "number": "1",
    "entry": "none",
    "draft": a_draft,
    "section": "risk-assessment",
    "measurement": a_measurement,
    "file": "report.html",
    "key": lambda hosted: a_key(hosted).token,
    "webhook": lambda hosted: a_webhook(hosted).token,
    "delivery": lambda hosted: store_test(a_webhook(hosted)).token,
    "submission": lambda hosted: hosted.submissions.get(name="echo-two").token,
}
"""What an address is filled with, beside the study: by the name of the argument; seeded things by a function."""


def a_key(hosted: HostedStudy) -> StoredKey:
    facts = {"receiver": "api.example.org", "sealed": b"x"}
    return StoredKey.objects.get_or_create(hosted=hosted, variable="STUDY_KEY_A", defaults=facts)[0]


def a_webhook(hosted: HostedStudy) -> Webhook:
    return Webhook.objects.get_or_create(hosted=hosted, url="https://example.org/", events=[])[0]


def patterns(resolver: URLResolver, space: str = "") -> Iterator[tuple[str, URLPattern]]:
    for each in resolver.url_patterns:
        if isinstance(each, URLResolver):
            yield from patterns(each, f"{space}{each.namespace}:" if each.namespace else space)
        else:
            yield f"{space}{each.name or ''}", each


@cache
def ours() -> dict[str, URLPattern]:
    """Return the addresses of our own pages; there are hundreds, and every role requests each."""
    return {name: each for name, each in patterns(get_resolver()) if each.lookup_str.startswith("theodolite.")}


def test_every_address_is_in_the_table_of_permissions_and_matches_its_view():
    said = {name: getattr(each.callback, "access", None) for name, each in ours().items()}

    assert said == PAGES


def test_addresses_outside_the_table_belong_to_the_sign_in_library():
    names = {name for name, each in patterns(get_resolver()) if not each.lookup_str.startswith("theodolite.")}

    assert {name for name in names if not name.startswith(OTHERS)} <= {""}


@pytest.mark.parametrize("role", list(Role), ids=str)
def test_no_page_uses_an_id_twice(event, client_as, role):
    client = client_as(role)
    pages = [name for name, who in PAGES.items() if not isinstance(who, str) and role in who]
    for name in pages:
        answer = client.get(address(name, event.token))
        if answer.status_code == 200 and answer.headers["Content-Type"].startswith("text/html"):
            ids = Counter(re.findall(r'<[a-z][^<>]*\sid="([^"]+)"', b"".join(answer).decode()))

            assert [one for one, n in ids.items() if n > 1] == [], f"{name} as {role}"


@pytest.mark.parametrize("role", [None, *Role], ids=str)
def test_a_page_opens_for_its_roles_and_is_not_found_for_others(event, client_as, role):
    client = client_as(role)
    for name, who in PAGES.items():
        if isinstance(who, str):
            continue
        status = client.get(address(name, event.token)).status_code
        expected = {302} if role is None else {200, 302, 405} if role in who else {404}

        assert status in expected, f"{name} as {role}"


@pytest.mark.parametrize("role", list(Role), ids=str)
def test_a_role_in_one_study_gives_no_access_to_another(event, client_as, role):
    other = HostedStudy.objects.create(name="another")
    client = client_as(role)

    inner = [name for name, who in PAGES.items() if not isinstance(who, str)]

    assert {name: client.get(address(name, event.token, other.token)).status_code for name in inner} == dict.fromkeys(
        inner, 404
    )


BEGINNING = {"organiser:measure", "organiser:check_run", "teams:examine", "senior:fill_queue"}
"""Pages whose button is the whole form, and begins much work; they are pressed in tests of their own."""

SCRIPTED = {"hx-request": "true", "x-part": "turn", "x-autosave": "1", "accept": "application/json"}
"""Headers by which scripts ask for a part of a page; they open nothing that the page does not."""


@pytest.mark.parametrize("role", [None, *Role], ids=str)
def test_pages_of_other_roles_accept_no_form_and_no_script_request(event, client_as, role):
    client = client_as(role)
    for name in closed_to(role):
        where = address(name, event.token)
        found = {client.post(where).status_code, client.post(where, headers=SCRIPTED).status_code}

        assert found == ({302} if role is None else {404}), f"{name} as {role}"


@pytest.mark.parametrize("role", list(Role), ids=str)
def test_an_empty_form_gets_a_message_on_every_page(event, client_as, role):
    client = client_as(role)
    for name in closed_to(None):
        if role in PAGES[name] and name not in BEGINNING:
            status = client.post(address(name, event.token)).status_code

            assert status in {200, 302, 400, 404, 405, 409, 422}, f"{name} as {role}"


@pytest.mark.parametrize("role", list(Role), ids=str)
def test_forms_of_other_sites_are_refused(event, client_as, role):
    client = client_as(role)
    client.handler.enforce_csrf_checks = True
    for name in closed_to(None):
        if role in PAGES[name]:
            assert client.post(address(name, event.token)).status_code == 403, f"{name} as {role}"


@pytest.mark.parametrize("role", list(Role), ids=str)
def test_tokens_of_one_study_give_no_access_to_another_study_of_the_same_role(event, client_as, role):
    other = HostedStudy.objects.create(name="another", folder="", state=event.state)
    for one in event.memberships.all():
        Membership.objects.create(account=one.account, hosted=other, role=one.role)
    open_queue(records(), other.token, invented_study(), design_of(invented_study()), by="server")
    QueueRow.objects.filter(name=other.token).update(study="another")
    client = client_as(role)
    for name in closed_to(None):
        if role in PAGES[name] and TOKENS & set(ours()[name].pattern.converters):
            where = address(name, event.token, other.token)

            assert_not_there(client, where)


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.TEAM], ids=str)
def test_tokens_of_one_person_give_no_access_to_another_of_the_same_role(event, client_as, role):
    stranger = Account.objects.create_user("stranger@example.org", name="Stranger")
    Membership.objects.create(account=stranger, hosted=event, role=role)
    client = client_as(None)
    client.force_login(stranger)
    for name in closed_to(None):
        if role in PAGES[name] and {"reservation", "submission"} & set(ours()[name].pattern.converters):
            where = address(name, event.token)

            assert_not_there(client, where)


PLAUSIBLE = {"reason": "not for me", "kind": "personal data", "text": "why?", "how": "close", "step": "reveal"}


def assert_not_there(client, where: str) -> None:
    """Fail unless an address responds with 404 or 405."""
    found = {client.get(where).status_code, client.post(where, PLAUSIBLE).status_code}

    assert 404 in found, where
    assert found <= {404, 405}, where


TOKENS = {name for name, filling in STAND_INS.items() if callable(filling)} - {"guideline"}
"""Arguments of addresses that are tokens of things, made by nobody's counting."""


def closed_to(role: Role | None) -> list[str]:
    """Return the names of a study's pages closed to a role; for anonymous visitors, all of them."""
    return [name for name, who in PAGES.items() if not isinstance(who, str) and role not in who]


def address(name: str, study: str, below: str = "") -> str:
    """Return the address of a page of a study, or with the same ids below another study."""
    fillings = {key: STAND_INS[key] for key in ours()[name].pattern.converters if key != "study"}
    hosted = HostedStudy.objects.get(token=study)
    filled = {key: each if isinstance(each, str) else each(hosted) for key, each in fillings.items()}
    return reverse(name, kwargs={"study": below or study, **filled})
