"""Answers are saved one by one, checked by the server, and submitted together."""

from __future__ import annotations

import pytest
from django.urls import reverse

from theodolite.domain.event import Role
from theodolite.store.models import AnnotationRow
from theodolite.store.models.annotating import DraftRow

pytestmark = pytest.mark.integration

SCRIPT = {"HTTP_ACCEPT": "application/json"}


def save(anna, address, key, value, **more):
    fields = {"key": key, f"a:{key}": value} | {f"{name}:{key}": each for name, each in more.items()}
    return anna.post(f"{address}answer/", fields, **SCRIPT)


def asked_of(anna, address):
    return anna.get(address).context["page"]


def answer_all(anna, address):
    while still := asked_of(anna, address).open:
        choice = asked_of(anna, address).item(still[0]).field.plain[-1].value
        assert save(anna, address, still[0], choice).status_code == 200


def test_a_saved_answer_is_shown_on_another_machine_and_opens_its_follow_up(anna, address, client_as):
    told = save(anna, address, "released@1", "yes", quotes="lamp", note="as it says").json()

    elsewhere = asked_of(client_as(Role.ANNOTATOR), address)

    assert "taken@1" in told["asked"]
    assert (elsewhere.item("released@1").value, elsewhere.item("released@1").note) == ("yes", "as it says")


def test_changed_choices_leave_one_answer_and_every_revision(anna, address):
    for value in ("yes", "no", "unable to determine", "yes", "no"):
        save(anna, address, "released@1", value)

    assert [row.value for row in DraftRow.objects.filter(question="released", current=True)] == ["no"]
    assert DraftRow.objects.filter(question="released").count() == 5


def test_saving_the_same_again_adds_nothing(anna, address):
    save(anna, address, "released@1", "yes")
    save(anna, address, "released@1", "yes")

    assert DraftRow.objects.count() == 1


def test_an_invalid_answer_is_refused_with_a_message(anna, address):
    refused = save(anna, address, "severity", "11")

    assert (refused.status_code, refused.json()["problem"]) == (422, "“11” is not one of the choices.")


def test_a_quote_without_an_answer_is_reported_as_unsaved(anna, address):
    told = save(anna, address, "severity", "", quotes="lamp")

    assert (told.status_code, "Not saved yet" in told.json()["problem"]) == (422, True)


def test_undo_restores_the_previous_answer(anna, address):
    save(anna, address, "released@1", "no")
    save(anna, address, "released@1", "yes")

    undone = anna.post(f"{address}undo/", **SCRIPT).json()["undone"]

    assert (undone["key"], undone["values"]) == ("released@1", ["no"])
    assert "taken@1" not in asked_of(anna, address).asked


def test_unanswered_questions_prevent_submission(anna, address):
    answered = anna.post(f"{address}submit/", {"a:released@1": "no"})

    assert answered.status_code == 422
    assert b"Not submitted" in answered.content
    assert answered.context["start"] == answered.context["page"].open[0]
    assert AnnotationRow.objects.count() == 0


def test_a_complete_form_becomes_an_annotation_and_the_next_dialogue_opens(anna, address):
    answer_all(anna, address)

    submitted = anna.post(f"{address}submit/")

    assert submitted.status_code == 302
    assert submitted.headers["Location"] not in {"", address}
    assert AnnotationRow.objects.count() == 1


def test_a_form_without_scripts_saves_all_of_its_answers(anna, address):
    fields = {f"a:{item.key}": item.field.plain[-1].value for item in asked_of(anna, address).items if item.is_asked}

    assert anna.post(f"{address}answer/", fields).status_code == 302
    assert asked_of(anna, address).open == ()


def test_recent_annotations_can_be_changed(anna, address, event):
    answer_all(anna, address)
    anna.post(f"{address}submit/")
    home = anna.get(reverse("annotator:home", args=[event.token]))

    save(anna, address, "severity", "2")
    anna.post(f"{address}submit/")

    assert [one.address for one in home.context["last_ones"]] == [address]
    assert sorted(AnnotationRow.objects.values_list("revision", flat=True)) == [1, 2]


def test_skipping_a_dialogue_needs_a_reason(anna, address):
    refused = anna.post(f"{address}skip/", {"reason": " "}, **SCRIPT)
    skipped = anna.post(f"{address}skip/", {"reason": "I know the writer."})

    assert (refused.status_code, skipped.status_code) == (409, 302)


def test_a_released_dialogue_is_reassigned_with_its_answers(anna, address, event):
    save(anna, address, "severity", "2")

    anna.post(f"{address}release/")

    assert asked_of(anna, address).item("severity").value == "2"


def test_assignments_of_others_are_not_found(address, annotator):
    ben = annotator("Ben")

    assert ben.get(address).status_code == 404
    assert save(ben, address, "severity", "2").status_code == 404
