"""The annotation page shows a judge's answer as a suggestion, and presets nothing."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from django.urls import reverse

from tests.fakes.annotated_event import participant_of, queue_token
from tests.integration.web.annotator.test_judges_page import JUDGE
from theodolite.annotation import assignment, submission
from theodolite.annotation.queues import open_queue
from theodolite.demo.people import design_of, invented_study
from theodolite.domain.application import ModelEndpoint
from theodolite.domain.event import PreAnnotation
from theodolite.store.models import AnnotationRow, AnswerRow
from theodolite.store.models.annotating import WorkItemRow
from theodolite.store.statements import database_now
from theodolite.web.annotator.home import records

pytestmark = pytest.mark.integration


@pytest.fixture
def suggested(event):
    """The seeded queue with suggestions of a judge that has read all dialogues."""
    study = invented_study()
    model = ModelEndpoint(name="large", url="http://127.0.0.1:1", model="l")
    study = replace(study, annotators=(*study.annotators, JUDGE), models=(model,))
    design = design_of(study)
    plan = replace(design.process, pre_annotation=PreAnnotation(judge="reader", share=0.999))
    open_queue(records(), event.token, study, replace(design, process=plan))
    for item in WorkItemRow.objects.filter(category="risk_assessment").select_related("dialogue"):
        annotation = AnnotationRow.objects.create(
            dialogue=item.dialogue,
            unit=item.dialogue.unit,
            annotator="reader",
            annotator_version=study.annotator_version("reader"),
            guideline=item.category,
            instrument_version=item.version,
            revision=1,
            created=database_now(),
        )
        AnswerRow.objects.create(
            annotation=annotation, question="severity", outcome="answered", value="2", position=0, replicate=1
        )
    return event


def test_a_suggestion_is_shown_with_its_question_and_is_no_answer(suggested, anna):
    page = anna.post(reverse("annotator:take", args=[suggested.token]), follow=True)
    text = " ".join(page.content.decode().split())

    assert text.count("The judge answered") == 1
    assert '<p class="guidance" data-suggestion>' in text, "the class `quiet` hides texts"
    assert "The judge answered <b>2</b>. This is a suggestion; choose your own answer." in text
    assert re.search(r'<input[^>]*name="a:severity', text)
    assert not re.search(r'<input[^>]*name="a:[^>]* checked', text)
    key = participant_of(suggested)
    work = assignment.next_work(records(), queue_token(suggested), key)
    assert submission.task(records(), work.token, key).answers == ()
