"""No page of an annotator contains a level, application, tester or answer of a colleague."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from django.urls import reverse

from tests.fakes.annotated_event import a_room, answer_everything, participant_of, queue_token
from theodolite.annotation import assignment, review, submission
from theodolite.annotation.quality import BACKGROUND, RULES, acknowledge
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.dialogue import Level
from theodolite.store.models import DialogueRow, RunRow
from theodolite.web.annotator.home import records
from theodolite.web.events import server_store
from theodolite.web.models import Membership

pytestmark = pytest.mark.integration

REASON = "because the keeper winks"
LONG_AGO = datetime(2001, 2, 3, 4, 5, 6, 789_012, tzinfo=UTC)
_ADDRESS = re.compile(r'(?:href|action)="([^"#?]+)')
_SKIPPED = ("/static/", "/account/", "/display-settings/", "/release/", "/skip/", "/submit/")


@pytest.fixture
def ben(annotator, event):
    """A colleague with a vote in a calibration session and submissions of the same dialogues with reasons."""
    annotator("Ben")
    key = Membership.objects.get(hosted=event, account__name="Ben").participant
    for subject in (BACKGROUND, RULES):
        acknowledge(records(), queue_token(event), key, subject)
    while work := assignment.next_work(records(), queue_token(event), key):
        answer_everything(work.token, key, "yes")
        question = first_question(work.token, key)
        reasoned = Answer(question=question, outcome=Outcome.ANSWERED, value="2", reasoning=REASON)
        submission.save_answer(work.token, key, reasoned)
        submission.submit(records(), work.token, key)
    room = a_room(event)
    seen = review.room(records(), room, key)
    assert seen.n_voted == 0
    return key


def first_question(token, key):
    instrument = submission.task(records(), token, key).guideline.instrument
    return next(one.name for one in instrument.questions if one.level.value == "dialogue")


def crawl(client, *starts):
    """Return every page reachable by links and forms, with its headers."""
    waiting, seen = list(starts), {}
    while waiting:
        address = waiting.pop()
        if address in seen or not address.startswith("/") or any(part in address for part in _SKIPPED):
            continue
        answer = client.get(address)
        seen[address] = f"{dict(answer.headers)} {answer.content.decode()}"
        waiting += _ADDRESS.findall(seen[address])
    return seen


def secrets_of(event, ben):
    """Return texts forbidden for annotators: sources and times of dialogues, and answers of others.

    The dialogues are moved to a moment long ago: else what the annotator saves in the same second looks like a leak.
    """
    DialogueRow.objects.update(created=LONG_AGO)
    rows = list(DialogueRow.objects.select_related("unit"))
    keys = {word for row in rows for word in (row.unit.key, row.unit.label, row.cluster, row.pair_key)}
    times = {format(row.created, form) for row in rows for form in ("%Y-%m-%dT%H:%M:%S", "%H:%M:%S.%f")}
    told = {answer.value for one in responses() for answer in one.answers if len(answer.value or "") > 20}
    words = {*(level.value for level in Level), "toy-guard", "open-door", ben, "Ben", REASON, "held_by"}
    return {word for word in keys | times | told | words if len(word) > 2}


def responses():
    """Return the questionnaire answers of testers in all studies of this database."""
    studies = RunRow.objects.values_list("study", flat=True).distinct()
    return [one for study in studies for one in server_store().events.responses.in_study(study)]


def acted(client, address):
    """Return the responses to every action of a page, as JSON and as HTML."""
    script = {"HTTP_ACCEPT": "application/json"}
    given = {"key": "severity", "a:severity": "2", "quotes:severity": "lamp", "note:severity": "mine"}
    acts = {
        "answer/": given,
        "undo/": {},
        "submit/": {},
        "flag/": {"kind": "pii", "turn": "1", "note": "a name"},
        "comment/": {"about": "turn:1", "text": "Does a hint count?"},
        "skip/": {"reason": " "},
    }
    told = {f"{act} as JSON": client.post(f"{address}{act}", sent, **script) for act, sent in acts.items()}
    told |= {act: client.post(f"{address}{act}", sent, follow=True) for act, sent in acts.items()}
    return {act: f"{dict(answer.headers)} {answer.content.decode()}" for act, answer in told.items()}


def test_every_page_of_an_annotator_is_blind(anna, address, event, ben):
    secrets = secrets_of(event, ben)
    pages = crawl(anna, reverse("annotator:home", args=[event.token]), address)
    pages |= acted(anna, address)
    pages |= crawl(anna, reverse("annotator:home", args=[event.token]), f"{address}?at=severity")
    leaks = {(page, word) for page, text in pages.items() for word in secrets if word in text}

    assert leaks == set()
    assert len(pages) > 20
    for part in ("/room/", "/practice/", "/about/", "comment/", "/d/"):
        assert part in "".join(pages)


def test_two_annotators_see_different_names_of_a_dialogue(anna, address, event, ben):
    mine = submission.task(records(), address.split("/")[-2], participant_of(event))

    names = {
        submission.task(records(), one.token, ben).dialogue.name
        for one in assignment.last_ones(queue_token(event), ben)
    }

    assert mine.dialogue.name not in names
