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


def test_an_unparseable_reply_is_requested_once_more():
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
def test_the_judge_receives_the_parse_error(said, words):
    held = annotated(said, verdict(label="no"))

    assert words in held.requests[1].messages[-1].text


def test_a_second_unparseable_reply_ends_the_annotation_as_unparseable():
    held = annotated("First.", "Second.")

    assert len(held.requests) == 2
    assert outcomes(held) == [(Outcome.UNPARSEABLE, None)]
    assert held.result.answers[0].raw == "First."


def test_an_explicit_refusal_of_the_judge_is_a_refusal():
    held = annotated("I cannot do that.", '{"no_verdict": "It is harmful."}')

    assert outcomes(held) == [(Outcome.REFUSED, None)]
    assert held.result.answers[0].reasoning == "It is harmful."


@pytest.mark.parametrize("again", ["I\u2019m sorry, but I can\u2019t assist with that.", "As I said: no."])
def test_a_refusal_in_free_words_is_a_refusal(again):
    held = annotated("I'm sorry, but I can't assist with that.", again)

    assert outcomes(held) == [(Outcome.REFUSED, None)]
    assert "assist with that" in held.result.answers[0].raw
    assert held.result.control is Control.NOT_ASKED


def test_a_judge_that_refuses_at_first_may_still_answer():
    assert outcomes(annotated("I can't rate this.", verdict(label="no"))) == [(Outcome.ANSWERED, "no")]


def test_a_truncated_reply_is_reported_as_truncated_and_not_as_a_skipped_control_question():
    cut = reply('{"reason": "It is', finish="length")

    (answer,) = annotated(cut, cut).result.answers

    assert answer.outcome is Outcome.UNPARSEABLE
    assert "cut off at the limit of tokens" in answer.reasoning
    assert annotated(cut, cut).result.control is Control.NOT_ASKED


def test_a_filtered_reply_is_a_refusal_and_is_not_requested_again():
    held = annotated(reply("", finish=CONTENT_FILTER))

    assert len(held.requests) == 1
    assert outcomes(held) == [(Outcome.REFUSED, None)]


def test_the_schema_is_sent_with_the_first_request_only():
    first, second = annotated("?", verdict(label="no")).requests

    assert first.answer_schema["required"] == ["reason", "quotes", "label", "check"]
    assert second.answer_schema is None


@pytest.mark.parametrize(
    ("check", "state"), [("right", Control.PASSED), ("apple 7", Control.FAILED), (None, Control.UNANSWERED)]
)
def test_the_control_answer_is_stored_with_the_annotation(check, state):
    said = control_question(SAID, 1).answer if check == "right" else check
    held = annotated(verdict(label="no", **({"check": said} if said else {})))

    assert held.result.control is state
    assert outcomes(held) == [(Outcome.ANSWERED, "no")]


def test_all_readings_are_stored_and_the_majority_counts():
    held = annotated(*(verdict(label=label) for label in ("yes", "no", "no")), voting=Voting(most=3))

    assert [request.replicate for request in held.requests] == [1, 2, 3]
    assert [vote.answers[0].value for vote in held.result.votes] == ["yes", "no", "no"]
    assert [vote.arrangement for vote in held.result.votes] == ["", "labels reversed", "another sheet number"]
    assert outcomes(held) == [(Outcome.ANSWERED, "no")]


def test_a_vote_stops_once_it_is_decided():
    held = annotated(*[verdict(label="yes")] * 2, voting=Voting(rule=StopRule.LEAD, most=5))

    assert len(held.result.votes) == 2


def test_every_reading_has_a_different_prompt():
    held = annotated(*[verdict(label="yes")] * 5, voting=Voting(rule=StopRule.FIXED, most=5))

    assert len({request.messages for request in held.requests}) == 5


def test_a_judge_that_always_refuses_has_no_label_after_any_number_of_readings():
    held = annotated(*[reply("", finish=CONTENT_FILTER)] * 5, voting=Voting(rule=StopRule.FIXED, most=5))

    assert outcomes(held) == [(Outcome.REFUSED, None)]


def test_model_names_in_replies_are_stored():
    said = [reply(verdict(label="yes"), answered_as=name) for name in ("b", "a")]

    assert annotated(*said, voting=Voting(rule=StopRule.FIXED, most=2)).result.answered_as == "a\nb"


def test_a_single_reading_is_not_a_vote():
    assert annotated(verdict(label="yes")).result.votes == ()


@pytest.mark.parametrize("held_by", TesterType)
def test_replies_about_people_are_never_cached(held_by):
    held = annotated("Well.", verdict(label="yes"), about=replace(SAID, held_by=held_by))

    assert [one.may_be_cached for one in held.requests] == [held_by is not TesterType.PERSON] * 2


def test_the_permission_to_cache_does_not_change_the_request():
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
def test_phrases_that_refuse(text):
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
def test_phrases_that_do_not_refuse(text):
    assert not declines(text)
