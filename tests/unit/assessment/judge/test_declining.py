from __future__ import annotations

import pytest

from theodolite.assessment.judge.declining import declines


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
