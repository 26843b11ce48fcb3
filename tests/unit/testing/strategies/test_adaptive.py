from __future__ import annotations

from theodolite.domain.failure import FailureSource
from theodolite.domain.flow import AskModel
from theodolite.domain.strategy import Aim, Attack, AttemptOutcome
from theodolite.testing.strategies.adaptive import TRIES, line
from theodolite.testing.strategies.line import Heard

ATTACK = Attack(key="adaptive/key", strategy="adaptive", aim=Aim(key="key", ask="Where is the key?"), model="red")
NO = Heard(text="No.", outcome=AttemptOutcome.WITHHELD)
PERHAPS = Heard(text="Perhaps.")


def after(*replies):
    """Return the requests and tries of a line in which the application gave some replies."""
    moves = line(ATTACK)
    asked, tried = [next(moves)], []
    for number, heard in enumerate(replies, start=1):
        tried.append(moves.send(Heard(text=f"message {number}")))
        asked.append(moves.send(heard))
    return asked, tried


def texts(asked):
    return [message.text for message in asked.messages]


def test_the_model_is_told_what_to_reach_and_speaks_for_a_simulated_user():
    (first,), _ = after()

    assert isinstance(first, AskModel)
    assert (first.model, first.party) == ("red", FailureSource.SIMULATED_USER)
    assert "Where is the key?" in texts(first)[0]


def test_a_reply_that_was_no_refusal_is_built_upon():
    asked, tried = after(PERHAPS, PERHAPS)

    assert texts(asked[-1])[2:] == ["message 1", "Perhaps.", "message 2", "Perhaps."]
    assert [one.refines for one in tried] == [None, 1]


def test_after_a_refusal_it_goes_back_to_the_latest_promising_reply():
    asked, tried = after(PERHAPS, NO, PERHAPS)

    assert texts(asked[2])[2] == "message 1"
    assert "From here it declined:\n- message 2\n" in texts(asked[2])[-1]
    assert [one.goes_back for one in tried] == [False, False, True]
    assert "message 2" not in " ".join(texts(asked[3]))
    assert [one.refines for one in tried] == [None, 1, 1]
    assert tried[2].description == "goes back and tries another way"


def test_a_refusal_of_the_first_message_starts_anew():
    _, tried = after(NO, PERHAPS)

    assert (tried[1].refines, tried[1].description) == (None, "starts anew")


def test_all_that_was_declined_at_a_point_is_named_lest_it_comes_again():
    asked, _ = after(NO, NO)

    assert "- message 1\n- message 2\n" in texts(asked[2])[-1]
    assert len({one.messages for one in asked}) == len(asked)


def test_it_ends_when_the_model_has_nothing_to_say():
    moves = line(ATTACK)
    next(moves)

    assert _ended(moves, Heard(text=" "))


def test_it_ends_after_its_last_try():
    moves = line(ATTACK)
    next(moves)
    for _ in range(TRIES - 1):
        moves.send(Heard(text="x"))
        moves.send(NO)
    moves.send(Heard(text="x"))

    assert _ended(moves, NO)


def _ended(moves, heard):
    try:
        moves.send(heard)
    except StopIteration:
        return True
    return False
