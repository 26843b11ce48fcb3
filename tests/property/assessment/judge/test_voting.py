"""Laws of voting."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.builders import annotation_task, categories, dialogue, guideline, judge, question, verdict
from tests.fakes.clients import gone_on, held_by_hand

from theodolite.assessment.annotating import annotate
from theodolite.assessment.judge.judging import is_settled, majority, races
from theodolite.domain.annotation import Answer, Outcome, Vote
from theodolite.domain.annotator import ModelJudge, StopRule, Voting
from theodolite.domain.flow import replay
from theodolite.measurement.proportion import beta_below_half

ASKED = guideline(question(scale=categories("yes", "no", "partly")))
LABELS = st.lists(st.sampled_from(["yes", "no", "partly", None]), min_size=9, max_size=9)
RULES = st.builds(
    Voting,
    rule=st.sampled_from(StopRule),
    most=st.integers(2, 9),
    lead=st.just(2),
    price=st.sampled_from([0.001, 0.01, 0.2]),
)


def vote(number, value):
    outcome = Outcome.UNPARSEABLE if value is None else Outcome.ANSWERED
    return Vote(replicate=number, answers=(Answer(question="label", outcome=outcome, value=value),))


def walked(voting, labels):
    """Return the votes that are cast until the rule is content."""
    cast = []
    while not cast or not is_settled(voting, races(cast, ASKED), beta_below_half):
        cast.append(vote(len(cast) + 1, labels[len(cast)]))
    return cast


def decided(cast):
    (answer,) = majority(cast, ASKED)
    return answer.outcome, answer.value


class TestCurtailing:
    """Stopping when the majority is decided changes no label, and never takes more calls."""

    @given(LABELS, st.integers(2, 9))
    def test_curtailed_votes_have_the_same_majority(self, labels, most):
        few = walked(Voting(rule=StopRule.CURTAILED, most=most), labels)
        all_of_them = walked(Voting(rule=StopRule.FIXED, most=most), labels)

        assert len(few) <= len(all_of_them) == most
        assert decided(few) == decided(all_of_them)


class TestEnding:
    """Every rule reads once at least, and at most as often as it may."""

    @given(RULES, LABELS)
    def test_every_vote_ends(self, voting, labels):
        assert 1 <= len(walked(voting, labels)) <= voting.most


class TestMajority:
    """More than half of the votes decide, the defect before its label; the order of votes plays no part."""

    @given(LABELS, st.randoms())
    def test_the_majority_decides(self, labels, chance):
        shuffled = list(labels)
        chance.shuffle(shuffled)
        leader, most = Counter(labels).most_common(1)[0]
        read = [label for label in labels if label is not None]
        found = decided([vote(n, value) for n, value in enumerate(labels, start=1)])

        assert found == decided([vote(n, value) for n, value in enumerate(shuffled, start=1)])
        if 2 * most > len(labels):
            assert found == decided([vote(1, leader)])
        if found[1] is not None and 2 * read.count("yes") != len(read):
            assert (found[1] == "yes") == (2 * read.count("yes") > len(read))


class TestReplay:
    """Replaying any prefix of a voting judge's journal and going on equals judging without a break."""

    @given(RULES, LABELS, st.data())
    def test_a_replayed_vote_is_equal(self, voting, labels, data):
        task = annotation_task(replace(judge(), labelling=ModelJudge(model="large", voting=voting)), dialogue(), ASKED)

        def answer(request):
            value = labels[request.replicate - 1]
            return verdict(label=value) if value else json.dumps({"reason": "?"})

        whole = held_by_hand(annotate(task), answer)
        stored = data.draw(st.integers(0, len(whole.journal)))
        flow = annotate(task)
        rest = gone_on(flow, replay(flow, whole.journal[:stored]), answer)

        assert (rest.result, rest.requests) == (whole.result, whole.requests[stored:])
