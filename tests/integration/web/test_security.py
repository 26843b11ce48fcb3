"""Attempts to exceed permissions."""

from __future__ import annotations

import pytest
from django.test import Client

from theodolite.domain.event import Role
from theodolite.web.accounts.invitations import invite
from theodolite.web.models import Account, HostedStudy

ELSEWHERE = [
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example",
    "http:evil.example",
    "javascript:alert(1)",
]


@pytest.mark.parametrize("target", ELSEWHERE)
def test_signing_in_redirects_only_within_the_site(event, target):
    account = Account.objects.get(name="Anna")
    account.set_password("a long walk by the sea")
    account.save()
    client = Client(SERVER_NAME="localhost")
    form = {"login": account.email, "password": "a long walk by the sea", "next": target}
    answer = client.post("/account/login/", form)

    assert (answer.status_code, answer.headers["Location"]) == (302, "/")


@pytest.mark.parametrize("target", ELSEWHERE)
def test_signing_out_redirects_only_within_the_site(client_as, target):
    answer = client_as(Role.ANNOTATOR).post(f"/account/logout/?next={target}", {"next": target})

    assert "evil" not in answer.headers["Location"]
    assert answer.headers["Location"].startswith("/account/") or answer.headers["Location"] == "/"


@pytest.mark.parametrize("target", [*ELSEWHERE, "///evil.example", "/\\/evil.example", "data:text/html,x"])
def test_pages_with_a_return_address_redirect_only_within_the_site(client_as, target):
    client = client_as(Role.ANNOTATOR)
    for page in ("/display-settings/", "/second-factor/", "/account/reauthenticate/"):
        for answer in (client.get(page, {"next": target}), client.post(page, {"text_size": "1", "next": target})):
            assert "evil" not in answer.headers.get("Location", "").partition("?")[0], page
            assert f'href="{target}' not in answer.content.decode(), page


def test_the_session_key_changes_at_sign_in(event):
    account = Account.objects.get(name="Anna")
    account.set_password("a long walk by the sea")
    account.save()
    client = Client(SERVER_NAME="localhost")
    client.cookies["sessionid"] = "planted0planted0planted0planted0"
    client.post("/account/login/", {"login": account.email, "password": "a long walk by the sea"})

    assert client.cookies["sessionid"].value not in {"", "planted0planted0planted0planted0"}
    old = client.cookies["sessionid"].value
    client.post("/account/logout/")
    client.cookies["sessionid"] = old

    assert "_auth_user_id" not in client.session


def test_a_form_of_another_site_is_refused_with_the_page_of_the_program(event):
    client = Client(SERVER_NAME="localhost", enforce_csrf_checks=True)
    client.force_login(Account.objects.get(name="Anna"))
    for path in ("/account/logout/", "/code/", "/display-settings/", "/demo/as/organiser/"):
        answer = client.post(path, {"code": "x"})

        assert (answer.status_code, "has expired" in answer.content.decode()) == (403, True), path
        assert "csrf" not in answer.content.decode().lower().replace("csrfmiddlewaretoken", "")


def test_typed_texts_are_shown_and_never_run(event, client_as):
    evil = "<script>alert(1)</script>{{ 7|add:7 }}{% url 'home' %}"
    HostedStudy.objects.update(title=evil)
    Account.objects.filter(name="Olga").update(name=evil)
    page = client_as(Role.ORGANISER).get("/").content.decode()

    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;{{ 7|add:7 }}{% url &#x27;home&#x27; %}" in page


def test_people_who_left_or_were_blocked_are_signed_out_at_once(event, client_as):
    gone, barred = client_as(Role.ANNOTATOR), client_as(Role.SENIOR)
    Account.objects.get(name="Anna").memberships.update(left_at="2030-01-01T00:00Z")
    Account.objects.filter(name="Sami").update(is_active=False)

    assert gone.get(f"/s/{event.token}/annotate/").status_code == 404
    assert barred.get(f"/s/{event.token}/review/").status_code == 302


def test_a_password_change_ends_other_sessions(event):
    account = Account.objects.get(name="Anna")
    first = Client(SERVER_NAME="localhost")
    first.force_login(account)
    account.set_password("another walk by the sea")
    account.save()

    assert first.get("/").status_code == 302


@pytest.mark.parametrize("path", ["/account/email/", "/account/confirm-email/"])
def test_the_address_of_another_person_cannot_be_claimed(client_as, path):
    assert client_as(Role.ANNOTATOR).post(path, {"email": "olga@example.org", "action_add": ""}).status_code == 404


def test_an_address_with_a_line_break_is_refused(event):
    from theodolite.domain.errors import InputError

    with pytest.raises(InputError, match="e-mail address was expected"):
        invite(Account.objects.get(name="Olga"), event, Role.ANALYST, email="a@example.org\nBcc: b@example.org")


def test_sessions_are_written_only_on_changes(event, client_as, django_queries):
    client = client_as(Role.ANNOTATOR)
    client.get("/display-settings/")

    assert not [query for query in django_queries(lambda: client.get("/display-settings/")) if "SELECT" not in query]


@pytest.fixture
def django_queries():
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    def seen(call) -> list[str]:
        with CaptureQueriesContext(connection) as context:
            call()
        return [query["sql"] for query in context.captured_queries]

    return seen
