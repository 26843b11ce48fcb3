from __future__ import annotations

import pytest

from theodolite.config.validation import line_of_problem, place_of, syntax_problem, unfilled, variables


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("plain", set()),
        ("{{ a }} and {{ b|upper }}", {"a", "b"}),
        ("{% for x in z %}{{ x }}{{ y }}{% endfor %}", {"y", "z"}),
        ("{% if a %}{{ b }}{% endif %}", {"a", "b"}),
        ("{{ not closed", set()),
    ],
)
def test_required_variables_are_those_to_be_filled(text, names):
    assert variables(text) == names


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{ a }}", ""),
        ("{{ a }", "not closed well"),
        ("{% if a %}", "not closed well"),
        ("{{ a|uper }}", "mean `upper`"),
        ("{{ a|random }}", "the filter `random`; those that may be used are capitalize, "),
        ("{% if a is evn %}{% endif %}", "the test `evn`. Did you mean `even`?"),
        ("{% frobnicate %}", "holds `{% frobnicate %}`, which means nothing"),
        ("{% endif %}", "not closed well"),
        ("{% set b = a %}", "the template uses `set`"),
        ("{{ a.upper() }}", "the template uses a call"),
        ("one\n{{ a() }}", "line 2 of the template uses a call"),
        ("{% for x in a %}{% for y in x %}{% endfor %}{% endfor %}", "a loop inside this loop"),
        ("{% if a %}" * 200 + "{% endif %}" * 200, "nested too deeply"),
    ],
)
def test_a_template_error_is_explained_in_plain_words(text, words):
    problem = syntax_problem(text)

    assert (words in problem) if words else not problem


def test_the_location_of_a_variable_is_its_slot():
    assert place_of("b", "{{ a }} {% if b %}x{% endif %}") == "{% if b %}"


def test_a_variable_without_a_slot_has_no_location():
    assert place_of("c", "{{ a }}") == ""


def test_unfilled_variables_are_sorted_by_name():
    assert unfilled("{{ c }}{{ a }}{{ b }}", ["b"]) == ["a", "c"]


@pytest.mark.parametrize(("text", "line"), [("{{ a }}", 1), ("a\nb\n{{ a() }}", 3), ("a\n{{ a }", 2)])
def test_the_line_of_an_error_is_known(text, line):
    assert line_of_problem(text) == line
