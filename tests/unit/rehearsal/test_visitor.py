"""What a visitor reads of a page."""

from __future__ import annotations

import pytest

from theodolite.bootstrap.page_checks import PageAnswer
from theodolite.domain.errors import NotFound
from theodolite.rehearsal.visitor import HttpVisitor

PAGE = """
<form method="post" action="/out/"><input type="hidden" name="token" value="x"></form>
<form method="post"><input type="hidden" name="token" value="y">
<input type="radio" name="task" value="yes"><input type="radio" name="task" value="no"><input type="radio" name="task" value="">
<input type="checkbox" name="consent" value="v1"><textarea name="why"></textarea><input name="words">
<select name="way"><option value="">none<option value="play">play</select></form>
"""  # noqa: E501


def test_a_form_tells_what_one_may_choose_and_write() -> None:
    form = PageAnswer("http://h/p/", 200, "", PAGE).form("")

    assert form is not None
    assert form.fields == {"token": "y"}
    assert form.choices == {"task": ["yes", "no"], "consent": ["v1"], "way": ["play"]}
    assert form.texts == ["why", "words"]


def test_a_form_is_found_by_the_end_of_its_address() -> None:
    form = PageAnswer("http://h/p/", 200, "", PAGE).form("/out/")

    assert form is not None
    assert form.fields == {"token": "x"}


def test_a_missing_form_is_named_with_its_page() -> None:
    visitor = HttpVisitor("http://h")
    visitor.page = PageAnswer("http://h/p/", 200, "", "")

    with pytest.raises(NotFound, match="the page /p/ has no form `/say/`"):
        visitor.send("/say/")
