from __future__ import annotations

import pytest

from theodolite.domain.errors import TemplateError
from theodolite.testing.templates import FILTERS, MAX_RENDERED, fill, refusal_of, variables_of

LARGE = {"big": "x" * MAX_RENDERED, "name": "Ana"}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("Hello {{ name }}.", "Hello Ana."),
        ("{{ name|upper }}", "ANA"),
        ("{% if name == 'Ana' %}yes{% else %}no{% endif %}", "yes"),
        ("{{ nick|default('none') }}", "none"),
        ("{% for letter in name %}{{ loop.index }}{{ letter }}{% endfor %}", "1A2n3a"),
        ("{{ name ~ '!' * 3 }}", "Ana!!!"),
        ("{{ 7 * 6 }} {{ 7 % 4 }}", "42 3"),
        ("{% raw %}{{ name }}{% endraw %}", "{{ name }}"),
        ("no slot", "no slot"),
        ("<b>{{ name }} & co</b>", "<b>Ana & co</b>"),
    ],
)
def test_slots_are_filled(text, filled):
    assert fill(text, {"name": "Ana"}) == filled


def test_a_slot_set_by_jinja_itself_is_left_alone():
    assert "TemplateReference" in fill("{{ self }}, {{ name }}", {"self": "me", "name": "Ana"})


def test_a_value_is_not_a_template():
    assert fill("{{ name }}", {"name": "{{ 1 + 1 }}"}) == "{{ 1 + 1 }}"


@pytest.mark.parametrize(
    "text",
    [
        "{{ nme }}",
        "{{ nme.age }}",
        "{% if nme %}a{% endif %}",
        "{% for x in nme %}a{% endfor %}",
        "{{ nme ~ 'a' }}",
        "{{ name.age }}",
        "{{ name[7] }}",
    ],
)
def test_a_slot_without_a_value_is_an_error(text):
    with pytest.raises(TemplateError, match="cannot be filled"):
        fill(text, {"name": "Ana"})


@pytest.mark.parametrize("text", ["{{ name", "{% if %}", "{% for %}", "{{ }}", "{% endif %}", "{{ name|nosuch }}"])
def test_a_malformed_template_is_an_error(text):
    with pytest.raises(TemplateError, match="line 1"):
        fill(text, {"name": "Ana"})


def test_the_line_of_an_error_is_reported():
    with pytest.raises(TemplateError, match="line 3"):
        variables_of("one\ntwo\n{{ three")


@pytest.mark.parametrize(
    "text",
    [
        "{{ lipsum() }}",
        "{{ [1, 2]|random }}",
        "{{ name.upper() }}",
        "{{ range(9) }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ ''['__class__'] }}",
        "{{ name.__init__.__globals__ }}",
        "{{ ''|attr('__class__') }}",
        "{{ '{0.__class__}'.format(name) }}",
        "{{ cycler('a', 'b') }}",
        "{{ self.__init__ }}",
        "{{ ['a']|map('upper') }}",
        "{% include 'x' %}",
        "{% import 'x' as x %}",
        "{% from 'x' import y %}",
        "{% extends 'x' %}",
        "{% block a %}{% endblock %}",
    ],
)
def test_random_functions_escapes_and_other_files_are_unavailable(text):
    with pytest.raises(TemplateError):
        fill(text, {"name": "Ana"})


@pytest.mark.parametrize(
    "text",
    [
        "{{ 'x' * 1000000000 }}",
        "{{ 1000000000 * 'x' }}",
        "{{ big * 2 }}",
        "{{ ('x' * 100000) * 100000 }}",
        "{{ [big] * 1000 }}",
        "{{ (big,) * 1000 }}",
        "{{ 9 ** 9 ** 9 }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '%s' % name }}",
        "{{ 'x'|center(1000000000) }}",
        "{{ 'x\ny'|indent(1000000000) }}",
        "{{ '%1000000000d'|format(1) }}",
        "{{ big|replace('x', big) }}",
        "{{ big|join(big) }}",
        "{{ [1]|batch(1000000000, 'x') }}",
        "{{ [1]|tojson(1000000000) }}",
        "{{ 1.5|round(1000000000, 'ceil') }}",
        "{{ 'x'.ljust(1000000000) }}",
        "{% set a = big ~ big %}{% set a = a ~ a %}{{ a }}",
        "{% set a %}{{ big }}{{ big }}{% endset %}{{ a }}",
        "{% with a = big ~ big %}{{ a ~ a }}{% endwith %}",
        "{% macro m(x) %}{{ x }}{{ x }}{% endmacro %}{{ m(m(m(big))) }}",
        "{% filter upper %}{% for c in big %}{{ big }}{% endfor %}{% endfilter %}",
        "{% for a in big %}{% for b in big %}{% endfor %}{% endfor %}",
        "{% for a in big %}{% if a %}{% for b in big %}{% endfor %}{% endif %}{% endfor %}",
        "{% for a in [big] recursive %}{{ loop([a]) }}{% endfor %}",
        "{% for c in big %}{{ big }}{% endfor %}",
        "{{ big }}{{ name }}",
    ],
)
def test_output_beyond_the_limit_is_refused(text):
    with pytest.raises(TemplateError):
        fill(text, LARGE)


@pytest.mark.parametrize(
    "text",
    [
        "{{ " + "(" * 5_000 + "1" + ")" * 5_000 + " }}",
        "{% if name %}" * 200 + "a" + "{% endif %}" * 200,
        "{{ " + "not " * 5_000 + "name }}",
        "{{ " + "[" * 150 + "]" * 150 + " }}",
    ],
)
def test_a_template_too_deep_for_the_compiler_is_an_error_too(text):
    with pytest.raises(TemplateError):
        fill(text, {"name": "Ana"})


def test_a_text_of_the_maximum_length_is_filled():
    assert len(fill("{{ big }}", LARGE)) == MAX_RENDERED


@pytest.mark.parametrize("name", FILTERS)
def test_allowed_filters_exist(name):
    assert isinstance(fill(f"{{{{ name|{name} }}}}", {"name": "3"}), str)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{{ a }} {% if b %}{{ c }}{% endif %}", {"a", "b", "c"}),
        ("{% for x in xs %}{{ x }}{{ loop.index }}{% endfor %}", {"xs"}),
        ("{{ a.b }} {{ a|default(d) }}", {"a", "d"}),
        ("", set()),
    ],
)
def test_the_slots_of_a_template_are_known_before_it_is_filled(text, names):
    assert variables_of(text) == names


def test_forbidden_operations_are_reported_before_filling():
    with pytest.raises(TemplateError, match="line 2 of the template uses a call"):
        variables_of("{{ name }}\n{{ name.upper() }}")
    with pytest.raises(TemplateError, match="the filter `center`"):
        variables_of("{{ name|center(3) }}")


def test_a_value_too_deep_to_serialise_is_an_error():
    deep = []
    for _ in range(100_000):
        deep = [deep]

    with pytest.raises(TemplateError, match="nested too deeply"):
        fill("{{ deep }}", {"deep": deep})


def test_the_limit_is_configurable():
    assert len(fill("{{ big }}!", LARGE, largest=MAX_RENDERED + 1)) == MAX_RENDERED + 1
    with pytest.raises(TemplateError, match="longer than 2 characters"):
        fill("{{ name }}", LARGE, largest=2)


def test_values_and_not_the_text_between_them_are_finalised():
    assert fill("x {{ name }} {{ 'y' ~ name }}", {"name": "Ana"}, finalize=str.upper) == "x ANA YANA"


def test_values_are_finalised_once():
    fill("{{ name }}", {"name": "Ana"}, finalize=str.upper)

    assert fill("{{ name }}", {"name": "Ana"}) == "Ana"


@pytest.mark.parametrize(
    ("text", "line", "words", "malformed"),
    [
        ("a\n{{ b|uper }}", 2, "uses the filter `uper`. Did you mean `upper`?", False),
        ("{{ b is evn }}", 1, "uses the test `evn`. Did you mean `even`?", False),
        ("\n\n{{ b", 3, "cannot be read", True),
        ("{% for loop in b %}{% endfor %}", 1, "cannot be read", True),
        ("{% if b %}" * 200 + "{% endif %}" * 200, 0, "is nested too deeply", False),
    ],
)
def test_a_malformed_template_is_known_before_there_are_values(text, line, words, malformed):
    refusal = refusal_of(text)

    assert refusal is not None
    assert (refusal.line, refusal.malformed) == (line, malformed)
    assert words in refusal.words


@pytest.mark.parametrize("text", ["", "{{ a }}", "{{ a / 0 }}", "{{ a.b }}"])
def test_conditions_on_values_are_not_refused(text):
    assert refusal_of(text) is None
