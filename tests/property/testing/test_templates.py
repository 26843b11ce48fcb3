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
    def test_every_text_is_filled_or_refused(self, text, a, b):
        try:
            filled = fill(text, {"a": a, "b": b})
        except TemplateError:
            return
        assert isinstance(filled, str)

    @given(st.text(alphabet="{}%#|()[]'\"\\ab1~*.- \n", max_size=40))
    def test_slots_of_every_text_are_known_or_refused(self, text):
        try:
            names = variables_of(text)
        except TemplateError:
            return
        assert all(name.isidentifier() for name in names)


class TestValues:
    """Values come through as they are, whatever they look like."""

    @given(st.text(max_size=200))
    def test_a_slot_alone_returns_its_value(self, value):
        assert fill("[{{ value }}]", {"value": value}) == f"[{value}]"


class TestFastPath:
    """Words and slots alone are put together without Jinja, to the letter as Jinja does it."""

    @given(
        parts=st.lists(
            st.sampled_from(["{{ a }}", "{{b}}", "{{- a }}", "words ", "\n", "\r\n", " {# no #}"]), max_size=8
        ),
        a=st.text(max_size=6),
        b=st.text(max_size=6),
    )
    def test_the_fast_path_gives_the_same_text(self, parts: list[str], a: str, b: str) -> None:
        text = "".join(parts)

        in_full = fill(f"{text}{{{{ '' }}}}", {"a": a, "b": b})  # what is not a name takes the long way

        at_the_end = 1 if text.endswith("\n") else 0  # the last line's end is no part of a template
        assert fill(text, {"a": a, "b": b}) == in_full[: len(in_full) - at_the_end]
