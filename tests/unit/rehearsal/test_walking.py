"""Where a bot that tests gives up, and what it says then."""

from __future__ import annotations

import pytest

from theodolite.bootstrap.page_checks import PageAnswer
from theodolite.domain.dialogue import Level
from theodolite.rehearsal import walking
from theodolite.rehearsal.visitor import HttpVisitor
from theodolite.rehearsal.walking import Stuck

CASES = {
    "a page that nobody foresaw": ("odd/", 200, "/s/t/test/odd/: a page from which a bot knows no way on"),
    "a failing server": ("1/", 500, "/s/t/test/1/: the server failed with status 500"),
    "a refusal": ("guess/", 403, "/s/t/test/guess/: refused with status 403"),
    "a page without its form": ("guess/", 200, "/s/t/test/guess/: the page /s/t/test/guess/ has no form ``"),
}


def bot_at(step: str, status: int) -> walking.TesterBot:
    visitor = HttpVisitor("http://h")
    visitor.page = PageAnswer(f"http://h/s/t/test/{step}", status, "", "")
    return walking.TesterBot(visitor, Level.RED_TEAMING, seat=1, sessions=1)


@pytest.mark.parametrize(("step", "status", "said"), CASES.values(), ids=CASES)
def test_a_bot_says_on_which_page_it_could_not_go_on(step: str, status: int, said: str) -> None:
    with pytest.raises(Stuck) as stuck:
        bot_at(step, status).walk()

    assert str(stuck.value) == said


def test_a_bot_at_the_end_is_through() -> None:
    bot = bot_at("done/", 200)

    bot.walk()

    assert bot.is_through
