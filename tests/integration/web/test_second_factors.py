"""Roles that need a second factor: no page opens before its setup."""

from __future__ import annotations

import re

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.test import Client, override_settings

from theodolite.domain.event import Role
from theodolite.web.models import Account, AuditEntry

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

PASSWORD = "a long walk by the sea"


def signed_in(name: str) -> Client:
    """Return a browser with a person of the event signed in by password."""
    account, client = Account.objects.get(name=name), Client(SERVER_NAME="localhost")
    account.set_password(PASSWORD)
    account.save()
    client.post("/account/login/", {"login": account.email, "password": PASSWORD})
    return client


def set_up(client: Client) -> None:
    """Set up an authenticator app."""
    client.post("/account/reauthenticate/", {"password": PASSWORD})
    page = client.get("/account/2fa/totp/activate/").content.decode()
    secret = re.search(r'id="authenticator_secret" value="(\w+)"', page)[1]
    code = format_hotp_value(hotp_value(secret, next(iter(yield_hotp_counters_from_time()))))
    client.post("/account/2fa/totp/activate/", {"code": code})


@override_settings(SECOND_FACTOR=("organiser",))
def test_the_requirement_of_the_server_applies_to_every_study_and_leads_to_the_setup(event):
    olga, home = signed_in("Olga"), f"/s/{event.token}/organise/people/"
    led = [olga.get(path).headers["Location"] for path in (home, "/studies/")]
    page = olga.get(home, follow=True).content.decode()
    set_up(olga)
    back = olga.get(led[0])

    assert led == [
        f"/second-factor/?next=%2Fs%2F{event.token}%2Forganise%2Fpeople%2F",
        "/second-factor/?next=%2Fstudies%2F",
    ]
    assert "/account/2fa/totp/activate/" in page
    assert back.headers["Location"] == home
    assert olga.get(home).status_code == 200


def test_an_organiser_requires_a_second_factor_for_a_role_and_sees_who_has_none(event):
    olga, aino = signed_in("Olga"), signed_in("Aino")
    olga.post(f"/s/{event.token}/organise/second-factors/", {"roles": ["analyst"]})
    page = olga.get(f"/s/{event.token}/organise/second-factors/").content.decode()
    led = aino.get(f"/s/{event.token}/organise/results/")

    assert "Aino, analyst" in page
    assert led.headers["Location"].startswith("/second-factor/")
    assert AuditEntry.objects.filter(verb="set second factors", facts={"roles": ["analyst"]}).exists()
    set_up(aino)
    assert aino.get(f"/s/{event.token}/organise/results/").status_code == 200
    assert (
        "All people who need a second factor have one."
        in olga.get(f"/s/{event.token}/organise/second-factors/").content.decode()
    )


def test_roles_with_access_codes_cannot_require_a_second_factor(event, client_as):
    refused = client_as(Role.ORGANISER).post(f"/s/{event.token}/organise/second-factors/", {"roles": ["red teamer"]})
    event.refresh_from_db()

    assert (refused.status_code, event.second_factor) == (422, [])


@override_settings(SECOND_FACTOR=("organiser",))
def test_the_setup_redirects_only_within_the_site(event):
    olga = signed_in("Olga")
    set_up(olga)

    assert olga.get("/second-factor/?next=https://evil.example/").headers["Location"] == "/"
