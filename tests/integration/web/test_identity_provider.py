"""Sign-in with an identity provider in a real browser, within the page's `form-action` policy."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser_pages import load_by_click
from tests.fakes.identity_provider import IdentityProvider
from tests.integration.web.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.integration, pytest.mark.timeout(300)]


def test_sign_in_redirects_only_to_the_configured_provider_and_back(tmp_path: Path, browser: Browser) -> None:
    with IdentityProvider() as lab, IdentityProvider() as other:
        lab.person = {"sub": "u-1", "name": "Nora N.", "email": "nora@example.org"}
        environ = {"OIDC_SERVER": lab.address, "OIDC_NAME": "Lab", "OIDC_SECRET": "s3cret"}
        with Server(tmp_path, environ=environ) as server:
            page = browser.new_page(base_url=f"http://127.0.0.1:{server.port}")
            policy = page.goto("/account/login/").header_value("Content-Security-Policy")
            load_by_click(page.get_by_role("button", name="Lab"))
            expect(page.get_by_text("By invitation only")).to_be_visible()

            lab.sign_in_pages = other.address
            page.goto("/account/login/")
            with page.expect_console_message(lambda message: "form-action" in message.text):
                page.get_by_role("button", name="Lab").click()

            assert f"form-action 'self' {lab.address};" in policy
            assert (page.url.startswith(other.address), other.came) == (False, 0)
