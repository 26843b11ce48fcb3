from __future__ import annotations

import pytest

from theodolite.domain.errors import PlanError
from theodolite.testing.strategies import AttackReply, CheckedAttack, Try

ASKS = Try(prompt="a", description="asks")


def test_a_strategy_line_runs_to_its_end():
    def line():
        reply = yield ASKS
        yield Try(prompt=reply.text, description="says it again")

    checked = CheckedAttack("own", line)

    assert checked.begin() == ASKS
    assert checked.send(AttackReply(text="b")).prompt == "b"
    assert checked.send(AttackReply(text="c")) is None


def test_a_broken_strategy_line_is_reported_with_its_location():
    def line():
        yield ASKS
        raise ValueError(7)

    checked = CheckedAttack("own", line)
    checked.begin()

    with pytest.raises(PlanError, match=r"strategy `own` broke: ValueError: 7 \(test_approach\.py, line \d+\)"):
        checked.send(AttackReply(text="b"))


@pytest.mark.parametrize(
    ("begin", "words"),
    [
        (lambda: iter(["hello"]), "`own` yields str; expected `Try` or `AskModel`"),
        (lambda: 1 / 0, "`own` broke: ZeroDivisionError"),
        (lambda: [ASKS], "`own` broke: TypeError"),
    ],
    ids=["no move", "breaks at once", "no generator"],
)
def test_an_invalid_strategy_line_is_refused(begin, words):
    with pytest.raises(PlanError, match=words):
        CheckedAttack("own", begin).begin()


def test_a_strategy_line_without_a_move_ends_at_once():
    assert CheckedAttack("own", lambda: iter(())).begin() is None
