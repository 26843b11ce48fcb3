"""Words that unblind: what is looked for, what cannot be, and where it is found."""

from __future__ import annotations

from dataclasses import replace

from tests.fakes.builders import study as a_study

from theodolite.assessment.unblinding import (
    SecretWord,
    plain_names,
    secrets_for_annotators,
    secrets_for_testers,
    told_in,
)
from theodolite.domain.application import Application, HttpEndpoint, ModelEndpoint, PromptedModel, PythonCallable

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


def test_names_models_addresses_code_and_makers_are_secret():
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


def test_plain_words_and_this_machine_are_not_looked_for():
    words = {secret.words for secret in secrets_for_testers(_study())}

    assert not words & {"green", "large", "127.0.0.1"}
    assert plain_names(_study()) == ("green", "large")


def test_annotators_learn_neither_level_nor_people_nor_keys():
    words = {secret.words for secret in secrets_for_annotators(_study(), people=["Ben Azar", "x"], keys=["bot-1/r3"])}

    assert words >= {"red teaming", "field testing", "Ben Azar", "bot-1/r3", "bot-1"}
    assert "x" not in words


def test_whole_words_are_found_in_any_case_each_once_with_what_stands_around():
    told = told_in("<p class='x'>I am BOT-1.</p> bot-1 bot-12 robot-1", (BOT,))

    assert [(one.secret, one.excerpt) for one in told] == [(BOT, "<p class='x'>I am BOT-1.</p> bot-1 bot-12 robot-1")]
    assert told_in("bot-12 robot-1", (BOT,)) == ()


def test_words_are_found_across_lines():
    assert told_in("Meta\n  AI", (SecretWord("Meta AI", "a maker or model"),))


def test_nothing_secret_is_told_nowhere():
    assert told_in("anything", ()) == ()
