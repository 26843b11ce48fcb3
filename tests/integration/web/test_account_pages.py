"""The pages of accounts in a real browser: a passkey, and barriers.

A separate file: while a browser is open, its event loop prevents queries of Django's models.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser_pages import Visitor, assert_accessible, load_by_click

pytestmark = [pytest.mark.browser, pytest.mark.integration, pytest.mark.timeout(300)]


def test_a_passkey_signs_in_and_the_account_pages_have_no_barrier(browser, served):
    visitor = Visitor(browser, served.replace("127.0.0.1", "localhost"))
    page = visitor.page
    line = visitor.context.new_cdp_session(page)
    line.send("WebAuthn.enable")
    key = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    virtual = key | {"isUserVerified": True, "automaticPresenceSimulation": True}
    line.send("WebAuthn.addVirtualAuthenticator", {"options": virtual})
    page.goto("/demo/")
    load_by_click(page.get_by_role("button", name="Aino"))
    page.goto("/account/2fa/webauthn/add/")
    page.get_by_label("Passwordless").check()
    page.get_by_role("button", name="Add").click()
    page.wait_for_url("**/2fa/re*/**")
    load_by_click(page.get_by_role("button", name="Sign out"))
    page.goto("/account/login/")
    page.get_by_role("button", name="passkey").click()
    page.wait_for_url("**/results/")

    assert visitor.complaints == []
    assert visitor.strangers == []
    visitor.context.close()


def test_the_account_pages_have_no_barrier(visitor):
    page = visitor(bypass_csp=True).page
    for path in ("/account/login/", "/code/", "/account/password/reset/", "/account/signup/"):
        page.goto(path)
        assert_accessible(page)
    page.goto("/demo/")
    assert_accessible(page)
    load_by_click(page.get_by_role("button", name="Sami"))
    headings = {
        "/account/2fa/": "Two-factor authentication",
        "/account/2fa/totp/activate/": "Activate authenticator app",
        "/account/2fa/webauthn/add/": "Add security key",
        "/account/logout/": "Sign out",
    }
    for path, heading in headings.items():
        page.goto(path)
        expect(page.locator("main h1")).to_have_text(heading)
        assert_accessible(page)
