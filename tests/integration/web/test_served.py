"""The server: link of the first organiser, security headers, and trusted proxies."""

from __future__ import annotations

import pytest

from tests.fakes.terminal import theodolite
from tests.integration.web.server import Server
from theodolite.demo.studies import lay_out_event

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    lay_out_event(folder)
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with Server(folder, ".") as server:
        yield server


def test_the_server_prints_a_sign_in_link_for_the_first_organiser(server):
    assert server.said.startswith("Organiser, open once: http://127.0.0.1:")
    path = server.said[server.said.index("/start/") :]

    assert "first organiser of this server" in server.get(path).body
    assert server.get("/demo/").status == 404


def test_every_response_has_the_security_headers(server):
    for path in ("/account/login/", "/nowhere/", "/static/x/web/app.css"):
        headers = {name.lower(): value for name, value in server.get(path).getheaders()}

        assert headers["content-security-policy"].startswith("default-src 'self';")
        assert "unsafe" not in headers["content-security-policy"]
        assert (headers["x-frame-options"], headers["x-content-type-options"]) == ("DENY", "nosniff")
        assert (headers["referrer-policy"], headers["cross-origin-opener-policy"]) == ("same-origin", "same-origin")
        assert "server" not in headers


def test_cookies_are_http_only_and_same_site(server):
    cookies = server.get("/account/login/").headers.get_all("set-cookie")

    assert cookies
    assert all("HttpOnly" in cookie and "SameSite=Lax" in cookie for cookie in cookies)


def test_request_headers_above_64_kb_are_refused_and_usual_ones_accepted(server):
    assert server.get("/account/login/", Cookie="a" * 30_000).status == 200
    assert server.get("/account/login/", Cookie="a" * 70_000).status == 431
    assert server.get("/account/login/", **{f"X_{n}": "a" * 1_000 for n in range(90)}).status == 431


def test_files_of_the_server_are_unreadable_for_other_users(folder, server):
    workspace = folder / ".theodolite"

    assert workspace.stat().st_mode & 0o077 == 0
    assert not [path for path in workspace.rglob("*") if path.stat().st_mode & 0o077 and path.suffix == ".key"]


@pytest.mark.parametrize("path", ["../secret.key", "%2e%2e/secret.key", "..%2f..%2fetc/passwd", "x/../../secret.key"])
def test_no_address_reaches_files_outside_their_folder(server, path):
    assert server.get(f"/static/{path}").status in {400, 404}


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "a b"])
def test_an_unknown_host_name_is_refused_without_internal_details(server, host):
    answer = server.get("/account/login/", Host=host)

    assert answer.status == 400
    assert not any(word in answer.body.lower() for word in ("django", "allowed_hosts", "traceback", "python"))


def test_forwarded_headers_of_other_clients_are_ignored(server):
    claims = {"X_Forwarded_Proto": "https", "X_Forwarded_For": "192.0.2.9", "X_Forwarded_Host": "evil.example"}
    answer = server.get("/", **claims)

    assert (answer.status, answer.getheader("location")) == (302, "/account/login/?next=/")
    assert "evil" not in server.get("/account/login/", **claims).body


def test_an_error_page_has_the_design_of_the_program(server):
    body = server.get("/nowhere/").body

    assert "Page not found" in body
    assert not any(word in body.lower() for word in ("django", "allauth", "urlconf", "traceback"))


def test_the_server_stops_cleanly_and_keeps_its_link_at_the_next_start(folder, server):
    first = server.said.partition("/start/")[2]
    with Server(folder, ".") as again:
        assert again.said.partition("/start/")[2] == first
        assert again.stop() in {0, -15}


def test_https_is_accepted_and_required_behind_a_named_proxy(folder, tmp_path):
    settings = tmp_path / "proxied.yaml"
    settings.write_text("address: https://event.example\nproxies: [127.0.0.1]\n")
    with Server(folder, ".", "--settings", str(settings)) as server:
        believed = server.get("/account/login/", Host="event.example", X_Forwarded_Proto="https")
        plain = server.get("/account/login/", Host="event.example")

        assert server.said.startswith("Organiser, open once: https://event.example/start/")
        assert believed.status == 200
        assert believed.getheader("strict-transport-security") == "max-age=31536000"
        assert all("Secure" in cookie for cookie in believed.headers.get_all("set-cookie"))
        assert (plain.status, plain.getheader("location")) == (301, "https://event.example/account/login/")


def test_unsafe_settings_are_reported_and_the_server_does_not_start(folder, monkeypatch):
    monkeypatch.setenv("THEODOLITE_ADDRESS", "https://event.example")
    monkeypatch.setenv("THEODOLITE_SECRET_KEY", "short")
    ended = theodolite("serve", folder, "--check")

    assert ended.code == 2
    assert "`proxies` names nobody" in ended.out
    assert "`THEODOLITE_SECRET_KEY` is short" in ended.out
    assert "no mail is sent" in ended.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "`nowhere` does not exist"),
        (["--demo", "--listen", "0.0.0.0:1"], "serves this machine only"),
        (["--listen", "here"], "expected HOST:PORT"),
    ],
)
def test_unusable_studies_are_reported(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = theodolite("serve", *words)

    assert (ended.code, said in " ".join(ended.said.split())) == (2, True)
