"""Probes of the web server: the process answers, and the database can serve pages."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client

from theodolite.bootstrap.database import configure_django, database_settings
from theodolite.bootstrap.web_settings import serving_settings
from theodolite.config.serving import ServingSettings
from theodolite.domain.event import Role


@pytest.fixture
def stranger(event) -> Client:
    return Client(SERVER_NAME="localhost")


def answer_of(client: Client, path: str) -> tuple[int, dict[str, str]]:
    answer = client.get(path)
    return answer.status_code, answer.json()


def test_a_migrated_database_is_ready(stranger):
    assert answer_of(stranger, "/healthz") == (200, {"status": "ok", "version": version("theodolite")})
    assert answer_of(stranger, "/readyz") == (200, {"status": "ready", "version": version("theodolite")})


def test_an_unreachable_database_is_not_ready_and_the_process_still_answers(stranger, tmp_path):
    configure_django(database_settings(tmp_path / "missing"))

    status, content = answer_of(stranger, "/readyz")

    assert (status, content["status"], content["reason"]) == (503, "not ready", "the database cannot be reached")
    assert str(tmp_path) not in str(content)
    assert stranger.get("/healthz").status_code == 200


def test_a_database_without_tables_is_not_ready(stranger, tmp_path):
    (tmp_path / "empty").mkdir()
    configure_django(database_settings(tmp_path / "empty"))

    assert answer_of(stranger, "/readyz")[1]["reason"] == "the database has no tables"


@pytest.mark.parametrize("app", ["store", "web", "account"])
def test_a_database_of_an_older_version_is_not_ready(stranger, app):
    with connection.cursor() as cursor:
        cursor.execute("SELECT max(name) FROM django_migrations WHERE app = %s", [app])
        cursor.execute("DELETE FROM django_migrations WHERE app = %s AND name = %s", [app, *cursor.fetchone()])

    status, content = answer_of(stranger, "/readyz")

    assert (status, "an older version" in content["reason"]) == (503, True)


def test_a_database_of_a_newer_version_is_not_ready(stranger):
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('store', '9999_new', '2030-01-01')")

    assert answer_of(stranger, "/readyz")[1]["reason"] == "a newer version of Theodolite wrote the database"


def test_the_process_answers_a_signed_in_browser_without_a_query(client_as):
    client = client_as(Role.ORGANISER)
    configure_django(database_settings(Path("/nonexistent")))

    assert client.get("/healthz").status_code == 200


def test_probes_set_no_cookie_and_accept_no_form(stranger):
    for path in ("/healthz", "/readyz"):
        answer = stranger.get(path)

        assert (list(answer.cookies), answer.headers["Cache-Control"]) == ([], "no-store"), path
        assert stranger.post(path).status_code == 405, path
        assert stranger.head(path).status_code == 200, path


def test_probes_of_an_encrypted_server_need_no_proxy(stranger, monkeypatch):
    encrypted = serving_settings({}, secret_key="x", serving=ServingSettings(address="https://event.example"))
    for name in ("SECURE_SSL_REDIRECT", "SECURE_REDIRECT_EXEMPT"):
        monkeypatch.setattr(settings, name, encrypted[name], raising=False)
    client = Client(SERVER_NAME="localhost")  # the middleware reads both when it is made

    assert client.get("/").status_code == 301
    assert {client.get(path).status_code for path in ("/healthz", "/readyz")} == {200}


def test_a_foreign_host_name_is_refused(event):
    assert Client(SERVER_NAME="evil.example").get("/healthz").status_code == 400
