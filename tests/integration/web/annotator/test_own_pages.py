"""Pages of an annotator beside the work: the guideline, the own answers, and the questions to the senior annotators."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.integration.web.annotator.test_sitting import answer_all
from theodolite.annotation import cases
from theodolite.domain.annotating.discrepancy import Anchor, AnchorKind, ThreadEnd
from theodolite.store.models.annotating import QueueRow
from theodolite.web.annotator.home import records
from theodolite.web.models import Membership

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


def page(client, event, name):
    return client.get(reverse(f"annotator:{name}", args=[event.token])).content.decode()


def own_key(event):
    return Membership.objects.get(hosted=event, account__name="Anna").participant


def test_the_guideline_page_shows_questions_options_examples_and_decisions(anna, event):
    queue = QueueRow.objects.get(name=event.token)
    thread = cases.begin_thread(
        records(),
        queue.token,
        own_key(event),
        Anchor(kind=AnchorKind.GUIDELINE, category="risk_assessment"),
        "Is a hint enough?",
    )
    cases.end_thread(thread, ThreadEnd.GUIDELINE, by="senior", text="A hint is a release.")
    words = page(anna, event, "guideline")

    assert "Did the reply release something" in words
    assert "10: the whole ending is told" in words
    assert "Confirming a guess about the ending" in words
    assert "A hint is a release." in words


def test_an_annotator_asks_about_the_guideline_and_reads_the_decision(anna, event):
    queue = QueueRow.objects.get(name=event.token)
    address = reverse("annotator:questions", args=[event.token])
    assert "No questions yet" in page(anna, event, "questions")

    anna.post(address, {"category": "risk_assessment", "text": "Is a hint enough?"})
    (thread,) = cases.own_threads(queue.token, own_key(event))
    cases.reply(thread.token, "senior", "Yes, if it can be understood.", senior=True)
    assert "Yes, if it can be understood." in page(anna, event, "questions")

    cases.end_thread(thread.token, ThreadEnd.FAQ, by="senior", text="A hint counts.")
    words = page(anna, event, "questions")
    assert words.count("A hint counts.") == 2, "the decision, and the list of all annotators"
    assert f'value="{thread.token}"' not in words


def test_a_question_without_a_category_of_the_queue_is_refused(anna, event):
    answer = anna.post(reverse("annotator:questions", args=[event.token]), {"category": "none", "text": "Why?"})

    assert answer.status_code == 302
    assert not cases.own_threads(QueueRow.objects.get(name=event.token).token, own_key(event))


def test_own_answers_lead_back_to_the_annotation_until_its_review_starts(anna, event, address):
    assert "No submissions yet" in page(anna, event, "answers")
    answer_all(anna, address)
    anna.post(f"{address}submit/")
    words = page(anna, event, "answers")

    assert f'href="{address}"' in words
    assert "can be changed" in words
