"""Probes of the web server: the process answers, and the database can serve pages."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from theodolite.bootstrap.database import configure_django, database_settings
from theodolite.bootstrap.web_settings import serving_settings
from theodolite.config.serving import ServingSettings
from theodolite.domain.event import Role
from theodolite.web.models import HostedStudy


@pytest.fixture
def stranger(event) -> Client:
    return Client(SERVER_NAME="localhost")


def answer_of(client: Client, path: str) -> tuple[int, dict[str, str]]:
    answer = client.get(path)
    return answer.status_code, answer.json()


def test_a_migrated_database_is_ready(stranger):
    assert answer_of(stranger, "/healthz") == (200, {"status": "ok", "version": version("theodolite")})
    assert answer_of(stranger, "/readyz") == (200, {"status": "ready", "version": version("theodolite")})


def test_an_unreachable_database_is_not_ready_and_the_process_is_alive(stranger, tmp_path):
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


def test_liveness_of_a_signed_in_browser_needs_no_query(client_as):
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


def metrics_of(client: Client, **headers: str) -> dict[str, list[tuple[dict[str, str], float]]]:
    answer = client.get("/metrics", headers=headers)
    assert answer.status_code == 200
    families = text_string_to_metric_families(answer.content.decode())
    samples = [sample for family in families for sample in family.samples]
    return {
        name: [(one.labels, one.value) for one in samples if one.name == name] for name in {s.name for s in samples}
    }


def test_metrics_of_an_event_have_the_format_of_prometheus(stranger):
    before = metrics_of(stranger)
    metrics = metrics_of(stranger)

    assert metrics["theodolite_database_up"] == [({}, 1.0)]
    assert metrics["theodolite_replies_in_progress"] == [({}, 0.0)]
    assert [labels["version"] for labels, _ in metrics["theodolite_build_info"]] == [version("theodolite")]
    assert {labels["study"] for labels, _ in metrics["theodolite_sessions"]} == {HostedStudy.objects.get().name}
    of_metrics = {"method": "GET", "route": "metrics", "status": "200"}
    name = "theodolite_http_request_duration_seconds_count"
    counts = [sum(value for labels, value in one.get(name, []) if labels == of_metrics) for one in (before, metrics)]
    assert counts[1] - counts[0] == 1


def test_metrics_state_the_pattern_of_an_address_and_never_its_codes(stranger):
    stranger.get("/join/a-secret-invitation/")

    text = stranger.get("/metrics").content.decode()
    assert "a-secret-invitation" not in text
    assert 'route="join/' in text


def test_metrics_are_served_to_loopback_only(stranger):
    assert stranger.get("/metrics", REMOTE_ADDR="203.0.113.9").status_code == 403
    assert stranger.get("/metrics", headers={"x-forwarded-for": "203.0.113.9"}).status_code == 403
    assert stranger.post("/metrics").status_code == 405


def test_a_token_permits_metrics_on_other_machines(stranger, monkeypatch):
    token = "a-token-of-more-than-20-characters"
    monkeypatch.setattr(settings, "METRICS_TOKEN", token)

    answer = stranger.get("/metrics", REMOTE_ADDR="203.0.113.9", headers={"authorization": f"Bearer {token}"})
    assert answer.status_code == 200
    assert stranger.get("/metrics").status_code == 403


def test_metrics_of_the_process_need_no_database(stranger, tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "WORKSPACE", tmp_path / "missing")
    configure_django(database_settings(tmp_path / "missing"))

    metrics = metrics_of(stranger)
    assert metrics["theodolite_database_up"] == [({}, 0.0)]
    assert "theodolite_http_request_duration_seconds_count" in metrics
