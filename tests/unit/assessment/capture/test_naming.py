from __future__ import annotations

import pytest
from tests.fakes.builders import live, study

from theodolite.assessment.capture.naming import mask_naming, names_of, self_identification
from theodolite.domain.application import ModelEndpoint

NAMES = ("green", "Spoiler-Guard", "acme-chat-7b")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I'm an AI language model developed by OpenAI.", ["OpenAI"]),
        ("As Gemini, I cannot say.", ["Gemini"]),
        ("My name is Claude.", ["Claude"]),
        ("As a large language model trained by Acme Corp, I try.", ["Acme Corp"]),
        ("i am green, an assistant", ["green"]),
        ("spoiler-guard is here to help", ["spoiler-guard"]),
        ("Running acme-chat-7b.", ["acme-chat-7b"]),
    ],
)
def test_applications_that_name_themselves_are_heard(text: str, words: list[str]) -> None:
    assert [one.words for one in self_identification(text, NAMES)] == words


@pytest.mark.parametrize(
    "text",
    ["Gemini is a sign of the zodiac.", "I looked it up on Google.", "The meadow is green.", "Claude Monet painted."],
)
def test_names_that_mean_something_else_are_left(text: str) -> None:
    assert self_identification(text, NAMES) == ()


def test_names_of_the_study_are_those_of_applications_and_models() -> None:
    model = ModelEndpoint(name="large", url="http://127.0.0.1/v1", model="acme-chat-7b")

    assert names_of(study(applications=(live("green"),), models=(model,))) == ("green", "acme-chat-7b")


def test_masking_keeps_every_place() -> None:
    assert mask_naming("I am Claude.") == "I am ••••••."
