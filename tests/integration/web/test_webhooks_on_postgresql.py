"""Webhooks of two servers on one PostgreSQL database, and of a server killed during a delivery."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from tests.integration.web.test_webhooks import receiving
from theodolite.bootstrap.database import configure_django, database_settings
from theodolite.bootstrap.migration import migrate
from theodolite.web.access import audit
from theodolite.web.api.webhooks import AT_ONCE, LEASE, deliver_due, lease_due, store_facts, store_test
from theodolite.web.models import HostedStudy, Webhook, WebhookDelivery

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

N_FACTS = 12

SERVER = """
import asyncio, os, sys
from pathlib import Path
os.environ["DJANGO_SETTINGS_MODULE"] = "theodolite.bootstrap.settings"
import django
django.setup()
from django.conf import settings
from theodolite.bootstrap.database import configure_django, database_settings
configure_django(database_settings(Path(sys.argv[1]), sys.argv[2]))
settings.ALLOW_PRIVATE = True
from theodolite.web.api.webhooks import deliver_due
print("ready", flush=True)
asyncio.run(deliver_due())
"""


@pytest.fixture(scope="module")
def database(postgres_server, tmp_path_factory):
    """The address of a database with the tables of the web side."""
    workspace, url = tmp_path_factory.mktemp("hooks"), postgres_server.create()
    settings_of = database_settings(workspace, url)
    migrate(workspace, settings_of, whole=True)
    configure_django(settings_of)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "ALLOW_PRIVATE", True)
        yield url
    connection.close()
    configure_django(database_settings(Path("/nonexistent")))


@pytest.fixture
def hook(database, request):
    """A webhook of a study of this test, created a minute ago."""
    hosted = HostedStudy.objects.create(name=request.node.name)
    row = Webhook.objects.create(hosted=hosted, url="http://127.0.0.1:1/", events=["event.closed"])
    Webhook.objects.filter(pk=row.pk).update(made_at=timezone.now() - timedelta(minutes=1))
    row.refresh_from_db()
    yield row
    hosted.webhooks.all().delete()


def at_once(work):
    """Run a function in four threads with separate connections at the same time; return the results."""
    barrier = threading.Barrier(4)

    def alone(_: int):
        barrier.wait(60)
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(alone, range(4)))


def test_concurrent_servers_divide_facts_and_messages(hook):
    for _ in range(N_FACTS):
        audit(None, "set event closed", hosted=hook.hosted)

    new = at_once(lambda: store_facts(Webhook.objects.get(pk=hook.pk)))
    assert sum(new) == N_FACTS == WebhookDelivery.objects.count()
    leased = Counter(row.token for rows in at_once(lease_due) for row in rows)
    assert len(leased) <= N_FACTS <= AT_ONCE
    assert set(leased.values()) == {1}


def test_a_killed_server_sends_again_with_the_same_id(hook, database, tmp_path):
    message = store_test(hook)
    with receiving() as receiver:
        receiver.may_answer.clear()
        Webhook.objects.update(url=receiver.url)
        words = [sys.executable, "-c", SERVER, str(tmp_path), database]
        with subprocess.Popen(words, stdout=subprocess.PIPE) as server:
            assert receiver.arrived.wait(120)  # the request is there, and the response is not
            server.send_signal(signal.SIGKILL)
        receiver.may_answer.set()
        message.refresh_from_db()
        assert (message.done_at, message.attempts) == (None, 1)
        assert lease_due() == []
        assert message.next_at > timezone.now()

        WebhookDelivery.objects.update(next_at=message.next_at - LEASE)
        again = at_once(lambda: asyncio.run(deliver_due()))
        assert sum(again) == 1

    message.refresh_from_db()
    assert (message.attempts, message.status, message.problem) == (2, 200, "")
    assert [headers["webhook-id"] for headers, _ in receiver.received] == [message.token] * 2
