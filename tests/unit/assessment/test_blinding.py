"""What an annotator may see of a dialogue."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from tests.fakes.annotation_queue import STUDY, a_dialogue
from tests.fakes.builders import live, study
from tests.fakes.builders import study as a_study

from theodolite.assessment.blinding import (
    MASKED,
    SecretWord,
    blind_name,
    blinded,
    identifying_names,
    mask_naming,
    mask_of,
    names_of,
    plain_names,
    secrets_for_annotators,
    secrets_for_testers,
    self_identification,
    unblinding_words,
)
from theodolite.domain.annotating.work import BlindDialogue
from theodolite.domain.application import Application, HttpEndpoint, ModelEndpoint, PromptedModel, PythonCallable
from theodolite.domain.identity import canonical_json
from theodolite.domain.run import Unit, UnitKind

UNIT = Unit(key="a" * 64, kind=UnitKind.SESSION, work_key="w", position=0, label="bot-9/d001", application="bot-9")


def seen(**changes):
    dialogue = a_dialogue(UNIT, **changes)
    return blinded(dialogue, "7Q", scenario=STUDY.scenario("series"), mask=mask_of(names_of(STUDY)))


def test_the_blind_dialogue_has_no_unblinding_fields():
    text = canonical_json(seen()).lower()

    for word in ("bot-9", "red teaming", "simulated", "interrupted", "d001", "ana", UNIT.key, "0.5", "series-"):
        assert word not in text


def test_names_are_masked_and_turns_keep_their_numbers():
    dialogue = seen()

    assert [turn.number for turn in dialogue.turns] == [1, 2]
    assert dialogue.turns[0].response == f"I am {MASKED}, ask me anything."
    assert dialogue.material == f"Episode 10, as {MASKED} knows it."


def test_the_task_sheet_is_available_for_reference():
    reference = seen().reference

    assert (reference.permitted, reference.prohibited, reference.facts) == (
        ("genre",),
        ("endings",),
        (("ep. 10", "He dies."),),
    )


def test_two_annotators_see_different_pseudonyms_for_one_dialogue():
    assert blind_name("d", "p-1", "salt") != blind_name("d", "p-2", "salt")
    assert blind_name("d", "p-1", "salt") != blind_name("d", "p-1", "other salt")


def test_the_blind_dialogue_has_no_other_fields():
    assert {field.name for field in fields(BlindDialogue)} == {"name", "turns", "material", "withheld", "reference"}


def test_an_empty_mask_changes_nothing():
    assert mask_of([" ", ""])("Bot") == "Bot"


def test_a_name_within_a_word_is_not_masked():
    assert mask_of(["bot"])("A robot, a Bot.") == f"A robot, a {MASKED}."


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
def test_applications_that_name_themselves_are_detected(text: str, words: list[str]) -> None:
    assert [one.words for one in self_identification(text, NAMES)] == words


@pytest.mark.parametrize(
    "text",
    ["Gemini is a sign of the zodiac.", "I looked it up on Google.", "The meadow is green.", "Claude Monet painted."],
)
def test_ambiguous_names_are_not_masked(text: str) -> None:
    assert self_identification(text, NAMES) == ()


def test_study_names_to_mask_are_those_of_applications_and_models() -> None:
    model = ModelEndpoint(name="large", url="http://127.0.0.1/v1", model="acme-chat-7b")

    assert identifying_names(study(applications=(live("green"),), models=(model,))) == ("green", "acme-chat-7b")


def test_masking_preserves_positions() -> None:
    assert mask_naming("I am Claude.") == "I am ••••••."


BOT = SecretWord("bot-1", "an application")


def _study():
    return replace(
        a_study(),
        applications=(
            Application(
                name="bot-1", connection=HttpEndpoint(url="https://api.guard.example:8443/chat", key="GUARD_KEY")
            ),
            Application(name="green", connection=PythonCallable(target="tellers.py:careful")),
            Application(name="Guard", connection=PromptedModel(model="large")),
        ),
        models=(ModelEndpoint(name="large", url="http://127.0.0.1:8000/v1", model="qwen2.5-7b", key="LARGE_KEY"),),
    )


def test_names_models_addresses_code_and_makers_are_masked():
    words = {secret.words for secret in secrets_for_testers(_study())}

    assert words >= {
        "bot-1",
        "Guard",
        "api.guard.example",
        "GUARD_KEY",
        "qwen2.5-7b",
        "LARGE_KEY",
        "tellers.py",
        "OpenAI",
    }


def test_common_words_and_the_local_host_are_not_searched():
    words = {secret.words for secret in secrets_for_testers(_study())}

    assert not words & {"green", "large", "127.0.0.1"}
    assert plain_names(_study()) == ("green", "large")


def test_annotators_see_no_level_no_participants_and_no_keys():
    words = {secret.words for secret in secrets_for_annotators(_study(), people=["Ben Azar", "x"], keys=["bot-1/r3"])}

    assert words >= {"red teaming", "field testing", "Ben Azar", "bot-1/r3", "bot-1"}
    assert "x" not in words


def test_whole_words_are_found_in_any_case_once_each_with_their_context():
    words = unblinding_words("<p class='x'>I am BOT-1.</p> bot-1 bot-12 robot-1", (BOT,))

    assert [(one.secret, one.excerpt) for one in words] == [(BOT, "<p class='x'>I am BOT-1.</p> bot-1 bot-12 robot-1")]
    assert unblinding_words("bot-12 robot-1", (BOT,)) == ()


def test_words_are_found_across_lines():
    assert unblinding_words("Meta\n  AI", (SecretWord("Meta AI", "a maker or model"),))


def test_no_page_reveals_a_secret():
    assert unblinding_words("anything", ()) == ()
