"""Laws of annotating."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.builders import NUMBERS, annotation_task, dialogue, guideline, judge, person, question, turn, word_rule
from tests.fakes.clients import gone_on, held_by_hand

from theodolite.assessment.annotating import annotate
from theodolite.assessment.judge.prompt import judge_messages
from theodolite.assessment.judge.verdict import read_verdict
from theodolite.domain.annotation import Outcome
from theodolite.domain.flow import replay
from theodolite.domain.instrument import QuestionLevel

ASKED = guideline(question("score", NUMBERS), question("each", level=QuestionLevel.TURN))
TEXTS = st.text(max_size=40) | st.text(alphabet="<>0123456789abcdef\n", max_size=40)
DIALOGUES = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=3).map(
    lambda said: dialogue(*(turn(n, a, b) for n, (a, b) in enumerate(said, start=1)))
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


class TestReplay:
    """Replaying any prefix of a journal and going on equals annotating without a break."""

    @pytest.mark.parametrize("annotator", [judge(), word_rule(), person()], ids=lambda annotator: annotator.kind)
    @given(about=DIALOGUES, said=st.text(max_size=30), data=st.data())
    def test_a_replayed_annotation_is_equal(self, annotator, about, said, data):
        task = annotation_task(annotator, about, guideline(), ann="yes")
        whole = held_by_hand(annotate(task), lambda _: said)
        stored = data.draw(st.integers(0, len(whole.journal)))

        flow = annotate(task)
        rest = gone_on(flow, replay(flow, whole.journal[:stored]), lambda _: said)

        assert rest.result == whole.result
        assert rest.requests == whole.requests[stored:]


class TestTotality:
    """Any text of a judge gives one answer to each question, with a value if and only if it is answered."""

    def outcomes(self, text, about):
        answers = read_verdict(text, ASKED, about).answers
        assert [answer.turn for answer in answers] == [None, *range(1, len(about.turns) + 1)]
        for answer in answers:
            assert (answer.outcome is Outcome.ANSWERED) == (answer.value is not None)
            assert (answer.outcome is Outcome.UNPARSEABLE) == (answer.raw == text and answer.value is None)

    @given(st.text(max_size=60), DIALOGUES)
    def test_every_text_has_an_outcome(self, text, about):
        self.outcomes(text, about)

    @given(st.fixed_dictionaries({}, optional={"score": JSON, "each": JSON, "reason": JSON, "quotes": JSON}), DIALOGUES)
    def test_every_json_reply_has_an_outcome(self, verdict, about):
        self.outcomes(json.dumps(verdict), about)


class TestScale:
    """Whatever a judge says, an answer's value is a point of the scale."""

    @given(JSON, DIALOGUES)
    def test_a_parsed_score_is_on_the_scale(self, score, about):
        answer, *_ = read_verdict(json.dumps({"score": score}), ASKED, about).answers

        assert answer.value is None or answer.value in NUMBERS.categories


class TestFence:
    """Nothing that was said can close the fence around it or stand for a turn."""

    @given(DIALOGUES)
    def test_no_dialogue_closes_its_fence(self, about):
        _, user = judge_messages(ASKED, about)
        mark = re.findall(r"^([0-9a-f]{12})>>$", user.text, re.MULTILINE)[-1]

        assert user.text.count(mark) == 2 + 2 * len(about.turns)
        assert all(mark not in side for each in about.turns for side in (each.prompt, each.response))
