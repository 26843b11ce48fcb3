"""Signing in again: second factor, passkey, identity provider, forgotten password."""

from __future__ import annotations

import re

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
from django.conf import settings
from django.core import mail
from django.core.cache import cache
from django.test import Client

from tests.fakes.identity_provider import IdentityProvider
from theodolite.domain.event import Role
from theodolite.web.accounts.invitations import give_code, invitation_path, invite, words_of
from theodolite.web.models import Account, Membership
from theodolite.web.organiser.people import send_invitation

PASSWORD = "a long walk by the sea"


@pytest.fixture
def anna(event) -> Account:
    account = Account.objects.get(name="Anna")
    account.set_password(PASSWORD)
    account.save()
    return account


@pytest.fixture
def stranger() -> Client:
    return Client(SERVER_NAME="localhost")


def sign_in(client: Client, account: Account, password: str = PASSWORD):
    return client.post("/account/login/", {"login": account.email, "password": password})


def code_of(secret: str) -> str:
    return format_hotp_value(hotp_value(secret, next(iter(yield_hotp_counters_from_time()))))


class TestSecondFactor:
    @pytest.fixture
    def secret(self, anna, stranger) -> str:
        sign_in(stranger, anna)
        stranger.post("/account/reauthenticate/", {"password": PASSWORD})
        page = stranger.get("/account/2fa/totp/activate/").content.decode()
        secret = re.search(r'id="authenticator_secret" value="(\w+)"', page)[1]
        stranger.post("/account/2fa/totp/activate/", {"code": code_of(secret)})
        return secret

    def test_a_password_alone_is_insufficient_with_a_second_factor(self, anna, secret):
        client = Client(SERVER_NAME="localhost")

        assert sign_in(client, anna).headers["Location"].startswith("/account/2fa/authenticate/")
        assert client.get("/").headers["Location"].startswith("/account/login/")
        assert "_auth_user_id" not in client.session

    def test_the_code_of_the_app_signs_in_and_guessing_is_limited(self, anna, secret):
        cache.clear()  # the code that switched it on counts as used
        client, guesser = Client(SERVER_NAME="localhost"), Client(SERVER_NAME="localhost")
        sign_in(client, anna)
        client.post("/account/2fa/authenticate/", {"code": code_of(secret)})
        sign_in(guesser, anna)
        said = [guesser.post("/account/2fa/authenticate/", {"code": "000000"}).content.decode() for _ in range(7)]

        assert client.session["_auth_user_id"] == str(anna.pk)
        assert "Too many" in said[-1]

    def test_an_access_code_does_not_bypass_the_second_factor(self, anna, secret):
        words = words_of(give_code(anna.memberships.get()))

        assert Client(SERVER_NAME="localhost").post("/code/", {"code": words}).status_code == 422


class TestIdentityProvider:
    @pytest.fixture
    def provider(self, event, monkeypatch):
        with IdentityProvider() as provider:
            monkeypatch.setattr(settings, "SOCIALACCOUNT_PROVIDERS", provider.settings())
            yield provider

    def come(self, client: Client, provider: IdentityProvider, **person: object):
        provider.person = {"sub": "u-1", "name": "Nora N.", "email": "nora@example.org", **person}
        leave = client.post("/account/oidc/lab/login/?process=login&next=/")
        return client.get(provider.follow(leave.headers["Location"]), follow=True)

    def test_an_uninvited_user_of_the_provider_is_refused(self, provider, stranger):
        page = self.come(stranger, provider).content.decode()

        assert "By invitation only" in page
        assert not Account.objects.filter(email="nora@example.org").exists()

    def test_an_invited_user_of_the_provider_signs_in_repeatedly(self, provider, stranger, event):
        organiser = Account.objects.get(name="Olga")
        path = invitation_path(invite(organiser, event, Role.ANNOTATOR))
        page = stranger.get(path).content.decode()
        self.come(stranger, provider, email_verified=True)
        stranger.post(path)
        again = Client(SERVER_NAME="localhost")
        self.come(again, provider, email_verified=True)

        assert "Sign in with Lab" in page
        assert Membership.objects.get(account__name="Nora N.").role == "annotator"
        assert again.get(f"/s/{event.token}/annotate/").status_code == 200
        assert provider.asked[0]["code_verifier"]

    @pytest.mark.parametrize(("trusts", "verified", "gets_in"), [(False, True, 0), (True, False, 0), (True, True, 1)])
    def test_an_address_signs_in_only_if_it_is_verified_and_trusted(
        self, provider, stranger, monkeypatch, trusts, verified, gets_in
    ):
        monkeypatch.setattr(settings, "SOCIALACCOUNT_PROVIDERS", provider.settings(trusts_addresses=trusts))
        anna = Account.objects.get(name="Anna")
        self.come(stranger, provider, email=anna.email, email_verified=verified)

        assert stranger.session.get("_auth_user_id") == (str(anna.pk) if gets_in else None)


class TestMail:
    @pytest.fixture
    def mailing(self, monkeypatch):
        monkeypatch.setattr(settings, "SENDS_MAIL", True)
        monkeypatch.setattr(settings, "EMAIL_BACKEND", "django.core.mail.backends.locmem.EmailBackend")
        mail.outbox = []

    def test_a_forgotten_password_is_replaced_by_a_link_that_works_once(self, mailing, anna, stranger):
        stranger.post("/account/password/reset/", {"email": anna.email})
        (letter,) = mail.outbox
        link = re.search(r"http://localhost(/\S+)", letter.body)[1]
        form = stranger.get(link, follow=True).redirect_chain[-1][0]
        stranger.post(form, {"password1": "another walk by the sea", "password2": "another walk by the sea"})

        assert letter.to == [anna.email]
        assert sign_in(Client(SERVER_NAME="localhost"), anna, "another walk by the sea").status_code == 302
        assert "Bad token" in Client(SERVER_NAME="localhost").get(link, follow=True).content.decode()

    def test_the_pages_do_not_reveal_which_addresses_have_an_account(self, mailing, anna, stranger):
        known = stranger.post("/account/password/reset/", {"email": anna.email})
        unknown = stranger.post("/account/password/reset/", {"email": "nobody@example.org"})

        assert (known.status_code, known.headers["Location"]) == (unknown.status_code, unknown.headers["Location"])

    def test_an_invitation_is_mailed_with_its_link_and_no_header_can_be_injected(self, mailing, event, rf):
        organiser = Account.objects.get(name="Olga")
        event.title = "Spoilers\nBcc: all@example.org"
        invitation = invite(organiser, event, Role.ANNOTATOR, email="Nora@Example.org")

        assert send_invitation(rf.get("/", SERVER_NAME="localhost"), invitation)
        (letter,) = mail.outbox
        assert letter.to == ["nora@example.org"]
        assert letter.subject == "Invitation: Spoilers Bcc: all@example.org"
        assert f"http://localhost{invitation_path(invitation)}" in letter.body

    def test_without_a_mail_server_nothing_is_sent_and_the_page_states_it(self, event, rf, stranger):
        invitation = invite(Account.objects.get(name="Olga"), event, Role.ANNOTATOR, email="nora@example.org")

        assert not send_invitation(rf.get("/", SERVER_NAME="localhost"), invitation)
        assert "does not send e-mail" in stranger.get("/account/password/reset/").content.decode()

    @pytest.fixture
    def rf(self):
        from django.test import RequestFactory

        return RequestFactory()
