from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.fakes.builders import by_hand, dialogue, judge, latest_evidence, sessions_of, study
from tests.fakes.store import FakeStore
from theodolite.domain.annotation import Annotation, Answer, Outcome
from theodolite.domain.errors import InputError, NotFound
from theodolite.domain.event import PersonProfile
from theodolite.domain.identity import version_of
from theodolite.domain.study import Sampling
from theodolite.testing.planning import draw_plan
from theodolite.usecases.measuring import annotator_attributes_in, with_people
from theodolite.usecases.running import as_planned

STUDY = study(groups=("name",))
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
GUIDELINE = version_of(STUDY.guidelines[0])


def test_a_study_without_a_run_has_no_evidence():
    with pytest.raises(NotFound):
        latest_evidence(FakeStore(), STUDY, ())


def test_a_study_changed_since_its_run_must_be_run_again():
    store = FakeStore()
    store.open_run(STUDY, draw_plan(STUDY)[0])

    with pytest.raises(InputError, match=r"`small` has changed since its last run \(number 1\)"):
        latest_evidence(store, replace(STUDY, sampling=Sampling(seed=99)), ())


def test_a_run_by_earlier_rules_is_not_reported_as_a_changed_study():
    store = FakeStore()
    store.open_run(STUDY, replace(draw_plan(STUDY)[0], flow_version=1))

    with pytest.raises(InputError, match=r"\(number 1\) of study `small` is by an earlier version of this program"):
        latest_evidence(store, STUDY, ())


def test_every_planned_session_is_in_the_evidence_even_without_a_dialogue():
    store = FakeStore()
    store.open_run(STUDY, draw_plan(STUDY)[0])

    evidence = latest_evidence(store, STUDY, ())

    assert tuple(evidence.sessions) == tuple(sessions_of(STUDY))
    assert [*evidence.archive.dialogues()] == []


def test_dialogues_have_the_names_of_the_current_plan():
    sessions = sessions_of(STUDY)
    ben = sessions[1]
    earlier = dialogue(key="k", label="d009", pair_key=ben.pair_key, cluster="people-9", groups={})

    ((place, now),) = as_planned([earlier], sessions)

    assert (now.key, now.label, now.cluster, now.groups) == ("k", "d002", "people-2", {"name": "Ben"})
    assert place == 1
    assert now.persona == ben.tester
    assert now.turns == earlier.turns


def test_a_new_title_does_not_change_a_request():
    store = FakeStore()
    run = store.open_run(STUDY, draw_plan(STUDY)[0])

    assert latest_evidence(store, replace(STUDY, title="Another title"), ()).run == run


def label(annotator="anna", version=GUIDELINE, guideline="polite"):
    answer = Answer(question="label", outcome=Outcome.ANSWERED, value="yes")
    return Annotation(
        unit="",
        dialogue="k",
        annotator=annotator,
        annotator_version="v",
        guideline=guideline,
        instrument_version=version,
        answers=(answer,),
    )


def test_every_human_annotator_is_an_annotator_of_the_study():
    known = replace(STUDY, annotators=(judge(), by_hand("anna")))

    people = with_people(known, {"anna": "polite", "ben": "polite", "eve": "dropped"})

    assert people.annotators == (judge(), by_hand("anna"), by_hand("ben"))


def test_an_annotator_with_several_guidelines_has_one_name():
    people = with_people(STUDY, {"ben-polite": "polite"})

    assert [(one.name, one.title) for one in people.annotators[-1:]] == [("ben-polite", "ben")]


def test_labels_under_an_earlier_guideline_are_separate():
    store = Labelled(label(), label("ben", version="earlier"))
    store.open_run(STUDY, draw_plan(STUDY)[0])

    assert [*latest_evidence(store, STUDY, ()).archive.annotations()] == [label()]


class Labelled(FakeStore):
    def __init__(self, *labels):
        super().__init__()
        self.given = labels

    def labels(self, run, at=None):
        yield from self.given


def test_attributes_of_annotators_are_found_under_each_of_their_names():
    store, name = FakeStore(), STUDY.guidelines[0].name
    for person, age in (("p1", "old"), ("p2", "young"), ("p3", "young")):
        store.add_profile(person, PersonProfile(languages=("de",), groups={"age": age}), now=NOON)
    people = by_hand("p1", name), by_hand(f"p2-{name}", name), by_hand("p4", name)

    found = annotator_attributes_in(store, replace(STUDY, annotators=(judge("p3"), *people)))

    assert found == {
        "language": {"p1": "de", f"p2-{name}": "de"},
        "age": {"p1": "old", f"p2-{name}": "young"},
    }
