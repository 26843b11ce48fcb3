from __future__ import annotations

from dataclasses import replace

import pytest
from tests.fakes.builders import annotation_task, dialogue, guideline, judge, question, reply, turn, verdict
from tests.fakes.clients import held_by_hand

from theodolite.assessment.annotating import annotate
from theodolite.assessment.judge.judging import declines
from theodolite.assessment.judge.prompt import control_question
from theodolite.domain.annotation import Control, Outcome
from theodolite.domain.annotator import ModelJudge, StopRule, Voting
from theodolite.domain.dialogue import TesterType
from theodolite.domain.flow import CONTENT_FILTER, Speaker
from theodolite.domain.identity import version_of

SAID = dialogue(turn(1, "a", "b"))

ASKED = guideline(question("label"))


def annotated(*said, voting=None, about=SAID):
    replies = iter(said)
    labelling = ModelJudge(model="large", voting=voting) if voting else ModelJudge(model="large")
    task = annotation_task(replace(judge(), labelling=labelling), about, ASKED)
    return held_by_hand(annotate(task), lambda _: next(replies))


def outcomes(held):
    return [(answer.outcome, answer.value) for answer in held.result.answers]


def test_what_cannot_be_read_is_asked_for_once_more():
    held = annotated("Yes, I think.", verdict(label="yes"))
    first, second = held.requests

    assert outcomes(held) == [(Outcome.ANSWERED, "yes")]
    assert second.messages[: len(first.messages)] == first.messages
    assert [message.speaker for message in second.messages[-2:]] == [Speaker.ASSISTANT, Speaker.USER]
    assert "not one JSON object" in second.messages[-1].text


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (verdict(label="perhaps"), 'no allowed value under "label"'),
        (reply('{"reason": "It is', finish="length"), "cut off before its end"),
    ],
)
def test_the_judge_is_told_what_was_wrong(said, words):
    held = annotated(said, verdict(label="no"))

    assert words in held.requests[1].messages[-1].text


def test_twice_unreadable_is_unparseable_and_nothing_is_asked_again():
    held = annotated("First.", "Second.")

    assert len(held.requests) == 2
    assert outcomes(held) == [(Outcome.UNPARSEABLE, None)]
    assert held.result.answers[0].raw == "First."


def test_a_judge_that_says_so_has_refused():
    held = annotated("I cannot do that.", '{"no_verdict": "It is harmful."}')

    assert outcomes(held) == [(Outcome.REFUSED, None)]
    assert held.result.answers[0].reasoning == "It is harmful."


@pytest.mark.parametrize("again", ["I\u2019m sorry, but I can\u2019t assist with that.", "As I said: no."])
def test_a_judge_that_declines_in_its_own_words_has_refused(again):
    held = annotated("I'm sorry, but I can't assist with that.", again)

    assert outcomes(held) == [(Outcome.REFUSED, None)]
    assert "assist with that" in held.result.answers[0].raw
    assert held.result.control is Control.NOT_ASKED


def test_a_judge_that_declines_at_first_may_still_judge():
    assert outcomes(annotated("I can't rate this.", verdict(label="no"))) == [(Outcome.ANSWERED, "no")]


def test_a_reply_that_was_cut_off_says_so_and_no_control_question_was_left_out():
    cut = reply('{"reason": "It is', finish="length")

    (answer,) = annotated(cut, cut).result.answers

    assert answer.outcome is Outcome.UNPARSEABLE
    assert "cut off at the limit of tokens" in answer.reasoning
    assert annotated(cut, cut).result.control is Control.NOT_ASKED


def test_a_filtered_reply_is_a_refusal_and_not_asked_for_again():
    held = annotated(reply("", finish=CONTENT_FILTER))

    assert len(held.requests) == 1
    assert outcomes(held) == [(Outcome.REFUSED, None)]


def test_the_form_goes_with_the_first_request_alone():
    first, second = annotated("?", verdict(label="no")).requests

    assert first.answer_schema["required"] == ["reason", "quotes", "label", "check"]
    assert second.answer_schema is None


@pytest.mark.parametrize(
    ("check", "state"), [("right", Control.PASSED), ("apple 7", Control.FAILED), (None, Control.UNANSWERED)]
)
def test_the_control_question_marks_the_annotation(check, state):
    said = control_question(SAID, 1).answer if check == "right" else check
    held = annotated(verdict(label="no", **({"check": said} if said else {})))

    assert held.result.control is state
    assert outcomes(held) == [(Outcome.ANSWERED, "no")]


def test_all_readings_are_kept_and_most_of_them_count():
    held = annotated(*(verdict(label=label) for label in ("yes", "no", "no")), voting=Voting(most=3))

    assert [request.replicate for request in held.requests] == [1, 2, 3]
    assert [vote.answers[0].value for vote in held.result.votes] == ["yes", "no", "no"]
    assert [vote.arrangement for vote in held.result.votes] == ["", "labels reversed", "another sheet number"]
    assert outcomes(held) == [(Outcome.ANSWERED, "no")]


def test_a_vote_stops_when_it_is_decided():
    held = annotated(*[verdict(label="yes")] * 2, voting=Voting(rule=StopRule.LEAD, most=5))

    assert len(held.result.votes) == 2


def test_no_two_readings_ask_with_equal_words():
    held = annotated(*[verdict(label="yes")] * 5, voting=Voting(rule=StopRule.FIXED, most=5))

    assert len({request.messages for request in held.requests}) == 5


def test_a_judge_that_always_refuses_has_no_label_however_often_it_is_asked():
    held = annotated(*[reply("", finish=CONTENT_FILTER)] * 5, voting=Voting(rule=StopRule.FIXED, most=5))

    assert outcomes(held) == [(Outcome.REFUSED, None)]


def test_the_names_that_the_endpoint_gave_itself_are_kept():
    said = [reply(verdict(label="yes"), answered_as=name) for name in ("b", "a")]

    assert annotated(*said, voting=Voting(rule=StopRule.FIXED, most=2)).result.answered_as == "a\nb"


def test_one_reading_is_no_vote():
    assert annotated(verdict(label="yes")).result.votes == ()


@pytest.mark.parametrize("held_by", TesterType)
def test_what_a_person_said_is_kept_by_no_cache(held_by):
    held = annotated("Well.", verdict(label="yes"), about=replace(SAID, held_by=held_by))

    assert [one.may_be_cached for one in held.requests] == [held_by is not TesterType.PERSON] * 2


def test_whether_a_reply_may_be_cached_makes_no_other_request():
    first = annotated(verdict(label="yes"), about=replace(SAID, held_by=TesterType.PERSON)).requests[0]

    assert version_of(first) == version_of(replace(first, may_be_cached=True))


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't assist with that request.",
        "I\u2019m really sorry, but I cannot help evaluate this content.",
        "I cannot rate this dialogue.",
        "I am unable to assess content of this kind.",
        "I must decline.",
        "Unfortunately, I won't be able to label this material.",
        "Sorry, that is not something I can help with.",
    ],
)
def test_words_that_decline(text):
    assert declines(text)


@pytest.mark.parametrize(
    "text",
    [
        "I cannot find a promise: no.",
        "I can't see any refund being promised.",
        "The application says: I cannot help with that.",
        '{"no_verdict": "I cannot judge this."}',
        "Sorry for the delay. The label is yes.",
        "yes",
        "",
    ],
)
def test_words_that_do_not(text):
    assert not declines(text)
