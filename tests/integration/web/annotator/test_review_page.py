"""A recorded result of a review leads to the next dispute without a result."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from tests.fakes.annotated_event import participant_of, queue_token, submitted
from theodolite.annotation.quality import admit
from theodolite.demo.people import invented_study, let_begin
from theodolite.domain.event import Role
from theodolite.store.models.annotating import ReservationRow
from theodolite.web.annotator.home import records
from theodolite.web.models import Account, Membership

pytestmark = pytest.mark.integration


def test_record_leads_to_the_next_dispute_without_a_result(event, client_as):
    other = Membership.objects.create(
        account=Account.objects.create_user("second@example.org", name="Second"), hosted=event, role=Role.ANNOTATOR
    )
    let_begin(queue_token(event), other.participant)
    for category in invented_study().guidelines:
        admit(records(), queue_token(event), other.participant, category.name, by="sami", reason="a test")
    first = submitted(event, participant_of(event), "yes")
    submitted(event, other.participant, "no")
    row = ReservationRow.objects.get(token=first)
    item = row.item.token
    client = client_as(Role.SENIOR)
    client.post(reverse("senior:begin", args=[event.token, item]))
    page = client.get(reverse("senior:resolution", args=[event.token, item])).content.decode()
    places = re.findall(r'<article class="dispute" id="dispute-([^"]+)"', page)
    forms = {"found": "cause:" + re.search(r'value="cause:([^"]+)"', page)[1], "rationale": "We read it together."}
    where = reverse("senior:resolve", args=[event.token, item])
    targets = [client.post(where, {"place": place, **forms}).headers["Location"] for place in places]

    assert len(places) > 1
    assert [target.partition("#dispute-")[2].replace("%40", "@") for target in targets] == [*places[1:], places[-1]]
