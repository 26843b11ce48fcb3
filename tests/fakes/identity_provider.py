"""An identity provider on this machine: OpenID Connect, as much of it as signing in needs."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit


class IdentityProvider(AbstractContextManager["IdentityProvider"]):
    """Vouches for one person at a time, without asking for a password.

    Attributes:
        person: What it says of whoever comes.
        asked: Forms that were sent for a token.
        came: Browsers that came to the sign-in page; count.
        sign_in_pages: Where that page stands; its own address unless set.
    """

    def __init__(self) -> None:
        self.person: dict[str, Any] = {}
        self.asked: list[dict[str, list[str]]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.came = 0
        self.address = self.sign_in_pages = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def settings(self, *, trusts_addresses: bool = False) -> dict[str, Any]:
        """Return what Django has to know of it."""
        known = {"server_url": self.address, "oauth_pkce_enabled": True, "email_authentication": trusts_addresses}
        app = {"provider_id": "lab", "name": "Lab", "client_id": "th", "secret": "s3cret", "settings": known}
        return {"openid_connect": {"APPS": [app]}}

    def follow(self, address: str) -> str:
        """Return where a browser is sent that comes to the sign-in page, as path and query of our server."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        back = urlsplit(asked["redirect_uri"])
        return f"{back.path}?{_vouched(asked['state'])}"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path.startswith("/authorize"):
                    self._send_back()
                    return
                self._say(provider.person if self.path == "/userinfo" else provider.description())

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                provider.asked.append(parse_qs(body))
                self._say({"access_token": "t0ken", "token_type": "Bearer"})

            def _send_back(self) -> None:
                provider.came += 1
                asked = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
                self.send_response(302)
                self.send_header("Location", f"{asked['redirect_uri']}?{_vouched(asked['state'])}")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: object) -> None:
                pass

            def _say(self, document: dict[str, Any]) -> None:
                body = json.dumps(document).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        return Handler

    def description(self) -> dict[str, Any]:
        """Return what it says of itself."""
        return {
            "issuer": self.address,
            "authorization_endpoint": f"{self.sign_in_pages}/authorize",
            "token_endpoint": f"{self.address}/token",
            "userinfo_endpoint": f"{self.address}/userinfo",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }


def _vouched(state: str) -> str:
    return urlencode({"code": "c0de", "state": state})
