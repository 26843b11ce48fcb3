"""The number of queries of seniors' pages does not depend on the length of lists."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.fakes.annotated_event import answer_everything, queue_token
from theodolite.annotation import assignment, cases, submission
from theodolite.annotation.quality import make_gold
from theodolite.demo.people import let_begin
from theodolite.domain.annotating.case import Flag, FlagKind
from theodolite.domain.annotating.discrepancy import Anchor, AnchorKind
from theodolite.domain.event import Role
from theodolite.store.models.annotating import GoldRow, WorkItemRow
from theodolite.web.annotator.home import records
from theodolite.web.models import Account, Membership

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

PAGES = ("home", "dialogues", "people", "cases", "gold", "questions", "judges", "agreement")


def joined(event, name):
    """Add an annotator and return the membership."""
    account = Account.objects.create_user(name=name)
    who = Membership.objects.create(account=account, hosted=event, role=Role.ANNOTATOR.value).participant
    let_begin(queue_token(event), who)
    return who


def work(event, who, dialogues, choose):
    """Flag, discuss and submit some dialogues as an annotator."""
    queue = queue_token(event)
    assignment.offer(queue, [(key, "risk_assessment") for key in dialogues], who)
    for _ in dialogues:
        taken = assignment.next_work(records(), queue, who, category="risk_assessment")
        answer_everything(taken.token, who, choose)
        cases.flag(taken.token, who, Flag(kind=FlagKind.TECHNICAL, turn=1, note=choose))
        anchor = Anchor(kind=AnchorKind.DIALOGUE, category="risk_assessment", reservation=taken.token)
        cases.begin_thread(records(), queue, who, anchor, "Is it so?")
        submission.submit(records(), taken.token, who)


def make_all_gold(event):
    for item in WorkItemRow.objects.filter(queue__name=event.token, state="complete", category="risk_assessment"):
        make_gold(records(), item.token, by="sami", reason="All say so.")


def counts(client, event):
    found = {}
    for page in PAGES:
        address = reverse(f"senior:{page}", args=[event.token])
        client.get(address)
        with CaptureQueriesContext(connection) as queries:
            assert client.get(address).status_code == 200
        found[page] = len(queries)
    return found


def test_the_number_of_queries_of_lists_is_constant(event, client_as):
    client = client_as(Role.SENIOR)
    items = WorkItemRow.objects.filter(queue__name=event.token, category="risk_assessment", live=0)
    keys = list(items.order_by("id").values_list("dialogue__unit__key", flat=True))
    people = {joined(event, "Ben"): "yes", joined(event, "Cara"): "no"}
    for who, choose in people.items():
        work(event, who, keys[:1], choose)
    make_all_gold(event)
    before = counts(client, event)
    for who, choose in people.items():
        work(event, who, keys[1:4], choose)
    make_all_gold(event)

    assert counts(client, event) == before
    assert GoldRow.objects.values("item").distinct().count() > 2
