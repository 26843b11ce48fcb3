from __future__ import annotations

import pytest

from theodolite.config.templates import place_of, syntax_problem, unfilled, variables


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("plain", set()),
        ("{{ a }} and {{ b|upper }}", {"a", "b"}),
        ("{% for x in range(3) %}{{ x }}{{ y }}{% endfor %}", {"y"}),
        ("{% if a %}{{ b }}{% endif %}", {"a", "b"}),
        ("{{ not closed", set()),
    ],
)
def test_variables_are_those_that_somebody_must_fill(text, names):
    assert variables(text) == names


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{ a }}", ""),
        ("{{ a }", "not closed well"),
        ("{% if a %}", "not closed well"),
        ("{{ a|uper }}", "meant `upper`"),
        ("{{ a|random }}", "unknown filter `random`"),
        ("{% if a is evn %}{% endif %}", "unknown test `evn`; meant `even`?"),
    ],
)
def test_what_is_wrong_with_a_template_is_said_in_plain_words(text, words):
    problem = syntax_problem(text)

    assert (words in problem) if words else not problem


def test_the_place_of_a_variable_is_the_slot_that_holds_it():
    assert place_of("b", "{{ a }} {% if b %}x{% endif %}") == "{% if b %}"


def test_a_variable_without_a_slot_has_no_place():
    assert place_of("c", "{{ a }}") == ""


def test_unfilled_variables_come_in_the_order_of_their_names():
    assert unfilled("{{ c }}{{ a }}{{ b }}", ["b"]) == ["a", "c"]
