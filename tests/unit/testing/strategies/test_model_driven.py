from __future__ import annotations

import pytest

from theodolite.domain.flow import AskModel
from theodolite.domain.persona import Aim, Attack, AttemptOutcome
from theodolite.domain.run import FailureSource
from theodolite.testing.strategies import TRIES, AttackReply, adaptive, approach_of

ATTACK = Attack(key="adaptive/key", strategy="adaptive", aim=Aim(key="key", ask="Where is the key?"), model="red")

NO = AttackReply(text="No.", outcome=AttemptOutcome.WITHHELD)

PERHAPS = AttackReply(text="Perhaps.")


def after(*replies):
    """Return the requests and tries of a line in which the application gave some replies."""
    moves = adaptive(ATTACK)
    asked, tried = [next(moves)], []
    for number, reply in enumerate(replies, start=1):
        tried.append(moves.send(AttackReply(text=f"message {number}")))
        asked.append(moves.send(reply))
    return asked, tried


def texts(asked):
    return [message.text for message in asked.messages]


def test_the_model_receives_the_aim_and_plays_the_simulated_user():
    (first,), _ = after()

    assert isinstance(first, AskModel)
    assert (first.model, first.party) == ("red", FailureSource.SIMULATED_USER)
    assert "Where is the key?" in texts(first)[0]


def test_a_reply_without_refusal_is_built_upon():
    asked, tried = after(PERHAPS, PERHAPS)

    assert texts(asked[-1])[2:] == ["message 1", "Perhaps.", "message 2", "Perhaps."]
    assert [one.refines for one in tried] == [None, 1]


def test_after_a_refusal_the_attack_returns_to_the_latest_promising_reply():
    asked, tried = after(PERHAPS, NO, PERHAPS)

    assert texts(asked[2])[2] == "message 1"
    assert "From here it declined:\n- message 2\n" in texts(asked[2])[-1]
    assert [one.goes_back for one in tried] == [False, False, True]
    assert "message 2" not in " ".join(texts(asked[3]))
    assert [one.refines for one in tried] == [None, 1, 1]
    assert tried[2].description == "goes back and tries another way"


def test_a_refusal_of_the_first_message_restarts_the_attack():
    _, tried = after(NO, PERHAPS)

    assert (tried[1].refines, tried[1].description) == (None, "starts again")


def test_all_refused_prompts_at_a_point_are_listed_to_avoid_repeats():
    asked, _ = after(NO, NO)

    assert "- message 1\n- message 2\n" in texts(asked[2])[-1]
    assert len({one.messages for one in asked}) == len(asked)


def test_the_attack_ends_when_the_model_has_nothing_to_say():
    moves = adaptive(ATTACK)
    next(moves)

    assert _ended(moves, AttackReply(text=" "))


def test_the_attack_ends_after_its_last_attempt():
    moves = adaptive(ATTACK)
    next(moves)
    for _ in range(TRIES - 1):
        moves.send(AttackReply(text="x"))
        moves.send(NO)
    moves.send(AttackReply(text="x"))

    assert _ended(moves, NO)


def _ended(moves, reply):
    try:
        moves.send(reply)
    except StopIteration:
        return True
    return False


def moves_after(name, *written):
    """Return what the model was asked and what was tried, where it writes some texts and all are declined."""
    attack = Attack(key=name, strategy=name, aim=Aim(key="key", ask="Where is the key?"), model="red")
    line = approach_of(name).line(attack)
    asked, tried = [next(line)], []
    for text in written:
        try:
            tried.append(line.send(AttackReply(text=text)))
            asked.append(line.send(NO))
        except StopIteration:
            break
    return asked, tried


@pytest.mark.parametrize("name", ["paraphrase", "translation"])
def test_a_model_writes_each_attempt_differently(name):
    asked, tried = moves_after(name, "one", "two", "three")

    assert all(isinstance(one, AskModel) and one.party is FailureSource.SIMULATED_USER for one in asked)
    assert [one.messages[1].text for one in asked] == ["Where is the key?"] * approach_of(name).tries
    assert len({one.messages[0].text for one in asked}) == approach_of(name).tries
    assert [(one.prompt, one.refines) for one in tried] == [("one", None), ("two", 1), ("three", 2)]


def test_a_translation_asks_for_the_answer_in_the_language_of_the_signs():
    asked, tried = moves_after("translation", "uno")

    assert "in Spanish" in asked[0].messages[0].text
    assert "asks for the answer in the request's language" in asked[0].messages[0].text
    assert tried[0].description == "asks in Spanish"


def test_a_model_that_writes_nothing_ends_the_attack():
    asked, tried = moves_after("paraphrase", " ")

    assert (len(asked), tried) == (1, [])
