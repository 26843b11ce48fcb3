"""The public release of a closed event: who prepares it, and how identifiers of people are decided."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils import timezone

from theodolite.bootstrap.audience_reports import audience_files
from theodolite.bootstrap.events import PUBLIC, RELEASE
from theodolite.bootstrap.releases import REVIEW, read_review, review_text
from theodolite.domain.event import Role
from theodolite.domain.release import IdentifierFinding, ReviewDecision
from theodolite.web.models import AuditEntry, HostedStudy, Measurement
from theodolite.web.organiser import release
from theodolite.web.session_end import delete_measurements

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

FOUND = tuple(
    IdentifierFinding(key=key * 12, kind="person's name", dialogue="d1", words=words, context=f"I am {words}.", n=1)
    for key, words in (("a", "Ana Silva"), ("b", "Ben Ost"))
)


@pytest.fixture
def closed(own):
    own.state = HostedStudy.State.CLOSED
    own.save()
    return own


@pytest.fixture
def prepared(monkeypatch):
    """Record the tasks that pages start, in place of starting them."""
    tasks = []

    async def start(hosted, _by, task):
        tasks.append((hosted.token, task))
        return True

    monkeypatch.setattr(release, "measure", start)
    return tasks


@pytest.fixture
def row(closed):
    """A prepared release with two identifiers and a public report."""
    row = Measurement.objects.create(hosted=closed, edition="0" * 64, done_at=timezone.now())
    row.folder.mkdir(parents=True)
    (row.folder / REVIEW).write_text(review_text(FOUND), encoding="utf-8")
    (row.folder / audience_files(PUBLIC)[0]).write_text("<!doctype html>", encoding="utf-8")
    return row


def at(hosted, name, *parts):
    return reverse(f"organiser:{name}", args=[hosted.token, *parts])


def test_an_open_event_is_not_released(own, client_as, prepared):
    client = client_as(Role.ORGANISER)
    page = client.post(at(own, "release"), follow=True).content.decode()

    assert "Nothing was prepared: close the event first." in page
    assert "Prepare public release" not in page
    assert prepared == []


def test_a_closed_event_is_released_by_its_organiser(closed, client_as, prepared):
    client = client_as(Role.ORGANISER)
    offered = client.get(at(closed, "results")).content.decode()
    client.post(at(closed, "release"))

    assert "Prepare public release" in offered
    assert "Prepare public release" not in client_as(Role.ANALYST).get(at(closed, "results")).content.decode()
    assert prepared == [(closed.token, RELEASE)]
    assert AuditEntry.objects.filter(verb="prepared public release", hosted=closed).count() == 1


def test_decisions_are_stored_without_the_texts_and_the_release_is_prepared_again(closed, row, client_as, prepared):
    client, address = client_as(Role.ORGANISER), at(closed, "identifiers", row.token)
    listed = client.get(at(closed, "results")).content.decode()
    page = client.get(address).content.decode()
    sent = {f"decision:{FOUND[0].key}": "keep", f"reason:{FOUND[0].key}": "A character", "act": "redact_rest"}
    client.post(address, sent)
    stored = (Path(closed.folder) / REVIEW).read_text(encoding="utf-8")

    assert "Decide about 2 identifiers" in listed
    assert "Ana Silva" in page
    assert {one.decision for one in read_review(Path(closed.folder) / REVIEW).values()} == {
        ReviewDecision.KEEP,
        ReviewDecision.REDACT,
    }
    assert "A character,Olga" in stored
    assert "Ana" not in stored
    assert prepared == [(closed.token, RELEASE)]
    entry = AuditEntry.objects.get(verb="decided about identifiers")
    assert entry.facts == {"decided": 2, "found": 2}


@pytest.mark.parametrize(
    ("word", "words"), [("keep", "State why this text may be published."), ("burn", "Choose redact or keep.")]
)
def test_unsuitable_decisions_are_refused_at_their_row_and_nothing_is_stored(
    closed, row, client_as, prepared, word, words
):
    answer = client_as(Role.ORGANISER).post(at(closed, "identifiers", row.token), {f"decision:{FOUND[0].key}": word})

    assert answer.status_code == 422
    assert words in unescape(answer.content.decode())
    assert not (Path(closed.folder) / REVIEW).exists()
    assert prepared == []


def test_a_withdrawal_deletes_the_release_and_the_listed_texts(closed, row):
    delete_measurements(closed)

    assert not row.folder.exists()


def test_a_measurement_without_identifiers_has_no_such_page(closed, client_as):
    row = Measurement.objects.create(hosted=closed, edition="0" * 64, done_at=timezone.now())

    assert client_as(Role.ORGANISER).get(at(closed, "identifiers", row.token)).status_code == 404
