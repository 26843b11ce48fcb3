"""Drawn sessions: whatever is told of a position without its tester is what the whole session says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.builders import group, live, recorded, recording, study

from theodolite.domain.persona import Script
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Sampling
from theodolite.testing.planning import draw_plan

SCRIPTS = st.integers(0, 3).map(lambda n: tuple(Script(key=f"s{k}", prompts=(f"p{k}",)) for k in range(n)))
SAMPLINGS = st.builds(
    Sampling,
    seed=st.integers(0, 3),
    dialogues=st.none() | st.integers(1, 23),
    repeats=st.integers(1, 4),
)


@st.composite
def drawn(draw):
    """Return the sessions of some study."""
    names = draw(st.integers(1, 4).map(lambda n: [f"P{k}" for k in range(n)]))
    applications = [live(f"app{n}") for n in range(draw(st.integers(1, 3)))]
    rows = [recording(f"r{n}") for n in range(draw(st.integers(0, 3)))]
    scenes = tuple(Scenario(name=f"scene{n}", scripts=draw(SCRIPTS)) for n in range(draw(st.integers(1, 2))))
    planned = study(
        applications=(*applications, *([recorded()] if rows else [])),
        scenarios=scenes,
        personas=(group(*names),),
        sampling=draw(SAMPLINGS),
        groups=("name",),
    )
    return draw_plan(planned, rows)[1]


@given(drawn())
def test_session_fields_without_the_tester_equal_those_of_the_session(sessions):
    for position, session in enumerate(sessions):
        told = sessions.label(position), sessions.pair_key(position), sessions.setting(position)
        assert told == (session.label, session.pair_key, session.setting)


@given(drawn())
def test_each_session_is_found_by_its_label_only(sessions):
    labels = [session.label for session in sessions]

    assert [sessions.find(label) for label in labels] == list(range(len(sessions)))
    assert sessions.find("d0") is sessions.find("d000") is sessions.find("nobody/d001") is None


@given(drawn())
def test_no_application_has_the_same_test_twice(sessions):
    met = [(session.pair_key, session.application) for session in sessions]

    assert len(set(met)) == len(met)
