"""Laws of templates."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from theodolite.domain.errors import TemplateError
from theodolite.testing.templates import fill, variables_of

PIECES = st.sampled_from(
    [
        "{{ a }}",
        "{{ b|upper }}",
        "{% if a %}",
        "{% else %}",
        "{% endif %}",
        "{% for x in a %}",
        "{% endfor %}",
        "{{",
        "}}",
        "{{ x }}",
        "{# no #}",
        "{%",
        "%}",
        "text ",
        "{{ a.b }}",
        "{{ a ~ b }}",
        "{{ a * 3 }}",
        "{{ a[0] }}",
        "{{ 1/0 }}",
        "\n",
    ]
)


class TestTotality:
    """Any text is filled or refused; nothing else ever comes out."""

    @given(st.lists(PIECES, max_size=12).map("".join), st.text(max_size=5), st.text(max_size=5))
    def test_fill(self, text, a, b):
        try:
            filled = fill(text, {"a": a, "b": b})
        except TemplateError:
            return
        assert isinstance(filled, str)

    @given(st.text(alphabet="{}%#|()[]'\"\\ab1~*.- \n", max_size=40))
    def test_slots(self, text):
        try:
            names = variables_of(text)
        except TemplateError:
            return
        assert all(name.isidentifier() for name in names)


class TestValues:
    """Values come through as they are, whatever they look like."""

    @given(st.text(max_size=200))
    def test_a_value_alone(self, value):
        assert fill("[{{ value }}]", {"value": value}) == f"[{value}]"
