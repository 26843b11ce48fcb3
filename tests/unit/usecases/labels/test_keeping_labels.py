from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.builders import by_hand, guideline
from tests.fakes.evidence import changed, live_evidence
from theodolite.assessment.manual_annotation import person_of
from theodolite.domain.annotating.label_sample import GivenLabel, item_of
from theodolite.domain.annotation import Outcome
from theodolite.domain.errors import InputError
from theodolite.domain.identity import version_of
from theodolite.usecases.labels import label_key, labels_to_keep

LIVE = live_evidence()
FIRST, SECOND = [*LIVE.archive.dialogues()][:2]


def given(dialogue=FIRST, value="2", annotator="anna", **changes):
    label = GivenLabel(
        item=item_of(dialogue.key),
        turn=None,
        guideline="groundedness",
        question="score",
        outcome=Outcome.ANSWERED,
        value=value,
        reason="It says so.",
        annotator=annotator,
    )
    return replace(label, **changes)


def after(kept):
    return changed(LIVE, annotations=(*LIVE.archive.annotations(), *kept.to_store))


def test_a_label_becomes_an_annotation_of_its_dialogue_by_that_person():
    (label,) = labels_to_keep(LIVE, [given()]).new

    assert (label.unit, label.dialogue, label.annotator, label.revision) == ("", FIRST.key, "anna", 1)
    assert label.instrument_version == version_of(LIVE.study.guideline("groundedness"))
    assert (label.answers[0].value, label.answers[0].reasoning) == ("2", "It says so.")


def test_importing_a_file_twice_adds_nothing():
    kept = labels_to_keep(LIVE, [given(), given(SECOND)])

    again = labels_to_keep(after(kept), [given(), given(SECOND)])

    assert (again.to_store, again.unchanged) == ((), 2)


def test_another_answer_is_a_new_revision_and_preserves_the_rest():
    kept = labels_to_keep(LIVE, [given(), given(question="tone", value="kind")])

    (revised,) = labels_to_keep(after(kept), [given(value="4")]).revised

    assert revised.revision == 2
    assert {answer.question: answer.value for answer in revised.answers} == {"score": "4", "tone": "kind"}


def test_two_people_may_label_one_dialogue():
    kept = labels_to_keep(LIVE, [given(), given(annotator="ben", value="5")])

    assert [label.annotator for label in kept.new] == ["anna", "ben"]


def test_a_person_is_one_annotator_for_each_guideline():
    study = replace(LIVE.study, annotators=(*LIVE.study.annotators, by_hand("anna", "groundedness")))

    assert person_of(study, "anna", "groundedness") == by_hand("anna", "groundedness")
    assert person_of(study, "anna", "polite").name == "anna-polite"
    with pytest.raises(InputError, match="does not label by hand"):
        person_of(study, study.annotators[0].name, "groundedness")


def test_a_file_is_checked_against_the_guidelines_of_the_scenario():
    key = label_key(replace(LIVE, study=replace(LIVE.study, guidelines=(*LIVE.study.guidelines, guideline()))))

    asked = key.items[item_of(FIRST.key), "groundedness"]

    assert asked.questions == {"score": (None,)}
    assert (item_of(FIRST.key), "polite") in key.items
    assert key.judges == tuple(annotator.name for annotator in LIVE.study.annotators)
