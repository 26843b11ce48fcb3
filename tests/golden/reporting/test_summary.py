"""The summaries as people see them; each is compared line by line."""

from pathlib import Path

import pytest

from tests.fakes.report import summary_named

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", ["xstest", "live", "scripted", "unfinished", "nothing"])
def test_the_summary_equals_the_stored_one(name):
    assert summary_named(name) + "\n" == (HERE / f"{name}.txt").read_text(encoding="utf-8")


def test_the_published_figures_are_in_the_summary():
    text = summary_named("xstest")

    assert "llama2orig      ···●━··  95  38.0% 32.2 to 44.2 ○······   0   0.0% at most 1.5" in text
    assert "mistralinstruct ●······   2   0.8% 0.2 to 2.9   ·····●━ 128  64.0% 57.1 to 70.3" in text


def test_ascii_characters_are_used_where_the_terminal_supports_no_others():
    assert summary_named("xstest", unicode=False).isascii()
