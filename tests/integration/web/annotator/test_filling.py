"""A senior annotator opens the queue of a published study with all completed dialogues."""

from __future__ import annotations

import pytest
from django.urls import reverse

from theodolite.annotation.rules import queue_design
from theodolite.demo.people import keep_dialogues
from theodolite.domain.event import Role
from theodolite.domain.identity import version_of
from theodolite.store.models.annotating import QueueRow, WorkItemRow
from theodolite.web.events import event_of, last_edition, publish, study_in_files, study_of
from theodolite.web.models import HostedStudy, Membership
from theodolite.web.senior.home import fill_queue

pytestmark = pytest.mark.integration


@pytest.fixture
def published(event):
    """The seeded event, published from its files."""
    publish(event, event.made_by, version_of(study_in_files(event).study))
    return event


def test_a_queue_of_another_study_is_not_changed(published, client_as):
    answered = client_as(Role.SENIOR).post(reverse("senior:fill_queue", args=[published.token]), follow=True)

    assert "the queue holds dialogues of `demo`" in answered.content.decode().partition("<main")[0]


def test_the_first_fill_opens_the_queue_with_the_schema_of_the_study(published):
    QueueRow.objects.filter(name=published.token).update(name="put away")
    study = study_of(last_edition(published))

    of_people = sum(one.unit != "" for one in event_of(published).store.events.dialogues.summaries(study.name))
    held = keep_dialogues(study)
    n_new = fill_queue(published, by="sami")

    queue = QueueRow.objects.get(name=published.token)
    assert queue.study == study.name
    assert WorkItemRow.objects.filter(queue=queue).count() == n_new == len(held) + of_people > of_people
    assert fill_queue(published, by="sami") == 0
    assert queue_design(study).rules


def test_an_unpublished_study_has_no_queue(event, client_as):
    other = HostedStudy.objects.create(name="new")
    sami = Membership.objects.get(hosted=event, role=Role.SENIOR.value).account
    Membership.objects.create(account=sami, hosted=other, role=Role.SENIOR.value)

    answered = client_as(Role.SENIOR).post(reverse("senior:fill_queue", args=[other.token]), follow=True)

    assert b"this study has no published version yet" in answered.content
