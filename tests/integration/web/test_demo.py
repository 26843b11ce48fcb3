"""The seeded event: pages of those who come after others are not empty, however often it is furnished."""

from __future__ import annotations

import pytest

from theodolite.domain.role import Role
from theodolite.store.annotating import cases, resolutions, threads
from theodolite.store.annotating.rooms import rooms
from theodolite.store.models.annotating import QueueRow
from theodolite.web.demo import furnish
from theodolite.web.models import Account

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


def test_seniors_find_disputes_a_question_a_case_and_a_room(event, client_as):
    furnish(event)
    furnish(event)
    queue = QueueRow.objects.get(name=event.token)

    assert Account.objects.filter(name="Bela").count() == 1
    assert resolutions.n_disputed_items(queue.token) == 6
    assert len(threads.all_threads(queue.token, is_open=True)) == 1
    assert cases.cases(queue.study)
    assert len(rooms(queue.token)) == 1
    page = client_as(Role.SENIOR).get(f"/s/{event.token}/review/").content.decode()
    assert "6 items, the most disputed first" in page
