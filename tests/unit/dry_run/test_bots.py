"""Bots: where one gets stuck, the forms that it reads, and the state of the event that it expects."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.house.tree import PACKAGE
from theodolite.bootstrap.page_checks import PageAnswer
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import NotFound
from theodolite.dry_run import bots
from theodolite.dry_run.bots import HttpVisitor, Stuck

CASES = {
    "a page that nobody foresaw": ("odd/", 200, "/s/t/test/odd/: the bot does not know this page"),
    "a failing server": ("1/", 500, "/s/t/test/1/: the server failed with status 500"),
    "a refusal": ("guess/", 403, "/s/t/test/guess/: refused with status 403"),
    "a page without its form": ("guess/", 200, "/s/t/test/guess/: the page /s/t/test/guess/ has no form ``"),
}


def bot_at(step: str, status: int) -> bots.TesterBot:
    visitor = HttpVisitor("http://h")
    visitor.page = PageAnswer(f"http://h/s/t/test/{step}", status, "", "")
    return bots.TesterBot(visitor, Level.RED_TEAMING, slot=1, sessions=1)


@pytest.mark.parametrize(("step", "status", "said"), CASES.values(), ids=CASES)
def test_a_bot_reports_the_page_on_which_it_is_stuck(step: str, status: int, said: str) -> None:
    with pytest.raises(Stuck) as stuck:
        bot_at(step, status).walk()

    assert str(stuck.value) == said


def test_a_bot_on_the_last_page_is_finished() -> None:
    bot = bot_at("done/", 200)

    bot.walk()

    assert bot.is_completed


PAGE = """
<form method="post" action="/out/"><input type="hidden" name="token" value="x"></form>
<form method="post"><input type="hidden" name="token" value="y">
<input type="radio" name="task" value="yes"><input type="radio" name="task" value="no"><input type="radio" name="task" value="">
<input type="checkbox" name="consent" value="v1"><textarea name="why"></textarea><input name="words">
<select name="way"><option value="">none<option value="play">play</select></form>
"""  # noqa: E501


def test_a_form_lists_its_options_and_text_fields() -> None:
    form = PageAnswer("http://h/p/", 200, "", PAGE).form("")

    assert form is not None
    assert form.fields == {"token": "y"}
    assert form.choices == {"task": ["yes", "no"], "consent": ["v1"], "way": ["play"]}
    assert form.texts == ["why", "words"]


def test_a_form_is_found_by_the_suffix_of_its_address() -> None:
    form = PageAnswer("http://h/p/", 200, "", PAGE).form("/out/")

    assert form is not None
    assert form.fields == {"token": "x"}


def test_a_missing_form_is_reported_with_its_page() -> None:
    visitor = HttpVisitor("http://h")
    visitor.page = PageAnswer("http://h/p/", 200, "", "")

    with pytest.raises(NotFound, match="the page /p/ has no form `/say/`"):
        visitor.send("/say/")


SCHEDULE = '<form action="/s/t/organise/operations/hours/"><input type="hidden" name="hold" value="{}"></form>'
GO_ON = '<form action="/s/t/organise/operations/resume/"></form>'


class Operations(bots.Visitor):
    """Shows one page, whatever is requested, and records submitted forms."""

    def __init__(self, text: str) -> None:
        super().__init__("http://h")
        self.text, self.sent = text, list[str]()

    def request(self, url: str, fields: Mapping[str, str] | None) -> PageAnswer:
        if fields is not None:
            self.sent.append(url.removeprefix("http://h/s/t/organise/operations/"))
        return PageAnswer(url, 200, "", self.text)


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        (SCHEDULE.format("no") + GO_ON, ["hours/", "resume/"]),
        (SCHEDULE.format("yes") + GO_ON, ["resume/"]),
        (GO_ON, ["resume/"]),
    ],
    ids=["enforced schedule", "suspended schedule", "no schedule"],
)
def test_the_organiser_suspends_an_enforced_schedule(text: str, sent: list[str]) -> None:
    visitor = Operations(text)

    bots.OrganiserBot(visitor).open_event()

    assert visitor.sent == sent


def test_the_home_page_contains_the_text_that_announces_admission() -> None:
    template = PACKAGE / "web" / "templates" / "web" / "annotator" / "_step.html"

    assert bots.NEEDS_ADMISSION in template.read_text(encoding="utf-8")
