from __future__ import annotations

import pytest

from theodolite.domain.failure import FailureSource
from theodolite.domain.flow import AskModel
from theodolite.domain.strategy import Aim, Attack, AttemptOutcome
from theodolite.testing.strategies.catalogue import approach_of
from theodolite.testing.strategies.line import Heard

NO = Heard(text="No.", outcome=AttemptOutcome.WITHHELD)


def after(name, *written):
    """Return what the model was asked and what was tried, where it writes some texts and all are declined."""
    attack = Attack(key=name, strategy=name, aim=Aim(key="key", ask="Where is the key?"), model="red")
    line = approach_of(name).line(attack)
    asked, tried = [next(line)], []
    for text in written:
        try:
            tried.append(line.send(Heard(text=text)))
            asked.append(line.send(NO))
        except StopIteration:
            break
    return asked, tried


@pytest.mark.parametrize("name", ["paraphrase", "translation"])
def test_a_model_writes_each_try_and_each_in_another_way(name):
    asked, tried = after(name, "one", "two", "three")

    assert all(isinstance(one, AskModel) and one.party is FailureSource.SIMULATED_USER for one in asked)
    assert [one.messages[1].text for one in asked] == ["Where is the key?"] * approach_of(name).tries
    assert len({one.messages[0].text for one in asked}) == approach_of(name).tries
    assert [(one.prompt, one.refines) for one in tried] == [("one", None), ("two", 1), ("three", 2)]


def test_a_translation_asks_for_the_answer_in_the_language_that_signs_are_in():
    asked, tried = after("translation", "uno")

    assert "in Spanish" in asked[0].messages[0].text
    assert "asks for the answer in the request's language" in asked[0].messages[0].text
    assert tried[0].description == "asks in Spanish"


def test_a_model_that_writes_nothing_ends_the_line():
    asked, tried = after("paraphrase", " ")

    assert (len(asked), tried) == (1, [])
