"""Studies on this server: from a folder or a pack, published in editions."""

from __future__ import annotations

import re

import pytest
from django.conf import settings

from tests.integration.web.editing import change
from theodolite.demo.studies import lay_out_event
from theodolite.domain.event import Role
from theodolite.web.events import event_of, forget_event
from theodolite.web.models import AuditEntry, Edition, HostedStudy


@pytest.fixture
def own(own) -> HostedStudy:
    """The event, not yet published."""
    own.state = HostedStudy.State.DRAFT
    own.save()
    return own


@pytest.fixture
def organiser(own, client_as):
    return client_as(Role.ORGANISER)


def publish(client, hosted: HostedStudy, version: str = ""):
    path = f"/s/{hosted.token}/organise/editions/"
    shown = re.search(r'name="version" value="(\w+)"', client.get(path).content.decode())
    return client.post(path, {"version": version or (shown[1] if shown else own_version(hosted))}, follow=True)


def own_version(hosted: HostedStudy) -> str:
    return Edition.objects.filter(hosted=hosted).latest("number").version


def test_an_edition_names_what_people_meet_and_the_next_shows_what_it_changes(organiser, own):
    publish(organiser, own)
    change(own, "minutes: 30", "minutes: 45")
    page = organiser.get(f"/s/{own.token}/organise/editions/").content.decode()
    publish(organiser, own)
    own.refresh_from_db()

    assert "Changes since version 1" in page
    assert "- &quot;minutes&quot;: 30" in page
    assert "+ &quot;minutes&quot;: 45" in page
    assert [each.number for each in Edition.objects.all()] == [1, 2]
    assert own.state == "published"
    assert AuditEntry.objects.filter(verb="published version").count() == 2


def test_people_meet_what_was_published_and_not_what_the_files_hold_since(organiser, own):
    forget_event(own)
    publish(organiser, own)
    change(own, "minutes: 30", "minutes: 45")
    before = [level.minutes for level in event_of(own).study.levels]
    publish(organiser, own)

    assert before == [30, 20]
    assert [level.minutes for level in event_of(own).study.levels] == [45, 20]


def test_nothing_is_published_twice_nor_unseen(organiser, own):
    publish(organiser, own)
    again = publish(organiser, own)
    change(own, "minutes: 30", "minutes: 45")
    unseen = publish(organiser, own, version="0" * 64)

    assert (again.status_code, unseen.status_code) == (409, 409)
    assert "review the changes" in unseen.content.decode()
    assert Edition.objects.count() == 1


def test_faults_are_shown_as_check_prints_them_and_nothing_is_published(organiser, own):
    change(own, "minutes: 30", "minuts: 30")
    page = organiser.post(f"/s/{own.token}/organise/editions/", {"version": ""}).content.decode()

    assert "study.yaml:" in page
    assert "Did you mean" in page
    assert "`minutes`?" in page
    assert Edition.objects.count() == 0


def test_a_host_puts_a_folder_and_a_pack_on_the_server(organiser, own, tmp_path, monkeypatch):
    monkeypatch.setattr(settings, "WORKSPACE", tmp_path / "home" / ".theodolite")
    lay_out_event(tmp_path / "other")
    folder = organiser.post("/studies/", {"folder": str(tmp_path / "other")})
    pack = organiser.post("/studies/", {"pack": "aria/pathfinder", "name": "paths"})

    assert folder.headers["Location"].endswith("/organise/editions/")
    assert pack.status_code == 302
    assert (tmp_path / "home" / "paths" / "study.yaml").is_file()
    assert HostedStudy.objects.filter(memberships__account__name="Olga").count() == 3


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({}, "Enter a folder"),
        ({"folder": "x", "pack": "aria/pathfinder"}, "Enter a folder"),
        ({"pack": "aria/pathfinder"}, "needs a name"),
        ({"pack": "aria/pathfinder", "name": "../up"}, "slug"),
        ({"folder": "/nowhere"}, "there is no such file or folder"),
    ],
    ids=["neither", "both", "no name", "a way out", "nowhere"],
)
def test_what_cannot_be_put_there_is_said(organiser, form, words):
    answer = organiser.post("/studies/", form)

    assert (answer.status_code, words in answer.content.decode()) == (422, True)


def test_only_hosts_put_studies_on_the_server(client_as):
    assert client_as(Role.SENIOR).get("/studies/").status_code == 404


def test_what_was_published_before_can_be_published_again(organiser, own):
    publish(organiser, own)
    change(own, "minutes: 30", "minutes: 25")
    publish(organiser, own)
    change(own, "minutes: 25", "minutes: 30")
    page = organiser.get(f"/s/{own.token}/organise/").content.decode()
    publish(organiser, own)

    first, second, third = own.editions.order_by("number")
    assert "version 2" in page
    assert "1 change since" in page
    assert (first.version == third.version, first.version == second.version) == (True, False)
