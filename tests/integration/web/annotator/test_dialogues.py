"""The list of a study's dialogues: its address contains the view, views are saved, and actions apply in bulk."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.fakes.annotated_event import participant_of, queue_token
from theodolite.annotation.assignment import next_work
from theodolite.domain.event import Role
from theodolite.store.models.annotating import ReservationRow, WorkItemRow
from theodolite.web.annotator.home import records
from theodolite.web.models import Account, AuditEntry, Batch, Membership, SavedView

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


@pytest.fixture
def sami(client_as):
    return client_as(Role.SENIOR)


def listed(client, event, query=""):
    return client.get(reverse("senior:dialogues", args=[event.token]) + query)


def acted(client, event, **sent):
    where = reverse("senior:act_on_many", args=[event.token])
    return client.post(where, {"which": "all", "category": "risk_assessment"} | sent, follow=True)


def anna(event) -> str:
    return event.memberships.get(role=Role.ANNOTATOR.value, participant=participant_of(event)).token


def test_the_address_contains_the_view(event, sami):
    first = WorkItemRow.objects.order_by("id")[0]
    WorkItemRow.objects.filter(pk=first.pk).update(state="complete", live=2, done=2, disputed=3)
    everything, disputed = listed(sami, event), listed(sami, event, "?alike=no&category=risk_assessment")

    assert everything.context["n"] == WorkItemRow.objects.count() > 1
    assert [one.items[0].words for one in disputed.context["found"]] == ["disputed in 3"]
    assert disputed.context["sought"].query == "category=risk_assessment&alike=no"
    assert (disputed.context["stages"][3][1:], disputed.context["n"]) == (("disputed", 1, False), 1)


@pytest.mark.parametrize("query", ["?stage=lost", "?alike=perhaps", "?flag=x", "?who=x", "?group=x", "?words=ab"])
def test_an_invalid_address_is_reported_and_lists_nothing(event, sami, query):
    page = listed(sami, event, query)

    assert page.status_code == 400
    assert "found" not in page.context
    assert page.context["problem"]


def test_organisers_see_levels_and_seniors_do_not(event, sami, client_as):
    blind, seeing = listed(sami, event, "?level=red+teaming"), listed(client_as(Role.ORGANISER), event)
    known = listed(client_as(Role.ORGANISER), event, "?level=red+teaming")

    assert blind.context["n"] == seeing.context["n"] > known.context["n"] > 0
    assert blind.context["sought"].is_level_left_out
    assert "red teaming" not in blind.content.decode()
    assert "red teaming" in seeing.content.decode()


def test_a_senior_who_is_also_an_organiser_stays_blind(event, sami):
    account = Account.objects.get(memberships__hosted=event, memberships__role=Role.SENIOR.value)
    Membership.objects.create(account=account, hosted=event, role=Role.ORGANISER.value)

    assert not listed(sami, event).context["knows_level"]


def test_only_its_owner_saves_shares_renames_and_deletes_a_view(event, sami, client_as):
    olga = client_as(Role.ORGANISER)
    sami.post(reverse("senior:save_view", args=[event.token]), {"name": "To settle", "query": "alike=no&page=3"})
    view = SavedView.objects.get()
    change = reverse("senior:change_view", args=[event.token, view.token])

    assert view.query == "alike=no"
    assert b"To settle" not in listed(olga, event).content
    sami.post(change, {"name": "For all", "shared": "on", "step": "change"})
    assert b"For all" in listed(olga, event).content
    assert olga.post(change, {"step": "forget"}).status_code == 404
    sami.post(change, {"step": "forget"})
    assert not SavedView.objects.exists()
    assert list(AuditEntry.objects.filter(verb__endswith="a view").values_list("verb", flat=True)) != []


def test_names_of_views_are_unique_and_not_empty(event, sami):
    where = reverse("senior:save_view", args=[event.token])
    for name in ("Mine", "Mine", " "):
        sami.post(where, {"name": name, "query": ""})

    assert SavedView.objects.count() == 1


def test_all_matches_can_be_offered_to_an_annotator_and_revoked(event, sami):
    before = ReservationRow.objects.filter(state="offered").count()
    page = acted(sami, event, act="offer", whom=anna(event), query="stage=waiting")
    batch = Batch.objects.get()

    assert batch.n_done == ReservationRow.objects.filter(state="offered").count() - before > 0
    assert f"{batch.n_done} offered" in page.content.decode()
    again = acted(sami, event, act="offer", whom=anna(event), query="stage=waiting")
    assert "it is already offered to this annotator" in again.content.decode()
    sami.post(reverse("senior:undo_batch", args=[event.token, batch.token]))
    assert ReservationRow.objects.filter(state="offered").count() == before
    assert Batch.objects.get(pk=batch.pk).n_undone == batch.n_done
    assert AuditEntry.objects.filter(subject=f"batch {batch.token}").count() == 2


def test_actions_affect_only_selected_dialogues(event, sami):
    shown = listed(sami, event, "?stage=waiting").context["found"]
    acted(sami, event, act="first", which="ticked", dialogue=[shown[0].token], query="stage=waiting")

    assert WorkItemRow.objects.filter(is_first=True).count() == 1
    work = next_work(records(), queue_token(event), participant_of(event))
    assert work is not None
    assert ReservationRow.objects.get(token=work.token).item.is_first


def test_a_missing_selection_or_annotator_is_reported(event, sami):
    nothing = acted(sami, event, act="first", which="ticked")
    nobody = acted(sami, event, act="offer")

    assert b"nothing was selected" in nothing.content
    assert b"choose an annotator" in nobody.content
    assert not Batch.objects.exists()


def test_organisers_can_assign_and_cannot_review(event, client_as):
    olga = client_as(Role.ORGANISER)

    assert acted(olga, event, act="first").status_code == 200
    assert [acted(olga, event, act=name).status_code for name in ("room", "check", "review")] == [404, 404, 404]


@pytest.mark.parametrize("act", ["back", "room", "check", "review"])
def test_each_action_reports_its_result_per_dialogue(event, sami, act):
    page = acted(sami, event, act=act, query="")
    batch = Batch.objects.get()

    assert page.status_code == 200
    assert batch.lines.count() == batch.n_done + batch.n_refused > 0
    assert batch.lines.filter(refused="").count() == batch.n_done
