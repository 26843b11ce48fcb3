"""Laws of planning."""

from __future__ import annotations

from collections import Counter, defaultdict

from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.builders import group, live, recorded, recording, scripts, sessions_of, study

from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Sampling

NAMES = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6, unique=True)
SEEDS = st.integers(0, 2**31)


def drawn(names, *, applications=("bot",), seed=1, dialogues=None, repeats=1):
    scenes = (Scenario(name="one", goal="Buy", turns=2), Scenario(name="two", scripts=scripts("s")))
    return sessions_of(
        study(
            scenarios=scenes,
            personas=(group(*names),),
            applications=tuple(live(name) for name in applications),
            sampling=Sampling(seed=seed, dialogues=dialogues, repeats=repeats),
        )
    )


class TestDeterminism:
    """The same study and seed give the same sessions."""

    @given(NAMES, SEEDS, st.one_of(st.none(), st.integers(1, 40)))
    def test_the_same_study_gives_the_same_plan(self, names, seed, dialogues):
        first = drawn(names, seed=seed, dialogues=dialogues)

        assert list(first) == list(drawn(names, seed=seed, dialogues=dialogues))


class TestAddingAPersona:
    """A further persona leaves the pair keys of all others as they were."""

    @given(NAMES, st.integers(1, 3), st.integers(0, 6))
    def test_existing_pair_keys_are_unchanged(self, names, repeats, place):
        before = {session.pair_key for session in drawn(names, repeats=repeats)}

        after = {session.pair_key for session in drawn([*names[:place], "new", *names[place:]], repeats=repeats)}

        assert before < after

    @given(NAMES, SEEDS, st.integers(1, 40))
    def test_a_new_persona_replaces_at_most_one_dialogue_per_scenario(self, names, seed, dialogues):
        """With fewer dialogues than testers, a newcomer takes one of them in each scenario at most."""
        testers = len(drawn(names))
        few = min(dialogues, testers)
        before = {session.pair_key for session in drawn(names, seed=seed, dialogues=few)}

        after = {session.pair_key for session in drawn([*names, "new"], seed=seed, dialogues=few)}

        assert len(before - after) <= 2


class TestSpread:
    """Dialogues are spread evenly: no two testers differ by more than one."""

    @given(NAMES, SEEDS, st.integers(1, 60))
    def test_repeats_differ_by_at_most_one(self, names, seed, dialogues):
        sessions = drawn(names, seed=seed, dialogues=dialogues)

        held = Counter((session.scenario, session.tester.key) for session in sessions)
        testers = {(session.scenario, session.tester.key) for session in drawn(names)}
        assert len(sessions) == dialogues
        assert max(held.values()) - min(held.get(tester, 0) for tester in testers) <= 1


class TestPairs:
    """Each pair key meets every application once, under one number."""

    @given(NAMES, st.integers(1, 3), st.integers(1, 20))
    def test_applications_share_pair_keys(self, names, n_applications, dialogues):
        applications = [f"app{n}" for n in range(n_applications)]
        met = defaultdict(list)
        for session in drawn(names, applications=applications, dialogues=dialogues):
            met[session.pair_key].append(session)

        for sessions in met.values():
            assert [session.application for session in sessions] == applications
            assert len({session.label.rpartition("/")[2] for session in sessions}) == 1


class TestLabels:
    """No two dialogues of a plan are called the same."""

    @given(NAMES, st.integers(1, 3), st.lists(st.sampled_from("abc"), max_size=6))
    def test_labels_of_live_and_recorded_dialogues_are_unique(self, names, n_applications, keys):
        seen = Counter()
        rows = []
        for key in keys:
            seen[key] += 1
            rows.append(recording(key, repeat=seen[key]))
        applications = (*(live(f"app{n}") for n in range(n_applications)), recorded())

        sessions = sessions_of(study(personas=(group(*names),), applications=applications), *rows)

        assert len({session.label for session in sessions}) == len(sessions)
