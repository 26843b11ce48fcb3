"""Seniors compare judges with people, promote them with a validation report, and withdraw them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from django.urls import reverse

from tests.fakes.annotated_event import queue_token
from tests.fakes.annotation_queue import promoted
from theodolite.annotation.queues import open_queue
from theodolite.demo.people import design_of, invented_study
from theodolite.domain.annotation import AnnotatorKind
from theodolite.domain.annotator import Annotator, ModelJudge
from theodolite.domain.application import ModelEndpoint
from theodolite.domain.estimate import ValidationReport
from theodolite.domain.event import Role
from theodolite.domain.identity import version_of
from theodolite.store.contents import file_record
from theodolite.web.annotator.home import records
from theodolite.web.models import AuditEntry

pytestmark = pytest.mark.integration

JUDGE = Annotator(
    name="reader", kind=AnnotatorKind.MODEL, guideline="risk_assessment", labelling=ModelJudge(model="large")
)


@pytest.fixture
def judged(event):
    """The seeded queue with a judge in its study."""
    study = invented_study()
    model = ModelEndpoint(name="large", url="http://127.0.0.1:1", model="l")
    study = replace(study, annotators=(*study.annotators, JUDGE), models=(model,))
    open_queue(records(), event.token, study, design_of(study))
    return study


def validate_judge(study):
    validation_report = ValidationReport(
        study=study.name,
        run=1,
        judge="reader",
        judge_version=study.annotator_version("reader"),
        guideline="risk_assessment",
        guideline_version=version_of(study.guideline("risk_assessment")),
        issued=datetime(2026, 1, 2, tzinfo=UTC),
        judged=8,
        labelled=8,
        authorities=("p-1",),
        measurements=(),
    )
    file_record(records().contents, validation_report.judge_version, validation_report)


def decide(client, event, step, reason="It was tried."):
    fields = {"judge": "reader", "step": step, "reason": reason}
    return client.post(reverse("senior:decide", args=[event.token]), fields, follow=True).content.decode()


def test_a_judge_is_promoted_and_withdrawn_with_recorded_reasons(judged, event, client_as):
    sami = client_as(Role.SENIOR)
    page = sami.get(reverse("senior:judges", args=[event.token])).content.decode()
    assert "not promoted" in page
    assert "Promote<" not in page
    assert "no validation report" in decide(sami, event, "promote")
    validate_judge(judged)
    assert "issued 2026-01-02" in sami.get(reverse("senior:judges", args=[event.token])).content.decode()

    told = decide(sami, event, "promote")
    assert "stay marked as a model&#x27;s" in told
    assert promoted(records(), queue_token(event)) == {"reader"}
    told = decide(sami, event, "withdraw", "It drifts.")

    assert "Withdrawn: It drifts." in told
    assert promoted(records(), queue_token(event)) == frozenset()
    verbs = AuditEntry.objects.filter(subject="judge reader").values_list("verb", flat=True)
    assert list(verbs) == ["withdrew a judge", "promoted a judge"]
