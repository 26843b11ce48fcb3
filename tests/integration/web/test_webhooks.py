"""Webhooks: each fact once, signed, repeated until it is accepted, and never to private addresses."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.conf import settings
from django.utils import timezone

from tests.fakes.annotated_event import an_item
from theodolite.bootstrap import run_process, webhook_sender
from theodolite.domain.event import Role
from theodolite.store.models import RunRow
from theodolite.store.models.annotating import WorkItemRow
from theodolite.web.access import audit
from theodolite.web.api import webhooks
from theodolite.web.api.webhooks import (
    LEASE,
    WAITS,
    lease_due,
    prepare,
    record_outcome,
    secret_of,
    store_facts,
    store_test,
)
from theodolite.web.events import server_store
from theodolite.web.models import AuditEntry, Measurement, Webhook, WebhookDelivery
from theodolite.web.models.api import WebhookEvent
from theodolite.web.organiser.runs import server_study

pytestmark = [pytest.mark.integration, pytest.mark.timeout(120)]


class Receiver(ThreadingHTTPServer):
    """Receives webhooks and responds with a sequence of statuses.

    Attributes:
        arrived: Set with the first request.
        may_answer: Responses are delayed until it is set.
    """

    def __init__(self, *statuses: int) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.statuses, self.received = list(statuses), []
        self.arrived, self.may_answer = threading.Event(), threading.Event()
        self.may_answer.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append((dict(self.headers), body.decode()))
        self.server.arrived.set()
        self.server.may_answer.wait(60)
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "http://127.0.0.1:1/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@contextmanager
def receiving(*statuses: int) -> Iterator[Receiver]:
    with Receiver(*statuses) as receiver:
        thread = threading.Thread(target=receiver.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield receiver
        finally:
            receiver.shutdown()


@pytest.fixture(autouse=True)
def _private_allowed(monkeypatch):
    monkeypatch.setattr(settings, "ALLOW_PRIVATE", True)


@pytest.fixture
def hook(event):
    """A webhook of the event for everything, created a minute ago."""
    row = Webhook.objects.create(hosted=event, url="http://127.0.0.1:1/", events=[str(one) for one in WebhookEvent])
    Webhook.objects.filter(pk=row.pk).update(made_at=timezone.now() - timedelta(minutes=1))
    row.refresh_from_db()
    return row


def attempt(row: WebhookDelivery, url: str, **options: bool):
    """Send a leased message once and store the outcome, as the server does."""
    message = webhook_sender.WebhookMessage(id=row.token, url=url, body=row.body, secret=secret_of(row.webhook))
    sending = webhook_sender.send_webhook(message, int(time.time()), **{"public_only": False, **options})
    outcome = asyncio.run(sending)
    record_outcome(row, outcome)
    row.refresh_from_db()
    return outcome


def due_now() -> list[WebhookDelivery]:
    """Make the open messages due, and lease them."""
    WebhookDelivery.objects.filter(done_at=None).update(next_at=timezone.now())
    return lease_due()


def test_a_message_is_signed_according_to_the_specification(hook):
    store_test(hook)
    (row,) = lease_due()
    with receiving() as receiver:
        assert attempt(row, receiver.url).problem == ""
    ((headers, body),) = receiver.received
    headers = {name.lower(): value for name, value in headers.items()}
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}".encode()
    expected = base64.b64encode(hmac.new(secret_of(hook), signed, sha256).digest()).decode()

    assert headers["webhook-signature"] == f"v1,{expected}"
    assert headers["webhook-id"] == row.token
    assert json.loads(body)["type"] == "webhook.test"
    assert json.loads(body)["data"] == {"study": hook.hosted.token}
    assert row.done_at is not None


def test_the_signature_equals_the_example_of_the_specification():
    """The example of the Standard Webhooks specification: secret, id, timestamp, body, signature."""
    secret = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    message = webhook_sender.WebhookMessage(
        id="msg_p5jXN8AQM9LWM0D4loKWxJek", url="", body='{"test": 2432232314}', secret=secret
    )

    assert webhook_sender.signature(message, 1614265330) == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_each_fact_becomes_one_message(event, hook):
    before = store_facts(hook)
    row = Measurement.objects.create(hosted=event, edition="0" * 64, done_at=timezone.now())
    row.folder.mkdir(parents=True)
    gates = [{"name": "harm", "state": "not met"}, {"name": "use", "state": "met"}]
    (row.folder / "results.json").write_text(json.dumps({"gates": {"state": "not met", "gates": gates}}))
    for state in ("open", "paused", "closed"):
        audit(None, f"set event {state}", hosted=event)
    WorkItemRow.objects.filter(token=an_item(event)).update(disputed=1)

    assert store_facts(hook) >= 6
    assert store_facts(hook) == 0
    new = WebhookDelivery.objects.order_by("id")[before:]
    told = {one.event: json.loads(one.body)["data"] for one in new}
    assert set(told) >= {str(one) for one in WebhookEvent if not one.startswith("run.")}
    assert told["gate.failed"] == {"study": event.token, "measurement": row.token, "gate": "harm"}
    assert told["measurement.finished"]["state"] == "done"


@pytest.mark.parametrize(("code", "event_name"), [(2, "run.failed"), (-9, "run.failed"), (3, "run.stopped")])
def test_the_end_of_a_run_process_becomes_one_message(event, hook, code, event_name):
    study = server_study(event)
    store_facts(hook)
    study.home.mkdir(parents=True)
    started = run_process._STARTED[study.home] = subprocess.Popen(
        [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"]
    )
    (study.home / run_process.LOG_NAME).write_text("the end", encoding="utf-8")
    record = {"pid": started.pid, "command": "theodolite run x"}
    (study.home / run_process.RECORD_NAME).write_text(json.dumps(record), encoding="utf-8")
    RunRow.objects.filter(study=event.name).update(state="unfinished", finished=None)
    assert store_facts(hook) == 0, "the process lives"
    started.kill()
    started.wait(60)
    started.returncode = code

    assert store_facts(hook) == 1
    run_process._STARTED.pop(study.home)  # the server was started again
    assert store_facts(hook) == 0
    message = hook.deliveries.latest("id")
    data = json.loads(message.body)["data"]
    assert (message.event, data["exit_code"], data["study"]) == (event_name, code, event.token)
    assert data["run"] == max(run.number for run in server_store().runs(event.name))


def test_a_run_that_ends_again_is_reported_again(event, hook):
    store_facts(hook)
    run = RunRow.objects.filter(study=event.name).latest("number")
    for minutes in (0, 1):
        end = timezone.now() + timedelta(minutes=minutes)
        RunRow.objects.filter(pk=run.pk).update(state="finished", finished=end)
        assert [store_facts(hook), store_facts(hook)] == [1, 0]
        RunRow.objects.filter(pk=run.pk).update(state="unfinished", finished=None)

    assert hook.deliveries.filter(event="run.finished", body__contains=f'"run": {run.number},').count() >= 2


def test_a_webhook_gets_only_its_events_since_it_was_created(event):
    audit(None, "set event open", hosted=event)
    hook = Webhook.objects.create(hosted=event, url="http://127.0.0.1:1/", events=["event.closed"])
    audit(None, "set event paused", hosted=event)
    audit(None, "set event closed", hosted=event)

    store_facts(hook)
    assert [one.event for one in hook.deliveries.all()] == ["event.closed"]


def test_a_refused_message_is_repeated_with_the_same_id_and_increasing_delays(hook):
    store_test(hook)
    with receiving(500, 302, 404) as receiver:
        for wait in WAITS[:3]:
            (row,) = due_now()
            attempt(row, receiver.url)
            assert row.done_at is None
            assert abs(row.next_at - timezone.now() - wait) < timedelta(seconds=20)
        (row,) = due_now()
        attempt(row, receiver.url)

    assert len({headers["webhook-id"] for headers, _ in receiver.received}) == 1
    assert (row.attempts, row.status, row.problem) == (4, 200, "")
    assert row.done_at is not None


def test_a_message_is_abandoned_after_the_last_delay(hook):
    store_test(hook)
    for _ in range(len(WAITS) + 1):
        (row,) = due_now()
        record_outcome(row, webhook_sender.DeliveryOutcome(status=500, problem="no"))

    row.refresh_from_db()
    assert row.done_at is not None
    assert due_now() == []


def test_a_receiver_that_is_gone_gets_no_more_messages(hook):
    for _ in range(2):
        store_test(hook)
    first, _ = lease_due()
    record_outcome(first, webhook_sender.DeliveryOutcome(status=410, problem="gone"))

    assert due_now() == []
    assert prepare() == []


def test_an_attempt_of_a_killed_process_is_repeated_exactly_once(hook):
    store_test(hook)
    (row,) = lease_due()
    assert lease_due() == []

    WebhookDelivery.objects.update(next_at=timezone.now())  # the lease is over
    (again,) = lease_due()
    assert (again.token, again.attempts) == (row.token, 2)
    assert timedelta(seconds=webhook_sender.TIMEOUT_S) < LEASE


@contextmanager
def lying(answer: bytes, *, hang: bool) -> Iterator[str]:
    """Accept one connection and write an answer that is no HTTP, or nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        over = threading.Event()

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(answer)
                if hang:
                    over.wait(10)

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        finally:
            over.set()


@pytest.mark.parametrize(
    ("answer", "hang"),
    [
        (b"", True),
        (b"", False),
        (b"SSH-2.0-x\r\n\r\n", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nx", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n", False),
    ],
    ids=["silent", "closes", "no HTTP", "ends never", "too large"],
)
def test_a_slow_or_invalid_response_is_a_failed_attempt(hook, monkeypatch, answer, hang):
    monkeypatch.setattr(webhook_sender, "TIMEOUT_S", 0.3)
    store_test(hook)
    (row,) = lease_due()
    with lying(answer, hang=hang) as url:
        outcome = attempt(row, url)

    assert outcome.problem
    assert row.done_at is None


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/", "http://localhost:9/", "http://169.254.169.254/"])
def test_private_addresses_are_refused_at_the_connection(hook, url):
    store_test(hook)
    (row,) = lease_due()

    assert attempt(row, url, public_only=True).status is None


@pytest.mark.parametrize(
    "url",
    ["http://example.org/", "https://10.0.0.1/", "https://[::1]/", "https://user:pw@example.org/", "ftp://x", "x"],
)
def test_the_page_refuses_addresses_that_are_not_public_https(event, client_as, monkeypatch, url):
    monkeypatch.setattr(settings, "ALLOW_PRIVATE", False)
    page = client_as(Role.ORGANISER).post(at(event), {"url": url, "events": ["event.closed"]})

    assert page.status_code == 422
    assert not Webhook.objects.exists()


def at(event) -> str:
    return f"/s/{event.token}/organise/webhooks/"


def test_an_organiser_creates_tries_and_removes_a_webhook(event, client_as):
    organiser = client_as(Role.ORGANISER)
    with receiving() as receiver:
        page = organiser.post(at(event), {"url": receiver.url, "events": ["event.closed"]}).content.decode()
        (hook,) = Webhook.objects.all()
        secret = page.partition('value="whsec_')[2].partition('"')[0]
        assert base64.b64decode(secret) == secret_of(hook)
        organiser.post(f"{at(event)}{hook.token}/test/")
        assert asyncio.run(webhooks.deliver_due()) == 1

    page = organiser.get(at(event)).content.decode()
    assert "delivered, HTTP 200" in page
    assert secret not in page
    (delivery,) = WebhookDelivery.objects.all()
    organiser.post(f"{at(event)}{hook.token}/{delivery.token}/redeliver/")
    assert [one.token for one in lease_due()] == [delivery.token]
    organiser.post(f"{at(event)}{hook.token}/remove/")
    assert not Webhook.objects.exists()
    assert {"created webhook", "removed webhook"} <= set(AuditEntry.objects.values_list("verb", flat=True))
