from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.builders import by_hand, group, guideline, judge, live, person, question, sessions_of, study
from tests.fakes.store import FakeStore
from theodolite.domain.application import ModelEndpoint
from theodolite.domain.run import UnitKind
from theodolite.testing.planning import draw_plan
from theodolite.usecases.running import annotation_units, enter_units, session_units

STUDY = study(annotators=(judge(), person()), applications=(live("blue"), live("green")))
RUN = FakeStore().open_run(STUDY, draw_plan(STUDY)[0])


def held(of=STUDY, run=RUN):
    return list(session_units(of, run, sessions_of(of)))


def annotated(of=STUDY, origins=None):
    return list(annotation_units(of, RUN, sessions_of(of), held(of), origins or {}))


def work(units):
    return [unit.work_key for unit in units]


def test_each_session_is_a_unit_in_the_order_of_the_plan():
    units = held()

    assert [unit.label for unit in units] == ["blue/d001", "green/d001", "blue/d002", "green/d002"]
    assert [unit.position for unit in units] == [0, 1, 2, 3]
    assert {unit.kind for unit in units} == {UnitKind.SESSION}
    assert len({unit.key for unit in units}) == len({*work(units)}) == 4


def test_each_annotator_is_assigned_each_session():
    units = annotated()

    assert [(unit.label, unit.annotator) for unit in units[:3]] == [
        ("blue/d001", "grounded"),
        ("blue/d001", "ann"),
        ("green/d001", "grounded"),
    ]
    assert [unit.subject for unit in units[::2]] == [unit.key for unit in held()]
    assert len({unit.key for unit in units}) == 8


def test_human_annotators_have_no_units():
    assert [unit.annotator for unit in annotated(study(annotators=(by_hand(), judge())))] == ["grounded"] * 2


def test_the_same_work_in_another_run_is_another_unit():
    other = held(run=replace(RUN, key="other"))

    assert work(other) == work(held())
    assert not {unit.key for unit in other} & {unit.key for unit in held()}


@pytest.mark.parametrize(
    "change",
    [
        {"models": (ModelEndpoint(name="user", url="elsewhere"), ModelEndpoint(name="large", url="l"))},
        {"applications": tuple(replace(live(name), connection=live("new").connection) for name in ("blue", "green"))},
        {"personas": (group("Ana", "Ben", text="Be {{ name }}!"),)},
    ],
)
def test_every_input_of_a_session_changes_its_work_key(change):
    assert not set(work(held(replace(STUDY, **change)))) & set(work(held()))


DESCRIBED = {"applications": (replace(live("blue"), description="New"), replace(live("green"), description="New"))}


@pytest.mark.parametrize("change", [{"title": "T"}, {"annotators": ()}, {"groups": ("name",)}, DESCRIBED])
def test_unrelated_settings_do_not_change_the_work_key_of_a_session(change):
    assert work(held(replace(STUDY, **change))) == work(held())


def test_another_guideline_makes_other_annotations_and_the_same_sessions():
    changed = replace(STUDY, guidelines=(guideline(question(text="Really?")),))

    assert work(held(changed)) == work(held())
    assert not set(work(annotated(changed))) & set(work(annotated()))


def test_annotations_are_reused_only_together_with_their_dialogue():
    first = held()[0].key

    units = annotated(origins={first: "earlier"})

    assert units[0].subject == first
    assert units[0].work_key != annotated()[0].work_key
    assert work(units)[2:] == work(annotated())[2:]


class CountingStore(FakeStore):
    """Counts the units that somebody wants to add."""

    n_compared = 0

    def add_units(self, run, units, *, adopt=True):
        listed = list(units)
        self.n_compared += len(listed)
        return super().add_units(run, listed, adopt=adopt)


@pytest.mark.parametrize("first", [[0, 1], [2], [0, 1, 2, 3]])
def test_units_are_compared_one_by_one_only_while_some_of_the_plan_are_missing(first):
    store = CountingStore()
    run = store.open_run(STUDY, draw_plan(STUDY)[0])

    def enter(at):
        enter_units(store, STUDY, run, sessions_of(STUDY), at=at, adopt=True)
        return [sum(store.count_units(run, kind).values()) for kind in UnitKind]

    assert enter(first) == [len(first), 2 * len(first)]
    assert enter(range(4)) == [4, 8]
    before = store.n_compared
    assert enter(range(4)) == [4, 8]
    assert store.n_compared == before
    assert enter([1]) == [4, 8]
